"""Several server processes at once on one workspace."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from remit.v1 import admin_pb2, memory_pb2
from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace
from tests.faults.account import check_ledger, check_nothing_torn

LOAD_SECONDS = float(os.environ.get("REMIT_LOAD_SECONDS", "3"))


def creation(workspace: Workspace, **fields: str) -> memory_pb2.CreateRequest:
    return memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        object_type="claim",
        canonical_content=b'{"statement":"one of many"}',
        provenance={"activity": "observed"},
        **fields,
    )


def event_counts(workspace: Workspace) -> Counter[str]:
    with workspace.cluster.superuser() as connection:
        rows = connection.execute(
            "select event_type from remit.ledger_events where scope_id = %s", (workspace.scope_id,)
        ).fetchall()
    return Counter(event_type for (event_type,) in rows)


@pytest.mark.case("A33")
def test_two_processes_keep_each_others_writes(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    owners = [replicas.client(ADMIN, server=server) for server in range(2)]
    with ThreadPoolExecutor(40) as pool:
        results = list(pool.map(lambda n: workspace.create(owners[n % 2]), range(40)))
    assert len({result.object_id for result in results}) == 40
    assert event_counts(workspace)["object_created"] == 40
    assert all(workspace.read(result.object_id).envelope.version_id == result.version_id for result in results)
    check_ledger(workspace, workspace.owner)


@pytest.mark.case("C01")
def test_first_appends_of_many_processes_make_one_chain(replicas: Cluster) -> None:
    """The workspace is opened by one of them and written by all at once, 64 times."""
    workspace = Workspace(replicas)
    owners = [replicas.client(ADMIN, server=server) for server in range(3)]
    start = threading.Barrier(64)

    def append(number: int) -> None:
        start.wait()
        workspace.create(owners[number % 3])

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(append, range(64)))
    events = workspace.events()
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert event_counts(workspace)["object_created"] == 64
    check_ledger(workspace, workspace.owner)


@pytest.mark.case("C01")
def test_one_of_many_opens_a_workspace(replicas: Cluster) -> None:
    owners = [replicas.client(ADMIN, server=server) for server in range(3)]
    scope_id = f"workspace:{uuid.uuid4().hex}"
    request = admin_pb2.CreateWorkspaceRequest(
        scope_id=f"tenant:{TENANT}", new_scope_id=scope_id, scope_kind="workspace"
    )

    def attempt(number: int) -> grpc.StatusCode:
        try:
            owners[number % 3].admin.CreateWorkspace(request)
        except Refusal as refusal:
            return refusal.code
        return grpc.StatusCode.OK

    with ThreadPoolExecutor(24) as pool:
        codes = Counter(pool.map(attempt, range(24)))
    assert codes.pop(grpc.StatusCode.OK) == 1
    assert set(codes) == {grpc.StatusCode.INVALID_ARGUMENT}
    with replicas.superuser() as connection:
        rows = connection.execute(
            "select count(*) filter (where event_type = 'workspace_created'), count(*) - max(sequence)"
            " from remit.ledger_events where scope_id = %s",
            (scope_id,),
        ).fetchone()
    assert rows == (1, 0)


@pytest.mark.req("P-12-05")
def test_parallel_creates_with_one_key_make_one_object(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    owners = [replicas.client(ADMIN, server=server) for server in range(2)]
    request = creation(workspace, idempotency_key="k")
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: owners[n % 2].memory.Create(request).result, range(20)))
    assert len({(answer.object_id, answer.version_id, *answer.event_ids) for answer in answers}) == 1
    assert sum(not answer.replayed for answer in answers) == 1
    assert event_counts(workspace)["object_created"] == 1


@pytest.mark.req("P-12-07")
def test_a_write_is_read_at_once_on_another_process(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    writer, reader = replicas.client(ADMIN, server=0), replicas.client(ADMIN, server=1)
    current = workspace.create(writer)
    for number in range(20):
        content = b'{"statement":"state %d"}' % number
        update = memory_pb2.UpdateRequest(
            scope_id=workspace.scope_id,
            object_id=current.object_id,
            expected_version_id=current.version_id,
            update_mask=["canonical_content"],
            canonical_content=content,
            provenance={"activity": "observed"},
        )
        current = writer.memory.Update(update).result
        read = workspace.read(current.object_id, reader).envelope
        assert (read.version_id, read.canonical_content) == (current.version_id, content)


@pytest.mark.case("A38")
def test_many_writers_and_readers_meet_no_internal_error(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    stored = [workspace.create().object_id for _ in range(8)]
    clients = [replicas.client(ADMIN, server=server) for server in range(3)]
    end = time.monotonic() + LOAD_SECONDS
    codes: Counter[grpc.StatusCode] = Counter()

    def keep_calling(number: int) -> None:
        client = clients[number % 3]
        while time.monotonic() < end:
            try:
                if number < 16:
                    workspace.create(client)
                else:
                    workspace.read(stored[number % 8], client)
            except Refusal as refusal:
                codes[refusal.code] += 1

    with ThreadPoolExecutor(48) as pool:
        list(pool.map(keep_calling, range(48)))
    assert codes == Counter()
    with replicas.superuser() as connection:
        check_nothing_torn(connection)
    check_ledger(workspace, workspace.owner)
