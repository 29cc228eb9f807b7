"""Bringing the schema to a revision, safely when several processes try at once (write-path.md; C12, A49).

All of a migration happens on one connection as the DDL role, under an advisory lock of the database: the first to get
it applies, the others find nothing left to do. Each revision is a transaction with its own entry in the version table,
so a migration that was killed is resumed after the last whole revision. Migrations go forward only.
"""

import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from storage.errors import (
    DatabaseUnavailable,
    MigrationError,
    MigrationFailed,
    MigrationLockTimeout,
    UnknownSchemaRevision,
)

Phase = Literal["pre", "post"]

LOCK_KEY = 0x72656D6974  # "remit"
_LOCK_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class UpgradeReport:
    """`before` and `after` are revisions (None: an empty database); `pending` is what this phase left for later."""

    before: str | None
    after: str | None
    applied: tuple[str, ...]
    pending: tuple[str, ...]


def upgrade(
    ddl_dsn: str, phase: Phase | None = None, *, lock_timeout_seconds: float = 300.0, script: Path | None = None
) -> UpgradeReport:
    """Apply what is pending. Blocking: for the command line and for start-up, not for the event loop.

    `phase="pre"` stops before the first revision that must wait for the old code to be gone (a "post" one); "post" and
    None apply all. `script` is the folder of another migration environment (for tests).
    Raises DatabaseUnavailable, MigrationLockTimeout, MigrationRoleLacksRights, UnknownSchemaRevision, MigrationFailed.
    """
    config = _config(script)
    with _connect(ddl_dsn) as connection:
        with connection.begin():
            # A killed migration's last statement would go on, and keep the lock, for as long as it takes.
            connection.execute(text("SET client_connection_check_interval = '2s'"))
        with _locked(connection, lock_timeout_seconds):
            return _upgrade_locked(config, connection, phase)


def _upgrade_locked(config: Config, connection: Connection, phase: Phase | None) -> UpgradeReport:
    before = _stored_revision(connection)
    todo = _after(_revisions(config), before)
    chosen = _of_phase(todo, phase)
    if chosen:
        _apply(config, connection, before, chosen)
        _analyze(connection)
    applied = tuple(script.revision for script in chosen)
    after = applied[-1] if applied else before
    return UpgradeReport(before, after, applied, tuple(script.revision for script in todo[len(chosen) :]))


def current(dsn: str) -> str | None:
    """The revision of the database, None when it was never migrated; the server's role may ask.

    Raises DatabaseUnavailable.
    """
    with _connect(dsn) as connection:
        return _stored_revision(connection)


def head() -> str:
    """The revision this release brings a database to."""
    revision = ScriptDirectory.from_config(_config(None)).get_current_head()
    if revision is None:
        raise MigrationError
    return revision


def phase_of(script: Script) -> str:
    """The PHASE a revision's module declares."""
    return str(getattr(script.module, "PHASE", ""))


def _config(script: Path | None) -> Config:
    if script is None:
        spec = importlib.util.find_spec("migrations")
        if spec is None or spec.origin is None:
            raise MigrationError
        script = Path(spec.origin).parent
    config = Config()
    # Through ConfigParser, where % starts an interpolation.
    config.set_main_option("script_location", str(script).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _revisions(config: Config) -> list[Script]:
    """All revisions, oldest first."""
    return list(ScriptDirectory.from_config(config).walk_revisions())[::-1]


def _after(revisions: list[Script], before: str | None) -> list[Script]:
    if before is None:
        return revisions
    names = [script.revision for script in revisions]
    if before not in names:
        raise UnknownSchemaRevision(before)
    return revisions[names.index(before) + 1 :]


def _of_phase(todo: list[Script], phase: Phase | None) -> list[Script]:
    if phase != "pre":
        return todo
    posts = [index for index, script in enumerate(todo) if phase_of(script) != "pre"]
    return todo[: posts[0]] if posts else todo


def _apply(config: Config, connection: Connection, before: str | None, chosen: list[Script]) -> None:
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, chosen[-1].revision)
    except SQLAlchemyError as error:
        connection.rollback()
        reached = before if connection.invalidated else _stored_revision(connection)
        failed = next((script for script in chosen if script.down_revision == reached), chosen[0])
        cause = getattr(error, "orig", None) or error
        raise MigrationFailed(failed.revision, type(cause).__name__) from error


def _analyze(connection: Connection) -> None:
    """Fresh tables have no statistics, and plans cached without them stay bad (write-path.md)."""
    with connection.begin():
        tables = connection.execute(
            text(
                "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n"
                " ON n.oid = c.relnamespace WHERE n.nspname = 'remit' AND c.relkind IN ('r', 'p')"
                " AND pg_has_role(current_user, c.relowner, 'MEMBER')"
            )
        ).scalars()
        for table in tables.all():
            connection.execute(text(f"ANALYZE {table}"))


@contextmanager
def _connect(dsn: str) -> Iterator[Connection]:
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(dsn, application_name="remit migrate"),
        poolclass=NullPool,
    )
    try:
        connection = engine.connect()
    except SQLAlchemyError as error:
        raise DatabaseUnavailable(type(getattr(error, "orig", error)).__name__) from None
    with connection:
        yield connection


@contextmanager
def _locked(connection: Connection, timeout_seconds: float) -> Iterator[None]:
    """Hold the migration lock for the session. Tried, not waited for: a waiting statement would pin a snapshot."""
    deadline = time.monotonic() + timeout_seconds
    while not _lock_call(connection, "pg_try_advisory_lock"):
        if time.monotonic() > deadline:
            raise MigrationLockTimeout(timeout_seconds)
        time.sleep(_LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        if not connection.closed and not connection.invalidated:
            connection.rollback()
            _lock_call(connection, "pg_advisory_unlock")


def _lock_call(connection: Connection, function: str) -> bool:
    with connection.begin():
        return bool(connection.execute(text(f"SELECT {function}(:key)"), {"key": LOCK_KEY}).scalar_one())


_VERSION_TABLE_READABLE = text(
    "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'remit' AND c.relname = 'alembic_version'"
    " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
)
_BECOME_OWNER = text(
    "SELECT set_config('role', rolname, true) FROM pg_roles"
    " WHERE rolname = 'remit_owner' AND pg_has_role(current_user, oid, 'MEMBER')"
)


def _stored_revision(connection: Connection) -> str | None:
    with connection.begin():
        connection.execute(_BECOME_OWNER)  # a DDL role may hold its membership without INHERIT
        if connection.execute(_VERSION_TABLE_READABLE).first() is None:
            return None  # never migrated, or (for the server's role) not up to the grants of the first revision
        rows = connection.execute(text("SELECT version_num FROM remit.alembic_version")).scalars().all()
    return str(rows[0]) if rows else None
