"""Requests that tests of relationships make again and again."""

from __future__ import annotations

from typing import Any

from remit.v1 import admin_pb2, memory_pb2
from tests.cluster import Client, Workspace

DIRECTED = memory_pb2.DIRECTIONALITY_DIRECTED


def relate_request(workspace: Workspace, source_id: str, target_id: str, **fields: Any) -> memory_pb2.RelateRequest:
    """A directed relationship of type supports, unless the fields say otherwise."""
    values: dict[str, Any] = {
        "relationship_type": "supports",
        "directionality": DIRECTED,
        "canonical_content": b'{"weight": 1}',
        "provenance": {"activity": "related"},
    } | fields
    return memory_pb2.RelateRequest(
        scope_id=workspace.scope_id, source_object_id=source_id, target_object_id=target_id, **values
    )


def relate(
    workspace: Workspace, source_id: str, target_id: str, client: Client | None = None, **fields: Any
) -> memory_pb2.RelateResponse:
    """Relates two objects; returns the response."""
    request = relate_request(workspace, source_id, target_id, **fields)
    response: memory_pb2.RelateResponse = (client or workspace.owner).memory.Relate(request)
    return response


def again(
    workspace: Workspace, before: memory_pb2.RelationshipEnvelope, client: Client | None = None, **fields: Any
) -> memory_pb2.RelateResponse:
    """Writes the next version of a relationship; returns the response."""
    values: dict[str, Any] = {
        "relationship_id": before.relationship_id,
        "expected_version_id": before.version_id,
        "relationship_type": before.relationship_type,
        "target_scope_id": before.target_scope_id,
        "policy_basis": before.policy_basis,
    } | fields
    return relate(workspace, before.source_object_id, before.target_object_id, client, **values)


def permit(target: Workspace, source: Workspace) -> str:
    """Lets relationships of one workspace end in another; returns the rule's id."""
    permitted = admin_pb2.NewCrossScopeRule(
        source_scope_id=source.scope_id, kind=admin_pb2.CROSS_SCOPE_KIND_RELATIONSHIP
    )
    request = admin_pb2.AddPolicyRuleRequest(scope_id=target.scope_id, cross_scope_rule=permitted)
    return str(target.owner.admin.AddPolicyRule(request).cross_scope_rule.rule_id)


def traverse_page(
    workspace: Workspace, start_id: str, client: Client | None = None, **fields: Any
) -> memory_pb2.TraverseRelationshipsResponse:
    """One page of a walk."""
    request = memory_pb2.TraverseRelationshipsRequest(scope_id=workspace.scope_id, start_object_id=start_id, **fields)
    response: memory_pb2.TraverseRelationshipsResponse = (client or workspace.owner).memory.TraverseRelationships(
        request
    )
    return response


def traverse(
    workspace: Workspace, start_id: str, client: Client | None = None, **fields: Any
) -> list[memory_pb2.TraversalStep]:
    """All steps of a walk."""
    found: list[memory_pb2.TraversalStep] = []
    cursor = ""
    while True:
        page = traverse_page(workspace, start_id, client, cursor=cursor, **fields)
        found.extend(page.steps)
        cursor = page.cursor
        if not cursor:
            return found
