"""Every operation of the draft succeeds for who may, in the workspace named and in no other (PAMSPEC 7.2, 12, 15, 18)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from remit.v1 import admin_pb2, common_pb2, ledger_pb2
from tests.cluster import Refusal, Workspace
from tests.contract.denials import payload_of
from tests.contract.operations import calls_of_kinds, calls_of_operations, redaction, relation
from tests.server.operations.memory.requests import delete, history, transition, update


def _refused(call: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as refused:
        call()
    return refused.value


@pytest.mark.req("P-7.2-01", "P-3-01")
def test_each_operation_succeeds_for_a_permitted_actor(workspace: Workspace) -> None:
    scope = workspace.owner.admin.GetWorkspace(admin_pb2.GetWorkspaceRequest(scope_id=workspace.scope_id)).workspace
    assert (scope.scope_kind, scope.scope_id) == ("workspace", workspace.scope_id)
    done = [name for name, call in calls_of_operations(workspace, workspace.owner) if call() is not None]
    assert len(done) == 12


@pytest.mark.req("P-15.2-01")
def test_rights_in_one_workspace_are_none_in_another(workspace: Workspace) -> None:
    elsewhere = Workspace(workspace.cluster)
    actor_id = "actor:at-home"
    elsewhere.owner.admin.BindRole(
        admin_pb2.BindRoleRequest(scope_id=elsewhere.scope_id, actor_id=actor_id, role_id="role:owner")
    )
    visitor = workspace.cluster.client(actor_id)
    calls = dict(calls_of_kinds(workspace, visitor))
    before = len(workspace.events())
    assert {name: _refused(call).pamspec.code for name, call in calls.items()} == dict.fromkeys(
        ("reads", "writes", "queries", "exports", "imports", "indexing", "snapshots", "deletion"), "scope_not_found"
    )
    left = workspace.events()[before:]
    assert {event.event_type for event in left} == {ledger_pb2.EVENT_TYPE_ACCESS_DENIED}
    assert {event.actor.actor_id for event in left} == {actor_id}
    assert len(left) == len(calls) == 8
    # With rights of its own in both, none of them reaches over.
    for event in left:
        assert payload_of(event)["denial_reason"] == "NO_RULE"


@pytest.mark.req("P-12-01", "P-18.1-04")
def test_a_stale_version_is_refused_wherever_one_is_expected(workspace: Workspace) -> None:
    made, other = workspace.create(), workspace.create()
    current = update(workspace, made.object_id, made.version_id)
    memory = workspace.owner.memory
    linked = memory.Relate(relation(workspace, made.object_id, other.object_id)).relationship
    changed = memory.Relate(
        relation(
            workspace,
            made.object_id,
            other.object_id,
            relationship_id=linked.relationship_id,
            expected_version_id=linked.version_id,
            canonical_content=b'{"weight":2}',
        )
    ).relationship
    stale = (workspace, made.object_id, made.version_id)
    calls: dict[str, tuple[Callable[[], Any], str]] = {
        "update": (lambda: update(*stale), current.version_id),
        "transition": (lambda: transition(*stale, "lifecycle", "archived"), current.version_id),
        "redact": (lambda: memory.Redact(redaction(*stale)), current.version_id),
        "delete": (lambda: delete(*stale), current.version_id),
        "relate": (
            lambda: memory.Relate(
                relation(
                    workspace,
                    made.object_id,
                    other.object_id,
                    relationship_id=linked.relationship_id,
                    expected_version_id=linked.version_id,
                )
            ),
            changed.version_id,
        ),
    }
    before = len(workspace.events())
    for name, (call, current_version_id) in calls.items():
        refused = _refused(call)
        assert (refused.pamspec.code, refused.pamspec.retryable) == ("version_conflict", True), name
        assert refused.pamspec.current_version_id == current_version_id, name
    assert len(workspace.events()) == before
    assert workspace.read(made.object_id).envelope.version_id == current.version_id


@pytest.mark.req("P-18.1-03")
def test_the_five_events_of_the_smallest_profile_come_with_their_versions(workspace: Workspace) -> None:
    made = workspace.create()
    changed = update(workspace, made.object_id, made.version_id)
    moved = transition(workspace, made.object_id, changed.version_id, "validation", "corroborated")
    archived = transition(workspace, made.object_id, moved.version_id, "lifecycle", "archived")
    gone = delete(workspace, made.object_id, archived.version_id)
    made_versions = [result.version_id for result in (made, changed, moved, archived, gone)]
    wanted = ["OBJECT_CREATED", "OBJECT_UPDATED", "VALIDATION_TRANSITIONED", "LIFECYCLE_TRANSITIONED", "OBJECT_DELETED"]
    types = [ledger_pb2.EventType.Value(f"EVENT_TYPE_{name}") for name in wanted]
    events = workspace.events(object_id=made.object_id, event_classes=types)
    assert [(event.event_type, event.version_id) for event in events] == list(zip(types, made_versions, strict=True))
    # Version and event are one entry each of one history, and neither is without the other.
    entries = history(workspace, object_id=made.object_id)
    versions = {entry.version.version_id: entry.ledger_sequence for entry in entries if entry.HasField("version")}
    assert versions == {event.version_id: event.sequence for event in events}
    assert [json.loads(event.payload_json)["object_sequence"] for event in events] == [1, 2, 3, 4, 5]
    assert gone.envelope.availability_state == common_pb2.AVAILABILITY_STATE_DELETED
