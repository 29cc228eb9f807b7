"""Decisions lead to what informed them, and results to what produced them (PAMSPEC 8.2)."""

from __future__ import annotations

import pytest

from remit.v1 import memory_pb2
from tests.cluster import Workspace
from tests.contract.operations import relation
from tests.server.operations.memory.requests import ACCEPT_ALL, query_ids


@pytest.mark.req("P-8.2-10")
def test_decision_result_and_invocation_are_linked_and_found_by_their_links(workspace: Workspace) -> None:
    invocation = workspace.create(
        object_type="tool_invocation", canonical_content=b'{"tool_name":"search","arguments":{}}'
    ).object_id
    content = b'{"invocation_object_id":"%s","outcome":"success"}' % invocation.encode()
    result = workspace.create(object_type="tool_result", canonical_content=content).object_id
    decision = workspace.create(object_type="decision", canonical_content=b'{"decision":"go"}').object_id
    claim = workspace.create().object_id
    memory = workspace.owner.memory
    links = [(decision, result, "informed_by"), (claim, result, "informed_by"), (result, invocation, "produced_by")]
    for source, target, label in links:
        made = memory.Relate(relation(workspace, source, target, relationship_type=label)).relationship
        assert (made.relationship_type, made.source_object_id, made.target_object_id) == (label, source, target)

    def related(label: str) -> set[str]:
        return set(query_ids(workspace, filters=ACCEPT_ALL | {"relationship_type": [label]}))

    assert related("informed_by") == {decision, claim, result}
    assert related("produced_by") == {result, invocation}
    walk = memory_pb2.TraverseRelationshipsRequest(
        scope_id=workspace.scope_id,
        start_object_id=decision,
        relationship_types=["informed_by", "produced_by"],
        max_depth=2,
    )
    steps = memory.TraverseRelationships(walk).steps
    assert [(step.relationship.relationship_type, step.object.object_id) for step in steps] == [
        ("informed_by", result),
        ("produced_by", invocation),
    ]
