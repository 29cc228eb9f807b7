"""Key pages in a PostgreSQL of their own: the key store of several hosts (memory.md, Encrypted parts).

The database is another than the content's, with other backups. A destroyed key's row is deleted and committed; its dead
bytes leave the table with the next vacuum (set to run early here) and the write-ahead log with its recycling, both of
which the period that the operator sets for backups of the key store has to cover.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, TypeVar
from uuid import UUID

import psycopg
from psycopg import AsyncConnection, sql

from storage.database import Database
from storage.driver_errors import translating
from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.errors import (
    DatabaseUnavailable,
    OutcomeUnknown,
    SerializationConflict,
    StatementFailed,
    StatementTimeout,
    StorageError,
)
from storage.keystore.page import (
    PAGE_SIZE_MAX,
    PLACE,
    WRAPPED_BYTES,
    KeyId,
    KeyPage,
    KeyStoreUnavailable,
    check_key_id,
    check_tenant,
    slots_by_page,
)

T = TypeVar("T")
_Connection = AsyncConnection[tuple[Any, ...]]

_POOL_SIZE_MAX: Final = 4
_SCHEMA: Final = f"""
CREATE SCHEMA IF NOT EXISTS remit_keys;
CREATE TABLE IF NOT EXISTS remit_keys.pages (
    tenant_id text NOT NULL,
    page_id uuid NOT NULL,
    key_id text NOT NULL,
    size integer NOT NULL CHECK (size BETWEEN 1 AND {PAGE_SIZE_MAX}),
    reserved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, page_id)
);
CREATE TABLE IF NOT EXISTS remit_keys.slots (
    tenant_id text NOT NULL,
    page_id uuid NOT NULL,
    slot integer NOT NULL CHECK (slot BETWEEN 0 AND {PAGE_SIZE_MAX - 1}),
    wrapped bytea NOT NULL CHECK (octet_length(wrapped) = {WRAPPED_BYTES}),
    PRIMARY KEY (tenant_id, page_id, slot),
    FOREIGN KEY (tenant_id, page_id) REFERENCES remit_keys.pages
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50);
"""
_PROTECT: Final = """
ALTER TABLE remit_keys.{table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE remit_keys.{table} FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS tenant ON remit_keys.{table};
CREATE POLICY tenant ON remit_keys.{table} USING (tenant_id = current_setting('remit.tenant_id', true));
"""
# UPDATE is granted on nothing: a page and a key are made once, and a key can only go.
_GRANT: Final = """
GRANT USAGE ON SCHEMA remit_keys TO {role};
GRANT SELECT, INSERT ON remit_keys.pages TO {role};
GRANT SELECT, INSERT, DELETE ON remit_keys.slots TO {role};
"""

# A database set to answer before a commit is durable would let a destroyed key come back after a crash.
_BEGIN: Final = """
SELECT set_config('remit.tenant_id', %s, true), set_config(
    'synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true
)
"""
_INSERT_PAGE: Final = "INSERT INTO remit_keys.pages (tenant_id, page_id, key_id, size) VALUES (%s, %s, %s, %s)"
_INSERT_SLOTS: Final = """
INSERT INTO remit_keys.slots (tenant_id, page_id, slot, wrapped)
SELECT %s, %s, slot, wrapped FROM unnest(%s::integer[], %s::bytea[]) AS made (slot, wrapped)
"""
_SELECT_PAGE: Final = """
SELECT page.key_id, page.size, slots.slot, slots.wrapped
FROM remit_keys.pages AS page LEFT JOIN remit_keys.slots USING (tenant_id, page_id)
WHERE tenant_id = %s AND page_id = %s
"""
# Held to the end of the transaction: two that destroy keys of the same pages wait here, in the order of the pages.
_LOCK_PAGE: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_SELECT_KNOWN: Final = "SELECT page_id FROM remit_keys.pages WHERE tenant_id = %s AND page_id = ANY (%s)"
_DELETE_SLOTS: Final = """
DELETE FROM remit_keys.slots AS slots
USING unnest(%s::uuid[], %s::integer[]) AS doomed (page_id, slot)
WHERE slots.tenant_id = %s AND slots.page_id = doomed.page_id AND slots.slot = doomed.slot
"""


def create_schema(dsn: str, *, server_role: str) -> None:
    """Creates what is missing of the schema `remit_keys`, and gives `server_role` the rights it needs there.

    For the role that owns the database; `remit migrate` runs it. Blocking. Raises a class of StorageError.
    """
    try:
        connection = psycopg.connect(dsn)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(type(error).__name__) from None
    with translating(), connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('remit_keys', 0))")
        connection.execute(_SCHEMA.encode())
        for table in ("pages", "slots"):
            connection.execute(sql.SQL(_PROTECT).format(table=sql.Identifier(table)))
        connection.execute(sql.SQL(_GRANT).format(role=sql.Identifier(server_role)))


class PostgresKeyStore:
    """A key store in the database of `dsn`, as the server's role there. Implements KeyStore."""

    def __init__(self, dsn: str, keys: DeploymentKeys, *, pool_size_max: int = _POOL_SIZE_MAX) -> None:
        self._keys = keys
        self._attempts = pool_size_max + 1
        self._database = Database(dsn, size_max=pool_size_max, application_name="remit-keys")

    async def open(self) -> None:
        """Opens the pool. Raises KeyStoreUnavailable when the database does not answer."""
        try:
            await self._database.open()
        except DatabaseUnavailable as error:
            raise KeyStoreUnavailable(_condition(error)) from error

    async def close(self) -> None:
        """Closes the pool."""
        await self._database.close()

    async def reserve_page(self, tenant_id: str, size: int) -> KeyPage:
        """See KeyStore."""

        async def reserve(connection: _Connection) -> KeyPage:
            # Made anew on each attempt: where the outcome of an earlier one is unknown, its page is abandoned.
            page = KeyPage.generate(self._keys, tenant_id, size)
            wrapped = page.wrapped()
            await connection.execute(_INSERT_PAGE, (tenant_id, page.page_id, self._keys.key_id, size))
            await connection.execute(_INSERT_SLOTS, (tenant_id, page.page_id, list(wrapped), list(wrapped.values())))
            return page

        return await self._in_transaction(tenant_id, reserve)

    async def load_page(self, tenant_id: str, page_id: UUID) -> KeyPage:
        """See KeyStore."""

        async def load(connection: _Connection) -> list[tuple[Any, ...]]:
            cursor = await connection.execute(_SELECT_PAGE, (tenant_id, page_id), binary=True)
            return await cursor.fetchall()

        rows = await self._in_transaction(tenant_id, load)
        if not rows:
            raise IntegrityViolation(PLACE, "PAGE_UNKNOWN")
        key_id, size = rows[0][:2]
        check_key_id(key_id, self._keys)
        wrapped = {slot: bytes(value) for _, _, slot, value in rows if slot is not None}
        return KeyPage(self._keys, tenant_id, page_id, size, wrapped)

    async def destroy(self, tenant_id: str, key_ids: Collection[KeyId]) -> int:
        """See KeyStore."""
        pages = slots_by_page(key_ids)
        page_ids = [page_id for page_id, slots in pages.items() for _ in slots]
        slots = [slot for slots in pages.values() for slot in slots]

        async def destroy(connection: _Connection) -> tuple[int, int]:
            for page_id in pages:
                await connection.execute(_LOCK_PAGE, (f"{tenant_id}/{page_id}",))
            deleted = await connection.execute(_DELETE_SLOTS, (page_ids, slots, tenant_id))
            known = await connection.execute(_SELECT_KNOWN, (tenant_id, list(pages)))
            return deleted.rowcount, len(await known.fetchall())

        destroyed, known = await self._in_transaction(tenant_id, destroy)
        if known < len(pages):
            raise IntegrityViolation(PLACE, "PAGE_UNKNOWN")
        return destroyed

    async def _in_transaction(self, tenant_id: str, work: Callable[[_Connection], Awaitable[T]]) -> T:
        check_tenant(tenant_id)
        for attempt in range(1, self._attempts + 1):
            acquired = False
            try:
                async with self._database.connection() as connection:
                    acquired = True
                    async with connection.transaction():
                        await connection.execute(_BEGIN, (tenant_id,))
                        result = await work(connection)
                return result
            except (DatabaseUnavailable, OutcomeUnknown, SerializationConflict) as error:
                # All of it may be done twice, and a restarted database leaves a pool full of dead connections.
                if not acquired or attempt == self._attempts:
                    raise KeyStoreUnavailable(_condition(error)) from error
            except (StatementFailed, StatementTimeout) as error:
                raise KeyStoreUnavailable(_condition(error)) from error
        raise AssertionError("the last attempt returns or raises")


def _condition(error: StorageError) -> str:
    return getattr(error, "condition", None) or type(error).__name__
