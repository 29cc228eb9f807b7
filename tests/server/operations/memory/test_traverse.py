"""TraverseRelationships: what is reached, in which order, and what is never told (P-8.5-07, P-13-03, P-15.7-01)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from remit.v1 import admin_pb2, common_pb2, memory_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.memory.relationships import again, permit, relate, traverse, traverse_page
from tests.server.operations.memory.requests import delete, grant, transition

OUT, IN, ANY = (
    memory_pb2.TRAVERSAL_DIRECTION_OUTGOING,
    memory_pb2.TRAVERSAL_DIRECTION_INCOMING,
    memory_pb2.TRAVERSAL_DIRECTION_ANY,
)


def reached(steps: list[Any]) -> list[tuple[int, str]]:
    """Depth and object of each step."""
    return [(step.depth, step.object.object_id) for step in steps]


@pytest.fixture
def line(workspace: Workspace) -> list[str]:
    """Four objects, each related to the next."""
    made = [workspace.create(object_id=f"mem:{name}").object_id for name in "abcd"]
    for source, target in pairwise(made):
        relate(workspace, source, target, relationship_id=f"rel:{source[-1]}{target[-1]}")
    return made


def test_a_walk_goes_breadth_first_as_far_as_it_is_told(workspace: Workspace, line: list[str]) -> None:
    a, b, c, d = line
    relate(workspace, a, c, relationship_id="rel:ac", relationship_type="part_of")
    assert reached(traverse(workspace, a)) == [(1, b), (1, c)]
    assert reached(traverse(workspace, a, max_depth=8)) == [(1, b), (1, c), (2, c), (2, d)]
    assert reached(traverse(workspace, a, max_depth=8, relationship_types=["supports"])) == [(1, b), (2, c), (3, d)]
    assert reached(traverse(workspace, c, direction=IN)) == [(1, a), (1, b)]
    assert reached(traverse(workspace, c, direction=ANY)) == [(1, a), (1, b), (1, d)]
    assert traverse(workspace, d) == []


def test_a_step_gives_the_relationship_and_the_object_it_leads_to(workspace: Workspace) -> None:
    source, target = workspace.create(), workspace.create(object_type="task")
    made = relate(workspace, source.object_id, target.object_id).relationship
    [step] = traverse(workspace, source.object_id)
    assert step.relationship == made
    assert step.object == memory_pb2.ObjectRef(
        scope_id=workspace.scope_id,
        object_id=target.object_id,
        object_type="task",
        version_id=target.version_id,
        availability_state=common_pb2.AVAILABILITY_STATE_AVAILABLE,
    )


def test_what_has_no_direction_is_followed_from_either_end(workspace: Workspace) -> None:
    one, two = workspace.create().object_id, workspace.create().object_id
    for directionality in (2, 3):
        relate(workspace, one, two, directionality=directionality)
    assert reached(traverse(workspace, two, direction=OUT)) == [(1, one), (1, one)]
    assert reached(traverse(workspace, one, direction=IN)) == [(1, two), (1, two)]


def test_rings_and_loops_end(workspace: Workspace, line: list[str]) -> None:
    a, _, _, d = line
    relate(workspace, d, a, relationship_id="rel:da")
    relate(workspace, a, a, relationship_id="rel:aa")
    steps = traverse(workspace, a, max_depth=8)
    assert [step.relationship.relationship_id for step in steps] == ["rel:aa", "rel:ab", "rel:bc", "rel:cd", "rel:da"]
    assert len(traverse(workspace, a, max_depth=8, direction=ANY)) == 5


def test_pages_give_each_step_once(workspace: Workspace, line: list[str]) -> None:
    a, b, *_ = line
    for number in range(7):
        leaf = workspace.create().object_id
        relate(workspace, b, leaf)
        relate(workspace, a, leaf)
        assert number >= 0
    whole = traverse(workspace, a, max_depth=4, limit=1000)
    for limit in (1, 3, 8):
        assert traverse(workspace, a, max_depth=4, limit=limit) == whole
    # What is made after the first page is not among the later ones.
    first = traverse_page(workspace, a, max_depth=4, limit=3)
    relate(workspace, a, b, relationship_id="rel:zz")
    rest: list[Any] = []
    cursor = first.cursor
    while cursor:
        page = traverse_page(workspace, a, max_depth=4, limit=3, cursor=cursor)
        rest.extend(page.steps)
        cursor = page.cursor
    assert [*first.steps, *rest] == whole


@pytest.mark.parametrize("changed", [{"max_depth": 3}, {"direction": ANY}, {"relationship_types": ["supports"]}])
def test_a_cursor_is_good_for_its_own_walk_only(workspace: Workspace, line: list[str], changed: dict[str, Any]) -> None:
    cursor = traverse_page(workspace, line[0], max_depth=2, limit=1).cursor
    with pytest.raises(Refusal) as refused:
        traverse_page(workspace, line[0], **{"max_depth": 2, "limit": 1, **changed}, cursor=cursor)
    assert refused.value.fields == ["cursor"]


@pytest.mark.parametrize("fields", [{"max_depth": 0}, {"max_depth": 9}, {"limit": 0}, {"direction": 7}])
def test_a_walk_has_bounds(workspace: Workspace, line: list[str], fields: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refused:
        traverse_page(workspace, line[0], **fields)
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", list(fields))


@pytest.mark.req("P-8.5-07", "P-18.9-01", "P-13-03")
def test_nothing_is_told_of_what_is_hidden_nor_reached_through_it(
    cluster: Cluster, workspace: Workspace, line: list[str]
) -> None:
    a, b, c, d = line
    walker = cluster.client("actor:walker-hidden")
    workspace.allow(walker.actor_id, "query")
    workspace.deny(walker.actor_id, "query", object_id=c)
    page = traverse_page(workspace, a, walker, max_depth=8)
    assert reached(list(page.steps)) == [(1, b)]
    told = page.SerializeToString()
    assert not any(hidden.encode() in told for hidden in (c, d, "rel:bc", "rel:cd"))
    # The same answer as where there is nothing behind b at all.
    assert not page.cursor


@pytest.mark.req("P-18.9-01")
def test_a_start_that_is_hidden_is_denied(cluster: Cluster, workspace: Workspace, line: list[str]) -> None:
    walker = cluster.client("actor:walker-start")
    workspace.allow(walker.actor_id, "query")
    workspace.deny(walker.actor_id, "query", object_id=line[0])
    with pytest.raises(Refusal) as refused:
        traverse(workspace, line[0], walker)
    assert refused.value.reason == "ACCESS_DENIED"
    assert reached(traverse(workspace, line[1], walker, direction=ANY)) == [(1, line[2])]


@pytest.mark.case("A14")
@pytest.mark.req("P-8.5-04")
def test_a_deleted_end_is_a_tombstone_and_nothing_is_reached_through_it(workspace: Workspace, line: list[str]) -> None:
    a, b, _, _ = line
    before = traverse(workspace, a)[0].relationship
    delete(workspace, b, workspace.read(b).envelope.version_id)
    [step] = traverse(workspace, a, max_depth=8)
    assert step.relationship == before
    assert (step.object.object_id, step.object.availability_state) == (b, common_pb2.AVAILABILITY_STATE_DELETED)
    with pytest.raises(Refusal) as refused:
        traverse(workspace, b)
    assert refused.value.reason == "OBJECT_DELETED"


def test_removed_relationships_are_not_followed(workspace: Workspace, line: list[str]) -> None:
    a, b, _, _ = line
    made = traverse(workspace, a)[0].relationship
    hidden = again(
        workspace, made, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_REDACTED
    ).relationship
    assert not hidden.canonical_content
    [step] = traverse(workspace, a)
    assert (step.object.object_id, step.relationship.canonical_content) == (b, b"")
    shown = again(
        workspace, hidden, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_AVAILABLE
    ).relationship
    assert traverse(workspace, a)[0].relationship.canonical_content == b'{"weight": 1}'
    again(workspace, shown, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_DELETED)
    assert traverse(workspace, a) == []


def test_what_is_to_be_deleted_is_found_by_reviewers_only(
    cluster: Cluster, workspace: Workspace, line: list[str]
) -> None:
    a, b, c, _ = line
    transition(workspace, b, workspace.read(b).envelope.version_id, "retention", "pending_deletion")
    walker = cluster.client("actor:walker-no-reviewer")
    workspace.allow(walker.actor_id, "query")
    assert traverse(workspace, a, walker, max_depth=8) == []
    with pytest.raises(Refusal) as refused:
        traverse(workspace, b, walker)
    assert refused.value.reason == "RETENTION_RESTRICTION"
    workspace.allow(walker.actor_id, "review", object_id=b)
    assert reached(traverse(workspace, a, walker, max_depth=2)) == [(1, b), (2, c)]
    assert reached(traverse(workspace, b, walker)) == [(1, c)]


def test_an_object_with_many_relationships_is_walked_in_pages(workspace: Workspace, line: list[str]) -> None:
    a, _, c, d = line
    for number in range(12):
        relate(workspace, a, d, relationship_id=f"rel:many-{number:02}", directionality=1 + number % 3)
    relate(workspace, a, a, relationship_id="rel:many-self", directionality=3)
    whole = traverse(workspace, a, limit=1000, direction=ANY)
    assert len(whole) == 14
    for limit in (1, 5, 13, 14):
        assert traverse(workspace, a, limit=limit, direction=ANY) == whole
    assert len(traverse(workspace, c, max_depth=8, direction=ANY)) == 16


def test_a_grant_walks_what_it_names(cluster: Cluster, workspace: Workspace, line: list[str]) -> None:
    a, b, c, _ = line
    delegate = cluster.client("actor:walking-delegate")
    granted = grant(workspace, delegate.actor_id, "query", granted_object_ids={"values": [a, c]})
    assert traverse(workspace, a, delegate, max_depth=8, delegation_id=granted) == []
    granted = grant(workspace, delegate.actor_id, "query", granted_object_ids={"values": [a, b, c]}, usage_limit=1)
    page = traverse_page(workspace, a, delegate, max_depth=8, delegation_id=granted)
    assert reached(list(page.steps)) == [(1, b), (2, c)]
    assert len(page.event_ids) == 1
    with pytest.raises(Refusal) as refused:
        traverse(workspace, a, delegate, delegation_id=granted)
    assert refused.value.denial_reason == "USAGE_LIMIT_EXHAUSTED"


class Abroad:
    """A relationship from one workspace into another, and one that goes on there."""

    def __init__(self, cluster: Cluster, home: Workspace) -> None:
        self.home, self.target = home, Workspace(cluster)
        self.rule_id = permit(self.target, home)
        self.source = home.create().object_id
        self.middle = self.target.create().object_id
        self.end = self.target.create().object_id
        relate(home, self.source, self.middle, target_scope_id=self.target.scope_id, policy_basis="basis:1")
        relate(self.target, self.middle, self.end)

    def walk(self, client: Client, **fields: Any) -> list[tuple[int, str]]:
        return reached(traverse(self.home, self.source, client, max_depth=3, **fields))


@pytest.fixture
def abroad(cluster: Cluster, workspace: Workspace) -> Abroad:
    return Abroad(cluster, workspace)


@pytest.mark.req("P-15.7-01", "P-18.9-01", "P-13-03", "P-8.5-07")
def test_a_target_elsewhere_is_judged_by_its_own_workspace(cluster: Cluster, abroad: Abroad) -> None:
    walker = cluster.client("actor:walker-abroad")
    # All rights at home, none where it leads.
    owner = admin_pb2.BindRoleRequest(scope_id=abroad.home.scope_id, actor_id=walker.actor_id, role_id="role:owner")
    abroad.home.owner.admin.BindRole(owner)
    assert abroad.walk(walker) == []
    abroad.target.allow(walker.actor_id, "query", object_id=abroad.middle)
    assert abroad.walk(walker) == [(1, abroad.middle)]
    abroad.target.allow(walker.actor_id, "query")
    assert abroad.walk(walker) == [(1, abroad.middle), (2, abroad.end)]
    abroad.target.deny(walker.actor_id, "query", object_id=abroad.middle)
    assert abroad.walk(walker) == []


@pytest.mark.req("P-7.5-05")
def test_a_permit_that_is_taken_back_ends_the_way(abroad: Abroad) -> None:
    assert abroad.walk(abroad.home.owner) == [(1, abroad.middle), (2, abroad.end)]
    remove_rule(abroad.target, abroad.rule_id)
    assert abroad.walk(abroad.home.owner) == []


def test_a_walk_comes_back_by_the_same_way(abroad: Abroad, cluster: Cluster) -> None:
    steps = traverse(abroad.target, abroad.end, direction=IN, max_depth=3)
    assert [(step.object.scope_id, step.object.object_id) for step in steps] == [
        (abroad.target.scope_id, abroad.middle),
        (abroad.home.scope_id, abroad.source),
    ]
    # Who has no right where it comes from sees nothing of it.
    walker = cluster.client("actor:walker-back")
    abroad.target.allow(walker.actor_id, "query")
    assert reached(traverse(abroad.target, abroad.middle, walker, direction=IN)) == []


def test_a_grant_does_not_leave_its_workspace(cluster: Cluster, abroad: Abroad) -> None:
    delegate = cluster.client("actor:delegate-abroad")
    abroad.target.allow(delegate.actor_id, "query")
    granted = grant(abroad.home, delegate.actor_id, "query")
    assert abroad.walk(delegate, delegation_id=granted) == []
