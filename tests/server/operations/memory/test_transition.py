"""Transition: what a move needs, what it writes, and what it leaves alone (PAMSPEC 9, 10.4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, transition, update
from tests.server.operations.memory.standings import EVENT_TYPES, LEGAL, current, made_in, states


@pytest.mark.req("P-9.5-01", "P-10.4-01")
@pytest.mark.parametrize(
    "missing",
    ["scope_id", "object_id", "expected_version_id", "dimension", "target_state", "policy_basis", "unknown dimension"],
)
def test_a_transition_names_all_it_needs(workspace: Workspace, missing: str) -> None:
    made = workspace.create()
    request = memory_pb2.TransitionRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        dimension=memory_pb2.DIMENSION_LIFECYCLE,
        target_state="archived",
        policy_basis="test",
    )
    if missing == "unknown dimension":
        unknown: Any = 99
        request.dimension = unknown
    else:
        request.ClearField(missing)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Transition(request)
    assert refusal.value.reason == "INVALID_REQUEST"
    assert refusal.value.fields == ["dimension" if missing == "unknown dimension" else missing]
    assert workspace.read(made.object_id).envelope.version_id == made.version_id


@pytest.mark.req("P-9.5-02", "P-10.4-02", "P-15.3-01")
def test_a_move_writes_one_version_and_its_dimension_s_event(workspace: Workspace) -> None:
    moves = {
        "lifecycle": ("active", "deprecated"),
        "retention": ("retained", "expired"),
        "validation": ("unverified", "disputed"),
        "availability": ("available", "redacted"),
    }
    made = workspace.create()
    version_id = made.version_id
    for number, (dimension, (from_state, to_state)) in enumerate(moves.items(), start=2):
        moved = transition(workspace, made.object_id, version_id, dimension, to_state, operation_id=f"op:{dimension}")
        assert moved.sequence == number
        assert moved.version_id not in (made.version_id, version_id)
        version_id = moved.version_id
        [event] = workspace.events(event_classes=[EVENT_TYPES[dimension]])
        assert (event.event_id, event.operation_id) == (moved.event_ids[0], f"op:{dimension}")
        assert (event.object_id, event.version_id) == (made.object_id, moved.version_id)
        assert event.actor.actor_id == ADMIN
        payload = json.loads(event.payload_json)
        told = {name: payload[name] for name in ("from", "to", "policy_basis", "object_sequence")}
        assert told == {"from": from_state, "to": to_state, "policy_basis": "test", "object_sequence": number}


@pytest.mark.req("P-9-02")
@pytest.mark.parametrize(
    ("dimension", "target"),
    [("lifecycle", "redacted"), ("availability", "archived"), ("validation", "retained"), ("retention", "no-such")],
)
def test_a_state_of_another_dimension_is_no_state_of_this_one(
    workspace: Workspace, dimension: str, target: str
) -> None:
    made = workspace.create()
    with pytest.raises(Refusal) as refusal:
        transition(workspace, made.object_id, made.version_id, dimension, target)
    assert refusal.value.reason == "INVALID_STATE_TRANSITION"


@pytest.mark.req("P-9.3-03")
def test_redacting_by_transition_suppresses_the_whole_object(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=b'"first secret"')
    updated = update(workspace, made.object_id, made.version_id, canonical_content=b'"second secret"')
    workspace.allow("actor:mover", "read", "transition.availability")
    mover = workspace.cluster.client("actor:mover")
    asked = (workspace, made.object_id, updated.version_id, "availability", "redacted")
    with pytest.raises(Refusal) as refusal:
        transition(*asked, mover)
    assert refusal.value.reason == "ACCESS_DENIED"  # the right to redact is another one
    workspace.allow("actor:mover", "redact")
    moved = transition(*asked, mover)
    assert moved.envelope.canonical_content == b""
    events = {event.event_type: event for event in workspace.events(object_id=made.object_id)}
    payload = json.loads(events[ledger_pb2.EVENT_TYPE_OBJECT_REDACTED].payload_json)
    assert (payload["mode"], payload["from"], payload["to"]) == ("suppress", "available", "redacted")
    for event_type in (ledger_pb2.EVENT_TYPE_OBJECT_REDACTED, ledger_pb2.EVENT_TYPE_AVAILABILITY_TRANSITIONED):
        assert events[event_type].version_id == moved.version_id
    for version_id in ("", made.version_id, updated.version_id, moved.version_id):
        with pytest.raises(Refusal) as refusal:
            workspace.read(made.object_id, version_id=version_id)
        assert refusal.value.reason == "OBJECT_REDACTED"
        tombstone = workspace.read(made.object_id, version_id=version_id, allow_tombstone=True)
        assert tombstone.content_state == memory_pb2.CONTENT_STATE_WITHHELD
        assert b"secret" not in tombstone.SerializeToString()
    entries = workspace.owner.memory.InspectHistory(
        memory_pb2.InspectHistoryRequest(scope_id=workspace.scope_id, object_id=made.object_id)
    )
    assert len([entry for entry in entries.entries if entry.HasField("version")]) == 3
    assert b"secret" not in entries.SerializeToString()
    # Restoring gives all of it back.
    restored = transition(workspace, made.object_id, moved.version_id, "availability", "available")
    assert workspace.read(made.object_id).envelope.canonical_content == b'"second secret"'
    assert workspace.read(made.object_id, version_id=made.version_id).envelope.canonical_content == b'"first secret"'
    assert restored.sequence == 4


def test_deleting_by_transition_takes_the_path_and_the_right_of_delete(workspace: Workspace) -> None:
    made = workspace.create()
    workspace.allow("actor:mover", "read", "transition.availability")
    mover = workspace.cluster.client("actor:mover")
    asked = (workspace, made.object_id, made.version_id, "availability", "deleted", mover)
    with pytest.raises(Refusal) as refusal:
        transition(*asked)
    assert refusal.value.reason == "ACCESS_DENIED"
    workspace.allow("actor:mover", "delete")
    moved = transition(*asked, idempotency_key="k1")
    assert moved.propagation_job_id
    assert states(moved.envelope)["availability"] == "deleted"
    events = {event.event_type: event for event in workspace.events(object_id=made.object_id)}
    for event_type in (ledger_pb2.EVENT_TYPE_OBJECT_DELETED, ledger_pb2.EVENT_TYPE_AVAILABILITY_TRANSITIONED):
        assert events[event_type].version_id == moved.version_id
        payload = json.loads(events[event_type].payload_json)
        assert (payload["from"], payload["to"]) == ("available", "deleted")
    with pytest.raises(Refusal) as refusal:
        workspace.read(made.object_id)
    assert refusal.value.reason == "OBJECT_DELETED"
    assert transition(*asked, idempotency_key="k1").replayed
    workspace.deny("actor:mover", "delete")
    with pytest.raises(Refusal) as refusal:
        transition(*asked, idempotency_key="k1")
    assert refusal.value.reason == "ACCESS_DENIED"


@pytest.mark.req("P-9.5-A4", "P-10.3-04")
def test_deleted_is_the_end(workspace: Workspace) -> None:
    made = workspace.create()
    gone = delete(workspace, made.object_id, made.version_id)
    moves = [(dimension, target) for dimension, table in LEGAL.items() for target in table]
    for dimension, target in moves:
        with pytest.raises(Refusal) as refusal:
            transition(workspace, made.object_id, gone.version_id, dimension, target)
        assert refusal.value.reason == "OBJECT_DELETED"
    for change in (update, delete):
        with pytest.raises(Refusal) as refusal:
            change(workspace, made.object_id, gone.version_id)
        assert refusal.value.reason == "OBJECT_DELETED"
    assert current(workspace, made.object_id).version_id == gone.version_id


@pytest.mark.req("P-10.4-03")
def test_a_transition_is_refused_in_seven_ways(workspace: Workspace) -> None:
    held = made_in(workspace, "retention", "legal_hold")
    pending = made_in(workspace, "retention", "pending_deletion")
    archived = made_in(workspace, "lifecycle", "archived")
    plain = workspace.create()
    workspace.allow("actor:reader", "read")
    reader = workspace.cluster.client("actor:reader")
    refusals = {
        "INVALID_STATE_TRANSITION": (plain.object_id, plain.version_id, "lifecycle", "scratch", None),
        "VERSION_CONFLICT": (plain.object_id, "urn:uuid:stale", "lifecycle", "archived", None),
        "POLICY_DENIED": (archived.object_id, archived.version_id, "lifecycle", "active", None),
        "ACCESS_DENIED": (plain.object_id, plain.version_id, "lifecycle", "archived", reader),
        "LEGAL_HOLD": (held.object_id, held.version_id, "retention", "retained", None),
        "OBJECT_NOT_FOUND": ("urn:no:such", plain.version_id, "lifecycle", "archived", None),
        "RETENTION_RESTRICTION": (pending.object_id, pending.version_id, "lifecycle", "archived", None),
    }
    for code, asked in refusals.items():
        with pytest.raises(Refusal) as refusal:
            transition(workspace, *asked)
        assert refusal.value.reason == code


@pytest.mark.req("P-9.6-01", "P-9.6-04")
@pytest.mark.parametrize("state", ["expired", "legal_hold"])
def test_retention_moves_leave_lifecycle_and_availability_alone(workspace: Workspace, state: str) -> None:
    made = made_in(workspace, "lifecycle", "candidate")
    moved = transition(workspace, made.object_id, made.version_id, "retention", state)
    read = workspace.read(made.object_id).envelope
    assert states(read) == states(made.envelope) | {"retention": state}
    assert read.version_id == moved.version_id


@pytest.mark.case("A21")
@pytest.mark.req("P-14-19")
def test_what_is_held_is_not_disposed_of(workspace: Workspace, cluster: Cluster) -> None:
    made = workspace.create()
    held = transition(workspace, made.object_id, made.version_id, "retention", "legal_hold")
    place = (workspace, made.object_id, held.version_id)
    workspace.allow("actor:cleaner", "delete", "redact", "transition.availability", "create", "read")
    cleaner = cluster.client("actor:cleaner")
    attempts: list[Callable[[], Any]] = [
        lambda: delete(*place, cleaner),
        lambda: transition(*place, "availability", "deleted", cleaner),
        lambda: transition(*place, "availability", "redacted", cleaner),
    ]
    for attempt in attempts:
        with pytest.raises(Refusal) as refusal:
            attempt()
        assert refusal.value.reason == "LEGAL_HOLD"
    with pytest.raises(Refusal) as refusal:
        workspace.create(cleaner, object_id=made.object_id)
    assert refusal.value.reason == "INVALID_REQUEST"
    refused = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    assert [json.loads(event.payload_json)["denial_reason"] for event in refused] == ["LEGAL_HOLD"] * 3
    assert {(event.object_id, event.actor.actor_id) for event in refused} == {(made.object_id, "actor:cleaner")}
    after = workspace.read(made.object_id).envelope
    assert (after.version_id, states(after)["retention"]) == (held.version_id, "legal_hold")
    assert after.canonical_content == b'{"statement":"x"}'
