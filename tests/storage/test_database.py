"""The pool on a real server: tenants, failures told as storage errors, roles refused, PgBouncer (C11)."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from storage.database import Database
from storage.embedded import EmbeddedPostgres, EmbeddedServer
from storage.errors import (
    DatabaseUnavailable,
    OutcomeUnknown,
    SerializationConflict,
    StatementFailed,
    StatementTimeout,
    UnsafeDatabaseRole,
)
from tests.conftest import DatabaseDsns

TENANT = "SELECT current_setting('remit.tenant_id', true)"


def as_superuser(database: DatabaseDsns, *statements: str) -> None:
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


# --- tenants ---


async def test_the_tenant_is_set_for_the_statement_and_for_nothing_after_it(fresh_database: DatabaseDsns) -> None:
    async with Database(fresh_database.server, size_min=1, size_max=1) as database:
        for _ in range(5):  # beyond the point where statements become prepared
            assert await database.tenant_rows("acme", TENANT) == [("acme",)]
            assert await database.tenant_rows("other", TENANT) == [("other",)]
        async with database.connection() as connection:
            assert await (await connection.execute(TENANT)).fetchone() == ("",)


async def test_row_level_security_shows_a_tenant_its_rows_only(fresh_database: DatabaseDsns) -> None:
    as_superuser(
        fresh_database,
        "CREATE TABLE remit.probe (tenant_id text, n bigint)",
        "ALTER TABLE remit.probe ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
        "CREATE POLICY one_tenant ON remit.probe USING (tenant_id = current_setting('remit.tenant_id', true))",
        "GRANT SELECT ON remit.probe TO remit_app",
        "INSERT INTO remit.probe VALUES ('acme', 1), ('other', 2)",
    )
    async with Database(fresh_database.server) as database:
        together = [database.tenant_rows(tenant, "SELECT n FROM remit.probe") for tenant in ("acme", "other") * 20]
        assert await asyncio.gather(*together) == [[(1,)], [(2,)]] * 20
        async with database.connection() as connection:
            assert await (await connection.execute("SELECT n FROM remit.probe")).fetchall() == []


async def test_values_arrive_with_their_types(database: Database) -> None:
    rows = await database.tenant_rows(
        "acme",
        """SELECT %s::bytea, %s::bigint, %s::text[], '{"a": [1]}'::jsonb, true, NULL, %s::uuid""",
        (b"\x00\xff", 2**62, ["a", "b"], uuid.UUID(int=7)),
    )
    assert rows == [(b"\x00\xff", 2**62, ["a", "b"], {"a": [1]}, True, None, uuid.UUID(int=7))]


async def test_a_cancelled_statement_leaves_a_working_connection(fresh_database: DatabaseDsns) -> None:
    async with Database(fresh_database.server, size_min=1, size_max=1) as database:
        task = asyncio.create_task(database.tenant_rows("acme", "SELECT pg_sleep(600)"))
        async with await psycopg.AsyncConnection.connect(fresh_database.superuser, autocommit=True) as watcher:
            asleep = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
            while await (await watcher.execute(asleep)).fetchone() is None:
                assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while await (await watcher.execute(asleep)).fetchone() is not None:
                pass
        assert await database.tenant_rows("acme", TENANT) == [("acme",)]


async def test_a_read_cancelled_at_any_moment_leaves_a_connection_that_commits(
    fresh_database: DatabaseDsns, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The driver gives way wherever it may, as it does on a busy loop: each place can be met by a cancellation.
    monkeypatch.setattr("psycopg.waiting.MAX_BUSY_TIME", 0)
    as_superuser(fresh_database, "CREATE TABLE public.kept (n int)", "GRANT INSERT ON public.kept TO remit_server")
    async with (
        Database(fresh_database.server, size_min=1, size_max=1) as database,
        await psycopg.AsyncConnection.connect(fresh_database.superuser, autocommit=True) as watcher,
    ):
        for turns in range(40):
            task = asyncio.create_task(database.tenant_rows("acme", TENANT))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            async with database.connection() as connection:
                await connection.execute("INSERT INTO public.kept VALUES (%s)", (turns,))
            kept = await (await watcher.execute("SELECT count(*) FROM public.kept")).fetchone()
            assert kept == (turns + 1,), "what was answered must stand"


# --- failures ---


async def test_failures_are_told_by_constraint_without_values_or_sql(fresh_database: DatabaseDsns) -> None:
    as_superuser(
        fresh_database,
        "CREATE TABLE public.named (n text CONSTRAINT named_short CHECK (length(n) < 3))",
        "GRANT INSERT ON public.named TO remit_server",
    )
    async with Database(fresh_database.server) as database:
        for _ in range(4):
            with pytest.raises(StatementFailed) as failure:
                async with database.connection() as connection:
                    await connection.execute("INSERT INTO public.named VALUES (%s)", ("a secret",))
            assert failure.value.constraint == "named_short"
            assert failure.value.__cause__ is None
            assert "secret" not in str(failure.value)
            assert "INSERT" not in str(failure.value)
            with pytest.raises(StatementFailed):
                await database.tenant_rows("acme", "SELECT no_such_column")
            assert await database.tenant_rows("acme", TENANT) == [("acme",)]


async def test_a_statement_over_its_time_is_given_up(fresh_database: DatabaseDsns) -> None:
    for prepared in (True, False):
        async with Database(
            fresh_database.server, statement_timeout_seconds=0.05, prepared_statements=prepared
        ) as database:
            with pytest.raises(StatementTimeout):
                await database.tenant_rows("acme", "SELECT pg_sleep(600)")
            assert await database.tenant_rows("acme", TENANT) == [("acme",)]


async def test_a_deadlock_is_a_conflict(database: Database) -> None:
    async def lock(first: int, second: int, held: asyncio.Barrier) -> None:
        async with database.connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (first,))
            await held.wait()
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (second,))

    held = asyncio.Barrier(2)
    results = await asyncio.gather(lock(1, 2, held), lock(2, 1, held), return_exceptions=True)
    assert [type(result) for result in results if result is not None] == [SerializationConflict]


async def test_a_pool_without_a_free_connection_is_unavailable(fresh_database: DatabaseDsns) -> None:
    async with (
        Database(fresh_database.server, size_max=1, acquire_timeout_seconds=0.05) as database,
        database.connection(),
    ):
        with pytest.raises(DatabaseUnavailable):
            await database.tenant_rows("acme", TENANT)


async def test_an_unreachable_database_is_unavailable_at_opening() -> None:
    database = Database("host=/nonexistent")
    with pytest.raises(DatabaseUnavailable):
        await database.open(wait_seconds=0.1)
    await database.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "stopped"])
async def test_reads_go_on_after_the_database_came_back(own_server: EmbeddedPostgres, how: signal.Signals) -> None:
    server = own_server.start()
    async with Database(server.dsn(), size_min=4, size_max=4) as database:

        async def change() -> None:
            async with database.connection() as connection:
                await connection.execute("SELECT pg_sleep(600)")

        under_way = asyncio.create_task(change())
        while await database.persist("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'", ()) == []:
            assert not under_way.done()
        os.kill(int((server.home / "postgres" / "postmaster.pid").read_text().splitlines()[0]), how)
        with pytest.raises(OutcomeUnknown if how is signal.SIGKILL else DatabaseUnavailable):
            await under_way
        await asyncio.to_thread(own_server.start)
        # All the pool's connections are dead: nobody is to notice.
        assert await database.tenant_rows("acme", TENANT) == [("acme",)]
        assert await database.persist("SELECT %s::int", (5,)) == [(5,)]


@pytest.fixture
def own_server() -> Iterator[EmbeddedPostgres]:
    folder = Path(tempfile.mkdtemp(prefix="remit-own-"))
    folder.chmod(0o711)
    (folder / "postgres.local.conf").write_text("fsync = off\n")
    embedded = EmbeddedPostgres(folder)
    yield embedded
    embedded.stop()
    shutil.rmtree(folder)


# --- the role ---


async def findings(dsn: str) -> tuple[str, ...]:
    async with Database(dsn) as database:
        try:
            await database.check_role()
        except UnsafeDatabaseRole as refusal:
            return refusal.findings
    return ()


async def test_the_servers_role_on_the_shipped_schema_is_accepted(fresh_database: DatabaseDsns) -> None:
    assert await findings(fresh_database.server) == ()


async def test_a_superuser_is_refused(fresh_database: DatabaseDsns) -> None:
    assert await findings(fresh_database.superuser) == ("role postgres is a superuser",)


async def test_the_ddl_role_is_refused(fresh_database: DatabaseDsns) -> None:
    found = await findings(fresh_database.ddl)
    assert "is a member of remit_owner" in found
    assert "is a member of remit_writer" in found
    assert "role remit_owner owns schema remit" in found
    assert "role remit_owner may create objects in schema remit" in found


@pytest.fixture
async def role(fresh_database: DatabaseDsns) -> AsyncIterator[str]:
    """A login role of the test's own in the server's group; roles are shared by all databases of the run."""
    name = f"r_{uuid.uuid4().hex}"
    as_superuser(fresh_database, f"CREATE ROLE {name} LOGIN IN ROLE remit_app")
    yield name
    as_superuser(fresh_database, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def dsn_of(role: str, database: DatabaseDsns) -> str:
    return make_conninfo(database.server, user=role)


DEFINER = "CREATE FUNCTION remit.probe() RETURNS int LANGUAGE sql SECURITY DEFINER {} AS 'SELECT 1'"
OWNED_BY_WRITER = "ALTER FUNCTION remit.probe() OWNER TO remit_writer"
SAFE_PATH = "SET search_path = pg_catalog, pg_temp"


@pytest.mark.parametrize(
    ("statements", "finding"),
    [
        (["ALTER ROLE {role} BYPASSRLS"], "role {role} has BYPASSRLS"),
        (["ALTER ROLE {role} CREATEROLE"], "role {role} has CREATEROLE"),
        (["ALTER ROLE {role} NOINHERIT", "GRANT remit_owner TO {role}"], "is a member of remit_owner"),
        (["GRANT remit_writer TO {role}"], "is a member of remit_writer"),
        (["GRANT pg_write_all_data TO {role}"], "is a member of pg_write_all_data"),
        (["GRANT CREATE ON SCHEMA remit TO {role}"], "role {role} may create objects in schema remit"),
        (["CREATE TABLE remit.probe ()", "ALTER TABLE remit.probe OWNER TO {role}"], "role {role} owns probe"),
        (
            [
                "CREATE FUNCTION remit.probe() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "ALTER FUNCTION remit.probe() OWNER TO {role}",
            ],
            "role {role} owns function remit.probe()",
        ),
        (["GRANT INSERT ON remit.alembic_version TO {role}"], "may insert alembic_version"),
        (["GRANT UPDATE (version_num) ON remit.alembic_version TO {role}"], "may update alembic_version"),
        (["GRANT DELETE ON remit.alembic_version TO PUBLIC"], "may delete alembic_version"),
        (["GRANT TRUNCATE ON remit.alembic_version TO remit_app"], "may truncate alembic_version"),
        (
            ["CREATE TABLE remit.probe ()", "ALTER TABLE remit.probe ENABLE ROW LEVEL SECURITY"],
            "table probe does not force row-level security",
        ),
        (
            [DEFINER.format(SAFE_PATH), OWNED_BY_WRITER],
            "function remit.probe() (SECURITY DEFINER) may be called by PUBLIC",
        ),
        (
            [DEFINER.format(SAFE_PATH)],
            "function remit.probe() (SECURITY DEFINER) is owned by postgres, a superuser, login or BYPASSRLS role",
        ),
        (
            [DEFINER.format(""), OWNED_BY_WRITER],
            "function remit.probe() (SECURITY DEFINER) has no fixed search_path",
        ),
        (
            [
                DEFINER.format("SET search_path = pg_catalog"),
                OWNED_BY_WRITER,
                "DO $$ BEGIN EXECUTE 'GRANT TEMPORARY ON DATABASE ' || current_database() || ' TO {role}'; END $$",
            ],
            "function remit.probe() (SECURITY DEFINER) does not search pg_temp last, but temporary tables can be made",
        ),
        (
            ["CREATE MATERIALIZED VIEW remit.probe AS SELECT 1", "GRANT SELECT ON remit.probe TO remit_app"],
            "probe can be read, and has no row-level security",
        ),
        (
            ["CREATE VIEW remit.probe AS SELECT 1"],
            "view probe is owned by postgres, whom row-level security does not bind",
        ),
    ],
)
async def test_each_way_around_is_found(
    fresh_database: DatabaseDsns, role: str, statements: list[str], finding: str
) -> None:
    assert await findings(dsn_of(role, fresh_database)) == ()
    as_superuser(fresh_database, *(statement.replace("{role}", role) for statement in statements))
    assert finding.replace("{role}", role) in await findings(dsn_of(role, fresh_database))


async def test_what_a_role_gave_up_by_set_role_still_counts(fresh_database: DatabaseDsns, role: str) -> None:
    as_superuser(fresh_database, f"GRANT remit_owner TO {role}", f"ALTER ROLE {role} SET role = 'remit_app'")
    assert "is a member of remit_owner" in await findings(dsn_of(role, fresh_database))


# --- PgBouncer ---


@pytest.fixture
def pgbouncer(own_server: EmbeddedPostgres) -> Iterator[tuple[str, EmbeddedServer]]:
    """The DSN of a transaction-pooling PgBouncer with two server connections, and the server behind it."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed (Debian package pgbouncer)")
    server = own_server.start()
    user = server.socket_dir.stat().st_uid  # PgBouncer must not be root either, and has to enter the socket's folder
    folder = server.home / "pgbouncer"
    folder.mkdir()
    with (server.home / "postgres.ident.conf").open("a") as idents:
        idents.write(f'remit "{pwd.getpwuid(user).pw_name}" all\n')
    with psycopg.connect(server.dsn("postgres", "postgres")) as connection:
        connection.execute("SELECT pg_reload_conf()")
    (folder / "users.txt").write_text('"remit_server" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\nremit = host={server.socket_dir} port={server.port} dbname=remit\n"
        f"[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {folder}\npool_mode = transaction\n"
        f"auth_type = trust\nauth_file = {folder}/users.txt\ndefault_pool_size = 2\nmax_client_conn = 200\n"
    )
    os.chown(folder, user, -1)
    process = subprocess.Popen(
        [program, "-q", str(folder / "pgbouncer.ini")],
        user=user if os.geteuid() == 0 else None,
        stderr=subprocess.DEVNULL,
    )
    dsn = make_conninfo("", host=str(folder), port=6432, user="remit_server", dbname="remit")
    while not (folder / ".s.PGSQL.6432").exists():
        assert process.poll() is None
    yield dsn, server
    process.terminate()
    process.wait()


@pytest.mark.case("C11")
async def test_a_hundred_parallel_reads_through_a_transaction_pool_find_no_statement_missing(
    pgbouncer: tuple[str, EmbeddedServer],
) -> None:
    dsn, server = pgbouncer
    async with Database(dsn, size_min=20, size_max=20, prepared_statements=False) as database:
        queries = [f"SELECT {kind}, current_setting('remit.tenant_id', true)" for kind in range(5)]
        for _ in range(5):
            reads = [database.tenant_rows(f"tenant-{n}", queries[n % 5]) for n in range(100)]
            assert await asyncio.gather(*reads) == [[(n % 5, f"tenant-{n}")] for n in range(100)]
        async with database.connection() as connection:
            assert await (await connection.execute("SHOW statement_timeout")).fetchone() == ("0",)
    with psycopg.connect(server.dsn("postgres", "remit")) as connection:
        assert connection.execute(
            "SELECT count(*) <= 2 FROM pg_stat_activity WHERE usename = 'remit_server'"
        ).fetchone() == (True,)
