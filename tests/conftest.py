"""One PostgreSQL for the whole run, a migrated template, and a clone of it for each test that asks.

Workers of pytest-xdist share the server: the controller chooses its folder, and the supervisor's own sharing does the
rest. A clone costs some milliseconds, so tests share no rows; roles belong to the server and are shared by all.
"""

import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from storage import migrate
from storage.database import Database
from storage.embedded import EmbeddedPostgres, EmbeddedServer
from storage.embedded.bootstrap import add_pgvector, restrict_database
from storage.embedded.locks import exclusive

_TEMPLATE = "remit_template"
_LOCK_SECONDS = 120.0
_FOLDER = pytest.StashKey[Path]()


@dataclass(frozen=True)
class DatabaseDsns:
    """Connection strings to one database: as the server's role, as the DDL role and as superuser."""

    name: str
    server: str
    ddl: str
    superuser: str


def reachable_folder(prefix: str) -> Path:
    """A new temporary folder that an unprivileged server may pass through (pytest's own are closed to others)."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    folder.chmod(0o711)
    return folder


def pytest_configure(config: pytest.Config) -> None:
    worker_input: dict[str, Any] | None = getattr(config, "workerinput", None)
    config.stash[_FOLDER] = Path(worker_input["postgres_folder"]) if worker_input else reachable_folder("remit-tests-")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["postgres_folder"] = str(node.config.stash[_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and _FOLDER in config.stash:
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Iterator[EmbeddedServer]:
    """The run's server. Killing a process of it needs a server of the test's own."""
    folder = pytestconfig.stash[_FOLDER]
    # Nothing of a test outlives the machine, so nothing waits for the disk; a killed server still loses nothing.
    (folder / "postgres.local.conf").write_text("fsync = off\nfull_page_writes = off\nmax_wal_size = 8GB\n")
    with EmbeddedPostgres(folder) as server:
        yield server


def dsns(server: EmbeddedServer, name: str) -> DatabaseDsns:
    return DatabaseDsns(
        name, server.dsn("remit_server", name), server.dsn("remit_ddl", name), server.dsn("postgres", name)
    )


@contextmanager
def _created(server: EmbeddedServer, template: str) -> Iterator[DatabaseDsns]:
    name = f"t_{uuid.uuid4().hex}"
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy OWNER remit_ddl")
        try:
            restrict_database(connection, name)
            yield dsns(server, name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def template_database(postgres: EmbeddedServer, pytestconfig: pytest.Config) -> str:
    """The name of the migrated template; the first worker makes it, nobody can connect to it."""
    admin = postgres.dsn("postgres", "postgres")
    with (
        exclusive(pytestconfig.stash[_FOLDER] / "template.lock", _LOCK_SECONDS),
        psycopg.connect(admin, autocommit=True) as connection,
    ):
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", (_TEMPLATE,)).fetchone() is None:
            draft = f"{_TEMPLATE}_draft"
            connection.execute(f"DROP DATABASE IF EXISTS {draft} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {draft} OWNER remit_ddl")
            add_pgvector(postgres, draft)
            migrate.upgrade(postgres.dsn("remit_ddl", draft))
            connection.execute(f"ALTER DATABASE {draft} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true")
            connection.execute(f"ALTER DATABASE {draft} RENAME TO {_TEMPLATE}")
    return _TEMPLATE


@pytest.fixture(scope="session")
def clone_database(
    postgres: EmbeddedServer, template_database: str
) -> Callable[[], AbstractContextManager[DatabaseDsns]]:
    """For fixtures of a wider scope: `with clone_database() as dsns` is a migrated database, dropped at the end."""
    return lambda: _created(postgres, template_database)


@pytest.fixture
def fresh_database(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[DatabaseDsns]:
    """A migrated database of the test's own."""
    with clone_database() as database:
        yield database


@pytest.fixture
def empty_database(postgres: EmbeddedServer) -> Iterator[DatabaseDsns]:
    """A database of the test's own without a schema."""
    with _created(postgres, "template1") as database:
        yield database


@pytest.fixture
def database_dsn(fresh_database: DatabaseDsns) -> str:
    """The server role's connection string to a migrated database of the test's own."""
    return fresh_database.server


@pytest.fixture
async def database(fresh_database: DatabaseDsns) -> AsyncIterator[Database]:
    """An open pool, as the server's role, on a migrated database of the test's own."""
    async with Database(fresh_database.server, size_max=4) as opened:
        yield opened


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of the specification and the cases; a test that needs it is skipped where it is absent."""
    folder = Path(os.environ.get("REMIT_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(f"the shared folder {folder} is absent; set REMIT_SHARED to run this test")
    return folder


pytest_plugins = ["tests.cluster", "tests.requirement_results"]
