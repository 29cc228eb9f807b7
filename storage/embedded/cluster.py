"""One PostgreSQL data directory ("cluster") and the server process on it.

Whether a server lives is asked of a lock, not of a process number: the postmaster and everything it forks inherit the
open file `postgres.server`, locked, so the lock is free exactly when the last of them is gone. A recycled process
number, a zombie, the orphans of a killed postmaster and a server in another process namespace are all told apart by it.
"""

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from storage.embedded.locks import POLL_SECONDS, try_lock
from storage.embedded.placement import PORT, Placement, settle_socket_folder
from storage.errors import ClusterVersionMismatch, EmbeddedStartFailed, EmbeddedStopFailed

_LOG_BYTES_MAX = 8 << 20
_STOP_IMMEDIATE_SECONDS = 10.0
_POLL_SECONDS_MAX = 0.1

# What the log may not hold is data: no statement texts, no DETAIL lines (they quote rows), no parameters.
_CONFIGURATION = """\
# Written anew at every start; put changes of your own in postgres.local.conf beside this file.
data_directory = '{cluster}'
hba_file = '{home}/postgres.hba.conf'
ident_file = '{home}/postgres.ident.conf'
listen_addresses = ''
port = {port}
unix_socket_directories = '{socket_folder}'
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 128MB
effective_cache_size = 512MB
wal_compression = on
max_wal_size = 2GB
checkpoint_timeout = 15min
fsync = on
synchronous_commit = on
full_page_writes = on
random_page_cost = 1.1
jit = off
max_parallel_workers_per_gather = 0
idle_in_transaction_session_timeout = 60s
client_connection_check_interval = 5s
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
log_statement = none
log_min_error_statement = panic
log_error_verbosity = terse
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_line_prefix = '%m [%p] %b '
include_if_exists '{home}/postgres.local.conf'
"""
_HBA = "# Written anew at every start: the users named in postgres.ident.conf, over the socket, and nobody else.\n" + (
    "local all all peer map=remit\n"
)


@dataclass(frozen=True)
class EmbeddedServer:
    """A running server. `port` is part of the socket's name only; `log` is the path of the server's log."""

    socket_dir: Path
    port: int
    home: Path
    log: Path

    def dsn(self, role: str = "remit_server", database: str = "remit") -> str:
        """A libpq connection string for `role` on `database`; no password is needed on the socket."""
        return make_conninfo("", host=str(self.socket_dir), port=self.port, user=role, dbname=database)


class Cluster:
    """Starting, finding and stopping the server of one placement. Every method is called under the start lock."""

    def __init__(self, placement: Placement, programs: Path, socket_folder: Path, timeout_seconds: float) -> None:
        self._placement = placement
        self._programs = programs
        self._timeout_seconds = timeout_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self.server = EmbeddedServer(socket_folder, PORT, placement.home, placement.home / "postgres.log")

    def ensure_running(self) -> None:
        """Return with a server that answers: the one found, or a new one.

        A server left by a killed owner is found by its lock; while it starts or recovers it is waited for.
        Raises EmbeddedStartFailed, ClusterVersionMismatch.
        """
        deadline = time.monotonic() + self._timeout_seconds
        while True:
            lock = try_lock(self._placement.home / "postgres.server", fcntl.LOCK_EX)
            if lock is not None:
                try:
                    if self._postmaster() is None:
                        self._launch(lock, deadline)
                        return
                finally:
                    os.close(lock)
            if self._answers():
                return
            if not self._socket().exists() and self._postmaster_line(7) == "ready":
                # Something cleared /tmp: the server runs, unreachable for good. A fast stop lets the loop start it.
                self._signal(signal.SIGINT)
            if time.monotonic() > deadline:
                raise EmbeddedStartFailed("wait for the running server", self.server.log, None)
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop the server, if it runs: open transactions are undone, and the disk is left clean (fast shutdown)."""
        for how, seconds in ((signal.SIGINT, self._timeout_seconds), (signal.SIGQUIT, _STOP_IMMEDIATE_SECONDS)):
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                lock = try_lock(self._placement.home / "postgres.server", fcntl.LOCK_EX)
                if lock is not None:
                    os.close(lock)
                    if self._postmaster() is None:
                        self._clear_away()
                        return
                self._signal(how)
                time.sleep(POLL_SECONDS)
        raise EmbeddedStopFailed(self.server.log)

    def _clear_away(self) -> None:
        if self._process is not None:
            self._process.wait()
            self._process = None
        try:
            self.server.socket_dir.rmdir()
        except OSError:
            return  # someone keeps a file there, or it is gone; it is used again or cleared with /tmp

    # --- finding ---

    def _socket(self) -> Path:
        return self.server.socket_dir / f".s.PGSQL.{PORT}"

    def _postmaster_line(self, index: int) -> str | None:
        try:
            lines = (self._placement.cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return lines[index].strip() if index < len(lines) else None

    def _postmaster(self) -> int | None:
        """The process number of the server, when that process really is a server of this cluster."""
        line = self._postmaster_line(0)
        if line is None or not line.isdigit():
            return None
        pid = int(line)
        try:
            # A server works in its data directory. Also keeps root from signalling whatever a forged file names.
            return pid if Path(os.readlink(f"/proc/{pid}/cwd")) == self._placement.cluster else None
        except FileNotFoundError:
            if Path("/proc/self/cwd").exists():
                return None  # no such process; where there is no /proc at all (macOS), ask the process table
        except PermissionError:
            return None
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):
            return None
        return pid

    def _signal(self, number: int) -> None:
        pid = self._postmaster()
        if pid is not None:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return  # it ended between the look and the signal

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.server.dsn("postgres", "postgres"), connect_timeout=5) as connection:
                row = connection.execute("SHOW data_directory").fetchone()
        except psycopg.OperationalError:
            return False
        return row is not None and Path(row[0]) == self._placement.cluster

    # --- starting ---

    def _launch(self, lock: int, deadline: float) -> None:
        settle_socket_folder(self._placement)  # again: /tmp may have been cleared since
        self._discard_stale_files()
        self._initialise()
        self._configure()
        if self.server.log.exists() and self.server.log.stat().st_size > _LOG_BYTES_MAX:
            self.server.log.replace(self.server.log.with_suffix(".log.1"))
        command = [str(self._programs / "postgres"), "-D", str(self._placement.cluster)]
        command += ["-c", f"config_file={self._placement.home}/postgres.conf"]
        self._process = self._run(command, pass_fds=(lock,))
        pause_seconds = POLL_SECONDS
        while not self._answers():
            exit_code = self._process.poll()
            if exit_code is not None:
                self._process = None
                raise EmbeddedStartFailed("start", self.server.log, exit_code)
            if time.monotonic() > deadline:
                raise EmbeddedStartFailed("wait for the started server", self.server.log, None)
            time.sleep(pause_seconds)
            pause_seconds = min(
                2 * pause_seconds, _POLL_SECONDS_MAX
            )  # each look during a recovery is a line in its log

    def _discard_stale_files(self) -> None:
        """Remove what a killed server left: the free lock proves it is gone, whoever bears its number now."""
        for path in (self._placement.cluster / "postmaster.pid", self._socket(), Path(f"{self._socket()}.lock")):
            path.unlink(missing_ok=True)

    def _initialise(self) -> None:
        cluster, user = self._placement.cluster, self._placement.user
        if cluster.exists():
            found = (cluster / "PG_VERSION").read_text(encoding="ascii").strip()
            wanted = self._server_version()
            if found != wanted:
                raise ClusterVersionMismatch(cluster, found, wanted)
            return
        # Made under another name and renamed when whole: a killed initdb leaves no half cluster to start from.
        draft = cluster.with_name(f"{cluster.name}.draft")
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        if user.switch:
            os.chown(draft, user.uid, user.gid)
        options = ["--username=postgres", "--encoding=UTF8", "--locale=C", "--auth=reject", "--no-instructions"]
        process = self._run([str(self._programs / "initdb"), "-D", str(draft), *options])
        if process.wait() != 0:
            raise EmbeddedStartFailed("initdb", self.server.log, process.returncode)
        draft.rename(cluster)

    def _server_version(self) -> str:
        """The major version of the programs, as PG_VERSION writes it."""
        printed = subprocess.run(  # noqa: S603 - our own program, no shell
            [self._programs / "postgres", "--version"], check=True, capture_output=True, encoding="ascii"
        ).stdout
        return printed.split()[-1].split(".")[0]

    def _configure(self) -> None:
        # Outside the cluster's folder: root must not write into a folder the unprivileged user owns (planted links).
        home = self._placement.home
        owner = self._placement.data_dir.stat().st_uid
        names = {"root", *_user_names(os.geteuid()), *_user_names(owner)}
        idents = "".join(f'remit "{name}" all\n' for name in sorted(names))
        configuration = _CONFIGURATION.format(
            cluster=_quoted(self._placement.cluster),
            home=_quoted(home),
            port=PORT,
            socket_folder=_quoted(self.server.socket_dir),
        )
        for name, text in (("conf", configuration), ("hba.conf", _HBA), ("ident.conf", idents)):
            path = home / f"postgres.{name}"
            path.write_text(text, encoding="utf-8")
            path.chmod(0o644)

    def _run(self, command: list[str], pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        """Start a program as the server's user, away from our terminal, environment, groups and open files."""
        user = self._placement.user
        log = os.open(self.server.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            return subprocess.Popen(  # noqa: S603 - our own programs, no shell
                command,
                cwd="/",
                env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=pass_fds,
                start_new_session=True,  # Ctrl-C is for us; we stop the server in order
                umask=0o077,
                user=user.uid if user.switch else None,
                group=user.gid if user.switch else None,
                extra_groups=[] if user.switch else None,
            )
        except OSError as error:
            raise EmbeddedStartFailed(f"run {Path(command[0]).name}", self.server.log, error.errno) from error
        finally:
            os.close(log)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _user_names(uid: int) -> tuple[str, ...]:
    try:
        return (pwd.getpwuid(uid).pw_name,)
    except KeyError:
        return ()
