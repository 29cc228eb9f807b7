"""The key store in PostgreSQL: what its role can't do, and what it survives."""

from collections.abc import AsyncIterator
from uuid import UUID

import psycopg
import pytest
from psycopg import errors as pg
from psycopg.conninfo import make_conninfo

from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.errors import DatabaseUnavailable
from storage.keystore import KeyId, KeyStoreUnavailable, PostgresKeyStore, create_schema
from tests.conftest import DatabaseDsns


@pytest.fixture
async def store(key_database_dsn: str, keys: DeploymentKeys) -> AsyncIterator[PostgresKeyStore]:
    store = PostgresKeyStore(key_database_dsn, keys)
    await store.open()
    yield store
    await store.close()


def as_superuser(dsn: str) -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect(make_conninfo(dsn, user="postgres"), autocommit=True)


async def test_creating_the_schema_again_changes_nothing(
    store: PostgresKeyStore, key_database_dsn: str, tenant_id: str
) -> None:
    page = await store.reserve_page(tenant_id, 2)
    create_schema(make_conninfo(key_database_dsn, user="remit_ddl"), server_role="remit_server")
    assert (await store.load_page(tenant_id, page.page_id)).slots() == {0, 1}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE remit_keys.slots SET slot = slot + 1",
        "UPDATE remit_keys.pages SET size = 1",
        "DELETE FROM remit_keys.pages",
        "TRUNCATE remit_keys.slots",
        "ALTER TABLE remit_keys.slots NO FORCE ROW LEVEL SECURITY",
        "CREATE TABLE remit_keys.copies AS SELECT 1",
    ],
)
def test_role_can_only_add_and_destroy(key_database_dsn: str, statement: str) -> None:
    with psycopg.connect(key_database_dsn) as connection, pytest.raises(pg.InsufficientPrivilege):
        connection.execute(statement.encode())


async def test_rows_are_hidden_from_other_tenants(
    store: PostgresKeyStore, key_database_dsn: str, tenant_id: str
) -> None:
    await store.reserve_page(tenant_id, 2)
    with psycopg.connect(key_database_dsn) as connection:
        for tenant in ("", "another"):
            connection.execute("SELECT set_config('remit.tenant_id', %s, true)", (tenant,))
            for table in ("pages", "slots"):
                assert connection.execute(f"SELECT FROM remit_keys.{table}".encode()).fetchall() == []
        with pytest.raises(pg.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO remit_keys.pages (tenant_id, page_id, key_id, size) VALUES (%s, %s, '', 1)",
                (tenant_id, "00000000-0000-0000-0000-000000000000"),
            )


async def test_moved_slots_are_refused(store: PostgresKeyStore, key_database_dsn: str, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 3)
    await store.destroy(tenant_id, [KeyId(page.page_id, 2)])
    with as_superuser(key_database_dsn) as connection:
        connection.execute("UPDATE remit_keys.slots SET slot = 2 WHERE page_id = %s AND slot = 0", (page.page_id,))
    loaded = await store.load_page(tenant_id, page.page_id)
    assert loaded.key(0) is None
    assert loaded.key(1) == page.key(1)
    with pytest.raises(IntegrityViolation) as caught:
        loaded.key(2)
    assert caught.value.kind == "WRAPPED_KEY"


async def test_lost_connections_are_replaced(store: PostgresKeyStore, key_database_dsn: str, tenant_id: str) -> None:
    page = await store.reserve_page(tenant_id, 3)
    for _ in range(3):
        with as_superuser(key_database_dsn) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert (await store.load_page(tenant_id, page.page_id)).slots() == {0, 1, 2}


async def test_commits_are_durable_where_the_database_is_lax(
    key_database_dsn: str, keys: DeploymentKeys, tenant_id: str
) -> None:
    lax = make_conninfo(key_database_dsn, options="-c synchronous_commit=off")
    with as_superuser(key_database_dsn) as connection:
        connection.execute(_OBSERVE_COMMITS)
        store = PostgresKeyStore(lax, keys)
        await store.open()
        try:
            page = await store.reserve_page(tenant_id, 1)
            await store.destroy(tenant_id, [KeyId(page.page_id, 0)])
        finally:
            await store.close()
            connection.execute("DROP TRIGGER observed ON remit_keys.slots")
        observed = connection.execute("SELECT operation, durability FROM observed_commits").fetchall()
    assert sorted(observed) == [("DELETE", "on"), ("INSERT", "on")]


_OBSERVE_COMMITS = b"""
CREATE TABLE observed_commits (operation text, durability text);
CREATE FUNCTION observe_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    INSERT INTO observed_commits VALUES (tg_op, current_setting('synchronous_commit'));
    RETURN NULL;
END $$;
CREATE TRIGGER observed AFTER INSERT OR DELETE ON remit_keys.slots
    FOR EACH STATEMENT EXECUTE FUNCTION observe_commit();
"""


async def test_absent_database_is_unavailable(key_database_dsn: str, keys: DeploymentKeys, tenant_id: str) -> None:
    absent = make_conninfo(key_database_dsn, dbname="absent")
    with pytest.raises(DatabaseUnavailable):
        create_schema(absent, server_role="remit_server")
    store = PostgresKeyStore(key_database_dsn, keys)
    with pytest.raises(KeyStoreUnavailable):  # it was not opened
        await store.load_page(tenant_id, UUID(int=1))


async def test_database_without_the_schema_is_unavailable(
    empty_database: DatabaseDsns, keys: DeploymentKeys, tenant_id: str
) -> None:
    store = PostgresKeyStore(empty_database.server, keys)
    await store.open()
    try:
        with pytest.raises(KeyStoreUnavailable):
            await store.reserve_page(tenant_id, 1)
    finally:
        await store.close()
