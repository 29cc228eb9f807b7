"""Idempotency keys: a repeated request is answered once more, and nothing else happens (PAMSPEC 10.1, 12; Q43)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import grpc
import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.waiting import until
from tests.server.operations.memory.lossy_proxy import LossyProxy
from tests.server.operations.memory.requests import delete, grant, transition, update

CREATED = ledger_pb2.EVENT_TYPE_OBJECT_CREATED
EXERCISED = ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED


def identity(result: Any) -> tuple[Any, ...]:
    """What must be the same in an answer and its repetitions."""
    return result.object_id, result.version_id, result.sequence, result.operation_id, tuple(result.event_ids)


@pytest.mark.req("P-10.1-06", "P-12-03")
def test_a_repeated_change_gives_the_original_answer(workspace: Workspace) -> None:
    made = workspace.create()
    changes: list[Callable[[str], Any]] = [
        lambda at: workspace.create(idempotency_key="create", object_id="mem:other"),
        lambda at: update(workspace, made.object_id, at, idempotency_key="update"),
        lambda at: transition(workspace, made.object_id, at, "lifecycle", "archived", idempotency_key="move"),
        lambda at: delete(workspace, made.object_id, at, idempotency_key="delete"),
    ]
    expected = made.version_id
    for change in changes:
        first = change(expected)
        events = workspace.events()
        again = change(expected)
        assert not first.replayed
        assert again.replayed
        assert identity(again) == identity(first)
        assert (again.envelope, again.propagation_job_id) == (first.envelope, first.propagation_job_id)
        new_events = [event.event_type for event in workspace.events()[len(events) :]]
        assert set(new_events) <= {ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED}
        if first.object_id == made.object_id:
            expected = first.version_id


@pytest.mark.req("P-10.1-07", "P-14-13")
def test_a_key_is_good_for_one_request(workspace: Workspace) -> None:
    delegation_id = grant(workspace, ADMIN, "create")
    first = workspace.create(idempotency_key="k", canonical_content=b'"a"')
    others: list[dict[str, Any]] = [
        {"canonical_content": b'"b"'},
        {"canonical_content": b'"a" '},
        {"canonical_content": b'"a"', "purpose": "another"},
        {"canonical_content": b'"a"', "delegation_id": delegation_id},
    ]
    for fields in others:
        with pytest.raises(Refusal) as refusal:
            workspace.create(idempotency_key="k", **fields)
        assert refusal.value.code == grpc.StatusCode.ALREADY_EXISTS
        assert (refusal.value.reason, refusal.value.pamspec.retryable) == ("DUPLICATE_OPERATION", False)
        assert first.object_id not in str(refusal.value.pamspec)
    with pytest.raises(Refusal) as refusal:
        update(workspace, first.object_id, first.version_id, idempotency_key="k")
    assert refusal.value.reason == "DUPLICATE_OPERATION"
    assert len(workspace.events(event_classes=[CREATED])) == 1
    # What names the attempt, and not the request, may differ.
    again = workspace.create(
        idempotency_key="k", canonical_content=b'"a"', operation_id="op:other", correlation_id="another"
    )
    assert identity(again) == identity(first)


@pytest.mark.req("P-10.1-01", "P-12-03")
def test_the_operation_id_of_a_create_is_its_key(workspace: Workspace) -> None:
    first = workspace.create(operation_id="op:once")
    assert first.operation_id == "op:once"
    again = workspace.create(operation_id="op:once")
    assert (again.replayed, identity(again)) == (True, identity(first))
    with pytest.raises(Refusal) as refusal:
        workspace.create(operation_id="op:once", canonical_content=b"2")
    assert refusal.value.reason == "DUPLICATE_OPERATION"
    workspace.create(operation_id="op:once", idempotency_key="a-key-of-its-own")
    # Of other changes it is not.
    updated = update(workspace, first.object_id, first.version_id, operation_id="op:change")
    with pytest.raises(Refusal) as refusal:
        update(workspace, first.object_id, first.version_id, operation_id="op:change")
    assert refusal.value.reason == "VERSION_CONFLICT"
    assert refusal.value.info.metadata["current_version_id"] == updated.version_id


@pytest.mark.req("P-12-03")
def test_a_stable_failure_is_answered_again(workspace: Workspace) -> None:
    made = workspace.create(object_id="mem:taken")
    failing: list[tuple[str, Callable[[str], Any]]] = [
        ("INVALID_REQUEST", lambda key: workspace.create(idempotency_key=key, object_id="mem:taken")),
        ("INVALID_OBJECT", lambda key: workspace.create(idempotency_key=key, object_type="tool_result")),
        ("UNSUPPORTED_OBJECT_TYPE", lambda key: workspace.create(idempotency_key=key, object_type="widget")),
        ("OBJECT_NOT_FOUND", lambda key: update(workspace, "mem:none", "urn:v", idempotency_key=key)),
        (
            "INVALID_STATE_TRANSITION",
            lambda key: transition(
                workspace, made.object_id, made.version_id, "lifecycle", "scratch", idempotency_key=key
            ),
        ),
    ]
    told: dict[str, tuple[Any, ...]] = {}
    for _ in range(2):
        for code, change in failing:
            with pytest.raises(Refusal) as refusal:
                change(code)
            assert refusal.value.reason == code
            fact = (str(refusal.value), str(refusal.value.pamspec), str(refusal.value.bad_request))
            assert refusal.value.pamspec.operation_id
            assert told.setdefault(code, fact) == fact
    # The failure stands though its cause is gone; another request may not take the key.
    workspace.create(object_id="mem:none")
    with pytest.raises(Refusal) as refusal:
        update(workspace, "mem:none", "urn:v", idempotency_key="OBJECT_NOT_FOUND")
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    with pytest.raises(Refusal) as refusal:
        workspace.create(idempotency_key="INVALID_OBJECT")
    assert refusal.value.reason == "DUPLICATE_OPERATION"


def test_denials_and_conflicts_take_no_key(workspace: Workspace) -> None:
    made = workspace.create()
    writer = workspace.cluster.client("actor:writer")
    workspace.allow("actor:writer", "read")
    with pytest.raises(Refusal) as refusal:
        workspace.create(writer, idempotency_key="k")
    assert refusal.value.reason == "ACCESS_DENIED"
    workspace.allow("actor:writer", "create", "update")
    assert not workspace.create(writer, idempotency_key="k").replayed
    moved = update(workspace, made.object_id, made.version_id)
    with pytest.raises(Refusal) as refusal:
        update(workspace, made.object_id, made.version_id, writer, idempotency_key="u")
    assert refusal.value.reason == "VERSION_CONFLICT"
    assert not update(workspace, made.object_id, moved.version_id, writer, idempotency_key="u").replayed


@pytest.mark.req("P-12-11")
def test_a_key_belongs_to_its_actor(workspace: Workspace) -> None:
    workspace.allow("actor:a", "create")
    workspace.allow("actor:b", "create")
    clients = [workspace.cluster.client(actor_id) for actor_id in ("actor:a", "actor:b")]
    results = [workspace.create(client, idempotency_key="shared", operation_id="op:shared") for client in clients]
    assert results[0].object_id != results[1].object_id
    assert not results[1].replayed
    elsewhere = Workspace(workspace.cluster)
    assert not elsewhere.create(idempotency_key="shared").replayed


def test_a_replay_is_authorized_anew(workspace: Workspace) -> None:
    workspace.allow("actor:writer", "create")
    writer = workspace.cluster.client("actor:writer")
    first = workspace.create(writer, idempotency_key="k")
    failing: dict[str, Any] = {"idempotency_key": "failing", "object_id": first.object_id}
    with pytest.raises(Refusal):
        workspace.create(writer, **failing)
    workspace.deny("actor:writer", "create", object_type="claim")
    repeated: list[dict[str, Any]] = [{"idempotency_key": "k"}, failing]
    for fields in repeated:
        with pytest.raises(Refusal) as refusal:
            workspace.create(writer, **fields)
        assert refusal.value.reason == "ACCESS_DENIED"


def test_a_replay_shows_nothing_that_was_removed_since(workspace: Workspace) -> None:
    made = workspace.create(idempotency_key="k", canonical_content=b'"secret"')
    updated = update(workspace, made.object_id, made.version_id, idempotency_key="u", canonical_content=b'"secret"')

    def replayed() -> list[Any]:
        return [
            workspace.create(idempotency_key="k", canonical_content=b'"secret"'),
            update(workspace, made.object_id, made.version_id, idempotency_key="u", canonical_content=b'"secret"'),
        ]

    assert [result.envelope.canonical_content for result in replayed()] == [b'"secret"'] * 2
    redacted = transition(workspace, made.object_id, updated.version_id, "availability", "redacted")
    assert not [result for result in replayed() if b"secret" in result.SerializeToString()]
    delete(workspace, made.object_id, redacted.version_id)
    for result, first in zip(replayed(), (made, updated), strict=True):
        assert identity(result) == identity(first)
        assert b"secret" not in result.SerializeToString()


def test_a_replay_under_a_grant_takes_no_use(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    delegation_id = grant(workspace, "actor:delegate", "create", usage_limit=1)
    clients = [replicas.client("actor:delegate", server=number % 3) for number in range(9)]
    fields: dict[str, Any] = {"idempotency_key": "k", "delegation_id": delegation_id}
    with ThreadPoolExecutor(9) as pool:
        results = list(pool.map(lambda client: workspace.create(client, **fields), clients * 4))
    assert len({identity(result) for result in results}) == 1
    assert [result.replayed for result in results].count(False) == 1
    assert len(workspace.events(event_classes=[EXERCISED])) == 1
    with pytest.raises(Refusal) as refusal:
        workspace.create(clients[0], delegation_id=delegation_id)
    assert refusal.value.denial_reason == "USAGE_LIMIT_EXHAUSTED"


@pytest.mark.case("A35")
@pytest.mark.req("P-12-04", "P-12-05", "P-18.1-05")
def test_a_lost_answer_is_had_again(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> None:
    with running_cluster(clone_database, servers=2) as cluster:
        workspace = Workspace(cluster)
        proxy = LossyProxy(cluster.servers[0].address)
        client = Client(proxy.address, cluster.token(ADMIN), ADMIN)
        workspace.create(client)
        request = memory_pb2.CreateRequest(
            scope_id=workspace.scope_id,
            idempotency_key="retried",
            object_id="mem:retried",
            object_type="claim",
            canonical_content=b'{"statement":"once"}',
            provenance={"activity": "observed"},
        )
        proxy.loses_answers.set()
        with ThreadPoolExecutor(1) as pool:
            lost = pool.submit(client.memory.Create, request)
            until(lambda: workspace.events(object_id="mem:retried"), "the object is created")
            proxy.cut()
            with pytest.raises(Refusal) as refusal:
                lost.result()
        assert refusal.value.code == grpc.StatusCode.UNAVAILABLE
        client.close()
        first = cluster.client(ADMIN, server=1).memory.Create(request).result
        assert first.replayed
        cluster.servers[0].kill()
        cluster.servers[0].start()
        clients = [cluster.client(ADMIN, server=number % 2) for number in range(10)]
        assert identity(clients[0].memory.Create(request).result) == identity(first)
        with ThreadPoolExecutor(50) as pool:
            results = list(pool.map(lambda n: clients[n % 10].memory.Create(request).result, range(50)))
        assert {identity(result) for result in results} == {identity(first)}
        request.canonical_content = b'{"statement":"twice"}'
        with pytest.raises(Refusal) as refusal:
            clients[0].memory.Create(request)
        assert refusal.value.reason == "DUPLICATE_OPERATION"
        # Twenty at once that never were answered before.
        request.idempotency_key, request.object_id = "fresh", ""
        with ThreadPoolExecutor(20) as pool:
            results = list(pool.map(lambda n: clients[n % 10].memory.Create(request).result, range(20)))
        assert len({identity(result) for result in results}) == 1
        workspace.owner = clients[0]
        created = [event.object_id for event in workspace.events(event_classes=[CREATED])]
        assert created[1:] == ["mem:retried", results[0].object_id]
