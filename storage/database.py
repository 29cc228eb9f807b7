"""The connection pool, and the one way to run a statement for a tenant (write-path.md; memory.md, Tenancy)."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, LiteralString, Self

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import PipelineStatus
from psycopg_pool import AsyncConnectionPool

from storage.driver_errors import translated, translating
from storage.errors import (
    DatabaseUnavailable,
    OutcomeUnknown,
    SerializationConflict,
    StatementTimeout,
    StorageError,
    UnsafeDatabaseRole,
)
from storage.role_audit import audit_role

Row = tuple[Any, ...]
Params = Sequence[Any] | Mapping[str, Any]

# Plans must not depend on statistics, which fresh tables do not have: never scan a table, and plan a statement once.
_SET_TENANT = (
    "SELECT set_config('remit.tenant_id', %s, true), set_config('enable_seqscan', 'off', true), "
    "set_config('plan_cache_mode', 'force_generic_plan', true)"
)
_SET_TENANT_AND_TIMEOUT = _SET_TENANT + ", set_config('statement_timeout', %s, true)"
# The pool doubles its pause between attempts to connect; giving up early keeps the pauses short, and the next caller
# starts a new attempt.
_RECONNECT_SECONDS = 4.0
_PREPARED_STATEMENTS_MAX = 400
_PERSIST_PAUSE_SECONDS = 0.1


class Database:
    """A pool of autocommit connections as the server's role.

    `prepared_statements=False` is for a transaction-pooling PgBouncer: nothing then outlives a transaction on a
    connection, neither a prepared statement nor a setting. `statement_timeout_seconds` bounds each statement; behind
    PgBouncer it is set by `tenant_rows` only, so give the role one as well (ALTER ROLE ... SET statement_timeout).
    `acquire_timeout_seconds` is the longest wait for a free connection.
    """

    def __init__(
        self,
        dsn: str,
        *,
        size_min: int = 1,
        size_max: int = 8,
        statement_timeout_seconds: float = 30.0,
        acquire_timeout_seconds: float = 10.0,
        prepared_statements: bool = True,
        application_name: str = "remit",
    ) -> None:
        self._size_max = size_max
        self._timeout_text = f"{round(statement_timeout_seconds * 1000)}ms"
        self._session_settings = prepared_statements
        self._pool = AsyncConnectionPool(
            dsn,
            connection_class=AsyncConnection[Row],
            kwargs={
                "autocommit": True,
                "prepare_threshold": 2 if prepared_statements else None,
                "application_name": application_name,
            },
            min_size=size_min,
            max_size=size_max,
            timeout=acquire_timeout_seconds,
            reconnect_timeout=_RECONNECT_SECONDS,
            configure=self._configure,
            open=False,
            name=application_name,
        )

    async def open(self, wait_seconds: float = 30.0) -> None:
        """Open the pool and wait for its first connections. Raises DatabaseUnavailable after `wait_seconds`."""
        await self._pool.open()
        with translating():
            await self._pool.wait(wait_seconds)

    async def close(self) -> None:
        """Close the pool; statements under way keep their connection until they end."""
        await self._pool.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Row]]:
        """A connection of the pool, in autocommit.

        Raises DatabaseUnavailable when there is none to be had. Driver errors of the block come out as storage errors;
        a connection lost inside the block is OutcomeUnknown.
        """
        connection = await self._acquire()
        try:
            with translating():
                yield connection
        finally:
            await self._give_back(connection)

    async def tenant_rows(
        self, tenant_id: str, query: LiteralString, params: Params | None = None, *, binary: bool = True
    ) -> list[Row]:
        """Run one reading statement with the tenant set for its transaction; returns all its rows.

        One round trip: both statements go out in a pipeline, whose end commits them together. The statement may run
        again on another connection when one is lost (a restarted database leaves a pool of dead ones), so it must not
        change anything. `binary=False` asks for text results, for types without a binary loader (enums).
        Raises DatabaseUnavailable, StatementTimeout, StatementFailed.
        """
        for attempt in range(self._size_max + 1):
            connection = await self._acquire()
            try:
                return await self._run_for_tenant(connection, tenant_id, query, params, binary)
            except psycopg.Error as error:
                if not connection.closed or attempt == self._size_max:
                    raise _reading_failed(error) from (error if isinstance(error, psycopg.ProgrammingError) else None)
            finally:
                await self._give_back(connection)
        raise AssertionError("the last attempt returns or raises")

    async def persist(self, query: LiteralString, params: Params, *, give_up_seconds: float = 30.0) -> list[Row]:
        """Run one repeatable statement, again and again while the database is away; returns all its rows.

        For finding out what became of a change. Raises OutcomeUnknown when there is no answer after `give_up_seconds`.
        """
        give_up_at = time.monotonic() + give_up_seconds
        while True:
            try:
                async with self.connection() as connection:
                    cursor = await connection.execute(query, params)
                    return await cursor.fetchall()
            except (DatabaseUnavailable, StatementTimeout, SerializationConflict) as error:
                # No answer is not an answer: a change may still be under way behind a lock this waited for in vain.
                if time.monotonic() > give_up_at:
                    raise OutcomeUnknown(getattr(error, "condition", None)) from None
                await asyncio.sleep(_PERSIST_PAUSE_SECONDS)

    async def check_role(self) -> None:
        """Raises UnsafeDatabaseRole when the role could get around the ledger or row-level security."""
        async with self.connection() as connection:
            findings = await audit_role(connection)
            if findings:
                raise UnsafeDatabaseRole(connection.info.user, findings)

    async def _run_for_tenant(
        self,
        connection: AsyncConnection[Row],
        tenant_id: str,
        query: LiteralString,
        params: Params | None,
        binary: bool,
    ) -> list[Row]:
        # Without BEGIN: up to the pipeline's end, a pipeline is one transaction.
        async with connection.pipeline():
            if self._session_settings:
                await connection.execute(_SET_TENANT, (tenant_id,))
            else:
                await connection.execute(_SET_TENANT_AND_TIMEOUT, (tenant_id, self._timeout_text))
            cursor = await connection.execute(query, params, binary=binary)
        return await cursor.fetchall()

    async def _acquire(self) -> AsyncConnection[Row]:
        try:
            return await self._pool.getconn()
        except psycopg.Error as error:
            raise DatabaseUnavailable(type(error).__name__) from None

    async def _give_back(self, connection: AsyncConnection[Row]) -> None:
        # A reader that is cancelled at the doors of its pipeline leaves the connection inside. The next one's statement
        # would be answered there without being committed, and keep its locks: such a connection is used no more.
        if not connection.closed and connection.pgconn.pipeline_status != PipelineStatus.OFF:
            await connection.close()
        await self._pool.putconn(connection)

    async def _configure(self, connection: AsyncConnection[Row]) -> None:
        connection.prepared_max = _PREPARED_STATEMENTS_MAX
        if self._session_settings:
            await connection.execute("SELECT set_config('statement_timeout', %s, false)", (self._timeout_text,))


def _reading_failed(error: psycopg.Error) -> StorageError:
    """As translated, but a statement that only read has no unknown outcome."""
    failure = translated(error)
    return DatabaseUnavailable(failure.condition) if isinstance(failure, OutcomeUnknown) else failure
