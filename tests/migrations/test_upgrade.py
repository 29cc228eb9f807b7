"""Migrations on empty, half-migrated and contended databases (write-path.md; memory.md, Tenancy)."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory

import migrations
from storage import migrate
from storage.embedded import EmbeddedPostgres, EmbeddedServer
from storage.errors import (
    DatabaseUnavailable,
    MigrationFailed,
    MigrationLockTimeout,
    MigrationRoleLacksRights,
    UnknownSchemaRevision,
)
from tests.conftest import DatabaseDsns, dsns

REPOSITORY = Path(__file__).parents[2]
SHIPPED = Path(migrations.__path__[0])

# Waits for a line on stdin, so that all set out together; prints how many revisions it applied.
UPGRADE_PROCESS = """
import sys
from pathlib import Path
from storage import migrate
print("ready", flush=True)
sys.stdin.readline()
report = migrate.upgrade(sys.argv[1], script=Path(sys.argv[2]))
print(len(report.applied), report.after)
"""

REVISION = '''
from migrations.sql_files import run_sql
revision = "{name}"
down_revision = {parent!r}
PHASE = "{phase}"
def upgrade():
    run_sql("""{sql}""", "remit_owner")
'''


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A migration environment with the shipped first revision only; `add_revision` extends it."""
    folder = tmp_path / "environment"
    (folder / "versions").mkdir(parents=True)
    for name in ("env.py", "script.py.mako", "versions/0000_roles_schema.py"):
        shutil.copy(SHIPPED / name, folder / name)
    return folder


def add_revision(script: Path, name: str, parent: str, sql: str, phase: str = "pre") -> Path:
    path = script / "versions" / f"{name}.py"
    path.write_text(REVISION.format(name=name, parent=parent, phase=phase, sql=sql))
    return path


def spawn(dsn: str, script: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", UPGRADE_PROCESS, dsn, str(script)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def set_out(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def upgrade_together(dsn: str, script: Path, count: int) -> list[str]:
    """Upgrade in `count` processes at once; all must exit 0. Returns what each printed: applied count, revision."""
    processes = [spawn(dsn, script) for _ in range(count)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        set_out(process)
    results = [process.communicate(timeout=120) for process in processes]
    assert [(process.returncode, error) for process, (_, error) in zip(processes, results, strict=True)] == [
        (0, "")
    ] * count
    return sorted(output.strip() for output, _ in results)


@pytest.mark.case("C12")
def test_of_three_upgrades_from_empty_one_applies_and_all_succeed(empty_database: DatabaseDsns) -> None:
    head = migrate.head()
    revisions = len(list(ScriptDirectory(str(SHIPPED)).walk_revisions()))
    outputs = upgrade_together(empty_database.ddl, SHIPPED, 3)
    assert outputs == [f"0 {head}", f"0 {head}", f"{revisions} {head}"]
    assert migrate.current(empty_database.server) == head


@pytest.mark.case("A49")
def test_eight_upgrades_at_once_on_a_half_migrated_database_all_succeed_twice(
    empty_database: DatabaseDsns, script: Path
) -> None:
    add_revision(script, "0001_first", "0000_roles_schema", "CREATE TABLE remit.first (n int)")
    broken = add_revision(
        script, "0002_second", "0001_first", "CREATE TABLE remit.second (n int); SELECT no_such_function()"
    )
    with pytest.raises(MigrationFailed):
        migrate.upgrade(empty_database.ddl, script=script)
    assert migrate.current(empty_database.ddl) == "0001_first"
    broken.write_text(broken.read_text().replace("; SELECT no_such_function()", ""))
    assert upgrade_together(empty_database.ddl, script, 8) == ["0 0002_second"] * 7 + ["1 0002_second"]
    assert upgrade_together(empty_database.ddl, script, 8) == ["0 0002_second"] * 8


def test_a_failing_revision_is_undone_whole_and_named(empty_database: DatabaseDsns, script: Path) -> None:
    add_revision(script, "0001_first", "0000_roles_schema", "CREATE TABLE remit.first (n int)")
    add_revision(script, "0002_second", "0001_first", "CREATE TABLE remit.second (n int); SELECT 1/0")
    with pytest.raises(MigrationFailed) as failure:
        migrate.upgrade(empty_database.ddl, script=script)
    assert failure.value.revision == "0002_second"
    assert failure.value.condition == "DivisionByZero"
    with psycopg.connect(empty_database.superuser) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'remit' ORDER BY 1").fetchall()
    assert tables == [("alembic_version",), ("first",)]


def test_a_killed_migration_is_resumed(empty_database: DatabaseDsns, script: Path) -> None:
    add_revision(script, "0001_first", "0000_roles_schema", "CREATE TABLE remit.first (n int)")
    slow = add_revision(script, "0002_second", "0001_first", "CREATE TABLE remit.second (n int); SELECT pg_sleep(600)")
    process = spawn(empty_database.ddl, script)
    set_out(process)
    with psycopg.connect(empty_database.superuser, autocommit=True) as connection:
        asleep = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        while connection.execute(asleep).fetchone() is None:
            assert process.poll() is None
    process.kill()
    process.communicate()
    slow.write_text(slow.read_text().replace("; SELECT pg_sleep(600)", ""))
    report = migrate.upgrade(empty_database.ddl, script=script)
    assert (report.before, report.applied) == ("0001_first", ("0002_second",))


def test_the_pre_phase_stops_before_the_first_post_revision(empty_database: DatabaseDsns, script: Path) -> None:
    add_revision(script, "0001_pre", "0000_roles_schema", "SELECT 1")
    add_revision(script, "0002_post", "0001_pre", "SELECT 1", phase="post")
    report = migrate.upgrade(empty_database.ddl, "pre", script=script)
    assert report.applied == ("0000_roles_schema", "0001_pre")
    assert report.pending == ("0002_post",)
    report = migrate.upgrade(empty_database.ddl, "post", script=script)
    assert (report.before, report.after, report.pending) == ("0001_pre", "0002_post", ())


def test_shipped_revisions_form_one_line_and_each_declares_its_phase() -> None:
    revisions = list(ScriptDirectory(str(SHIPPED)).walk_revisions())
    assert {migrate.phase_of(revision) for revision in revisions} <= {"pre", "post"}
    assert [revision.down_revision for revision in revisions] == [
        *(revision.revision for revision in revisions[1:]),
        None,
    ]
    assert all(len(revision.revision) <= 32 for revision in revisions)  # the version table's column


def test_a_database_of_a_newer_release_is_refused(empty_database: DatabaseDsns, script: Path) -> None:
    add_revision(script, "0001_newer", "0000_roles_schema", "SELECT 1")
    migrate.upgrade(empty_database.ddl, script=script)
    (script / "versions" / "0001_newer.py").unlink()
    with pytest.raises(UnknownSchemaRevision):
        migrate.upgrade(empty_database.ddl, script=script)


def test_a_held_lock_is_waited_for_and_then_reported(empty_database: DatabaseDsns) -> None:
    with psycopg.connect(empty_database.superuser, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (migrate.LOCK_KEY,))
        with pytest.raises(MigrationLockTimeout):
            migrate.upgrade(empty_database.ddl, lock_timeout_seconds=0)
    assert migrate.current(empty_database.ddl) is None


def test_the_servers_role_reads_the_revision_and_writes_nothing(fresh_database: DatabaseDsns) -> None:
    assert migrate.current(fresh_database.server) == migrate.head()
    with psycopg.connect(fresh_database.server) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM remit.alembic_version")
        connection.rollback()
        assert connection.execute("SELECT remit.clock() - clock_timestamp() < interval '1 hour'").fetchone() == (True,)


def test_an_empty_database_has_no_revision(empty_database: DatabaseDsns) -> None:
    assert migrate.current(empty_database.server) is None


def test_an_unreachable_database_is_told_as_such() -> None:
    with pytest.raises(DatabaseUnavailable):
        migrate.current("host=/nonexistent")


def test_tables_have_statistics_after_a_migration(empty_database: DatabaseDsns) -> None:
    migrate.upgrade(empty_database.ddl)
    with psycopg.connect(empty_database.superuser) as connection:
        unanalyzed = connection.execute(
            "SELECT relname FROM pg_class"
            " WHERE relnamespace = 'remit'::regnamespace AND relkind = 'r' AND reltuples < 0"
        ).fetchall()
    assert unanalyzed == []


@pytest.fixture
def bare_server() -> Iterator[EmbeddedServer]:
    """A server of the test's own without Remit's group roles, as a database team would hand it over."""
    folder = Path(tempfile.mkdtemp(prefix="remit-bare-"))
    folder.chmod(0o711)
    with EmbeddedPostgres(folder) as server:
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as connection:
            for statement in (
                "DROP DATABASE remit",
                "DROP ROLE remit_owner, remit_writer, remit_app, remit_ddl, remit_server",
                "CREATE ROLE migrator LOGIN NOINHERIT",
                "CREATE DATABASE memory",
            ):
                connection.execute(statement)
        yield server
    shutil.rmtree(folder)


def remedy(ddl_dsn: str) -> str | None:
    """Upgrade; the SQL it asks an administrator to run, or None when it went through."""
    try:
        migrate.upgrade(ddl_dsn)
    except MigrationRoleLacksRights as lacking:
        return lacking.sql if lacking.sql in str(lacking) else "not told"
    return None


def test_a_ddl_role_without_rights_is_told_the_sql_to_run(bare_server: EmbeddedServer) -> None:
    migrator = bare_server.dsn("migrator", "memory")
    with psycopg.connect(bare_server.dsn("postgres", "memory"), autocommit=True) as connection:
        for needed in ("CREATE ROLE", "GRANT CREATE ON DATABASE"):
            sql = remedy(migrator)
            assert sql is not None
            assert sql.startswith(needed)
            connection.execute(sql)
    assert remedy(migrator) is None
    assert migrate.current(migrator) == migrate.head()
    assert migrate.upgrade(migrator).applied == ()


def test_a_ddl_role_with_createrole_makes_the_roles_itself(bare_server: EmbeddedServer) -> None:
    memory = dsns(bare_server, "memory")
    with psycopg.connect(memory.superuser, autocommit=True) as connection:
        connection.execute("ALTER ROLE migrator CREATEROLE")
        connection.execute("GRANT CREATE ON DATABASE memory TO migrator")
    assert migrate.upgrade(bare_server.dsn("migrator", "memory")).after == migrate.head()
    with psycopg.connect(memory.superuser) as connection:
        safe = connection.execute(
            "SELECT count(*) FROM pg_roles WHERE rolname IN ('remit_owner', 'remit_writer', 'remit_app')"
            " AND NOT (rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole)"
        ).fetchone()
    assert safe == (3,)
