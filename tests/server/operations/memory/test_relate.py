"""Relate: what a relationship says, what refuses it, and what it leaves alone (PAMSPEC 8.5, 10.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from server.wire.times import timestamp_of
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.relationships import again, relate, relate_request
from tests.server.operations.memory.requests import delete, grant

CREATED, UPDATED = ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED, ledger_pb2.EVENT_TYPE_RELATIONSHIP_UPDATED


def refused(workspace: Workspace, request: memory_pb2.RelateRequest, client: Any = None) -> Refusal:
    """What a Relate is refused with."""
    with pytest.raises(Refusal) as caught:
        (client or workspace.owner).memory.Relate(request)
    return caught.value


@pytest.fixture
def pair(workspace: Workspace) -> tuple[str, str]:
    """Two objects of the workspace: a claim and an artifact."""
    return workspace.create().object_id, workspace.create(object_type="artifact").object_id


@pytest.mark.req("P-8.5-01")
def test_a_relationship_returns_all_its_fields(workspace: Workspace, pair: tuple[str, str]) -> None:
    times: dict[str, Any] = {
        name: timestamp_of(at) for at, name in enumerate(("observed_at", "asserted_at", "valid_from"), 1)
    }
    made = relate(
        workspace,
        *pair,
        relationship_id="rel:all",
        policy_basis="basis:1",
        integrity={"digest": "d", "algorithm": "sha-256"},
        **times,
    ).relationship
    assert (made.spec_version, made.relationship_id, made.scope_id) == ("0.1.0-draft", "rel:all", workspace.scope_id)
    assert (made.relationship_type, made.source_object_id, made.target_object_id) == ("supports", *pair)
    assert made.directionality == memory_pb2.DIRECTIONALITY_DIRECTED
    assert made.canonical_content == b'{"weight": 1}'
    assert (made.lifecycle_state, made.availability_state, made.retention_state, made.validation_state) == (
        common_pb2.LIFECYCLE_STATE_ACTIVE,
        common_pb2.AVAILABILITY_STATE_AVAILABLE,
        common_pb2.RETENTION_STATE_RETAINED,
        common_pb2.VALIDATION_STATE_UNVERIFIED,
    )
    assert made.version_id
    assert made.sequence == 1
    assert made.committed_at.seconds
    assert made.recorded_at.seconds
    assert made.actor.actor_id == workspace.owner.actor_id
    assert made.provenance.activity == "related"
    assert made.provenance.provenance_id
    assert made.integrity.digest == "d"
    assert {name: getattr(made, name) for name in times} == times
    assert not made.target_scope_id
    assert made.policy_basis == "basis:1"


@pytest.mark.req("P-10.5-01")
@pytest.mark.parametrize("missing", ["source_object_id", "target_object_id", "relationship_type", "directionality"])
def test_a_relationship_names_all_it_needs(workspace: Workspace, pair: tuple[str, str], missing: str) -> None:
    request = relate_request(workspace, *pair)
    request.ClearField(missing)
    error = refused(workspace, request)
    assert (error.reason, error.fields) == ("INVALID_REQUEST", [missing])


@pytest.mark.req("P-10.5-01")
@pytest.mark.parametrize("unknown", [0, 1])
def test_an_end_that_is_not_there_is_not_found(workspace: Workspace, pair: tuple[str, str], unknown: int) -> None:
    ends = list(pair)
    ends[unknown] = "mem:nowhere"
    assert refused(workspace, relate_request(workspace, *ends)).reason == "OBJECT_NOT_FOUND"


def test_it_needs_provenance(workspace: Workspace, pair: tuple[str, str]) -> None:
    request = relate_request(workspace, *pair)
    request.ClearField("provenance")
    assert refused(workspace, request).fields == ["provenance"]


@pytest.mark.req("P-10.5-03", "P-8.5-03", "P-8.1-20")
def test_a_change_is_a_version_and_an_event_of_the_relationship_alone(
    workspace: Workspace, pair: tuple[str, str]
) -> None:
    before = [workspace.read(object_id).envelope for object_id in pair]
    made = relate(workspace, *pair)
    changed = again(workspace, made.relationship, relationship_type="contradicts", canonical_content=b"2")
    assert changed.relationship.relationship_id == made.relationship.relationship_id
    assert changed.relationship.version_id != made.relationship.version_id
    assert (changed.relationship.sequence, changed.relationship.canonical_content) == (2, b"2")
    events = workspace.events(event_classes=[CREATED, UPDATED])
    assert [(event.event_type, event.version_id) for event in events] == [
        (CREATED, made.relationship.version_id),
        (UPDATED, changed.relationship.version_id),
    ]
    assert [event.event_id for event in events] == [*made.event_ids, *changed.event_ids]
    assert {event.relationship_id for event in events} == {made.relationship.relationship_id}
    assert json.loads(events[1].payload_json)["changed_fields"] == [
        "canonical_content",
        "provenance",
        "relationship_type",
    ]
    # Related twice, and once changed: no end has got a version by it.
    relate(workspace, *pair)
    assert [workspace.read(object_id).envelope for object_id in pair] == before


@pytest.mark.req("P-10.5-02", "P-12-01")
def test_a_change_names_the_version_it_is_based_on(workspace: Workspace, pair: tuple[str, str]) -> None:
    made = relate(workspace, *pair).relationship
    changed = again(workspace, made, canonical_content=b"2").relationship
    with pytest.raises(Refusal) as stale:
        again(workspace, made, canonical_content=b"3")
    assert stale.value.reason == "VERSION_CONFLICT"
    assert stale.value.pamspec.current_version_id == changed.version_id
    request = relate_request(workspace, *pair, expected_version_id=changed.version_id)
    assert refused(workspace, request).fields == ["relationship_id"]
    request = relate_request(workspace, *pair, relationship_id=made.relationship_id)
    assert refused(workspace, request).fields == ["expected_version_id"]
    request = relate_request(workspace, *pair, relationship_id="rel:none", expected_version_id="ver:1")
    assert refused(workspace, request).reason == "OBJECT_NOT_FOUND"


@pytest.mark.req("P-8.5-02")
def test_it_is_directed_bidirectional_or_undirected(workspace: Workspace, pair: tuple[str, str]) -> None:
    for directionality in (1, 2, 3):
        assert relate(workspace, *pair, directionality=directionality).relationship.directionality == directionality
    error = refused(workspace, relate_request(workspace, *pair, directionality=9))
    assert (error.reason, error.fields) == ("INVALID_REQUEST", ["directionality"])


@pytest.mark.req("P-8.5-08")
def test_types_are_known_labels_or_ones_of_your_own(workspace: Workspace, pair: tuple[str, str]) -> None:
    known = ["supports", "contradicts", "derives_from", "references", "supersedes", "part_of"]
    for name in [*known, "https://example.com/relations#explains"]:
        assert relate(workspace, *pair, relationship_type=name).relationship.relationship_type == name
    error = refused(workspace, relate_request(workspace, *pair, relationship_type=""))
    assert (error.reason, error.fields) == ("INVALID_REQUEST", ["relationship_type"])


@pytest.mark.req("P-14-15")
def test_a_clash_with_the_state_of_an_end_is_a_conflict(workspace: Workspace, pair: tuple[str, str]) -> None:
    version_id = workspace.read(pair[1]).envelope.version_id
    made = relate(workspace, *pair).relationship
    delete(workspace, pair[1], version_id)
    error = refused(workspace, relate_request(workspace, *pair))
    assert (error.reason, error.info.metadata["retryable"]) == ("RELATIONSHIP_CONFLICT", "false")
    assert refused(workspace, relate_request(workspace, pair[1], pair[0])).reason == "OBJECT_DELETED"
    # What was said before can be taken back or retired, but nothing more is said of what is gone.
    with pytest.raises(Refusal) as caught:
        again(workspace, made, canonical_content=b'"more"')
    assert caught.value.reason == "RELATIONSHIP_CONFLICT"
    retired = again(
        workspace, made, canonical_content=b"", lifecycle_state=common_pb2.LIFECYCLE_STATE_ARCHIVED
    ).relationship
    assert (retired.sequence, retired.canonical_content) == (2, b'{"weight": 1}')


@pytest.mark.req("P-14-15")
def test_an_id_of_a_relationship_between_other_ends_is_a_conflict(workspace: Workspace, pair: tuple[str, str]) -> None:
    made = relate(workspace, *pair, relationship_id="rel:taken").relationship
    other = workspace.create().object_id
    for fields in ({}, {"expected_version_id": made.version_id}):
        request = relate_request(workspace, pair[0], other, relationship_id="rel:taken", **fields)
        assert refused(workspace, request).reason == "RELATIONSHIP_CONFLICT"


def test_who_may_not_read_the_ends_learns_nothing_of_a_taken_id(
    cluster: Cluster, workspace: Workspace, pair: tuple[str, str]
) -> None:
    made = relate(workspace, *pair, relationship_id="rel:taken").relationship
    gone = relate(workspace, *pair, relationship_id="rel:gone").relationship
    again(workspace, gone, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_DELETED)
    other = workspace.create().object_id
    workspace.allow("actor:linker", "relate")
    linker = cluster.client("actor:linker")
    told = set()
    for relationship_id in ("rel:taken", "rel:gone"):
        for target in (pair[1], other):
            error = refused(
                workspace, relate_request(workspace, pair[0], target, relationship_id=relationship_id), linker
            )
            told.add((error.reason, tuple(error.fields), error.message))
    assert len(told) == 1
    request = relate_request(workspace, pair[0], other, relationship_id="rel:taken", expected_version_id="ver:0")
    assert refused(workspace, request, linker).reason == "OBJECT_NOT_FOUND"
    with pytest.raises(Refusal) as stale:
        again(workspace, made, linker, expected_version_id="ver:0")
    assert (stale.value.reason, stale.value.pamspec.current_version_id) == ("VERSION_CONFLICT", "")


@pytest.mark.req("P-18.9-01")
@pytest.mark.parametrize("denied", [0, 1])
def test_both_ends_must_be_permitted(
    cluster: Cluster, workspace: Workspace, pair: tuple[str, str], denied: int
) -> None:
    actor = f"actor:half-{denied}"
    workspace.allow(actor, "relate")
    workspace.deny(actor, "relate", object_type=("claim", "artifact")[denied])
    assert refused(workspace, relate_request(workspace, *pair), cluster.client(actor)).reason == "ACCESS_DENIED"
    assert not workspace.events(event_classes=[CREATED])


def test_an_absent_end_and_one_out_of_bounds_answer_alike(
    cluster: Cluster, workspace: Workspace, pair: tuple[str, str]
) -> None:
    workspace.allow("actor:claims", "relate", object_type="claim")
    client = cluster.client("actor:claims")
    errors = [refused(workspace, relate_request(workspace, pair[0], end), client) for end in (pair[1], "mem:none")]
    assert len({(error.reason, error.message, error.denial_reason) for error in errors}) == 1
    assert errors[0].reason == "ACCESS_DENIED"


def test_a_key_repeats_the_answer_and_no_more(workspace: Workspace, pair: tuple[str, str]) -> None:
    first = relate(workspace, *pair, idempotency_key="k")
    second = relate(workspace, *pair, idempotency_key="k")
    assert second.replayed
    assert (second.relationship, list(second.event_ids)) == (first.relationship, list(first.event_ids))
    assert len(workspace.events(event_classes=[CREATED])) == 1
    assert refused(workspace, relate_request(workspace, *reversed(pair), idempotency_key="k")).reason == (
        "DUPLICATE_OPERATION"
    )


def test_a_grant_conveys_relating_what_it_names(cluster: Cluster, workspace: Workspace, pair: tuple[str, str]) -> None:
    delegate = cluster.client("actor:linking-delegate")
    narrow = grant(workspace, delegate.actor_id, "relate", granted_object_ids={"values": [pair[0]]})
    error = refused(workspace, relate_request(workspace, *pair, delegation_id=narrow), delegate)
    assert (error.reason, error.denial_reason) == ("ACCESS_DENIED", "OBJECT_NOT_GRANTED")
    wide = grant(workspace, delegate.actor_id, "relate", granted_object_ids={"values": list(pair)}, usage_limit=1)
    made = relate(workspace, *pair, delegate, delegation_id=wide)
    assert made.relationship.actor.delegation_id == wide
    assert made.relationship.actor.on_behalf_of_actor_id == workspace.owner.actor_id
    exercised = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED])
    assert [event.event_id for event in exercised] == [made.event_ids[-1]]
    error = refused(workspace, relate_request(workspace, *pair, delegation_id=wide), delegate)
    assert error.denial_reason == "USAGE_LIMIT_EXHAUSTED"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"lifecycle_state": common_pb2.LIFECYCLE_STATE_SUPERSEDED}, ""),
        ({"lifecycle_state": common_pb2.LIFECYCLE_STATE_SCRATCH}, "INVALID_STATE_TRANSITION"),
        ({"availability_state": common_pb2.AVAILABILITY_STATE_PARTIALLY_REDACTED}, "INVALID_REQUEST"),
        ({"validation_state": common_pb2.VALIDATION_STATE_CORROBORATED}, ""),
        ({"retention_state": common_pb2.RETENTION_STATE_LEGAL_HOLD}, ""),
    ],
)
def test_states_move_by_the_table_of_objects(
    workspace: Workspace, pair: tuple[str, str], fields: dict[str, Any], reason: str
) -> None:
    made = relate(workspace, *pair).relationship
    if reason:
        with pytest.raises(Refusal) as caught:
            again(workspace, made, **fields)
        assert caught.value.reason == reason
        return
    moved = again(workspace, made, canonical_content=b"", **fields).relationship
    [(name, state)] = fields.items()
    assert getattr(moved, name) == state


def test_initial_states_are_asserted_by_right(cluster: Cluster, workspace: Workspace, pair: tuple[str, str]) -> None:
    workspace.allow("actor:linker", "relate", "read")
    request = relate_request(workspace, *pair, validation_state=common_pb2.VALIDATION_STATE_CORROBORATED)
    error = refused(workspace, request, cluster.client("actor:linker"))
    assert error.reason == "POLICY_DENIED"
    made = workspace.owner.memory.Relate(request).relationship
    assert made.validation_state == common_pb2.VALIDATION_STATE_CORROBORATED
    request = relate_request(workspace, *pair, retention_state=common_pb2.RETENTION_STATE_EXPIRED)
    assert refused(workspace, request).fields == ["retention_state"]


def test_a_hold_keeps_a_relationship(workspace: Workspace, pair: tuple[str, str]) -> None:
    made = relate(workspace, *pair).relationship
    held = again(workspace, made, retention_state=common_pb2.RETENTION_STATE_LEGAL_HOLD).relationship
    for state in (common_pb2.AVAILABILITY_STATE_DELETED, common_pb2.AVAILABILITY_STATE_REDACTED):
        with pytest.raises(Refusal) as caught:
            again(workspace, held, canonical_content=b"", availability_state=state)
        assert caught.value.reason == "LEGAL_HOLD"


def test_rules_of_a_workspace_on_states_are_rules_on_relationships(cluster: Cluster) -> None:
    lite = Workspace(cluster, policy={"lite_states": True, "minimum_retention_seconds": 3600})
    ends = lite.create().object_id, lite.create().object_id
    made = relate(lite, *ends).relationship
    with pytest.raises(Refusal) as refused:
        again(lite, made, canonical_content=b"", lifecycle_state=common_pb2.LIFECYCLE_STATE_DEPRECATED)
    assert refused.value.reason == "INVALID_STATE_TRANSITION"
    with pytest.raises(Refusal) as refused:
        again(lite, made, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_DELETED)
    assert refused.value.reason == "RETENTION_RESTRICTION"
