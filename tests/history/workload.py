"""Clients that change a few objects at once, over several server processes, and write down what each call saw.

Objects are drawn from a small pool that all clients share, so that they meet; what a client takes for the current
version is what anybody was last told, so that it is often stale. Everything drawn comes from one seed.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from tests.cluster import ADMIN, Client, Cluster, Refusal
from tests.history import requests
from tests.history.order_oracle import NEVER, OK, READS, REFUSED, UNKNOWN, Call
from tests.history.pool import Pool, Progress

FAULTS = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
"""After these a caller does not know whether its change was made."""

EXPECTED = frozenset(
    {"VERSION_CONFLICT", "INVALID_STATE_TRANSITION", "OBJECT_DELETED", "OBJECT_REDACTED", "RELATIONSHIP_CONFLICT"}
)
"""What clients that meet may be refused with; any other refusal fails the run."""

GONE = frozenset({"OBJECT_DELETED", "OBJECT_REDACTED"})
WEIGHTS = {
    "create": 20,
    "update": 24,
    "transition": 10,
    "delete": 6,
    "redact": 5,
    "promote": 6,
    "relate": 9,
    "relate_update": 5,
    "read": 10,
    "read_version": 5,
}
_KEYED_SHARE = 0.75
_HASTY_SHARE = 0.01
_HASTY_SECONDS = 0.01
_CALL_SECONDS = 20.0
_PAUSE_SECONDS = 0.05


class ClientThread(threading.Thread):
    """One client: calls one after another on the process of its number, wherever that listens now."""

    def __init__(
        self, cluster: Cluster, tenant_id: str, server: int, pool: Pool, progress: Progress, seed: str
    ) -> None:
        super().__init__(daemon=True, name=f"client-{seed}")
        self.calls: list[Call] = []
        self.unexpected: list[str] = []
        self.failure: BaseException | None = None
        self._cluster, self._server = cluster, server
        self._token = cluster.token(ADMIN, tenant_id)
        self._pool, self._progress = pool, progress
        self._draw, self._seed = random.Random(seed), seed
        self._address = ""
        self._client: Client | None = None

    def run(self) -> None:
        """Calls until it is over; what goes wrong in a way of its own is kept in `failure`."""
        try:
            while not self._progress.is_over.is_set():
                [kind] = self._draw.choices(list(WEIGHTS), list(WEIGHTS.values()))
                self._one(kind)
        except BaseException as error:  # a thread's error is the test's
            self.failure = error
            self._progress.end()
        finally:
            if self._client is not None:
                self._client.close()

    def _one(self, kind: str) -> None:
        number = f"{self._seed}.{len(self.calls)}"
        asked = requests.drawn(kind, self._pool, self._draw, number)
        if asked is None:
            return
        request, known = asked
        request.operation_id = f"op:{number}"
        is_keyed = kind not in READS and self._draw.random() < _KEYED_SHARE
        if is_keyed:
            request.idempotency_key = request.operation_id
        began_ns = time.monotonic_ns()
        # The operation id of a Create is its key when it has no other.
        answer, refusal = self._settled(kind, request, is_repeatable=is_keyed or kind == "create")
        told = requests.told_by_request(kind, request) | {"began_ns": began_ns, "ended_ns": time.monotonic_ns()}
        if refusal is None:
            self.calls.append(Call(**told | requests.told_by_answer(kind, answer), outcome=OK))
            requests.learn(kind, answer, known, self._pool)
        elif refusal.code in FAULTS:
            self.calls.append(Call(**told | {"ended_ns": NEVER}, outcome=UNKNOWN))
        else:
            current = refusal.info.metadata["current_version_id"]
            self.calls.append(Call(**told, outcome=REFUSED, reason=refusal.reason, version_id=current))
            # What is redacted already can't be named again.
            if refusal.reason not in EXPECTED and (kind, refusal.reason) != ("redact", "INVALID_REQUEST"):
                self.unexpected.append(f"{self.calls[-1]}: {refusal}")
            if refusal.reason in GONE and known is not None and kind != "relate_update":
                self._pool.forget(known.name)
        self._progress.count()

    def _settled(self, kind: str, request: Any, *, is_repeatable: bool) -> tuple[Any, Refusal | None]:
        """Asks, and asks again after a fault where that is safe, until there is an answer."""
        seconds = _HASTY_SECONDS if self._draw.random() < _HASTY_SHARE else _CALL_SECONDS
        while True:
            try:
                return self._method(requests.METHODS[kind])(request, timeout=seconds), None
            except Refusal as refusal:
                if refusal.code not in FAULTS:
                    return None, refusal
                self._progress.is_over.wait(_PAUSE_SECONDS)
                if not is_repeatable or self._progress.is_over.is_set():
                    return None, refusal
            seconds = _CALL_SECONDS

    def _method(self, name: str) -> Callable[..., Any]:
        address = self._cluster.servers[self._server].address
        if self._client is None or address != self._address:
            if self._client is not None:
                self._client.close()
            self._client, self._address = Client(address, self._token, ADMIN), address
        method: Callable[..., Any] = getattr(self._client.memory, name)
        return method


def finish(clients: Sequence[ClientThread]) -> list[Call]:
    """Waits for the clients and returns all calls; raises what went wrong in one of them."""
    for client in clients:
        client.join()
        if client.failure is not None:
            raise client.failure
    unexpected = [told for client in clients for told in client.unexpected]
    assert unexpected == [], "\n".join(unexpected[:20])
    return [call for client in clients for call in client.calls]
