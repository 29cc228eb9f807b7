"""CompareSnapshots: the differences and nothing else, of what the caller may inspect (PAMSPEC 18.11)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import snapshot_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, grant, transition, update
from tests.server.operations.snapshot.sealing import compared, evaluation_workspace, seal


class Seeded:
    """A workspace in which every kind of difference lies between two snapshots."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        names = ("same", "changed", "moved", "deleted", "gone before")
        self.made = {name: workspace.create(object_id=f"mem:{name.replace(' ', '-')}") for name in names}
        delete(workspace, "mem:gone-before", self.made["gone before"].version_id)
        self.left = seal(workspace).snapshot_id
        self.changed = update(workspace, "mem:changed", self.made["changed"].version_id)
        provenance = {"activity": "doubted"}
        moved = self.made["moved"]
        moved = transition(workspace, "mem:moved", moved.version_id, "validation", "disputed", provenance=provenance)
        self.moved = transition(workspace, "mem:moved", moved.version_id, "lifecycle", "deprecated")
        delete(workspace, "mem:deleted", self.made["deleted"].version_id)
        self.added = workspace.create(object_id="mem:added", object_type="task")
        passing = workspace.create(object_id="mem:passing")
        delete(workspace, "mem:passing", passing.version_id)
        self.right = seal(workspace).snapshot_id

    def expected(self) -> snapshot_pb2.CompareSnapshotsResponse:
        """What differs, from left to right."""
        removed = self.made["deleted"]
        return snapshot_pb2.CompareSnapshotsResponse(
            added=[_member(self.added, "task")],
            removed=[_member(removed, "claim")],
            version_deltas=[
                snapshot_pb2.VersionDelta(
                    object_id=f"mem:{name}",
                    left_version_id=self.made[name].version_id,
                    left_sequence=1,
                    right_version_id=result.version_id,
                    right_sequence=result.sequence,
                )
                for name, result in (("changed", self.changed), ("moved", self.moved))
            ],
            state_deltas=[
                _state("lifecycle", "active", "deprecated"),
                _state("validation", "unverified", "disputed"),
            ],
        )


def _member(result: Any, object_type: str) -> snapshot_pb2.SnapshotMember:
    return snapshot_pb2.SnapshotMember(
        object_id=result.object_id, object_type=object_type, version_id=result.version_id, sequence=result.sequence
    )


def _state(dimension: str, left: str, right: str) -> snapshot_pb2.StateDelta:
    return snapshot_pb2.StateDelta(object_id="mem:moved", dimension=dimension, left_state=left, right_state=right)


def differences(response: snapshot_pb2.CompareSnapshotsResponse) -> snapshot_pb2.CompareSnapshotsResponse:
    """A comparison without what each call has of its own."""
    response.ClearField("operation_id")
    response.ClearField("event_ids")
    return response


@pytest.fixture
def seeded(cluster: Cluster) -> Seeded:
    return Seeded(evaluation_workspace(cluster))


@pytest.mark.req("P-18.11-06")
def test_the_seeded_differences_are_told_exactly(seeded: Seeded) -> None:
    for limit in (1, 2, 3, 1000):
        assert differences(compared(seeded.workspace, seeded.left, seeded.right, limit=limit)) == seeded.expected()
    nothing = snapshot_pb2.CompareSnapshotsResponse()
    assert differences(compared(seeded.workspace, seeded.left, seeded.left)) == nothing
    later = seal(seeded.workspace).snapshot_id
    assert differences(compared(seeded.workspace, seeded.right, later)) == nothing


@pytest.mark.req("P-18.11-06")
def test_the_other_way_round_what_was_added_is_removed(seeded: Seeded) -> None:
    found = differences(compared(seeded.workspace, seeded.right, seeded.left))
    expected = seeded.expected()
    assert list(found.added) == list(expected.removed)
    assert list(found.removed) == list(expected.added)
    turned = [(delta.right_version_id, delta.left_version_id) for delta in found.version_deltas]
    assert turned == [(delta.left_version_id, delta.right_version_id) for delta in expected.version_deltas]
    states = [(delta.dimension, delta.right_state, delta.left_state) for delta in found.state_deltas]
    assert states == [(delta.dimension, delta.left_state, delta.right_state) for delta in expected.state_deltas]


def test_chosen_objects_are_compared_alone(seeded: Seeded) -> None:
    found = differences(compared(seeded.workspace, seeded.left, seeded.right, object_ids=["mem:changed", "mem:same"]))
    expected = snapshot_pb2.CompareSnapshotsResponse(version_deltas=seeded.expected().version_deltas[:1])
    assert found == expected


def test_members_that_one_snapshot_chose_are_added_and_removed(seeded: Seeded) -> None:
    workspace = seeded.workspace
    some = seal(workspace, included_object_ids=["mem:same", "mem:moved", "mem:deleted"]).snapshot_id
    other = seal(workspace, included_object_ids=["mem:same", "mem:changed"]).snapshot_id

    def ids(left: str, right: str) -> tuple[list[str], list[str]]:
        found = compared(workspace, left, right, limit=1)
        assert not found.version_deltas
        return [member.object_id for member in found.added], [member.object_id for member in found.removed]

    assert ids(some, other) == (["mem:changed"], ["mem:moved"])  # the tombstone is in neither
    assert ids(some, seeded.right) == (["mem:added", "mem:changed"], [])
    assert ids(seeded.right, other) == ([], ["mem:added", "mem:moved"])


def test_what_the_caller_may_not_inspect_is_not_told(seeded: Seeded) -> None:
    workspace = seeded.workspace
    workspace.allow("actor:narrow", "inspect_history", object_type="task")
    workspace.allow("actor:denied", "inspect_history")
    workspace.deny("actor:denied", "inspect_history", object_id="mem:moved")
    narrow, denied = (workspace.cluster.client(actor) for actor in ("actor:narrow", "actor:denied"))
    found = differences(compared(workspace, seeded.left, seeded.right, narrow, limit=1))
    assert found == snapshot_pb2.CompareSnapshotsResponse(added=seeded.expected().added)
    found = differences(compared(workspace, seeded.left, seeded.right, denied, limit=1))
    expected = seeded.expected()
    del expected.version_deltas[1:]
    expected.ClearField("state_deltas")
    assert found == expected
    for actor in ("actor:reader", "actor:stranger"):
        if actor == "actor:reader":
            workspace.allow(actor, "read", "query", "snapshot.read")
        with pytest.raises(Refusal) as refused:
            compared(workspace, seeded.left, seeded.right, workspace.cluster.client(actor))
        assert refused.value.reason == ("ACCESS_DENIED" if actor == "actor:reader" else "SCOPE_NOT_FOUND")


def test_a_comparison_by_grant_takes_a_use_a_page_and_keeps_to_its_objects(seeded: Seeded) -> None:
    workspace = seeded.workspace
    ids = {"values": ["mem:changed", "mem:added"]}
    delegation_id = grant(workspace, "actor:delegate", "inspect_history", granted_object_ids=ids, usage_limit=1)
    delegate = workspace.cluster.client("actor:delegate")
    found = compared(workspace, seeded.left, seeded.right, delegate, delegation_id=delegation_id)
    assert len(found.event_ids) == 1
    expected = seeded.expected()
    assert list(found.added) == list(expected.added)
    assert list(found.version_deltas) == list(expected.version_deltas[:1])
    assert not found.removed
    assert not found.state_deltas
    with pytest.raises(Refusal) as refused:
        compared(workspace, seeded.left, seeded.right, delegate, delegation_id=delegation_id)
    assert refused.value.denial_reason == "USAGE_LIMIT_EXHAUSTED"


@pytest.mark.req("P-14-17")
def test_comparisons_need_both_snapshots(seeded: Seeded) -> None:
    for left, right in ((seeded.left, "snap:absent"), ("snap:absent", seeded.right)):
        with pytest.raises(Refusal) as refused:
            compared(seeded.workspace, left, right)
        assert refused.value.reason == "SNAPSHOT_NOT_FOUND"
    with pytest.raises(Refusal) as refused:
        compared(Workspace(seeded.workspace.cluster), seeded.left, seeded.right)
    assert refused.value.reason == "SNAPSHOT_NOT_FOUND"


def test_cursors_are_of_their_own_comparison(seeded: Seeded) -> None:
    workspace = seeded.workspace

    def page(left: str, right: str, cursor: str = "") -> snapshot_pb2.CompareSnapshotsResponse:
        request = snapshot_pb2.CompareSnapshotsRequest(
            scope_id=workspace.scope_id, left_snapshot_id=left, right_snapshot_id=right, limit=1, cursor=cursor
        )
        response: snapshot_pb2.CompareSnapshotsResponse = workspace.owner.snapshot.CompareSnapshots(request)
        return response

    cursor = page(seeded.left, seeded.right).cursor
    with pytest.raises(Refusal) as refused:
        page(seeded.right, seeded.left, cursor)
    assert refused.value.fields == ["cursor"]
