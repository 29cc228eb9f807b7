"""The cases of PAMSPEC-Lite (section 18.1), each a function of a fresh workspace and the place it is in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.conformance.places import ADMIN, Place
from tests.server.operations.memory.requests import ACCEPT_ALL, delete, history, query_ids, transition, update

Case = Callable[[Workspace, Place], None]


def refusal(call: Callable[[], object]) -> Refusal:
    """What the call is refused with."""
    with pytest.raises(Refusal) as refused:
        call()
    return refused.value


def code(call: Callable[[], object]) -> str:
    """The draft's code that the call is refused with."""
    return refusal(call).pamspec.code


def events(workspace: Workspace, **filters: Any) -> list[str]:
    """The wire names of the workspace's events."""
    names = [ledger_pb2.EventType.Name(event.event_type) for event in workspace.events(**filters)]
    return [name.removeprefix("EVENT_TYPE_").lower() for name in names]


def case_create(workspace: Workspace, place: Place) -> None:
    result = workspace.create(canonical_content=b'{"statement":"made"}')
    envelope = result.envelope
    assert (envelope.scope_id, envelope.object_id, envelope.version_id) == (
        workspace.scope_id,
        result.object_id,
        result.version_id,
    )
    assert (envelope.sequence, envelope.spec_version) == (1, "0.1.0-draft")
    assert envelope.canonical_content == b'{"statement":"made"}'
    assert envelope.actor.actor_id == ADMIN
    assert envelope.provenance.activity == "observed"
    assert events(workspace, object_id=result.object_id) == ["object_created"]


def case_read(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    first, second = workspace.read(made.object_id), workspace.read(made.object_id)
    assert first.envelope == made.envelope
    assert first.envelope.SerializeToString() == second.envelope.SerializeToString()
    assert code(lambda: workspace.read("urn:x:absent")) == "object_not_found"


def case_update(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    changed = update(workspace, made.object_id, made.version_id, canonical_content=b'{"statement":"changed"}')
    assert (changed.object_id, changed.sequence) == (made.object_id, 2)
    assert changed.version_id != made.version_id
    assert workspace.read(made.object_id).envelope == changed.envelope
    assert "object_updated" in events(workspace, object_id=made.object_id)


def case_historical_read(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    update(workspace, made.object_id, made.version_id)
    assert workspace.read(made.object_id, version_id=made.version_id).envelope == made.envelope


def case_transition(workspace: Workspace, place: Place) -> None:
    made = workspace.create(object_type="claim")
    moved = transition(workspace, made.object_id, made.version_id, "validation", "corroborated")
    assert moved.envelope.validation_state == common_pb2.VALIDATION_STATE_CORROBORATED
    assert moved.envelope.lifecycle_state == made.envelope.lifecycle_state
    assert moved.version_id != made.version_id
    last = transition(workspace, made.object_id, moved.version_id, "lifecycle", "superseded")
    assert last.envelope.lifecycle_state == common_pb2.LIFECYCLE_STATE_SUPERSEDED
    assert events(workspace, object_id=made.object_id)[1:] == ["validation_transitioned", "lifecycle_transitioned"]


def case_invalid_transition(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    for dimension, state in (("lifecycle", "scratch"), ("lifecycle", "redacted"), ("validation", "unverified")):
        refused = code(
            lambda dimension=dimension, state=state: transition(
                workspace, made.object_id, made.version_id, dimension, state
            )
        )
        assert refused == "invalid_state_transition"
    assert workspace.read(made.object_id).envelope.version_id == made.version_id


def case_delete(workspace: Workspace, place: Place) -> None:
    made = workspace.create(canonical_content=b'{"statement":"to be gone"}')
    gone = delete(workspace, made.object_id, made.version_id)
    assert gone.envelope.availability_state == common_pb2.AVAILABILITY_STATE_DELETED
    assert code(lambda: workspace.read(made.object_id)) == "object_deleted"
    assert code(lambda: workspace.read(made.object_id, version_id=made.version_id)) == "object_deleted"
    assert code(lambda: update(workspace, made.object_id, gone.version_id)) == "object_deleted"
    assert b"to be gone" not in b"".join(
        entry.SerializeToString() for entry in history(workspace, object_id=made.object_id)
    )
    assert "object_deleted" in events(workspace, object_id=made.object_id)


def case_no_resurrection(workspace: Workspace, place: Place) -> None:
    made = workspace.create(object_id="urn:x:once")
    delete(workspace, made.object_id, made.version_id)
    assert code(lambda: workspace.create(object_id="urn:x:once")) == "object_deleted"
    versions = [entry.version for entry in history(workspace, object_id="urn:x:once") if entry.HasField("version")]
    assert versions[-1].availability_state == common_pb2.AVAILABILITY_STATE_DELETED


def case_query(workspace: Workspace, place: Place) -> None:
    plain = workspace.create()
    trusted = workspace.create()
    transition(workspace, trusted.object_id, trusted.version_id, "validation", "corroborated")
    assert query_ids(workspace) == [trusted.object_id]
    assert set(query_ids(workspace, filters=ACCEPT_ALL)) == {plain.object_id, trusted.object_id}
    unscoped = memory_pb2.QueryRequest(query={"kind": memory_pb2.QUERY_KIND_STRUCTURED}, limit=10)
    assert code(lambda: workspace.owner.memory.Query(unscoped)) == "invalid_request"


def case_scope_isolation(workspace: Workspace, place: Place) -> None:
    there: Any = place
    other = Workspace(there)
    made = workspace.create(object_id="urn:x:here")
    assert code(lambda: other.read("urn:x:here")) == "object_not_found"
    assert query_ids(other, filters=ACCEPT_ALL) == []
    stranger = place.client("actor:stranger")
    assert code(lambda: workspace.read(made.object_id, stranger)) == "scope_not_found"
    assert code(lambda: workspace.create(stranger)) == "scope_not_found"
    assert code(lambda: query_ids(workspace, stranger)) == "scope_not_found"


def case_scope_mutation_rejected(workspace: Workspace, place: Place) -> None:
    there: Any = place
    other = Workspace(there)
    made = workspace.create()
    assert code(lambda: update(other, made.object_id, made.version_id)) == "object_not_found"
    assert code(lambda: transition(other, made.object_id, made.version_id, "lifecycle", "archived")) == (
        "object_not_found"
    )
    assert code(lambda: delete(other, made.object_id, made.version_id)) == "object_not_found"
    assert workspace.read(made.object_id).envelope == made.envelope


def case_stale_update(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    changed = update(workspace, made.object_id, made.version_id)
    refused = refusal(lambda: update(workspace, made.object_id, made.version_id))
    assert (refused.pamspec.code, refused.pamspec.retryable) == ("version_conflict", True)
    assert refused.pamspec.current_version_id == changed.version_id
    assert workspace.read(made.object_id).envelope == changed.envelope


def case_stale_transition(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    changed = update(workspace, made.object_id, made.version_id)
    refused = code(lambda: transition(workspace, made.object_id, made.version_id, "lifecycle", "archived"))
    assert refused == "version_conflict"
    assert workspace.read(made.object_id).envelope == changed.envelope


def case_stale_delete(workspace: Workspace, place: Place) -> None:
    made = workspace.create()
    changed = update(workspace, made.object_id, made.version_id)
    assert code(lambda: delete(workspace, made.object_id, made.version_id)) == "version_conflict"
    assert workspace.read(made.object_id).envelope == changed.envelope


def case_idempotent_create(workspace: Workspace, place: Place) -> None:
    made = workspace.create(idempotency_key="once")
    again = workspace.create(idempotency_key="once")
    assert (again.object_id, again.version_id, again.replayed) == (made.object_id, made.version_id, True)
    assert again.event_ids == made.event_ids
    assert events(workspace).count("object_created") == 1


def case_duplicate_operation(workspace: Workspace, place: Place) -> None:
    workspace.create(idempotency_key="once")
    changed = {"canonical_content": b'{"statement":"y"}'}
    assert code(lambda: workspace.create(idempotency_key="once", **changed)) == "duplicate_operation"
    assert events(workspace).count("object_created") == 1


def case_idempotency_survives_restart(workspace: Workspace, place: Place) -> None:
    made = workspace.create(idempotency_key="once")
    place.restart()
    workspace.owner = place.client(ADMIN)
    again = workspace.create(idempotency_key="once")
    assert (again.object_id, again.version_id, again.replayed) == (made.object_id, made.version_id, True)
    changed = {"canonical_content": b'{"statement":"y"}'}
    assert code(lambda: workspace.create(idempotency_key="once", **changed)) == "duplicate_operation"


LITE: dict[str, Case] = {name: case for name, case in globals().items() if name.startswith("case_")}
