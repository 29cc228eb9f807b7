"""Delete: the tombstone, what it promises and what stays (PAMSPEC 9.6, 10.11)."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Refusal, Workspace
from tests.faults.waiting import until
from tests.server.operations.memory.requests import delete, history, query_page, update
from tests.server.operations.memory.standings import states

CLOSED = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED


@pytest.mark.req("P-10.11-01")
@pytest.mark.parametrize("missing", ["scope_id", "object_id", "expected_version_id", "policy_basis"])
def test_a_delete_names_all_it_needs(workspace: Workspace, missing: str) -> None:
    made = workspace.create()
    updated = update(workspace, made.object_id, made.version_id)
    request = memory_pb2.DeleteRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=updated.version_id,
        policy_basis="test",
    )
    request.ClearField(missing)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Delete(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [missing])
    with pytest.raises(Refusal) as refusal:
        delete(workspace, made.object_id, made.version_id)
    assert refusal.value.reason == "VERSION_CONFLICT"
    assert workspace.read(made.object_id).envelope.version_id == updated.version_id


@pytest.mark.req("P-10.11-02", "P-9.6-03", "P-8.1-10", "P-8.1-03")
@pytest.mark.case("A31")
def test_a_tombstone_ends_the_history(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=b'"secret"', quality_signals={"staleness_score": 0.5})
    updated = update(workspace, made.object_id, made.version_id)
    gone = delete(workspace, made.object_id, updated.version_id, operation_id="op:delete")
    assert (gone.object_id, gone.sequence) == (made.object_id, 3)
    assert states(gone.envelope) == states(made.envelope) | {"availability": "deleted"}
    assert gone.envelope.canonical_content == b'{"tombstone":true}'
    assert (gone.envelope.actor.actor_id, gone.envelope.provenance.activity) == (ADMIN, "deleted")
    assert gone.envelope.committed_at.seconds > 0
    with pytest.raises(Refusal) as refusal:
        delete(workspace, made.object_id, gone.version_id)
    assert refusal.value.reason == "OBJECT_DELETED"
    versions = [entry.version for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert [version.version_id for version in versions] == [made.version_id, updated.version_id, gone.version_id]
    for version, result in zip(versions, (made, updated, gone), strict=True):
        # What was recorded when stays as it was; only content goes.
        assert version.committed_at == result.envelope.committed_at
        assert version.recorded_at == result.envelope.recorded_at
        assert states(version) == states(result.envelope)
    [event] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_DELETED])
    assert (event.event_id, event.version_id, event.operation_id) == (gone.event_ids[0], gone.version_id, "op:delete")
    assert (event.actor.actor_id, event.recorded_at.seconds > 0) == (ADMIN, True)
    payload = json.loads(event.payload_json)
    told = {name: payload[name] for name in ("from", "to", "policy_basis", "job_id")}
    assert told == {
        "from": "available",
        "to": "deleted",
        "policy_basis": "test",
        "job_id": gone.propagation_job_id,
    }


@pytest.mark.req("P-10.11-03", "P-7.7-11")
def test_erasure_is_reported_done_after_the_tombstone(workspace: Workspace) -> None:
    made = workspace.create()
    gone = delete(workspace, made.object_id, made.version_id)
    assert gone.propagation_job_id
    events = until(
        lambda: (
            [event for event in workspace.events(object_id=made.object_id) if event.event_type == CLOSED]
            and workspace.events(object_id=made.object_id)
        ),
        "the propagation job closes",
    )
    by_type = {event.event_type: event for event in events}
    opened = by_type[ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_OPENED]
    assert by_type[ledger_pb2.EVENT_TYPE_OBJECT_DELETED].sequence < opened.sequence < by_type[CLOSED].sequence
    for event_type in (opened.event_type, CLOSED):
        assert json.loads(by_type[event_type].payload_json)["job_id"] == gone.propagation_job_id
    assert json.loads(by_type[CLOSED].payload_json)["keys_destroyed"] == 2  # of content and of provenance
    assert states(workspace.read(made.object_id, allow_tombstone=True).envelope)["availability"] == "deleted"


@pytest.mark.req("P-7.7-10")
def test_nothing_that_was_deleted_is_found_anywhere(workspace: Workspace) -> None:
    secret = "canary-7f3a"
    made = workspace.create(
        canonical_content=f'{{"text":"{secret}"}}'.encode(),
        provenance={"activity": secret, "source_ref": f"urn:{secret}"},
        integrity={"digest": secret, "algorithm": "a"},
        idempotency_key="k",
    )
    updated = update(workspace, made.object_id, made.version_id, canonical_content=f'"{secret} again"'.encode())
    gone = delete(workspace, made.object_id, updated.version_id)
    filters: dict[str, Any] = {"availability_state": [1, 2, 3, 4], "validation_state": [1, 2, 3, 4]}
    shown = [entry.SerializeToString() for entry in history(workspace, object_id=made.object_id)]
    shown += [event.SerializeToString() for event in workspace.events()]
    shown += [query_page(workspace, filters=filters).SerializeToString()]
    for version_id in (made.version_id, updated.version_id, gone.version_id):
        read = workspace.read(made.object_id, version_id=version_id, allow_tombstone=True)
        assert read.content_state == memory_pb2.CONTENT_STATE_WITHHELD
        shown.append(read.SerializeToString())
    replayed = workspace.create(
        canonical_content=f'{{"text":"{secret}"}}'.encode(),
        provenance={"activity": secret, "source_ref": f"urn:{secret}"},
        integrity={"digest": secret, "algorithm": "a"},
        idempotency_key="k",
    )
    assert (replayed.replayed, replayed.version_id) == (True, made.version_id)
    shown.append(replayed.SerializeToString())
    assert len(shown) > 10
    assert not [text for text in shown if secret.encode() in text]
    command = [sys.executable, "-m", "server", "ledger", "export", "--tenant", workspace.tenant_id]
    command += ["--scope", workspace.scope_id]
    exported = subprocess.run(command, env=workspace.cluster.environment(), capture_output=True, check=False)
    assert exported.returncode == 0, exported.stderr.decode()
    assert made.object_id.encode() in exported.stdout
    assert secret.encode() not in exported.stdout


@pytest.mark.case("A17")
def test_a_deletion_that_overtakes_others_is_told_to_them(workspace: Workspace) -> None:
    """Reads, updates, moves and replays that race a deletion and its erasure see the object, or that it is deleted."""

    def race(number: int) -> list[Any]:
        made = workspace.create(idempotency_key=f"k{number}", canonical_content=b"1")
        place = (workspace, made.object_id, made.version_id)
        calls = [
            lambda: delete(*place),
            lambda: workspace.read(made.object_id),
            lambda: workspace.read(made.object_id),
            lambda: update(*place, update_mask=["valid_until"], valid_until={"seconds": 1}),
            lambda: workspace.create(idempotency_key=f"k{number}", canonical_content=b"1"),
            lambda: workspace.read(made.object_id),
        ]

        def outcome(call: Any) -> str:
            try:
                call()
            except Refusal as refusal:
                return refusal.reason
            return "OK"

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(outcome, calls))

    with ThreadPoolExecutor(4) as pool:
        outcomes = {reason for reasons in pool.map(race, range(40)) for reason in reasons}
    assert outcomes <= {"OK", "OBJECT_DELETED", "VERSION_CONFLICT"}
    found = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION])
    assert found == []
