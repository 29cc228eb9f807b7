"""An append that hangs between its sequence number and its commit; a denial that is found under the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import psycopg
import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Client, Cluster, Refusal, Workspace
from tests.faults.account import check_ledger
from tests.faults.load import DELEGATE, grant_to_delegate
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until

_LOCK = 778


@contextmanager
def stalled_before_commit(cluster: Cluster, workspace: Workspace) -> Iterator[None]:
    """Whoever appends to the workspace has its sequence number and waits with the commit, until the block ends."""
    trigger = f"""
        create function public.stall() returns trigger language plpgsql as
            $$ begin perform pg_catalog.pg_advisory_xact_lock({_LOCK}); return null; end $$;
        grant usage on schema public to public;
        create trigger stall after insert on remit.ledger_events for each row
            when (new.scope_id = '{workspace.scope_id}') execute function public.stall()"""
    with cluster.superuser() as connection, psycopg.connect(cluster.database.superuser) as holder:
        connection.execute(trigger.encode())
        try:
            holder.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            yield
        finally:
            holder.rollback()
            connection.execute("drop trigger stall on remit.ledger_events; drop function public.stall()")


class Follower:
    """A reader that asks for what comes after the last event it saw."""

    def __init__(self, workspace: Workspace, client: Client) -> None:
        self._workspace, self._client = workspace, client
        self.sequences: list[int] = []

    def poll(self) -> int:
        """Reads on; returns how many events it has seen."""
        request = ledger_pb2.ListEventsRequest(
            scope_id=self._workspace.scope_id, after_sequence=self.sequences[-1] if self.sequences else 0, limit=3
        )
        self.sequences += [event.sequence for event in self._client.ledger.ListEvents(request).events]
        return len(self.sequences)


def begin_create(client: Client, workspace: Workspace, delegation_id: str = "") -> grpc.Future:
    request = memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        delegation_id=delegation_id,
        object_type="claim",
        canonical_content=b'{"statement":"late"}',
        provenance={"activity": "observed"},
    ).SerializeToString()
    return client.channel.unary_unary("/remit.v1.MemoryService/Create").future(request, metadata=client.metadata)


@pytest.mark.case("C08")
def test_readers_skip_no_commit_that_lands_late(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    follower = Follower(workspace, replicas.client(ADMIN, server=2))
    until(lambda: follower.poll() == 1, "the opening event")
    with stalled_before_commit(replicas, workspace):
        calls = [begin_create(replicas.client(ADMIN, server=0), workspace)]
        until(lambda: waiting_appends(replicas) == 1, "the stalled append")
        calls += [begin_create(replicas.client(ADMIN, server=1), workspace) for _ in range(6)]
        until(lambda: waiting_appends(replicas) == 2, "an append behind it")
        assert [follower.poll() for _ in range(3)] == [1, 1, 1]
        assert not any(call.done() for call in calls)
    until(lambda: follower.poll() >= 8, "all events")
    for call in calls:
        call.result(timeout=30)
    assert follower.poll() == 8
    assert follower.sequences == list(range(1, 9))
    check_ledger(workspace, workspace.owner)


@pytest.mark.case("C07")
def test_a_denial_under_the_lock_is_durable_and_single(replicas: Cluster) -> None:
    """Both calls were allowed when they were first looked at; the batch that holds them grants one use only."""
    workspace = Workspace(replicas)
    delegation_id = grant_to_delegate(workspace, usage_limit=1)
    with stalled_head(replicas, workspace):
        calls = [begin_create(replicas.client(DELEGATE, server=0), workspace, delegation_id) for _ in range(2)]
        until(lambda: waiting_appends(replicas) >= 1, "an append on its way")
    codes = sorted(call.code().name for call in calls)
    assert codes == ["OK", "PERMISSION_DENIED"]
    with replicas.superuser() as connection:
        rows = connection.execute(
            "select event_type, count(*) from remit.ledger_events where scope_id = %s and actor_id = %s group by 1",
            (workspace.scope_id, DELEGATE),
        ).fetchall()
    assert dict(rows) == {"object_created": 1, "delegation_exercised": 1, "access_denied": 1}
    with pytest.raises(Refusal):
        replicas.client(DELEGATE, server=1).memory.Read(
            memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id="urn:x:y", delegation_id=delegation_id)
        )
    denials = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    assert len(denials) == 2
    check_ledger(workspace, workspace.owner)
