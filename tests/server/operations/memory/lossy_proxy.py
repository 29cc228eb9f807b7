"""A TCP proxy that can lose answers: what it forwards to the server arrives, what the server says back does not."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class LossyProxy:
    """Listens on `address` and forwards to `target` (host:port); while `loses_answers` is set, answers are dropped."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.loses_answers = threading.Event()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for source, sink, is_answer in ((client, server, False), (server, client, True)):
                    thread = threading.Thread(target=self._forward, args=(source, sink, is_answer), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _forward(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):  # either side is closed
            while data := source.recv(65536):
                if not (is_answer and self.loses_answers.is_set()):
                    sink.sendall(data)

    def cut(self) -> None:
        """Ends every connection, and takes no more."""
        for ended in (self._listener, *self._sockets):
            with suppress(OSError):
                ended.shutdown(socket.SHUT_RDWR)
            ended.close()
        for thread in self._threads:
            thread.join()
