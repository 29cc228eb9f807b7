"""Relate across workspaces: a basis, the target's permit, and the caller's right there (P-7.5-04, P-7.5-05, P-8.5-05)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import OTHER_TENANT, Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import permit as permit_grants
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.memory.relationships import again, permit, relate_request
from tests.server.operations.memory.requests import delete, grant

CREATED = ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED
DELETED = common_pb2.AVAILABILITY_STATE_DELETED
DENIED = ledger_pb2.EVENT_TYPE_ACCESS_DENIED
LINKER = "actor:linker-across"


class Scene:
    """Two workspaces, an object in each, and an actor that may relate in both; the second permits the first."""

    def __init__(self, cluster: Cluster) -> None:
        self.home, self.target = Workspace(cluster), Workspace(cluster)
        self.source = self.home.create().object_id
        self.end = self.target.create().object_id
        for workspace in (self.home, self.target):
            workspace.allow(LINKER, "relate", "read")
        self.client: Client = cluster.client(LINKER)

    def request(self, **fields: object) -> memory_pb2.RelateRequest:
        values = {"target_scope_id": self.target.scope_id, "policy_basis": "basis:1"} | fields
        return relate_request(self.home, self.source, self.end, **values)

    def relate(self, **fields: object) -> memory_pb2.RelateResponse:
        response: memory_pb2.RelateResponse = self.client.memory.Relate(self.request(**fields))
        return response

    def refused(self, **fields: object) -> Refusal:
        with pytest.raises(Refusal) as caught:
            self.relate(**fields)
        assert self.home.events(event_classes=[CREATED]) == []
        return caught.value


@pytest.fixture
def scene(cluster: Cluster) -> Scene:
    return Scene(cluster)


@pytest.mark.req("P-8.5-05")
def test_a_target_workspace_needs_a_basis(scene: Scene) -> None:
    permit(scene.target, scene.home)
    error = scene.refused(policy_basis="")
    assert error.reason == "POLICY_DENIED"
    assert {detail.name: detail.value for detail in error.pamspec.details}["field"] == "policy_basis"
    made = scene.relate().relationship
    assert (made.target_scope_id, made.policy_basis) == (scene.target.scope_id, "basis:1")


@pytest.mark.req("P-7.5-05")
def test_rights_in_both_workspaces_do_not_replace_the_permit(scene: Scene) -> None:
    assert scene.refused().reason == "POLICY_DENIED"
    # Nor does a permit for grants, nor one the other way round.
    permit_grants(scene.target, scene.home)
    permit(scene.home, scene.target)
    assert scene.refused().reason == "POLICY_DENIED"
    rule_id = permit(scene.target, scene.home)
    scene.relate()
    remove_rule(scene.target, rule_id)
    with pytest.raises(Refusal) as caught:
        scene.relate()
    assert caught.value.reason == "POLICY_DENIED"


@pytest.mark.req("P-8.5-06", "P-18.9-01", "P-13-03")
def test_a_target_without_rights_there_is_denied_and_nothing_is_stored(scene: Scene, cluster: Cluster) -> None:
    permit(scene.target, scene.home)
    scene.target.deny(LINKER, "relate", object_id=scene.end)
    error = scene.refused()
    assert (error.reason, error.denial_reason) == ("ACCESS_DENIED", "EXPLICIT_DENY")
    # The rule is the other workspace's to know; the ledger here has the denial.
    assert "policy_rule_id" not in error.info.metadata
    [denial] = scene.home.events(event_classes=[DENIED])
    assert json.loads(denial.payload_json)["exact_reason"] == "EXPLICIT_DENY"
    assert scene.target.events(event_classes=[DENIED]) == []
    stranger = cluster.client("actor:linker-here-only")
    scene.home.allow(stranger.actor_id, "relate")
    with pytest.raises(Refusal) as caught:
        stranger.memory.Relate(scene.request())
    assert (caught.value.reason, caught.value.denial_reason) == ("ACCESS_DENIED", "NO_RULE")
    assert scene.home.events(event_classes=[CREATED]) == []


@pytest.mark.req("P-8.5-06")
def test_a_target_in_the_same_workspace_may_say_so(scene: Scene) -> None:
    other = scene.home.create().object_id
    request = relate_request(
        scene.home, scene.source, other, target_scope_id=scene.home.scope_id, policy_basis="basis:1"
    )
    assert scene.client.memory.Relate(request).relationship.target_scope_id == ""


@pytest.mark.req("P-7.5-04")
def test_a_reference_alone_gives_no_access(scene: Scene, cluster: Cluster) -> None:
    permit(scene.target, scene.home)
    scene.relate()
    reader = cluster.client("actor:reader-at-home")
    scene.home.allow(reader.actor_id, "read", "query")
    with pytest.raises(Refusal) as caught:
        scene.target.read(scene.end, reader)
    assert caught.value.reason == "SCOPE_NOT_FOUND"
    scene.target.allow(reader.actor_id, "query", object_id="mem:else")
    with pytest.raises(Refusal) as caught:
        scene.target.read(scene.end, reader)
    assert caught.value.reason == "ACCESS_DENIED"


def test_a_workspace_of_another_tenant_is_an_absent_one(scene: Scene, cluster: Cluster) -> None:
    foreign = Workspace(cluster, OTHER_TENANT)
    foreign.create(object_id=scene.end)
    errors = [scene.refused(target_scope_id=scope_id) for scope_id in (foreign.scope_id, "workspace:none")]
    assert {(error.reason, error.message) for error in errors} == {("POLICY_DENIED", errors[0].message)}


def test_an_end_elsewhere_is_judged_like_one_here(scene: Scene) -> None:
    permit(scene.target, scene.home)
    request = scene.request()
    request.target_object_id = "mem:none"
    with pytest.raises(Refusal) as caught:
        scene.client.memory.Relate(request)
    assert caught.value.reason == "OBJECT_NOT_FOUND"
    made = scene.relate().relationship
    delete(scene.target, scene.end, scene.target.read(scene.end).envelope.version_id)
    with pytest.raises(Refusal) as caught:
        scene.relate()
    assert caught.value.reason == "RELATIONSHIP_CONFLICT"
    moved = again(scene.home, made, scene.client, canonical_content=b"", relationship_type="references").relationship
    assert (moved.sequence, moved.target_scope_id) == (2, scene.target.scope_id)


def test_ends_and_workspaces_never_change(scene: Scene) -> None:
    permit(scene.target, scene.home)
    made = scene.relate().relationship
    same_id = scene.home.create(object_id=scene.end).object_id
    request = relate_request(
        scene.home,
        scene.source,
        same_id,
        relationship_id=made.relationship_id,
        expected_version_id=made.version_id,
    )
    with pytest.raises(Refusal) as caught:
        scene.client.memory.Relate(request)
    assert caught.value.reason == "OBJECT_NOT_FOUND"


def test_a_grant_here_conveys_nothing_there(scene: Scene, cluster: Cluster) -> None:
    permit(scene.target, scene.home)
    delegate = cluster.client("actor:delegate-across")
    scene.target.allow(delegate.actor_id, "relate")
    delegation_id = grant(scene.home, delegate.actor_id, "relate")
    with pytest.raises(Refusal) as caught:
        delegate.memory.Relate(scene.request(delegation_id=delegation_id))
    assert (caught.value.reason, caught.value.denial_reason) == ("ACCESS_DENIED", "DELEGATION_NOT_EFFECTIVE")
    assert scene.home.events(event_classes=[CREATED]) == []


def test_a_removal_needs_no_permit(scene: Scene, cluster: Cluster) -> None:
    """Who withdrew the permit does not keep what was related under it; anything else still needs it."""
    rule_id = permit(scene.target, scene.home)
    scene.home.allow(LINKER, "delete", "redact")
    made = scene.relate().relationship
    remove_rule(scene.target, rule_id)
    removal: dict[str, object] = {"canonical_content": b"", "availability_state": DELETED}
    nowhere = {"target_scope_id": "workspace:none"}
    elsewhere = cluster.client("actor:removes-here-only")
    scene.home.allow(elsewhere.actor_id, "relate", "delete", "read")
    told = set()
    for client, fields in (
        (scene.client, {"canonical_content": b"1"}),
        (scene.client, {"canonical_content": b""}),
        (scene.client, removal | {"canonical_content": b"1"}),
        (scene.client, removal | {"relationship_type": "references"}),
        (scene.client, removal | {"lifecycle_state": common_pb2.LIFECYCLE_STATE_ARCHIVED}),
        (scene.client, removal | nowhere),
        (elsewhere, removal),
    ):
        with pytest.raises(Refusal) as caught:
            again(scene.home, made, client, **fields)
        told.add((caught.value.reason, caught.value.message))
    assert [reason for reason, _ in told] == ["POLICY_DENIED"]
    redacted = again(
        scene.home,
        made,
        scene.client,
        canonical_content=b"",
        availability_state=common_pb2.AVAILABILITY_STATE_REDACTED,
    ).relationship
    with pytest.raises(Refusal) as caught:
        again(
            scene.home,
            redacted,
            scene.client,
            canonical_content=b"",
            availability_state=common_pb2.AVAILABILITY_STATE_AVAILABLE,
        )
    assert caught.value.reason == "POLICY_DENIED"
    deleted = again(scene.home, redacted, scene.client, **removal).relationship
    assert (deleted.sequence, deleted.availability_state) == (3, DELETED)


def test_no_relationship_stands_after_its_permit_is_gone(scene: Scene) -> None:
    """Whatever runs beside it: in the order of the target's ledger, relating comes before the end of the permit."""
    for _ in range(5):
        rule_id = permit(scene.target, scene.home)

        def attempt(number: int) -> str:
            try:
                scene.relate(canonical_content=str(number).encode())
            except Refusal as refusal:
                return refusal.reason
            return ""

        with ThreadPoolExecutor(5) as pool:
            attempts = [pool.submit(attempt, number) for number in range(4)]
            pool.submit(remove_rule, scene.target, rule_id).result()
            assert {made.result() for made in attempts} <= {"", "POLICY_DENIED"}
        with pytest.raises(Refusal):
            scene.relate()
    removed = scene.target.events(event_classes=[ledger_pb2.EVENT_TYPE_POLICY_RULE_REMOVED])
    added = scene.target.events(event_classes=[ledger_pb2.EVENT_TYPE_POLICY_RULE_ADDED])[-len(removed) :]
    windows = [
        (one.recorded_at.ToNanoseconds(), two.recorded_at.ToNanoseconds())
        for one, two in zip(added, removed, strict=True)
    ]
    for event in scene.home.events(event_classes=[CREATED]):
        at = event.recorded_at.ToNanoseconds()
        assert any(begin <= at <= end for begin, end in windows)
