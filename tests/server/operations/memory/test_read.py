"""Read: which version, how it refuses, and that it leaves nothing behind (PAMSPEC 10.2)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from remit.v1 import memory_pb2
from tests.cluster import ADMIN, Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, history, query_ids, transition, update


@pytest.mark.req("P-10.2-02", "P-9.3-01", "P-18.5-01", "P-8.1-09")
def test_each_version_is_read_by_its_id(workspace: Workspace) -> None:
    results = [workspace.create()]
    for number in range(3):
        content = str(number).encode()
        results.append(update(workspace, results[0].object_id, results[-1].version_id, canonical_content=content))
    for result in results:
        read = workspace.read(result.object_id, version_id=result.version_id)
        assert (read.envelope, read.content_state) == (result.envelope, memory_pb2.CONTENT_STATE_PRESENT)
    assert workspace.read(results[0].object_id).envelope == results[-1].envelope
    hidden = transition(workspace, results[0].object_id, results[-1].version_id, "availability", "redacted")
    for version_id in ("", results[0].version_id):
        with pytest.raises(Refusal) as refusal:
            workspace.read(hidden.object_id, version_id=version_id)
        assert refusal.value.reason == "OBJECT_REDACTED"
    delete(workspace, hidden.object_id, hidden.version_id)
    for version_id in ("", results[0].version_id):
        with pytest.raises(Refusal) as refusal:
            workspace.read(hidden.object_id, version_id=version_id)
        assert refusal.value.reason == "OBJECT_DELETED"


@pytest.mark.req("P-9.3-04", "P-9.6-03")
def test_a_tombstone_is_for_who_may_inspect_history_and_asks(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=b'"secret"', provenance={"activity": "secret"})
    gone = delete(workspace, made.object_id, made.version_id)
    workspace.allow("actor:reader", "read")
    workspace.allow("actor:auditor", "read", "inspect_history")
    attempts: list[tuple[str, dict[str, Any]]] = [("actor:auditor", {}), ("actor:reader", {"allow_tombstone": True})]
    for actor_id, fields in attempts:
        with pytest.raises(Refusal) as refusal:
            workspace.read(made.object_id, workspace.cluster.client(actor_id), **fields)
        assert refusal.value.reason == "OBJECT_DELETED"
    auditor = workspace.cluster.client("actor:auditor")
    for version_id in ("", made.version_id):
        read = workspace.read(made.object_id, auditor, version_id=version_id, allow_tombstone=True)
        assert read.content_state == memory_pb2.CONTENT_STATE_WITHHELD
        assert read.envelope.version_id == (version_id or gone.version_id)
        assert b"secret" not in read.SerializeToString()
    last = history(workspace, auditor, object_id=made.object_id)
    versions = [entry for entry in last if entry.HasField("version")]
    assert versions[-1].version.version_id == gone.version_id
    assert b"secret" not in b"".join(entry.SerializeToString() for entry in last)


@pytest.mark.req("P-10.2-03", "P-11-10")
def test_reading_makes_no_version_and_no_event(workspace: Workspace) -> None:
    made = workspace.create()
    before = workspace.events()
    reads = [workspace.read(made.object_id, operation_id=f"op:{number}") for number in range(100)]
    assert {read.envelope.SerializeToString(deterministic=True) for read in reads} == {
        made.envelope.SerializeToString(deterministic=True)
    }
    assert workspace.events() == before
    assert len([entry for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]) == 1


@pytest.mark.req("P-14-08", "P-14-21", "P-14-20", "P-7.5-01")
def test_reads_that_find_nothing_say_why(workspace: Workspace) -> None:
    made = workspace.create()
    other = workspace.create()
    refused: dict[str, dict[str, Any]] = {
        "unknown": {"object_id": "urn:no:such"},
        "unknown version": {"object_id": made.object_id, "version_id": "urn:no:such"},
        "another object's version": {"object_id": made.object_id, "version_id": other.version_id},
    }
    for fields in refused.values():
        with pytest.raises(Refusal) as refusal:
            workspace.read(**fields)
        assert (refusal.value.code, refusal.value.reason) == (grpc.StatusCode.NOT_FOUND, "OBJECT_NOT_FOUND")
    with pytest.raises(Refusal) as refusal:
        Workspace(workspace.cluster).read(made.object_id)
    assert refusal.value.reason == "OBJECT_NOT_FOUND"


@pytest.mark.req("P-9.4-03")
def test_pending_deletion_is_read_by_reviewers_only(workspace: Workspace) -> None:
    made = workspace.create()
    workspace.allow("actor:mover", "read", "transition.retention")
    mover = workspace.cluster.client("actor:mover")
    key: dict[str, Any] = {"idempotency_key": "k"}
    pending = transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion", mover, **key)
    again = transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion", mover, **key)
    assert (again.replayed, again.version_id) == (True, pending.version_id)
    for result in (pending, again):
        assert result.envelope.canonical_content == b""
    with pytest.raises(Refusal) as refusal:
        workspace.read(made.object_id, mover)
    assert refusal.value.reason == "RETENTION_RESTRICTION"
    workspace.allow("actor:mover", "review")
    assert workspace.read(made.object_id, mover).envelope.canonical_content == made.envelope.canonical_content


@pytest.mark.req("P-12-07")
@pytest.mark.case("A33")
def test_a_committed_change_is_read_through_every_replica(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    clients = [replicas.client(ADMIN, server=server) for server in range(3)]

    def write(number: int) -> str:
        writer, reader = clients[number % 2], clients[(number + 1) % 3]
        made = workspace.create(writer, canonical_content=str(number).encode())
        assert workspace.read(made.object_id, reader).envelope == made.envelope
        return str(made.object_id)

    with ThreadPoolExecutor(8) as pool:
        object_ids = list(pool.map(write, range(40)))
    accepted = {"validation_state": [1, 2, 3, 4]}
    assert sorted(query_ids(workspace, filters=accepted)) == sorted(object_ids)
    created = workspace.events(event_classes=["EVENT_TYPE_OBJECT_CREATED"])
    assert sorted(event.object_id for event in created) == sorted(object_ids)
