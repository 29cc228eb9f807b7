"""Callers that go away: their connections come back, and what they began is whole or absent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import grpc
import pytest

from remit.v1 import memory_pb2
from tests.cluster import ADMIN, Client, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.account import check_ledger, check_nothing_torn
from tests.faults.load import DELEGATE, grant_to_delegate
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until

_CALLS = 200


@pytest.fixture
def narrow(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database, REMIT_DATABASE_POOL_MAX="2") as cluster:
        yield cluster


def open_transactions(cluster: Cluster) -> int:
    with cluster.superuser() as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and usename = 'remit_server'"
            " and state <> 'idle'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def begin(client: Client, method: str, request: bytes) -> grpc.Future:
    return client.channel.unary_unary(f"/remit.v1.MemoryService/{method}").future(request, metadata=client.metadata)


def wait_done(calls: list[grpc.Future], count: int) -> None:
    until(lambda: sum(call.done() for call in calls) >= count, "answers", poll_seconds=0)


@pytest.mark.case("C09")
def test_cancelled_calls_leave_no_connection_and_no_half_behind(narrow: Cluster) -> None:
    workspace = Workspace(narrow)
    delegation_id = grant_to_delegate(workspace)
    owner, delegate = narrow.client(ADMIN), narrow.client(DELEGATE)
    stored = workspace.create()
    create = memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        object_type="claim",
        canonical_content=b'{"statement":"cancelled"}',
        provenance={"activity": "observed"},
    )
    granted = memory_pb2.CreateRequest()
    granted.CopyFrom(create)
    granted.delegation_id = delegation_id
    read = memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id=stored.object_id)
    metered = memory_pb2.ReadRequest(
        scope_id=workspace.scope_id, object_id=stored.object_id, delegation_id=delegation_id
    )
    kinds = [
        (owner, "Create", create.SerializeToString()),
        (delegate, "Create", granted.SerializeToString()),
        (owner, "Read", read.SerializeToString()),
        (delegate, "Read", metered.SerializeToString()),
    ]
    cancelled = group = 0
    while cancelled < _CALLS:
        # The rest are cancelled once `group % 8` of eight have answered: at every stage of a call.
        calls = [begin(*kinds[(group + position) % 4]) for position in range(8)]
        wait_done(calls, group % 8)
        cancelled += sum(call.cancel() for call in calls)
        group += 1
    with stalled_head(narrow, workspace):
        calls = [begin(*kinds[position % 4]) for position in range(16)]
        until(lambda: waiting_appends(narrow), "an append on its way")
        for call in calls:
            call.cancel()
    until(lambda: open_transactions(narrow) == 0, "no statement under way")
    for _ in range(4):  # more than the pool holds: none of its connections is lost
        workspace.create(owner)
        workspace.read(stored.object_id, owner)
    with narrow.superuser() as connection:
        check_nothing_torn(connection)
    check_ledger(workspace, owner)
