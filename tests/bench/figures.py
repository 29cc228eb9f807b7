"""The loads: what is called, on what it needs prepared."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from remit.v1 import delegation_pb2, memory_pb2
from tests.bench.floors import ECHO
from tests.bench.load import Call
from tests.cluster import Client, Cluster, Workspace

CREATE = "/remit.v1.MemoryService/Create"
READ = "/remit.v1.MemoryService/Read"
BATCH_CHECK = "/remit.v1.DelegationService/BatchCheckDelegation"
CONTENT = b'{"statement":"' + b"x" * 280 + b'"}'


_METHODS: dict[tuple[int, str], tuple[Any, grpc.aio.Channel]] = {}


def _method(channel: grpc.aio.Channel, path: str) -> Any:
    """The method of a channel, made once. Bytes go in and come out: the load is to cost the server, not its client."""
    key = (id(channel), path)
    if key not in _METHODS:
        _METHODS[key] = (channel.unary_unary(path), channel)
    return _METHODS[key][0]


async def echo(channel: grpc.aio.Channel, _: int) -> object:
    """A bare call of a request's size."""
    return await _method(channel, ECHO)(b"x" * 100)


def _stamp(days: int) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    return stamp


class Bench:
    """A tenant's workspaces, actors and grants for the loads. Stubs are made per channel and kept."""

    def __init__(self, cluster: Cluster, address: str) -> None:
        self.cluster = cluster
        self.address = address
        self.hot = Workspace(cluster)
        self.workspaces = [self.hot.scope_id]
        self.metadata = self.hot.owner.metadata
        self._objects: list[str] = []

    def _create_request(self, scope_id: str, **fields: Any) -> memory_pb2.CreateRequest:
        return memory_pb2.CreateRequest(
            scope_id=scope_id,
            object_type="claim",
            canonical_content=CONTENT,
            provenance={"activity": "observed"},
            **fields,
        )

    def create(self, workspaces: int) -> Call:
        """Creates with an idempotency key each, over so many workspaces."""
        while len(self.workspaces) < workspaces:
            self.workspaces.append(Workspace(self.cluster).scope_id)
        runs = itertools.count()
        run = next(_RUNS)

        async def call(channel: grpc.aio.Channel, number: int) -> object:
            scope_id = self.workspaces[number % workspaces]
            request = self._create_request(scope_id, idempotency_key=f"k:{run}:{next(runs)}")
            response = await _method(channel, CREATE)(request.SerializeToString(), metadata=self.metadata)
            if scope_id == self.hot.scope_id and len(self._objects) < 5000:
                self._objects.append(memory_pb2.CreateResponse.FromString(response).result.object_id)
            return response

        return call

    def read(self) -> Call:
        """Reads of own authority."""

        async def call(channel: grpc.aio.Channel, number: int) -> object:
            request = memory_pb2.ReadRequest(
                scope_id=self.hot.scope_id, object_id=self._objects[number % len(self._objects)]
            )
            return await _method(channel, READ)(request.SerializeToString(), metadata=self.metadata)

        return call

    def _chain(self, length: int) -> tuple[Client, str]:
        """The leaf's delegate and the leaf of a chain of metered grants."""
        holder, parent = self.hot.owner, ""
        not_before, not_after = _stamp(-1), _stamp(1)
        for depth in range(length):
            delegate = self.cluster.client(f"actor:bench:{length}:{depth}")
            request = delegation_pb2.GrantDelegationRequest(
                scope_id=self.hot.scope_id,
                policy_basis="bench",
                delegated_actor={"actor_id": delegate.actor_id, "actor_kind": "agent"},
                granted_operations=["read", "create"],
                not_before=not_before,
                not_after=not_after,
                usage_limit=100_000_000 - depth,
                parent_delegation_id=parent,
                max_redelegations=length - depth - 1,
            )
            parent = holder.delegation.GrantDelegation(request).delegation.delegation_id
            holder = delegate
        return holder, parent

    def metered_read(self, length: int) -> Call:
        """Reads by the leaf of a chain of grants, each a use and an event."""
        delegate, grant = self._chain(length)

        async def call(channel: grpc.aio.Channel, number: int) -> object:
            request = memory_pb2.ReadRequest(
                scope_id=self.hot.scope_id,
                object_id=self._objects[number % len(self._objects)],
                delegation_id=grant,
            )
            return await _method(channel, READ)(request.SerializeToString(), metadata=delegate.metadata)

        return call

    def metered_create(self, length: int) -> Call:
        """Creates by the leaf of a chain of grants."""
        delegate, grant = self._chain(length)
        runs = itertools.count()
        run = next(_RUNS)

        async def call(channel: grpc.aio.Channel, _: int) -> object:
            key = f"k:{run}:{next(runs)}"
            request = self._create_request(self.hot.scope_id, delegation_id=grant, idempotency_key=key)
            return await _method(channel, CREATE)(request.SerializeToString(), metadata=delegate.metadata)

        return call

    def denied(self) -> Call:
        """Calls of a member without the right: each an event, durable before the answer."""
        member = self.cluster.client("actor:bench:member")
        self.hot.allow(member.actor_id, "query")

        async def call(channel: grpc.aio.Channel, number: int) -> object:
            request = memory_pb2.ReadRequest(
                scope_id=self.hot.scope_id, object_id=self._objects[number % len(self._objects)]
            )
            try:
                return await _method(channel, READ)(request.SerializeToString(), metadata=member.metadata)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.PERMISSION_DENIED:
                    raise
                return None

        return call

    def batch_check(self, size: int) -> Call:
        """Batches of checks of one grant over many objects."""
        delegate, grant = self._chain(1)
        checks = [
            delegation_pb2.DelegationCheck(
                target_delegation_id=grant,
                delegated_actor_id=delegate.actor_id,
                operation="read",
                object_id=self._objects[index % len(self._objects)],
            )
            for index in range(size)
        ]
        request = delegation_pb2.BatchCheckDelegationRequest(scope_id=self.hot.scope_id, checks=checks)
        verdicts = delegate.delegation.BatchCheckDelegation(request).verdicts
        assert all(verdict.allowed for verdict in verdicts)
        data = request.SerializeToString()

        async def call(channel: grpc.aio.Channel, _: int) -> object:
            return await _method(channel, BATCH_CHECK)(data, metadata=delegate.metadata)

        return call


_RUNS = itertools.count()
