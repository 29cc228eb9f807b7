"""Histories of relationships, alone and among those of their ends (P-10.7-03, P-8.5-04)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.faults.waiting import until
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.memory.relationships import again, permit, relate
from tests.server.operations.memory.requests import delete, grant, history, history_page, transition, update

CREATED, UPDATED = ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED, ledger_pb2.EVENT_TYPE_RELATIONSHIP_UPDATED


def versions(entries: list[Any]) -> list[str]:
    """Version ids of relationships in a history."""
    return [entry.relationship.version_id for entry in entries if entry.HasField("relationship")]


def kinds(entries: list[Any]) -> list[str]:
    """What the entries are."""
    return [entry.WhichOneof("entry") for entry in entries]


class Pair:
    """Two related objects; the relationship has two versions."""

    def __init__(self, workspace: Workspace) -> None:
        self.source, self.target = workspace.create(), workspace.create(object_type="artifact")
        self.first = relate(workspace, self.source.object_id, self.target.object_id).relationship
        self.second = again(workspace, self.first, canonical_content=b"2").relationship
        self.id = self.first.relationship_id


@pytest.fixture
def pair(workspace: Workspace) -> Pair:
    return Pair(workspace)


def test_a_relationship_has_a_history_of_its_own(workspace: Workspace, pair: Pair) -> None:
    entries = history(workspace, relationship_id=pair.id)
    assert kinds(entries) == ["event", "relationship", "event", "relationship"]
    assert [entry.relationship for entry in entries if entry.HasField("relationship")] == [pair.first, pair.second]
    assert {entry.event.relationship_id for entry in entries if entry.HasField("event")} == {pair.id}
    assert {entry.content_state for entry in entries if entry.HasField("relationship")} == {
        memory_pb2.CONTENT_STATE_PRESENT
    }
    for limit in (1, 2, 3):
        assert history(workspace, relationship_id=pair.id, limit=limit) == entries
    assert versions(history(workspace, relationship_id=pair.id, from_version=2)) == [pair.second.version_id]
    assert versions(history(workspace, relationship_id=pair.id, to_version=1)) == [pair.first.version_id]
    only = history(workspace, relationship_id=pair.id, event_classes=[UPDATED])
    assert kinds(only) == ["relationship", "event", "relationship"]


@pytest.mark.req("P-10.7-03")
def test_an_objects_history_holds_versions_transitions_relationships_and_events(
    workspace: Workspace, pair: Pair
) -> None:
    made = update(workspace, pair.source.object_id, pair.source.version_id)
    transition(workspace, made.object_id, made.version_id, "lifecycle", "archived")
    for object_id in (pair.source.object_id, pair.target.object_id):
        entries = history(workspace, object_id=object_id)
        assert [entry.ledger_sequence for entry in entries] == sorted(entry.ledger_sequence for entry in entries)
        assert versions(entries) == [pair.first.version_id, pair.second.version_id]
        assert {entry.event.event_type for entry in entries if entry.HasField("event")} >= {CREATED, UPDATED}
        for limit in (1, 2, 5):
            assert history(workspace, object_id=object_id, limit=limit) == entries
    entries = history(workspace, object_id=pair.source.object_id)
    events = [entry.event.event_type for entry in entries if entry.HasField("event")]
    assert ledger_pb2.EVENT_TYPE_LIFECYCLE_TRANSITIONED in events
    assert ledger_pb2.EVENT_TYPE_OBJECT_UPDATED in events
    assert len([entry for entry in entries if entry.HasField("version")]) == 3
    # The history of an object that has none holds none.
    assert versions(history(workspace, object_id=workspace.create().object_id)) == []


@pytest.mark.req("P-8.5-04")
@pytest.mark.case("A14")
def test_deleting_an_end_leaves_the_relationship(workspace: Workspace, pair: Pair) -> None:
    delete(workspace, pair.target.object_id, pair.target.version_id)
    entries = history(workspace, relationship_id=pair.id)
    assert [entry.relationship for entry in entries if entry.HasField("relationship")] == [pair.first, pair.second]
    assert entries[-1].relationship.canonical_content == b"2"


def test_a_deleted_relationship_tells_that_it_was_and_no_more(workspace: Workspace, pair: Pair) -> None:
    deleted = common_pb2.AVAILABILITY_STATE_DELETED
    gone = again(workspace, pair.second, canonical_content=b"", availability_state=deleted)
    assert gone.relationship.canonical_content == b'{"tombstone":true}'
    closed = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED
    until(lambda: len(workspace.events(event_classes=[closed])) == 1, "the keys are destroyed")
    [job] = workspace.events(event_classes=[closed])
    assert (job.relationship_id, job.object_id) == (pair.id, "")
    entries = history(workspace, relationship_id=pair.id)
    assert versions(entries) == [pair.first.version_id, pair.second.version_id, gone.relationship.version_id]
    shown = [entry for entry in entries if entry.HasField("relationship")]
    assert {entry.content_state for entry in shown} == {memory_pb2.CONTENT_STATE_WITHHELD}
    assert [entry.relationship.canonical_content for entry in shown[:2]] == [b"", b""]
    omitted = history(workspace, relationship_id=pair.id, redaction_policy=memory_pb2.REDACTION_POLICY_OMIT)
    assert versions(omitted) == []
    with pytest.raises(Refusal) as refused:
        again(workspace, gone.relationship, canonical_content=b"3")
    assert refused.value.reason == "OBJECT_DELETED"


def test_a_range_holds_relationships_too(workspace: Workspace, pair: Pair) -> None:
    entries = history(workspace, after_sequence=0)
    assert versions(entries) == [pair.first.version_id, pair.second.version_id]
    assert [entry.ledger_sequence for entry in entries] == sorted(entry.ledger_sequence for entry in entries)
    keys = [(entry.ledger_sequence, entry.WhichOneof("entry")) for entry in entries]
    assert len(keys) == len(set(keys))
    for limit in (1, 3, 7):
        assert history(workspace, after_sequence=0, limit=limit) == entries


@pytest.mark.parametrize("hidden", ["source", "target"])
def test_a_relationship_is_hidden_with_either_end(
    cluster: Cluster, workspace: Workspace, pair: Pair, hidden: str
) -> None:
    reader = cluster.client(f"actor:historian-{hidden}")
    workspace.allow(reader.actor_id, "inspect_history")
    workspace.deny(reader.actor_id, "inspect_history", object_type="claim" if hidden == "source" else "artifact")
    answers = []
    for relationship_id in (pair.id, "rel:none"):
        with pytest.raises(Refusal) as refused:
            history_page(workspace, reader, relationship_id=relationship_id)
        answers.append((refused.value.reason, refused.value.message, refused.value.denial_reason))
    assert len(set(answers)) == 1
    other = pair.target if hidden == "source" else pair.source
    assert kinds(history(workspace, reader, object_id=other.object_id)) == ["event", "version"]
    ranged = history(workspace, reader, after_sequence=0)
    assert pair.id not in str(ranged)


def test_a_delegate_sees_what_is_granted_on_both_ends(cluster: Cluster, workspace: Workspace, pair: Pair) -> None:
    delegate = cluster.client("actor:historian-delegate")
    ids = [pair.source.object_id, pair.target.object_id]
    both = grant(workspace, delegate.actor_id, "inspect_history", granted_object_ids={"values": ids})
    assert len(history(workspace, delegate, relationship_id=pair.id, delegation_id=both)) == 4
    ranged = history(workspace, delegate, after_sequence=0, delegation_id=both)
    assert versions(ranged) == [pair.first.version_id, pair.second.version_id]
    assert {entry.event.event_type for entry in ranged if entry.HasField("event")} >= {CREATED, UPDATED}
    listed = workspace.events(delegate, delegation_id=both, event_classes=[CREATED, UPDATED])
    assert [event.relationship_id for event in listed] == [pair.id, pair.id]
    one = grant(workspace, delegate.actor_id, "inspect_history", granted_object_ids={"values": ids[:1]})
    with pytest.raises(Refusal) as refused:
        history_page(workspace, delegate, relationship_id=pair.id, delegation_id=one)
    assert refused.value.reason == "ACCESS_DENIED"
    assert versions(history(workspace, delegate, object_id=ids[0], delegation_id=one)) == []
    assert workspace.events(delegate, delegation_id=one, event_classes=[CREATED, UPDATED]) == []


def test_an_end_elsewhere_is_judged_there(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    rule_id = permit(target, workspace)
    source, end = workspace.create().object_id, target.create().object_id
    fields: dict[str, Any] = {"target_scope_id": target.scope_id, "policy_basis": "basis:1"}
    made = relate(workspace, source, end, **fields).relationship
    reader = cluster.client("actor:historian-abroad")
    workspace.allow(reader.actor_id, "inspect_history")
    with pytest.raises(Refusal) as refused:
        history_page(workspace, reader, relationship_id=made.relationship_id)
    assert refused.value.reason == "OBJECT_NOT_FOUND"
    assert versions(history(workspace, reader, object_id=source)) == []
    target.allow(reader.actor_id, "inspect_history")
    assert versions(history(workspace, reader, relationship_id=made.relationship_id)) == [made.version_id]
    assert versions(history(workspace, reader, object_id=source)) == [made.version_id]
    remove_rule(target, rule_id)
    assert versions(history(workspace, reader, object_id=source)) == []


def test_who_asks_for_an_object_and_a_relationship_asks_too_much(workspace: Workspace, pair: Pair) -> None:
    with pytest.raises(Refusal) as refused:
        history_page(workspace, object_id=pair.source.object_id, relationship_id=pair.id)
    assert refused.value.fields == ["relationship_id"]


def test_provenance_is_hidden_where_a_rule_says_so(cluster: Cluster, workspace: Workspace, pair: Pair) -> None:
    reader = cluster.client("actor:historian-no-provenance")
    workspace.allow(reader.actor_id, "inspect_history")
    workspace.deny(reader.actor_id, "provenance.read", object_type="artifact")
    entries = history(workspace, reader, relationship_id=pair.id)
    shown = [entry.relationship for entry in entries if entry.HasField("relationship")]
    assert [entry.provenance.activity for entry in shown] == ["", ""]
    assert all(entry.provenance.provenance_id for entry in shown)
