"""Driver errors into storage.errors: nothing else looks into what psycopg raises (architecture.md)."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from storage.errors import (
    DatabaseUnavailable,
    OutcomeUnknown,
    SerializationConflict,
    StatementFailed,
    StatementTimeout,
    StorageError,
)

# The server said so itself, so the transaction is known to be undone. DiskFull is an InsufficientResources of its own.
_REFUSING = (
    pg.AdminShutdown,
    pg.CrashShutdown,
    pg.CannotConnectNow,
    pg.IdleInTransactionSessionTimeout,
    pg.ReadOnlySqlTransaction,  # a failover left us on a standby
    pg.InsufficientResources,
    pg.DiskFull,
    pg.OutOfMemory,
    pg.TooManyConnections,
)
_CONFLICTS = (pg.SerializationFailure, pg.DeadlockDetected, pg.LockNotAvailable)


def translated(error: psycopg.Error) -> StorageError:
    """The storage error for a driver error met while a statement was under way."""
    condition = type(error).__name__
    if isinstance(error, PoolTimeout | PoolClosed | TooManyRequests):
        return DatabaseUnavailable(condition)
    if isinstance(error, _REFUSING):
        return DatabaseUnavailable(condition)
    if isinstance(error, _CONFLICTS):
        return SerializationConflict(condition)
    if isinstance(error, pg.QueryCanceled):
        return StatementTimeout()
    if error.sqlstate is None and isinstance(error, psycopg.OperationalError):
        return OutcomeUnknown(condition)  # no word from the server: the connection broke
    return StatementFailed(error.diag.constraint_name, condition)


@contextmanager
def translating() -> Iterator[None]:
    """Raise storage errors for driver errors of the block.

    The driver's error quotes rows ("Key (...)=(...)") and is dropped, except where it names only our own code: a
    statement that does not fit the schema is a programming error, and its text is what helps.
    """
    try:
        yield
    except psycopg.ProgrammingError as error:
        raise translated(error) from error
    except psycopg.Error as error:
        raise translated(error) from None
