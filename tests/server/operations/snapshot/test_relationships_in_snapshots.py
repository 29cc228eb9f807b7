"""Relationships in a sealed snapshot: as they stood then, between its members, and never what was removed since (Q46)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import common_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.relationships import again, permit, relate, traverse
from tests.server.operations.memory.requests import ACCEPT_ALL, delete, history, query_ids, query_page, update
from tests.server.operations.snapshot.sealing import seal

RELATIONSHIPS = memory_pb2.QUERY_RESULT_KIND_RELATIONSHIPS
DELETED = common_pb2.AVAILABILITY_STATE_DELETED


class Sealed:
    """Three objects in a line; the second relationship is changed, and a third made, after a snapshot was sealed."""

    def __init__(self, workspace: Workspace, **members: Any) -> None:
        self.workspace = workspace
        self.made = [workspace.create(object_id=f"mem:{name}") for name in "abc"]
        self.ids = [made.object_id for made in self.made]
        self.first = relate(workspace, *self.ids[:2], relationship_id="rel:ab").relationship
        self.second = relate(workspace, *self.ids[1:], relationship_id="rel:bc").relationship
        self.snapshot_id = seal(workspace, **members).snapshot_id
        update(workspace, self.ids[1], self.made[1].version_id)
        self.changed = again(workspace, self.second, canonical_content=b"2", relationship_type="part_of").relationship
        relate(workspace, self.ids[0], self.ids[2], relationship_id="rel:ac")


@pytest.fixture
def sealed(workspace: Workspace) -> Sealed:
    return Sealed(workspace)


def walked(sealed: Sealed, **fields: Any) -> list[memory_pb2.TraversalStep]:
    """A walk from the first object in the snapshot."""
    return traverse(sealed.workspace, sealed.ids[0], max_depth=8, snapshot_id=sealed.snapshot_id, **fields)


def test_a_walk_in_a_snapshot_sees_what_it_has(sealed: Sealed) -> None:
    steps = walked(sealed)
    assert [step.relationship for step in steps] == [sealed.first, sealed.second]
    assert [step.object.version_id for step in steps] == [made.version_id for made in sealed.made[1:]]
    assert len(traverse(sealed.workspace, sealed.ids[0], max_depth=8)) == 3
    assert walked(sealed, limit=1) == steps
    # By the type it had.
    assert [step.relationship.relationship_id for step in walked(sealed, relationship_types=["supports"])] == [
        "rel:ab",
        "rel:bc",
    ]
    assert walked(sealed, relationship_types=["part_of"]) == []


def test_what_is_removed_is_removed_from_snapshots_too(sealed: Sealed) -> None:
    workspace = sealed.workspace
    again(workspace, sealed.first, canonical_content=b"", availability_state=DELETED)
    assert walked(sealed) == []
    page = query_page(workspace, result_kind=RELATIONSHIPS, filters=ACCEPT_ALL, snapshot_id=sealed.snapshot_id)
    assert list(page.relationships) == [sealed.second]
    delete(workspace, sealed.ids[2], sealed.made[2].version_id)
    [step] = traverse(workspace, sealed.ids[1], snapshot_id=sealed.snapshot_id)
    assert step.object.availability_state == DELETED


def test_queries_in_a_snapshot_find_relationships_as_they_stood(sealed: Sealed) -> None:
    page = query_page(sealed.workspace, result_kind=RELATIONSHIPS, filters=ACCEPT_ALL, snapshot_id=sealed.snapshot_id)
    assert list(page.relationships) == [sealed.first, sealed.second]
    filters = ACCEPT_ALL | {"related_object_id": sealed.ids[0]}
    assert query_ids(sealed.workspace, filters=filters, snapshot_id=sealed.snapshot_id) == [sealed.ids[1]]
    filters = ACCEPT_ALL | {"relationship_type": ["part_of"]}
    assert query_ids(sealed.workspace, filters=filters, snapshot_id=sealed.snapshot_id) == []
    assert query_ids(sealed.workspace, filters=filters) == [sealed.ids[2], sealed.ids[1]]


def test_histories_in_a_snapshot_end_with_it(sealed: Sealed) -> None:
    for named in ({"relationship_id": "rel:bc"}, {"object_id": sealed.ids[2]}):
        entries = history(sealed.workspace, snapshot_id=sealed.snapshot_id, **named)
        versions = [entry.relationship for entry in entries if entry.HasField("relationship")]
        assert versions == [sealed.second]


def test_a_snapshot_of_some_objects_has_the_relationships_between_them(workspace: Workspace) -> None:
    sealed = Sealed(workspace, included_object_ids=["mem:a", "mem:b"])
    assert [step.relationship.relationship_id for step in walked(sealed)] == ["rel:ab"]
    page = query_page(workspace, result_kind=RELATIONSHIPS, filters=ACCEPT_ALL, snapshot_id=sealed.snapshot_id)
    assert [row.relationship_id for row in page.relationships] == ["rel:ab"]
    with pytest.raises(Refusal) as refused:
        traverse(workspace, "mem:c", snapshot_id=sealed.snapshot_id)
    assert refused.value.reason == "OBJECT_NOT_FOUND"


def test_a_walk_in_a_snapshot_stays_in_its_workspace(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    permit(target, workspace)
    source, end = workspace.create().object_id, target.create().object_id
    relate(workspace, source, end, target_scope_id=target.scope_id, policy_basis="basis:1")
    snapshot_id = seal(workspace).snapshot_id
    assert len(traverse(workspace, source)) == 1
    assert traverse(workspace, source, snapshot_id=snapshot_id) == []
