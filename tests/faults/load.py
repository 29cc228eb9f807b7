"""Writers that keep a journal of what they asked for and what was acknowledged.

Every attempt has an operation id of its own, so that the ledger tells what became of it. Attempts with an idempotency
key are repeated after a fault until they are acknowledged; those without are left to their fate.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc

from remit.v1 import delegation_pb2, memory_pb2
from tests.cluster import Client, Refusal, Workspace
from tests.faults.waiting import until

DELEGATE = "actor:courier"
FAULT_CODES = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED}
)
"""What a caller may see when a server process is killed under it; the first one alone when it is not."""

_PAUSE_SECONDS = 0.02


def grant_to_delegate(workspace: Workspace, usage_limit: int = 1_000_000) -> str:
    """Grants Create and Read to DELEGATE, metered; returns the grant's id."""
    now = int(time.time())
    request = delegation_pb2.GrantDelegationRequest(
        scope_id=workspace.scope_id,
        policy_basis="load",
        delegated_actor={"actor_id": DELEGATE, "actor_kind": "agent"},
        granted_operations=["create", "read"],
        not_before={"seconds": now - 60},
        not_after={"seconds": now + 36000},
        usage_limit=usage_limit,
    )
    return str(workspace.owner.delegation.GrantDelegation(request).delegation.delegation_id)


@dataclass
class Attempt:
    """One call. `answer` is the acknowledgement; `refusals` are the codes of the times it failed."""

    kind: str
    operation_id: str
    keyed: bool
    answer: Any = None
    refusals: list[grpc.StatusCode] = field(default_factory=list)

    @property
    def exercises(self) -> bool:
        """Whether it exercises the metered grant."""
        return self.kind.startswith("exercise")


class Writer(threading.Thread):
    """Creates, updates, and exercises the grant, one call after another, until it is stopped."""

    def __init__(self, workspace: Workspace, owner: Client, delegate: Client, delegation_id: str) -> None:
        super().__init__(daemon=True)
        self.attempts: list[Attempt] = []
        self.failure: BaseException | None = None
        self.ended = threading.Event()
        self._workspace = workspace
        self._owner, self._delegate, self._delegation_id = owner, delegate, delegation_id

    @property
    def acknowledged(self) -> int:
        """How many attempts were acknowledged so far."""
        return sum(attempt.answer is not None for attempt in list(self.attempts))

    @property
    def refused(self) -> int:
        """How many times a call failed so far."""
        return sum(len(attempt.refusals) for attempt in list(self.attempts))

    def run(self) -> None:
        """Writes until `ended` is set; what goes wrong in another way than by a fault is kept in `failure`."""
        try:
            while not self.ended.is_set():
                self._cycle()
        except BaseException as error:  # a thread's error is the test's
            self.failure = error

    def _cycle(self) -> None:
        scope_id, number = self._workspace.scope_id, len(self.attempts)
        created = self._call("create", self._owner.memory.Create, self._create(number), keyed=True)
        if created is not None:
            update = memory_pb2.UpdateRequest(
                scope_id=scope_id,
                object_id=created.result.object_id,
                expected_version_id=created.result.version_id,
                update_mask=["canonical_content"],
                canonical_content=b'{"statement":"updated"}',
                provenance={"activity": "observed"},
            )
            self._call("update", self._owner.memory.Update, update, keyed=number % 2 == 0)
        granted = self._create(number)
        granted.delegation_id = self._delegation_id
        made = self._call("exercise_create", self._delegate.memory.Create, granted, keyed=number % 2 == 0)
        if made is not None:
            read = memory_pb2.ReadRequest(
                scope_id=scope_id, object_id=made.result.object_id, delegation_id=self._delegation_id
            )
            self._call("exercise_read", self._delegate.memory.Read, read, keyed=False)

    def _create(self, number: int) -> memory_pb2.CreateRequest:
        return memory_pb2.CreateRequest(
            scope_id=self._workspace.scope_id,
            object_type="claim",
            canonical_content=b'{"statement":"number %d"}' % number,
            provenance={"activity": "observed"},
        )

    def _call(self, kind: str, method: Callable[..., Any], request: Any, *, keyed: bool) -> Any:
        attempt = Attempt(kind, f"op:{uuid.uuid4()}", keyed)
        request.operation_id = attempt.operation_id
        if keyed:
            request.idempotency_key = attempt.operation_id
        self.attempts.append(attempt)
        while True:
            try:
                attempt.answer = method(request)
            except Refusal as refusal:
                if refusal.code not in FAULT_CODES:
                    raise
                attempt.refusals.append(refusal.code)
                self.ended.wait(_PAUSE_SECONDS)
            if attempt.answer is not None or not keyed or self.ended.is_set():
                return attempt.answer


class Load:
    """Writers on several server processes, all in one workspace and on one grant."""

    def __init__(self, workspace: Workspace, delegation_id: str, servers: Sequence[int], writers_each: int = 2) -> None:
        self.workspace, self.delegation_id = workspace, delegation_id
        cluster = workspace.cluster
        self.writers = {
            server: [
                Writer(
                    workspace,
                    cluster.client(workspace.owner.actor_id, workspace.tenant_id, server),
                    cluster.client(DELEGATE, workspace.tenant_id, server),
                    delegation_id,
                )
                for _ in range(writers_each)
            ]
            for server in servers
        }

    def __enter__(self) -> Load:
        for writer in self.all():
            writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Stops the writers; raises what went wrong in one of them."""
        for writer in self.all():
            writer.ended.set()
        for writer in self.all():
            writer.join()
            if writer.failure is not None:
                raise writer.failure

    def all(self) -> list[Writer]:
        """All writers."""
        return [writer for writers in self.writers.values() for writer in writers]

    def attempts(self) -> list[Attempt]:
        """All attempts so far."""
        return [attempt for writer in self.all() for attempt in list(writer.attempts)]

    def wait_acknowledged(self, more: int, servers: Sequence[int] | None = None) -> None:
        """Returns when each writer (of the servers) was acknowledged so many times more."""
        self._wait(lambda writer: writer.acknowledged, more, servers, "acknowledgements")

    def wait_refused(self, more: int, servers: Sequence[int] | None = None) -> None:
        """Returns when each writer (of the servers) saw so many calls fail more."""
        self._wait(lambda writer: writer.refused, more, servers, "refusals")

    def _wait(self, count: Callable[[Writer], int], more: int, servers: Sequence[int] | None, what: str) -> None:
        writers = [writer for server in servers or self.writers for writer in self.writers[server]]
        before = [count(writer) for writer in writers]

        def reached() -> bool:
            failed = [writer.failure for writer in writers if writer.failure is not None]
            if failed:
                raise failed[0]
            return all(count(writer) >= start + more for writer, start in zip(writers, before, strict=True))

        until(reached, f"{what}: {[count(writer) for writer in writers]} of {before} + {more}")
