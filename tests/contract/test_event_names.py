"""Every event of the draft happens, under the draft's name (PAMSPEC 7.7)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import delegation_pb2, derived_pb2, ledger_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.contract.operations import SPACE, promotion, redaction, relation, subscription, working_memory
from tests.server.operations.memory.requests import delete, grant, transition, update

OF_MEMORY = {
    "object_created",
    "object_updated",
    "lifecycle_transitioned",
    "availability_transitioned",
    "retention_transitioned",
    "validation_transitioned",
    "relationship_created",
    "relationship_updated",
    "provenance_updated",
    "embedding_generated",
    "index_rebuilt",
    "access_denied",
    "object_redacted",
    "object_deleted",
}
OF_SCHEMA = {
    "working_memory_promoted",
    "tool_invoked",
    "tool_completed",
    "subscription_opened",
    "subscription_closed",
    "delegation_granted",
    "delegation_revoked",
    "delegation_exercised",
}


def _names(workspace: Workspace, **filters: Any) -> set[str]:
    names = {ledger_pb2.EventType.Name(event.event_type) for event in workspace.events(**filters)}
    return {name.removeprefix("EVENT_TYPE_").lower() for name in names}


def _types(names: set[str]) -> list[int]:
    return [ledger_pb2.EventType.Value(f"EVENT_TYPE_{name.upper()}") for name in sorted(names)]


def _change_and_move(workspace: Workspace) -> None:
    made = workspace.create()
    version = update(workspace, made.object_id, made.version_id).version_id
    for dimension, state in (
        ("lifecycle", "deprecated"),
        ("validation", "disputed"),
        ("retention", "expired"),
        ("availability", "redacted"),
    ):
        version = transition(workspace, made.object_id, version, dimension, state).version_id
    delete(workspace, made.object_id, version)


def _relate(workspace: Workspace) -> None:
    ends = workspace.create().object_id, workspace.create().object_id
    made = workspace.owner.memory.Relate(relation(workspace, *ends)).relationship
    known = {"relationship_id": made.relationship_id, "expected_version_id": made.version_id}
    workspace.owner.memory.Relate(relation(workspace, *ends, canonical_content=b'{"weight":1}', **known))


def _derive(workspace: Workspace) -> None:
    derived, scope = workspace.owner.derived, {"scope_id": workspace.scope_id}
    derived.RegisterEmbeddingSpace(derived_pb2.RegisterEmbeddingSpaceRequest(**scope, embedding_space=SPACE))
    made = workspace.create()
    registered = derived_pb2.RegisterDerivativeRequest(
        **scope,
        source_object_id=made.object_id,
        source_version_id=made.version_id,
        artifact_type="embedding",
        artifact_id="artifact:1",
        embedding_space_id=SPACE["embedding_space_id"],
        vector=[1.0, 0.0, 0.0],
    )
    derived.RegisterDerivative(registered)
    rebuilt = derived_pb2.RecordIndexRebuildRequest(**scope, index_id="index:tests", indexed_sequence=1)
    derived.RecordIndexRebuild(rebuilt)


@pytest.mark.req("P-7.7-05")
def test_each_of_the_fourteen_events_of_memory_happens(workspace: Workspace) -> None:
    _change_and_move(workspace)
    _relate(workspace)
    _derive(workspace)
    kept = workspace.create()
    workspace.owner.memory.Redact(redaction(workspace, kept.object_id, kept.version_id))
    workspace.allow("actor:reader", "query")
    with pytest.raises(Refusal):
        workspace.read(kept.object_id, workspace.cluster.client("actor:reader"))
    assert len(OF_MEMORY) == 14
    assert _names(workspace, event_classes=_types(OF_MEMORY)) == OF_MEMORY


@pytest.mark.req("P-7.7-06")
def test_each_of_the_other_eight_happens_and_no_other_name_is_taken(workspace: Workspace) -> None:
    owner = workspace.owner
    working = working_memory(workspace)
    owner.memory.Promote(promotion(workspace, working.object_id, working.version_id))
    tool = b'{"tool_name":"search","arguments":{}}'
    invoked = workspace.create(object_type="tool_invocation", canonical_content=tool).object_id
    result = b'{"invocation_object_id":"%s","outcome":"success"}' % invoked.encode()
    workspace.create(object_type="tool_result", canonical_content=result)
    opened = owner.ledger.Subscribe(subscription(workspace)).subscription.subscription_id
    owner.ledger.Unsubscribe(
        ledger_pb2.UnsubscribeRequest(scope_id=workspace.scope_id, subscription_id=opened, reason="done")
    )
    delegate = workspace.cluster.client("actor:delegate")
    delegation_id = grant(workspace, "actor:delegate", "read")
    workspace.read(working.object_id, delegate, delegation_id=delegation_id)
    owner.delegation.RevokeDelegation(
        delegation_pb2.RevokeDelegationRequest(
            scope_id=workspace.scope_id, target_delegation_id=delegation_id, reason="done", policy_basis="test"
        )
    )
    assert len(OF_SCHEMA) == 8
    assert _names(workspace, event_classes=_types(OF_SCHEMA)) == OF_SCHEMA
    assert len(OF_MEMORY | OF_SCHEMA) == 22
    unknown = max(ledger_pb2.EventType.values()) + 1
    scope: dict[str, Any] = {"scope_id": workspace.scope_id, "event_classes": [unknown]}
    asked = {
        "listed": lambda: owner.ledger.ListEvents(ledger_pb2.ListEventsRequest(**scope, limit=10)),
        "inspected": lambda: owner.memory.InspectHistory(memory_pb2.InspectHistoryRequest(**scope, after_sequence=0)),
        "subscribed": lambda: owner.ledger.Subscribe(
            subscription(workspace, filter={"event_classes": {"event_types": [unknown]}})
        ),
    }
    for name, call in asked.items():
        with pytest.raises(Refusal) as refused:
            call()
        assert refused.value.pamspec.code == "invalid_request", name
