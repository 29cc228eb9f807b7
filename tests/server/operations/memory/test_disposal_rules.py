"""What keeps an object: holds and the retention a workspace demands (PAMSPEC 9.4, 10.9, 16.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.memory.redactions import ERASE, SUPPRESS, redact
from tests.server.operations.memory.requests import delete, transition, update
from tests.server.operations.memory.standings import states

DENIED = ledger_pb2.EVENT_TYPE_ACCESS_DENIED
Disposal = Callable[[Workspace, str, str], Any]
DISPOSALS: dict[str, Disposal] = {
    "delete": delete,
    "suppress": lambda workspace, *named: redact(workspace, *named, "/statement"),
    "erase": lambda workspace, *named: redact(workspace, *named, "/statement", mode=ERASE),
    "suppress all": lambda workspace, *named: redact(workspace, *named, whole=True),
    "erase all": lambda workspace, *named: redact(workspace, *named, whole=True, mode=ERASE),
    "move to redacted": lambda workspace, *named: transition(workspace, *named, "availability", "redacted"),
    "move to deleted": lambda workspace, *named: transition(workspace, *named, "availability", "deleted"),
}


@pytest.mark.req("P-9.4-04", "P-10.9-03", "P-16.3-01")
@pytest.mark.case("A21")
def test_a_hold_keeps_an_object_from_every_disposal(workspace: Workspace) -> None:
    made = workspace.create()
    request = memory_pb2.TransitionRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        dimension=memory_pb2.DIMENSION_RETENTION,
        target_state="legal_hold",
    )
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Transition(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["policy_basis"])
    request.policy_basis = "case 17"
    held = workspace.owner.memory.Transition(request).result
    [moved] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_RETENTION_TRANSITIONED])
    assert json.loads(moved.payload_json)["policy_basis"] == "case 17"
    for dispose in DISPOSALS.values():
        with pytest.raises(Refusal) as refusal:
            dispose(workspace, held.object_id, held.version_id)
        assert refusal.value.reason == "LEGAL_HOLD"
    refused = workspace.events(event_classes=[DENIED])
    assert [event.object_id for event in refused] == len(DISPOSALS) * [held.object_id]
    assert {json.loads(event.payload_json)["denial_reason"] for event in refused} == {"LEGAL_HOLD"}
    assert workspace.read(held.object_id).envelope == held.envelope


@pytest.fixture(scope="module")
def timed(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Any:
    """A cluster whose clock this module moves."""
    with running_cluster(clone_database) as cluster:
        yield cluster


@pytest.mark.req("P-10.9-03", "P-14-18")
@pytest.mark.parametrize("disposal", DISPOSALS)
def test_content_is_kept_for_as_long_as_the_workspace_demands(timed: Cluster, disposal: str) -> None:
    dispose = DISPOSALS[disposal]
    timed.set_clock("2030-01-01T00:00:00Z")
    workspace = Workspace(timed, policy={"minimum_retention_seconds": 3600})
    made = workspace.create()
    timed.set_clock("2030-01-01T00:30:00Z")
    updated = update(workspace, made.object_id, made.version_id)
    moved = transition(workspace, made.object_id, updated.version_id, "lifecycle", "deprecated")
    # The newest content counts, not the object's age nor its moves.
    timed.set_clock("2030-01-01T01:29:59Z")
    with pytest.raises(Refusal) as refusal:
        dispose(workspace, made.object_id, moved.version_id)
    assert refusal.value.reason == "RETENTION_RESTRICTION"
    assert workspace.read(made.object_id).envelope == moved.envelope
    timed.set_clock("2030-01-01T01:30:00Z")
    done = dispose(workspace, made.object_id, moved.version_id)
    result = done.result if isinstance(done, memory_pb2.RedactResponse) else done
    assert states(result.envelope)["availability"] != "available"


def test_without_a_demand_nothing_is_kept(workspace: Workspace) -> None:
    made = workspace.create()
    hidden = redact(workspace, made.object_id, made.version_id, whole=True, mode=SUPPRESS).result
    assert delete(workspace, made.object_id, hidden.version_id).sequence == 3
