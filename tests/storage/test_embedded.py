"""The supervisor of the embedded PostgreSQL, on real servers of each test's own (write-path.md)."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from storage.embedded import EmbeddedPostgres, EmbeddedServer
from storage.embedded import placement as placement_module
from storage.errors import ClusterNotOurs, ClusterVersionMismatch, EmbeddedStartFailed, PlacementImpossible

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes to another user")
REPOSITORY = Path(__file__).parents[2]

# Uses the server until a line arrives on stdin. argv: the data directory, and optionally the user to become first.
USER_PROCESS = """
import os, pwd, sys
from pathlib import Path
import psycopg
from storage.embedded import EmbeddedPostgres
if len(sys.argv) > 2:
    user = pwd.getpwnam(sys.argv[2])
    os.setgroups([]); os.setgid(user.pw_gid); os.setuid(user.pw_uid)
embedded = EmbeddedPostgres(Path(sys.argv[1]))
server = embedded.start()
with psycopg.connect(server.dsn()) as connection:
    print(connection.execute("SELECT current_user").fetchone()[0], server.socket_dir, flush=True)
sys.stdin.readline()
embedded.stop()
"""


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder the unprivileged server can enter; pytest's own is closed to it."""
    folder = Path(tempfile.mkdtemp(prefix="remit-embedded-"))
    folder.chmod(0o711)
    yield folder / "data"
    shutil.rmtree(folder)


def spawn(data_dir: Path, *arguments: str, path: Path | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", USER_PROCESS, str(data_dir), *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, (path, REPOSITORY))))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def release(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=60)
    assert process.returncode == 0


def postmaster(server_home: Path) -> int:
    return int((server_home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def answers(server: EmbeddedServer) -> bool:
    try:
        psycopg.connect(server.dsn("postgres", "postgres")).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_fresh_folder_gets_a_cluster_with_the_roles_and_the_database(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as server, psycopg.connect(server.dsn("postgres")) as connection:
        roles = connection.execute(
            "SELECT rolname, rolcanlogin, rolcreaterole FROM pg_roles"
            " WHERE rolname ^@ 'remit' AND NOT rolsuper AND NOT rolbypassrls ORDER BY 1"
        ).fetchall()
        settings = connection.execute(
            "SELECT current_setting('server_encoding'), current_setting('fsync'), current_setting('listen_addresses')"
        ).fetchone()
        locale = connection.execute("SELECT datcollate FROM pg_database WHERE datname = 'remit'").fetchone()
    assert roles == [
        ("remit_app", False, False),
        ("remit_ddl", True, True),
        ("remit_owner", False, False),
        ("remit_server", True, False),
        ("remit_writer", False, False),
    ]
    assert settings == ("UTF8", "on", "")
    assert locale == ("C",)
    assert not answers(server)


def test_the_socket_is_private_and_its_path_short(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir / ("deep" * 40) / "down") as server:
        assert server.socket_dir.stat().st_mode & 0o777 == 0o700
        assert len(os.fsencode(server.socket_dir / f".s.PGSQL.{server.port}")) < 104


def test_what_was_committed_is_there_after_a_restart(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as server, psycopg.connect(server.dsn("postgres")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
    with EmbeddedPostgres(data_dir) as server, psycopg.connect(server.dsn("postgres")) as connection:
        assert connection.execute("SELECT n FROM kept").fetchall() == [(1,)]


def test_two_processes_share_a_server_and_the_last_one_stops_it(data_dir: Path) -> None:
    first, second = spawn(data_dir), spawn(data_dir)
    assert ready(first).split()[0] == ready(second).split()[0] == "remit_server"
    with EmbeddedPostgres(data_dir) as server:
        number = postmaster(server.home)
        release(first)
        assert answers(server)
        assert postmaster(server.home) == number
    assert answers(server)
    release(second)
    assert not answers(server)


def test_the_server_of_a_killed_process_is_joined_and_then_stopped(data_dir: Path) -> None:
    owner = spawn(data_dir)
    ready(owner)
    number = postmaster(data_dir)
    owner.kill()
    owner.communicate()
    with EmbeddedPostgres(data_dir) as server:
        assert postmaster(server.home) == number
        assert answers(server)
    assert not answers(server)


def test_a_killed_server_is_started_anew_and_lost_nothing(data_dir: Path) -> None:
    embedded = EmbeddedPostgres(data_dir)
    server = embedded.start()
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
        killed = postmaster(server.home)
        os.kill(killed, signal.SIGKILL)
        assert embedded.start() == server  # waits for the orphans of the killed one, this connection's among them
    with psycopg.connect(server.dsn("postgres")) as connection:
        assert connection.execute("SELECT n FROM kept").fetchall() == [(1,)]
    assert postmaster(server.home) != killed
    embedded.stop()
    assert not answers(server)


def test_a_stale_pid_file_with_the_number_of_another_process_is_no_obstacle(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as server:
        lines = (server.home / "postgres" / "postmaster.pid").read_text().splitlines()
    owner = (server.home / "postgres").stat()
    server.socket_dir.mkdir(mode=0o700)
    os.chown(server.socket_dir, owner.st_uid, owner.st_gid)
    stale = "\n".join([str(os.getpid()), *lines[1:], ""])
    for path in (server.home / "postgres" / "postmaster.pid", server.socket_dir / ".s.PGSQL.5432.lock"):
        path.write_text(stale)
        os.chown(path, owner.st_uid, owner.st_gid)
        path.chmod(0o600)
    with EmbeddedPostgres(data_dir) as server:
        assert answers(server)


def test_a_killed_initdb_leaves_nothing_in_the_way(data_dir: Path) -> None:
    (data_dir / "postgres.draft" / "base").mkdir(parents=True)
    data_dir.chmod(0o711)
    with EmbeddedPostgres(data_dir) as server:
        assert answers(server)


def test_a_server_whose_socket_was_cleared_away_is_replaced(data_dir: Path) -> None:
    first = EmbeddedPostgres(data_dir)
    server = first.start()
    number = postmaster(server.home)
    shutil.rmtree(server.socket_dir)
    assert first.start() == server
    assert answers(server)
    assert postmaster(server.home) != number
    first.stop()
    assert not server.socket_dir.exists()


def test_stop_without_start_and_twice_does_nothing(data_dir: Path) -> None:
    embedded = EmbeddedPostgres(data_dir)
    embedded.stop()
    embedded.start()
    embedded.stop()
    embedded.stop()


def test_data_of_another_major_version_are_refused_untouched(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        pass
    (data_dir / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(ClusterVersionMismatch) as refusal:
        EmbeddedPostgres(data_dir).start()
    assert refusal.value.data_version == "15"


def test_a_server_that_does_not_come_up_is_told_with_its_log_but_not_the_logs_content(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o711)
    (data_dir / "postgres.local.conf").write_text("no_such_setting = 'secret'\n")
    with pytest.raises(EmbeddedStartFailed) as failure:
        EmbeddedPostgres(data_dir).start()
    assert failure.value.log == data_dir / "postgres.log"
    assert failure.value.exit_code
    assert "no_such_setting" in failure.value.log.read_text()
    assert "no_such_setting" not in str(failure.value)
    (data_dir / "postgres.local.conf").unlink()
    with EmbeddedPostgres(data_dir) as server:
        assert answers(server)


@as_root
def test_root_runs_the_server_as_an_unprivileged_user_and_changes_no_existing_folder(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o751)
    data_dir.chmod(0o751)
    with EmbeddedPostgres(data_dir) as server:
        status = Path(f"/proc/{postmaster(server.home)}/status").read_text()
    assert f"Uid:\t{pwd.getpwnam('nobody').pw_uid}\t" in status
    assert "Groups:\t \n" in status
    assert data_dir.stat().st_mode & 0o777 == 0o751


@as_root
def test_an_unprivileged_user_runs_it_as_itself_and_no_one_else_connects(data_dir: Path) -> None:
    user = pwd.getpwnam("daemon")
    data_dir.mkdir()
    os.chown(data_dir, user.pw_uid, user.pw_gid)
    process = spawn(data_dir, "daemon")
    assert ready(process).startswith("remit_server")
    assert Path(f"/proc/{postmaster(data_dir)}").stat().st_uid == user.pw_uid
    # Root joins as what it may be anyway: the data's owner stays the server's user.
    with EmbeddedPostgres(data_dir) as server:
        assert answers(server)
    release(process)
    with EmbeddedPostgres(data_dir) as server:
        assert Path(f"/proc/{postmaster(data_dir)}").stat().st_uid == user.pw_uid
    with pytest.raises(ClusterNotOurs):
        as_user("nobody", lambda: placement_module.place(data_dir))


def as_user(name: str, action: Callable[[], object]) -> None:
    """Run a call with another effective user id, which is what the kernel's checks look at."""
    os.seteuid(pwd.getpwnam(name).pw_uid)
    try:
        action()
    finally:
        os.seteuid(0)


@as_root
def test_programs_out_of_reach_are_copied_beside_the_data_once(data_dir: Path) -> None:
    closed = data_dir.parent / "closed"
    closed.mkdir(mode=0o700)
    package = placement_module._package_folder()
    for folder in (package, package.with_name(package.name + ".libs")):
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    for _ in range(2):
        process = spawn(data_dir, path=closed)
        assert ready(process).startswith("remit_server")
        (copy,) = data_dir.glob("postgres-programs-*")
        assert Path(os.readlink(f"/proc/{postmaster(data_dir)}/exe")).is_relative_to(copy)
        release(process)
        made_at = copy.stat().st_mtime_ns
    assert copy.stat().st_mtime_ns == made_at
    assert closed.stat().st_mode & 0o777 == 0o700


@as_root
def test_data_under_a_closed_folder_go_where_the_server_can_reach_and_are_found_again(data_dir: Path) -> None:
    closed, elsewhere = data_dir.parent / "closed", data_dir.parent / "elsewhere"
    closed.mkdir(mode=0o700)
    for _ in range(2):
        with EmbeddedPostgres(closed / "data", relocation_root=elsewhere) as server:
            assert answers(server)
        assert server.home.parent == elsewhere
        assert (closed / "data" / "postgres.location").read_text().strip() == str(server.home)
    assert len(list(elsewhere.iterdir())) == 1
    shutil.rmtree(server.home)
    with pytest.raises(PlacementImpossible):  # a fresh cluster in place of lost data would hide the loss
        EmbeddedPostgres(closed / "data", relocation_root=elsewhere).start()
