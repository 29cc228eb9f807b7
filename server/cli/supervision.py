"""Several server processes on one port: started, watched, started again, and stopped together (write-path.md, Processes)."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import click

_POLL_SECONDS = 0.2
# A worker that can't live is not started in a tight loop.
_RESTART_PAUSE_SECONDS = 0.5
ENDED_BY_TERM = -signal.SIGTERM


def reserve_port(listen: str) -> tuple[socket.socket, str]:
    """Returns a socket that holds the port for as long as workers run, also between two of them, and HOST:PORT.

    It never listens. Raises OSError when the port is another's.
    """
    host, _, port = listen.rpartition(":")
    reserved = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    reserved.bind((host.strip("[]"), int(port)))
    return reserved, f"{host}:{reserved.getsockname()[1]}"


class Workers:
    """`count` processes of `remit worker` with the settings of `environment`.

    A worker tells over one pipe that it serves, and learns over another that its supervisor is gone: then it drains
    and ends, so that a killed supervisor leaves nobody on the port. `ended(pid)` is called for each that ended by itself.
    """

    def __init__(self, count: int, environment: Mapping[str, str], ended: Callable[[int], None]) -> None:
        self._count = count
        self._environment = dict(environment)
        self._ended = ended
        self._ready_read, self._ready_write = os.pipe()
        # The writing end is inherited by nobody: it closes with this process, however it ends.
        self._alive_read, self._alive_write = os.pipe()
        self._stopping = False
        self._children: list[subprocess.Popen[bytes]] = []

    def run(self, announce: Callable[[], None]) -> int:
        """Runs until SIGTERM or SIGINT; `announce()` is called once all workers serve. Returns the exit code.

        A worker that ends before all of them served is not started again: what it met would be met by the next.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        self._children = [self._start() for _ in range(self._count)]
        serving = 0
        while not self._stopping:
            announced = serving >= self._count
            if select.select([self._ready_read], [], [], _POLL_SECONDS)[0]:
                serving += len(os.read(self._ready_read, self._count))
            if not announced and serving >= self._count:
                announce()
            for index, child in enumerate(self._children):
                if child.poll() is None or self._stopping:
                    continue
                if not announced:
                    return self._end(failed=True)
                click.echo(f"worker {child.pid} ended with {child.returncode}; starting another", err=True)
                self._ended(child.pid)
                self._restart(index)
        return self._end(failed=False)

    def _stop(self, *_: object) -> None:
        # Only marked here: a worker that is being started at this moment must be stopped as well.
        self._stopping = True

    def _restart(self, index: int) -> None:
        give_up_at = time.monotonic() + _RESTART_PAUSE_SECONDS
        while not self._stopping and time.monotonic() < give_up_at:
            time.sleep(_POLL_SECONDS / 4)
        if not self._stopping:
            self._children[index] = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        pipes = (self._ready_write, self._alive_read)
        options = ["--ready-fd", str(self._ready_write), "--alive-fd", str(self._alive_read)]
        command = [sys.executable, "-m", "server", "worker", *options]
        return subprocess.Popen(command, env=self._environment, pass_fds=pipes)

    def _end(self, *, failed: bool) -> int:
        for child in self._children:
            child.terminate()
        codes = [child.wait() for child in self._children]
        return 1 if failed or any(code not in (0, ENDED_BY_TERM) for code in codes) else 0
