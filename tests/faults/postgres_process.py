"""A PostgreSQL of the test's own, whose processes may be killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from storage import migrate
from storage.embedded import EmbeddedPostgres, EmbeddedServer
from tests.conftest import DatabaseDsns, dsns, reachable_folder

# Started from a process of its own: changing the user takes a fork, which a process that speaks gRPC does not survive.
_START = """
import os, pathlib, sys
from storage.embedded import EmbeddedPostgres
EmbeddedPostgres(pathlib.Path(sys.argv[1])).start()
os._exit(0)
"""


class OwnPostgres:
    """The server, durable as in production (fsync on)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._embedded = EmbeddedPostgres(folder)
        self.server: EmbeddedServer = self._embedded.start()

    def databases(self) -> DatabaseDsns:
        """The connection strings of its database `remit`."""
        return dsns(self.server, "remit")

    def postmaster(self) -> int:
        """The process id of the server."""
        return int((self.server.home / "postgres" / "postmaster.pid").read_text().splitlines()[0])

    def kill(self) -> None:
        """kill -9 of the server and of everything it forked."""
        postmaster = self.postmaster()
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in [postmaster, *map(int, children)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def start(self) -> None:
        """Starts it again; it recovers first."""
        subprocess.run([sys.executable, "-c", _START, str(self._folder)], check=True)

    def stop(self) -> None:
        """Stops it in order, though it is still in use."""
        os.kill(self.postmaster(), signal.SIGINT)

    def close(self) -> None:
        """Stops it for good."""
        self._embedded.stop()


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """A migrated server of the test's own."""
    folder = reachable_folder("remit-faults-")
    postgres = OwnPostgres(folder)
    try:
        migrate.upgrade(postgres.databases().ddl)
        yield postgres
    finally:
        postgres.close()
        shutil.rmtree(folder, ignore_errors=True)
