"""What a server process that ended leaves behind is everything; what it forgot is nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.load import DELEGATE, grant_to_delegate


@pytest.fixture
def restarting(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database) as cluster:
        yield cluster


def restart(cluster: Cluster, *, orderly: bool = False) -> Client:
    """Ends the process, starts another, and connects to it."""
    if orderly:
        assert cluster.servers[0].terminate() == 0
    else:
        cluster.servers[0].kill()
    cluster.servers[0].start()
    return cluster.client(ADMIN)


def bare(response: Message) -> bytes:
    """A response without the id of the call that fetched it."""
    copy = type(response)()
    copy.CopyFrom(response)
    copy.ClearField("operation_id")
    return copy.SerializeToString(deterministic=True)


@pytest.mark.req("P-1-01", "P-7.4-01")
def test_another_process_returns_the_same_bytes(restarting: Cluster) -> None:
    workspace = Workspace(restarting)
    content = '{"statement":"Grüße \\u0001", "b":1, "a":1.0}'.encode()
    created = workspace.create(canonical_content=content)
    workspace.owner.memory.Update(
        memory_pb2.UpdateRequest(
            scope_id=workspace.scope_id,
            object_id=created.object_id,
            expected_version_id=created.version_id,
            update_mask=["canonical_content"],
            canonical_content=b'{"statement":"second"}',
            provenance={"activity": "revised"},
        )
    )
    workspace.allow("actor:reader", "read")
    delegation_id = grant_to_delegate(workspace, usage_limit=3)
    read = {"scope_id": workspace.scope_id, "object_id": created.object_id}
    restarting.client(DELEGATE).memory.Read(memory_pb2.ReadRequest(delegation_id=delegation_id, **read))

    def fetched(client: Client) -> list[bytes]:
        scope: dict[str, Any] = {"scope_id": workspace.scope_id}
        return [
            bare(response)
            for response in (
                client.memory.Read(memory_pb2.ReadRequest(**read)),
                client.memory.Read(memory_pb2.ReadRequest(version_id=created.version_id, **read)),
                client.memory.InspectHistory(memory_pb2.InspectHistoryRequest(**read)),
                client.ledger.ListEvents(ledger_pb2.ListEventsRequest(limit=1000, **scope)),
                client.admin.GetWorkspace(admin_pb2.GetWorkspaceRequest(**scope)),
                client.admin.ListPolicyRules(admin_pb2.ListPolicyRulesRequest(**scope)),
                client.delegation.GetDelegation(
                    delegation_pb2.GetDelegationRequest(target_delegation_id=delegation_id, **scope)
                ),
            )
        ]

    before = fetched(workspace.owner)
    workspace.owner.close()
    assert content in before[1]
    assert fetched(restart(restarting, orderly=True)) == before
    assert fetched(restart(restarting)) == before


@pytest.mark.case("A35")
@pytest.mark.req("P-12-04", "P-18.1-05")
def test_a_repeated_create_answers_what_the_lost_response_said(restarting: Cluster) -> None:
    workspace = Workspace(restarting)
    request = memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        idempotency_key="retried",
        object_type="claim",
        canonical_content=b'{"statement":"once"}',
        provenance={"activity": "observed"},
    )
    first = workspace.owner.memory.Create(request).result  # its response is taken to be lost

    def identity(result: Any) -> tuple[str, ...]:
        return result.object_id, result.version_id, *result.event_ids

    again = workspace.owner.memory.Create(request).result
    assert (identity(again), again.replayed) == (identity(first), True)
    client = restart(restarting)
    assert identity(client.memory.Create(request).result) == identity(first)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: client.memory.Create(request).result, range(50)))
    assert {identity(answer) for answer in answers} == {identity(first)}
    request.canonical_content = b'{"statement":"another"}'
    with pytest.raises(Refusal) as refused:
        client.memory.Create(request)
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.ALREADY_EXISTS, "DUPLICATE_OPERATION")
    with restarting.superuser() as connection:
        count = connection.execute(
            "select count(*) from remit.ledger_events where scope_id = %s and event_type = 'object_created'",
            (workspace.scope_id,),
        ).fetchone()
    assert count == (1,)
