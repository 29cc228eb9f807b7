"""Sharing one embedded server between processes: the first starts it, the last stops it.

Two locks in the home of the cluster. `postgres.start` is held alone while starting, joining or leaving;
`postgres.users` is held shared by every process for as long as it uses the server. Who leaves and can then have
`postgres.users` alone was the last one, and stops the server. A killed process loses its locks with its life: the
server it leaves behind is joined by the next one, which then is the last.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from storage.embedded.bootstrap import bootstrap
from storage.embedded.cluster import Cluster, EmbeddedServer
from storage.embedded.locks import exclusive, try_lock
from storage.embedded.placement import RELOCATION_ROOT, place, settle_binaries, settle_socket_folder
from storage.errors import EmbeddedBusy, PlacementImpossible


class EmbeddedPostgres:
    """PostgreSQL on a folder of ours, without set-up (write-path.md, Embedded PostgreSQL).

    `data_dir` is made when absent; several processes may use one at the same time, each with its own object.
    `timeout_seconds` bounds each wait: for another process' start, for crash recovery, for the stop. Blocking: call it
    outside the event loop. A process forked while the server is used keeps it alive until that child exits, too.

        with EmbeddedPostgres(Path(".remit")) as server:
            psycopg.connect(server.dsn("remit_server"))
    """

    def __init__(
        self, data_dir: Path, *, timeout_seconds: float = 120.0, relocation_root: Path = RELOCATION_ROOT
    ) -> None:
        self._data_dir = data_dir
        self._timeout_seconds = timeout_seconds
        self._relocation_root = relocation_root
        self._cluster: Cluster | None = None
        self._home = data_dir
        self._users_lock: int | None = None

    def start(self) -> EmbeddedServer:
        """Start the server or join the running one; called again, it starts the server anew if that has crashed.

        Raises a class of storage.errors.EmbeddedPostgresError.
        """
        if self._users_lock is not None and self._cluster is not None:
            with exclusive(self._home / "postgres.start", self._timeout_seconds):
                self._cluster.ensure_running()
            return self._cluster.server
        placement = place(self._data_dir, self._relocation_root)
        self._home = placement.home
        try:
            with exclusive(self._home / "postgres.start", self._timeout_seconds):
                users_lock = try_lock(self._home / "postgres.users", fcntl.LOCK_SH)
                if users_lock is None:  # it is held alone only under the start lock, which is ours
                    raise EmbeddedBusy(self._home / "postgres.users", 0.0)
                cluster = Cluster(
                    placement, settle_binaries(placement), settle_socket_folder(placement), self._timeout_seconds
                )
                try:
                    cluster.ensure_running()
                    bootstrap(cluster.server)
                except BaseException:
                    self._leave(cluster, users_lock)
                    raise
        except OSError as error:
            raise PlacementImpossible(self._home, error.strerror or "not accessible") from error
        self._cluster, self._users_lock = cluster, users_lock
        return cluster.server

    def stop(self) -> None:
        """Leave the server; the last user to leave stops it. Without a start it does nothing.

        Raises EmbeddedStopFailed, EmbeddedBusy.
        """
        if self._cluster is None or self._users_lock is None:
            return
        with exclusive(self._home / "postgres.start", self._timeout_seconds):
            users_lock, self._users_lock = self._users_lock, None
            self._leave(self._cluster, users_lock)

    def _leave(self, cluster: Cluster, users_lock: int) -> None:
        # Closed rather than converted: forked children share this descriptor, and must keep counting as users.
        os.close(users_lock)
        alone = try_lock(self._home / "postgres.users", fcntl.LOCK_EX)
        if alone is None:
            return
        try:
            cluster.stop()
        finally:
            os.close(alone)

    def __enter__(self) -> EmbeddedServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
