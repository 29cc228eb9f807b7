"""Queries for relationships, and for objects by their relationships (P-10.6-02, P-11-01, P-8.2-10)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remit.v1 import common_pb2, memory_pb2
from server.wire.times import timestamp_of
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.memory.relationships import again, permit, relate
from tests.server.operations.memory.requests import ACCEPT_ALL, CORROBORATED, delete, grant, query_ids, query_page

RELATIONSHIPS = memory_pb2.QUERY_RESULT_KIND_RELATIONSHIPS
EQ, IN = memory_pb2.COMPARISON_OPERATOR_EQ, memory_pb2.COMPARISON_OPERATOR_IN


def found(workspace: Workspace, client: Client | None = None, **fields: Any) -> list[str]:
    """Ids of the relationships of all pages."""
    ids: list[str] = []
    cursor = ""
    fields.setdefault("filters", ACCEPT_ALL)
    while True:
        page = query_page(workspace, client, result_kind=RELATIONSHIPS, cursor=cursor, **fields)
        assert not page.results
        ids.extend(row.relationship_id for row in page.relationships)
        cursor = page.cursor
        if not cursor:
            return ids


class Graph:
    """Three objects and three relationships, each of its own kind."""

    def __init__(self, workspace: Workspace) -> None:
        self.claim = workspace.create(object_id="mem:claim").object_id
        self.task = workspace.create(object_id="mem:task", object_type="task").object_id
        self.artifact = workspace.create(object_id="mem:artifact", object_type="artifact").object_id
        self.one = relate(workspace, self.claim, self.task, relationship_id="rel:1").relationship
        self.two = relate(
            workspace,
            self.task,
            self.artifact,
            relationship_id="rel:2",
            relationship_type="part_of",
            validation_state=CORROBORATED,
            valid_from=timestamp_of(5_000_000),
            integrity={"digest": "abcd", "algorithm": "sha-256"},
        ).relationship
        self.three = relate(
            workspace,
            self.claim,
            self.artifact,
            relationship_id="rel:3",
            lifecycle_state=common_pb2.LIFECYCLE_STATE_CANDIDATE,
        ).relationship


@pytest.fixture
def graph(workspace: Workspace) -> Graph:
    return Graph(workspace)


@pytest.mark.req("P-10.6-02")
def test_relationships_are_found_as_relationships(workspace: Workspace, graph: Graph) -> None:
    page = query_page(workspace, result_kind=RELATIONSHIPS, filters=ACCEPT_ALL)
    assert list(page.relationships) == [graph.one, graph.two, graph.three]
    assert not page.results
    assert list(page.metadata.tie_break) == ["relationship_id", "version_id"]
    # The trusted defaults are those of objects, and are said.
    page = query_page(workspace, result_kind=RELATIONSHIPS)
    assert list(page.relationships) == [graph.two]
    assert list(page.applied_filters.validation_state) == [CORROBORATED]


@pytest.mark.req("P-11-01")
def test_each_filter_finds_what_it_says(workspace: Workspace, graph: Graph) -> None:
    def by(**filters: Any) -> list[str]:
        return found(workspace, filters=ACCEPT_ALL | filters)

    def where(field: str, *values: str, op: Any = EQ) -> list[str]:
        return by(predicates=[{"field": field, "op": op, "values": values}])

    assert by() == ["rel:1", "rel:2", "rel:3"]
    assert by(relationship_type=["part_of"]) == ["rel:2"]
    assert by(relationship_type=["part_of", "supports"]) == ["rel:1", "rel:2", "rel:3"]
    assert by(related_object_id=graph.artifact) == ["rel:2", "rel:3"]
    assert by(related_object_id=graph.artifact, relationship_type=["supports"]) == ["rel:3"]
    assert by(related_object_id="mem:none") == []
    assert by(validation_state=[CORROBORATED]) == ["rel:2"]
    assert by(lifecycle_state=[common_pb2.LIFECYCLE_STATE_CANDIDATE]) == ["rel:3"]
    assert by(provenance_id=[graph.one.provenance.provenance_id]) == ["rel:1"]
    assert where("relationship_id", "rel:2") == ["rel:2"]
    assert where("relationship_id", "rel:3", "rel:1", op=IN) == ["rel:1", "rel:3"]
    assert where("source_object_id", graph.claim) == ["rel:1", "rel:3"]
    assert where("version_id", graph.three.version_id) == ["rel:3"]
    assert where("integrity_digest", "abcd") == ["rel:2"]
    assert where("valid_from", op=memory_pb2.COMPARISON_OPERATOR_PRESENT) == ["rel:2"]
    assert where("sequence", "1") == ["rel:1", "rel:2", "rel:3"]


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ({"object_type": ["claim"]}, "query.filters.object_type"),
        ({"task_ref": "task:1"}, "query.filters.task_ref"),
        ({"evidence_ref": "urn:e"}, "query.filters.evidence_ref"),
        ({"predicates": [{"field": "object_id", "op": EQ, "values": ["x:y"]}]}, "query.filters.predicates[0].field"),
    ],
)
def test_what_only_objects_have_is_refused(workspace: Workspace, filters: dict[str, Any], field: str) -> None:
    with pytest.raises(Refusal) as refused:
        query_page(workspace, result_kind=RELATIONSHIPS, filters=filters)
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", [field])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_pages_give_each_relationship_once(workspace: Workspace, graph: Graph, order: int) -> None:
    expected = ["rel:1", "rel:2", "rel:3"] if order in (1, 3) else ["rel:3", "rel:2", "rel:1"]
    for limit in (1, 2, 10):
        assert found(workspace, order=order, limit=limit) == expected
    first = query_page(workspace, result_kind=RELATIONSHIPS, filters=ACCEPT_ALL, order=order, limit=1)
    relate(workspace, graph.claim, graph.task, relationship_id="rel:0")
    again(workspace, graph.three, relationship_type="part_of")
    rest = query_page(
        workspace, result_kind=RELATIONSHIPS, filters=ACCEPT_ALL, order=order, limit=10, cursor=first.cursor
    )
    assert [row.relationship_id for row in [*first.relationships, *rest.relationships]] == expected
    # As they stood when the first page was read.
    assert {row.sequence for row in rest.relationships} == {1}


@pytest.mark.req("P-8.2-10")
def test_what_informed_a_decision_and_what_a_tool_produced_are_found(workspace: Workspace) -> None:
    invocation = workspace.create(
        object_type="tool_invocation",
        canonical_content=json.dumps({"tool_name": "search", "arguments": {}}).encode(),
    ).object_id
    result = workspace.create(
        object_type="tool_result",
        canonical_content=json.dumps({"invocation_object_id": invocation, "outcome": "success"}).encode(),
    ).object_id
    decision = workspace.create(object_type="decision").object_id
    informed = relate(workspace, decision, result, relationship_type="informed_by").relationship
    produced = relate(workspace, result, invocation, relationship_type="produced_by").relationship
    for made in (informed, produced):
        filters = ACCEPT_ALL | {"relationship_type": [made.relationship_type]}
        assert found(workspace, filters=filters) == [made.relationship_id]
    filters = ACCEPT_ALL | {"relationship_type": ["produced_by"], "related_object_id": invocation}
    assert query_ids(workspace, filters=filters) == [result]
    filters = ACCEPT_ALL | {"relationship_type": ["informed_by"], "related_object_id": result}
    assert query_ids(workspace, filters=filters) == [decision]


@pytest.mark.req("P-11-01")
def test_objects_are_found_by_their_relationships(workspace: Workspace, graph: Graph) -> None:
    def by(**filters: Any) -> list[str]:
        return query_ids(workspace, filters=ACCEPT_ALL | filters)

    assert by(relationship_type=["part_of"]) == [graph.task, graph.artifact]
    assert by(related_object_id=graph.claim) == [graph.task, graph.artifact]
    assert by(related_object_id=graph.claim, object_type=["task"]) == [graph.task]
    assert by(related_object_id=graph.task, relationship_type=["part_of"]) == [graph.artifact]
    assert by(relationship_type=["none"]) == []
    gone = common_pb2.AVAILABILITY_STATE_DELETED
    again(workspace, graph.one, canonical_content=b"", availability_state=gone)
    assert by(related_object_id=graph.claim) == [graph.artifact]
    assert by(relationship_type=["supports"]) == [graph.claim, graph.artifact]


def test_a_query_tells_nothing_of_hidden_ends(cluster: Cluster, workspace: Workspace, graph: Graph) -> None:
    reader = cluster.client("actor:querier-hidden")
    workspace.allow(reader.actor_id, "query")
    workspace.deny(reader.actor_id, "query", object_id=graph.task)
    assert found(workspace, reader) == ["rel:3"]
    assert found(workspace, reader, filters=ACCEPT_ALL | {"related_object_id": graph.task}) == []
    assert query_ids(workspace, reader, filters=ACCEPT_ALL | {"related_object_id": graph.task}) == []
    assert query_ids(workspace, reader, filters=ACCEPT_ALL | {"relationship_type": ["part_of"]}) == []
    assert query_ids(workspace, reader, filters=ACCEPT_ALL | {"related_object_id": graph.claim}) == [graph.artifact]


def test_a_grant_finds_what_it_covers(cluster: Cluster, workspace: Workspace, graph: Graph) -> None:
    delegate = cluster.client("actor:querying-delegate")
    ids = {"values": [graph.claim, graph.artifact]}
    granted = grant(workspace, delegate.actor_id, "query", granted_object_ids=ids)
    assert found(workspace, delegate, delegation_id=granted) == ["rel:3"]


def test_deleted_ends_leave_relationships_to_be_found(workspace: Workspace, graph: Graph) -> None:
    delete(workspace, graph.artifact, workspace.read(graph.artifact).envelope.version_id)
    assert found(workspace) == ["rel:1", "rel:2", "rel:3"]


def test_removed_relationships_are_found_when_asked_for(workspace: Workspace, graph: Graph) -> None:
    state = common_pb2.AVAILABILITY_STATE_DELETED
    again(workspace, graph.one, canonical_content=b"", availability_state=state)
    pending = common_pb2.RETENTION_STATE_PENDING_DELETION
    again(workspace, graph.two, canonical_content=b"", retention_state=pending)
    assert found(workspace) == ["rel:3"]
    assert found(workspace, filters=ACCEPT_ALL | {"availability_state": [state]}) == ["rel:1"]
    assert found(workspace, filters=ACCEPT_ALL | {"retention_state": [pending]}) == ["rel:2"]


def test_a_target_elsewhere_is_judged_there(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    rule_id = permit(target, workspace)
    fields: dict[str, Any] = {"target_scope_id": target.scope_id, "policy_basis": "basis:1", "relationship_id": "rel:x"}
    relate(workspace, workspace.create().object_id, target.create().object_id, **fields)
    reader = cluster.client("actor:querier-abroad")
    workspace.allow(reader.actor_id, "query")
    assert found(workspace) == ["rel:x"]
    assert found(workspace, reader) == []
    target.allow(reader.actor_id, "query")
    assert found(workspace, reader) == ["rel:x"]
    remove_rule(target, rule_id)
    assert found(workspace, reader) == []
