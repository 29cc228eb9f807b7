"""What a workspace's policy demands: audited reads, the states of Lite, states of types, purposes (P-18.1-*, P-App-02)."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from remit.v1 import admin_pb2, common_pb2, ledger_pb2, memory_pb2
from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace
from tests.server.operations.memory.contents import MINIMAL
from tests.server.operations.memory.redactions import redact
from tests.server.operations.memory.requests import delete, grant, transition, update
from tests.server.operations.memory.standings import states
from tests.server.operations.memory.test_promote import promote, scratch

READ = ledger_pb2.EVENT_TYPE_OBJECT_READ
FORBIDDEN = {"object_type": "tool_result", "dimension": "lifecycle", "forbidden_states": ["deprecated"]}
POLICY: dict[str, Any] = {
    "require_purpose": True,
    "audit_reads": True,
    "lite_states": True,
    "type_rules": [FORBIDDEN],
    "minimum_retention_seconds": 60,
}


def test_a_policy_is_told_as_it_was_given(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy=POLICY)
    request = admin_pb2.GetWorkspaceRequest(scope_id=workspace.scope_id, purpose="look")
    assert workspace.owner.admin.GetWorkspace(request).workspace.policy == admin_pb2.WorkspacePolicy(**POLICY)
    created = workspace.events(purpose="look")[0]
    assert json.loads(created.payload_json)["policy"] == POLICY
    verified = workspace.owner.ledger.VerifyLedger(
        ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id, purpose="look")
    )
    assert verified.ok


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"dimension": "trust"}, "dimension"),
        ({"dimension": "retention"}, "forbidden_states[0]"),
        ({"forbidden_states": ["archived", "gone"]}, "forbidden_states[1]"),
        ({"forbidden_states": []}, "forbidden_states"),
        ({"object_type": "widget"}, "object_type"),
    ],
)
def test_a_rule_names_states_of_one_dimension(cluster: Cluster, rule: dict[str, Any], field: str) -> None:
    request = admin_pb2.CreateWorkspaceRequest(
        scope_id=f"tenant:{TENANT}",
        new_scope_id=f"workspace:{uuid.uuid4().hex}",
        scope_kind="workspace",
        policy={"type_rules": [FORBIDDEN | rule]},
    )
    with pytest.raises(Refusal) as refusal:
        cluster.client(ADMIN).admin.CreateWorkspace(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [f"policy.type_rules[0].{field}"])


@pytest.mark.req("P-App-02")
def test_a_type_may_be_kept_from_a_state(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy={"type_rules": [FORBIDDEN]})
    content = json.dumps(MINIMAL["tool_result"]).encode()
    result = workspace.create(object_type="tool_result", canonical_content=content)
    with pytest.raises(Refusal) as refusal:
        transition(workspace, result.object_id, result.version_id, "lifecycle", "deprecated")
    assert refusal.value.reason == "INVALID_STATE_TRANSITION"
    with pytest.raises(Refusal) as refusal:
        workspace.create(
            object_type="tool_result",
            canonical_content=content,
            lifecycle_state=common_pb2.LIFECYCLE_STATE_DEPRECATED,
        )
    assert refusal.value.reason == "POLICY_DENIED"
    # Neither another type nor another dimension is narrowed.
    claim = workspace.create()
    assert transition(workspace, claim.object_id, claim.version_id, "lifecycle", "deprecated").sequence == 2
    assert transition(workspace, result.object_id, result.version_id, "retention", "expired").sequence == 2


LITE = {
    "lifecycle": {"active", "superseded", "archived"},
    "availability": {"available", "deleted"},
    "retention": {"retained", "pending_deletion"},
    "validation": {"unverified", "corroborated"},
}


@pytest.mark.req("P-18.1-02")
def test_a_lite_workspace_takes_the_states_of_lite_and_no_others(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy={"lite_states": True})
    reached: dict[str, set[str]] = {dimension: set() for dimension in LITE}
    for dimension, targets in (
        ("lifecycle", ["candidate", "superseded", "deprecated", "archived"]),
        ("availability", ["redacted", "deleted"]),
        ("retention", ["expired", "pending_deletion", "legal_hold"]),
        ("validation", ["corroborated", "disputed", "rejected"]),
    ):
        for target in targets:
            made = workspace.create()
            reached[dimension].add(states(made.envelope)[dimension])
            if target in LITE[dimension]:
                moved = transition(workspace, made.object_id, made.version_id, dimension, target)
                reached[dimension].add(states(moved.envelope)[dimension])
                continue
            with pytest.raises(Refusal) as refusal:
                transition(workspace, made.object_id, made.version_id, dimension, target)
            assert refusal.value.reason == "INVALID_STATE_TRANSITION"
    assert reached == LITE
    made = workspace.create()
    for fields in ({"whole": True}, {}):
        with pytest.raises(Refusal) as refusal:
            redact(workspace, made.object_id, made.version_id, *(() if fields else ("/statement",)), **fields)
        assert refusal.value.reason == "INVALID_STATE_TRANSITION"
    with pytest.raises(Refusal) as refusal:
        scratch(workspace)
    assert refusal.value.reason == "POLICY_DENIED"
    working = scratch(workspace, lifecycle_state=common_pb2.LIFECYCLE_STATE_ACTIVE)
    with pytest.raises(Refusal) as refusal:
        promote(workspace, working, target_lifecycle_state=common_pb2.LIFECYCLE_STATE_CANDIDATE)
    assert refusal.value.reason == "POLICY_DENIED"
    assert states(promote(workspace, working).source.envelope)["lifecycle"] == "superseded"


@pytest.mark.req("P-18.1-03")
def test_a_ledger_of_lite_tells_of_every_change(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy={"lite_states": True})
    made = workspace.create()
    updated = update(workspace, made.object_id, made.version_id)
    moved = transition(workspace, made.object_id, updated.version_id, "lifecycle", "superseded")
    judged = transition(workspace, made.object_id, moved.version_id, "validation", "corroborated")
    gone = delete(workspace, made.object_id, judged.version_id)
    told = {event.event_type: event.version_id for event in workspace.events(object_id=made.object_id)}
    for event_type, result in (
        (ledger_pb2.EVENT_TYPE_OBJECT_CREATED, made),
        (ledger_pb2.EVENT_TYPE_OBJECT_UPDATED, updated),
        (ledger_pb2.EVENT_TYPE_LIFECYCLE_TRANSITIONED, moved),
        (ledger_pb2.EVENT_TYPE_VALIDATION_TRANSITIONED, judged),
        (ledger_pb2.EVENT_TYPE_OBJECT_DELETED, gone),
    ):
        assert told[event_type] == result.version_id


@pytest.mark.req("P-18.1-04")
def test_changes_of_lite_stand_on_a_version(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy={"lite_states": True})
    made = workspace.create()
    update(workspace, made.object_id, made.version_id)
    for change in (
        lambda: update(workspace, made.object_id, made.version_id),
        lambda: transition(workspace, made.object_id, made.version_id, "lifecycle", "archived"),
        lambda: delete(workspace, made.object_id, made.version_id),
    ):
        with pytest.raises(Refusal) as refusal:
            change()
        assert refusal.value.reason == "VERSION_CONFLICT"


@pytest.mark.req("P-10.2-04")
def test_reads_and_refusals_are_events_where_the_workspace_says_so(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy={"audit_reads": True})
    made = workspace.create()
    read = workspace.read(made.object_id)
    updated = update(workspace, made.object_id, made.version_id)
    older = workspace.read(made.object_id, version_id=made.version_id, purpose="compare")
    first, second = workspace.events(event_classes=[READ])
    assert ([first.event_id], [second.event_id]) == (list(read.event_ids), list(older.event_ids))
    assert (first.object_id, first.actor.actor_id, second.purpose) == (made.object_id, ADMIN, "compare")
    told = [json.loads(event.payload_json)["read_version_id"] for event in (first, second)]
    assert told == [made.version_id, made.version_id]
    # By a grant, a read is both an exercise and a read.
    grant_id = grant(workspace, "actor:delegate", "read")
    delegate = cluster.client("actor:delegate")
    by_grant = workspace.read(made.object_id, delegate, delegation_id=grant_id)
    assert by_grant.envelope.version_id == updated.version_id
    types = {event.event_id: event.event_type for event in workspace.events()}
    assert [types[event_id] for event_id in by_grant.event_ids] == [
        READ,
        ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED,
    ]
    with pytest.raises(Refusal) as refusal:
        workspace.read(made.object_id, delegate)
    assert refusal.value.reason == "ACCESS_DENIED"
    [denied] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    assert denied.actor.actor_id == "actor:delegate"
    assert len(workspace.events(event_classes=[READ])) == 3


def test_reads_are_no_events_elsewhere(workspace: Workspace) -> None:
    made = workspace.create()
    assert not workspace.read(made.object_id).event_ids
    assert not workspace.events(event_classes=[READ])


@pytest.mark.req("P-16.1-01")
def test_memory_without_a_purpose_is_not_kept(cluster: Cluster) -> None:
    workspace = Workspace(cluster, policy={"require_purpose": True})
    with pytest.raises(Refusal) as refusal:
        workspace.create()
    assert refusal.value.reason == "POLICY_DENIED"
    made = workspace.create(purpose="support")
    assert workspace.read(made.object_id, purpose="support").content_state == memory_pb2.CONTENT_STATE_PRESENT
    [created] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_CREATED], purpose="audit")
    assert created.purpose == "support"
