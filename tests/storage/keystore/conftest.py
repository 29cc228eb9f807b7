"""Both key stores over one folder and one database; every test works in a tenant of its own."""

import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from storage.embedded import EmbeddedPostgres
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
def key_database_dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """DSN of the server's role on a database of the key store alone."""
    with EmbeddedPostgres(tmp_path_factory.mktemp("keystore-postgres")) as server:
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE remit_keys OWNER remit_ddl")
        create_schema(server.dsn("remit_ddl", "remit_keys"), server_role="remit_server")
        yield server.dsn("remit_server", "remit_keys")


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
