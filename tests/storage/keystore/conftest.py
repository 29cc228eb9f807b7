"""Both key stores over one folder and one database; every test works in a tenant of its own."""

import itertools
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from storage.embedded import EmbeddedServer
from storage.embedded.bootstrap import restrict_database
from storage.encryption import DeploymentKeys
from storage.keystore import DirectoryKeyStore, KeyStore, PostgresKeyStore, create_schema

KEK = bytes(range(32))
_tenants = itertools.count()


@pytest.fixture
def keys() -> DeploymentKeys:
    return DeploymentKeys(KEK)


@pytest.fixture
def tenant_id() -> str:
    return f"tenant-{os.getpid()}-{next(_tenants)}"


@pytest.fixture(scope="session")
def key_database_dsn(postgres: EmbeddedServer) -> Iterator[str]:
    """DSN of the server's role on a database of the key store alone."""
    name = f"keys_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER remit_ddl".encode())
        restrict_database(connection, name)
        create_schema(postgres.dsn("remit_ddl", name), server_role="remit_server")
        yield postgres.dsn("remit_server", name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture(params=["directory", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store lies: the path of a folder, or a DSN."""
    if request.param == "directory":
        return str(tmp_path / "keys")
    return str(request.getfixturevalue("key_database_dsn"))


@pytest.fixture
def make_store(place: str) -> Callable[[DeploymentKeys], KeyStore]:
    def make(keys: DeploymentKeys) -> KeyStore:
        if place.startswith("/"):
            return DirectoryKeyStore(Path(place), keys)
        return PostgresKeyStore(place, keys)

    return make


@pytest.fixture
async def store(make_store: Callable[[DeploymentKeys], KeyStore], keys: DeploymentKeys) -> AsyncIterator[KeyStore]:
    store = make_store(keys)
    await store.open()
    yield store
    await store.close()
