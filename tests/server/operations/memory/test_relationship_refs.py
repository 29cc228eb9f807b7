"""References to relationships in a read: computed, of what the caller may read, and no part of the envelope (Q02)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import common_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.memory.relationships import again, permit, relate
from tests.server.operations.memory.requests import delete, grant
from tests.server.operations.snapshot.sealing import seal


def refs(workspace: Workspace, object_id: str, client: Any = None, **fields: Any) -> list[str]:
    """The references of a read."""
    return list(workspace.read(object_id, client, **fields).relationship_refs)


class Star:
    """An object with a relationship from it, one to it, and one to itself."""

    def __init__(self, workspace: Workspace) -> None:
        self.centre = workspace.create().object_id
        self.task = workspace.create(object_type="task").object_id
        self.artifact = workspace.create(object_type="artifact").object_id
        relate(workspace, self.centre, self.task, relationship_id="rel:to-task")
        relate(workspace, self.artifact, self.centre, relationship_id="rel:from-artifact")
        relate(workspace, self.centre, self.centre, relationship_id="rel:self")


@pytest.fixture
def star(workspace: Workspace) -> Star:
    return Star(workspace)


@pytest.mark.req("P-8.1-20")
def test_references_stand_beside_the_envelope(workspace: Workspace) -> None:
    source, target = workspace.create(), workspace.create()
    before = workspace.read(source.object_id)
    assert (list(before.relationship_refs), before.more_relationship_refs) == ([], False)
    made = [relate(workspace, source.object_id, target.object_id).relationship for _ in range(2)]
    for object_id, version_id in ((source.object_id, source.version_id), (target.object_id, target.version_id)):
        after = workspace.read(object_id)
        assert list(after.relationship_refs) == sorted(one.relationship_id for one in made)
        assert after.envelope.version_id == version_id
    assert workspace.read(source.object_id).envelope.SerializeToString() == before.envelope.SerializeToString()
    assert refs(workspace, source.object_id, field_mask=["object_type"]) == sorted(one.relationship_id for one in made)


@pytest.mark.req("P-3-02")
def test_a_relationship_is_no_object(workspace: Workspace, star: Star) -> None:
    for relationship_id in ["rel:self", *refs(workspace, star.centre)]:
        with pytest.raises(Refusal) as refused:
            workspace.read(relationship_id)
        assert refused.value.reason == "OBJECT_NOT_FOUND"
    # An object of the same id is another thing, and lives and dies by itself.
    made = workspace.create(object_id="rel:self")
    assert workspace.read("rel:self").envelope == made.envelope
    delete(workspace, "rel:self", made.version_id)
    assert refs(workspace, star.centre) == ["rel:from-artifact", "rel:self", "rel:to-task"]


def test_references_are_of_what_the_caller_may_read(cluster: Cluster, workspace: Workspace, star: Star) -> None:
    assert refs(workspace, star.centre) == ["rel:from-artifact", "rel:self", "rel:to-task"]
    reader = cluster.client("actor:reader-of-refs")
    workspace.allow(reader.actor_id, "read")
    workspace.deny(reader.actor_id, "read", object_type="task")
    assert refs(workspace, star.centre, reader) == ["rel:from-artifact", "rel:self"]
    delegate = cluster.client("actor:delegate-of-refs")
    ids = {"values": [star.centre, star.task]}
    granted = grant(workspace, delegate.actor_id, "read", granted_object_ids=ids, usage_limit=1)
    assert refs(workspace, star.centre, delegate, delegation_id=granted) == ["rel:self", "rel:to-task"]


def test_removed_relationships_are_not_referred_to(workspace: Workspace) -> None:
    source, target = workspace.create().object_id, workspace.create()
    kept = relate(workspace, source, target.object_id).relationship
    gone = relate(workspace, source, target.object_id).relationship
    again(workspace, gone, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_DELETED)
    assert refs(workspace, source) == [kept.relationship_id]
    # A deleted end keeps its relationships.
    delete(workspace, target.object_id, target.version_id)
    assert refs(workspace, source) == [kept.relationship_id]
    assert refs(workspace, target.object_id, allow_tombstone=True) == [kept.relationship_id]


def test_more_than_a_hundred_are_said_to_be_more(workspace: Workspace) -> None:
    source, target = workspace.create().object_id, workspace.create().object_id
    for number in range(100):
        relate(workspace, source, target, relationship_id=f"rel:{number:03}")
    response = workspace.read(source)
    assert (len(response.relationship_refs), response.more_relationship_refs) == (100, False)
    relate(workspace, source, target, relationship_id="rel:100")
    response = workspace.read(source)
    assert list(response.relationship_refs) == [f"rel:{number:03}" for number in range(100)]
    assert response.more_relationship_refs


def test_a_target_elsewhere_is_judged_there(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    rule_id = permit(target, workspace)
    source, end = workspace.create().object_id, target.create().object_id
    fields: dict[str, Any] = {"target_scope_id": target.scope_id, "policy_basis": "basis:1"}
    made = relate(workspace, source, end, **fields).relationship
    reader = cluster.client("actor:reader-abroad")
    workspace.allow(reader.actor_id, "read")
    assert refs(workspace, source, reader) == []
    target.allow(reader.actor_id, "read")
    assert refs(workspace, source, reader) == [made.relationship_id]
    # It lies in its source's workspace, and is found from there.
    assert refs(target, end, reader) == []
    remove_rule(target, rule_id)
    assert refs(workspace, source, reader) == []


def test_in_a_snapshot_references_are_those_it_has(workspace: Workspace) -> None:
    source, target = workspace.create().object_id, workspace.create().object_id
    made = relate(workspace, source, target, relationship_id="rel:before").relationship
    sealed = seal(workspace)
    relate(workspace, source, target, relationship_id="rel:later")
    assert refs(workspace, source) == ["rel:before", "rel:later"]
    assert refs(workspace, source, snapshot_id=sealed.snapshot_id) == ["rel:before"]
    again(workspace, made, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_DELETED)
    assert refs(workspace, source, snapshot_id=sealed.snapshot_id) == []
