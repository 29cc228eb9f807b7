"""A relay between a server process and PostgreSQL that loses what it is told to lose.

It understands as much of the protocol as it takes to see a commit: frames, the names of prepared statements, and the
end of an answer. A relayed commit is what write-path.md calls a connection lost at COMMIT.
"""

from __future__ import annotations

import enum
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_COMMIT = b"remit.commit("


class Loss(enum.Enum):
    """What becomes of the next commit."""

    REQUEST = "the request never arrives"
    ANSWER = "it is done, and the answer is lost"
    CONNECTION = "the caller is cut off while the database is at it, or just before"
    OVERTAKEN = "the request arrives when it was looked for in vain, and before it is sent again"
    LATE = "the request arrives when all is over"


_HELD = frozenset({Loss.OVERTAKEN, Loss.LATE})
_UPSTREAM_STAYS = _HELD | {Loss.CONNECTION}


class Relay:
    """Listens on a Unix socket of its own and relays each connection to the server of `dsn`."""

    def __init__(self, dsn: str) -> None:
        parameters = conninfo_to_dict(dsn)
        self._upstream = f"{parameters['host']}/.s.PGSQL.{parameters['port']}"
        self._folder = Path(tempfile.mkdtemp(prefix="remit-relay-"))
        self.dsn = make_conninfo(dsn, host=str(self._folder))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / f".s.PGSQL.{parameters['port']}"))
        self._listener.listen()
        self._armed: list[Loss] = []
        self.lost: list[Loss] = []
        self.held: list[Callable[[], None]] = []

    def lose(self, loss: Loss) -> None:
        """The next commit that passes meets this loss."""
        self._armed.append(loss)

    def relent(self) -> int:
        """What comes from now on meets no loss any more; returns how many losses were left."""
        left = len(self._armed)
        self._armed.clear()
        return left

    def take(self) -> Loss | None:
        """Returns the loss that a commit now meets."""
        if not self._armed:
            return None
        self.lost.append(self._armed.pop(0))
        return self.lost[-1]

    def land(self) -> None:
        """Lets requests that were held arrive, and waits until the database has dealt with them."""
        while self.held:
            self.held.pop()()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        shutil.rmtree(self._folder)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                upstream = socket.socket(socket.AF_UNIX)
                try:
                    upstream.connect(self._upstream)
                except OSError:
                    # The database is away: so is it to who asks through here.
                    client.close()
                    continue
                _Connection(self, client, upstream).start()


class _Connection:
    def __init__(self, relay: Relay, client: socket.socket, upstream: socket.socket) -> None:
        self._relay, self._client, self._upstream = relay, client, upstream
        self._commits: set[bytes] = set()
        self._loss: Loss | None = None
        self._held = bytearray()
        self._dealt_with = threading.Event()

    def start(self) -> None:
        for work in (self._requests, self._answers):
            threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: object) -> None:
        assert callable(work)
        with suppress(OSError, EOFError):
            work()
        if self._loss not in _UPSTREAM_STAYS or work == self._answers:
            _close(self._upstream)
        if work == self._answers:
            # No answer comes any more: a request that is still held has died with its connection.
            self._dealt_with.set()
        _close(self._client)

    def _requests(self) -> None:
        startup = _exactly(self._client, 4)
        self._upstream.sendall(startup + _exactly(self._client, int.from_bytes(startup, "big") - 4))
        while True:
            kind, body = _frame(self._client)
            if self._is_commit(kind, body) and self._loss is None:
                if self._relay.lost[-1:] == [Loss.OVERTAKEN]:
                    self._relay.land()
                self._loss = self._relay.take()
                if self._loss is Loss.REQUEST:
                    return
            if self._loss in _HELD:
                self._held += _framed(kind, body)
                if kind == b"S":
                    self._relay.held.append(self._land)
                    return
                continue
            self._upstream.sendall(_framed(kind, body))
            if self._loss is Loss.CONNECTION and kind == b"S":
                return

    def _land(self) -> None:
        self._upstream.sendall(self._held)
        assert self._dealt_with.wait(30)

    def _is_commit(self, kind: bytes, body: bytes) -> bool:
        if kind == b"P":
            name, query = body.split(b"\0")[:2]
            (self._commits.add if _COMMIT in query else self._commits.discard)(name)
        return kind == b"B" and body.split(b"\0")[1] in self._commits

    def _answers(self) -> None:
        while True:
            kind, body = _frame(self._upstream)
            if self._loss is not None and kind == b"Z":
                self._dealt_with.set()
                return
            if self._loss is None:
                self._client.sendall(_framed(kind, body))


def _frame(connection: socket.socket) -> tuple[bytes, bytes]:
    head = _exactly(connection, 5)
    return head[:1], _exactly(connection, int.from_bytes(head[1:], "big") - 4)


def _framed(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        received = connection.recv(count - len(data))
        if not received:
            raise EOFError
        data += received
    return bytes(data)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
