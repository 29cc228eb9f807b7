"""Promotions by grant and by rule: both the source and the target are covered (authority.md, "Object lists fail closed").

And what they tell: a promotion is an event of both.
"""

from __future__ import annotations

import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Client, Refusal, Workspace
from tests.server.operations.ledger.subscriptions import poll, subscribe
from tests.server.operations.memory.requests import grant, history
from tests.server.operations.memory.test_promote import promote, scratch


@pytest.fixture
def delegate(workspace: Workspace) -> Client:
    return workspace.cluster.client("actor:delegate")


def test_both_objects_are_in_the_list(workspace: Workspace, delegate: Client) -> None:
    source = scratch(workspace)
    other = scratch(workspace)
    listed = {"values": [source.object_id, "mem:target"]}
    grant_id = grant(workspace, "actor:delegate", "promote", granted_object_ids=listed)
    for fields, refused in (
        ({"target_object_id": "mem:other"}, source),
        ({}, source),
        ({"target_object_id": "mem:target"}, other),
    ):
        with pytest.raises(Refusal) as refusal:
            promote(workspace, refused, delegate, delegation_id=grant_id, **fields)
        assert refusal.value.denial_reason == "OBJECT_NOT_GRANTED"
    made = promote(workspace, source, delegate, delegation_id=grant_id, target_object_id="mem:target")
    assert made.target.envelope.actor.delegation_id == grant_id
    uses = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED])
    assert [event.event_id for event in uses] == [made.target.event_ids[-1]]


@pytest.mark.parametrize(
    ("types", "right"),
    [(["working_memory", "claim"], True), (["working_memory"], False), (["claim"], False)],
)
def test_both_types_are_in_the_list(workspace: Workspace, delegate: Client, types: list[str], right: bool) -> None:
    source = scratch(workspace)
    grant_id = grant(workspace, "actor:delegate", "promote", granted_object_types={"values": types})
    if right:
        assert promote(workspace, source, delegate, delegation_id=grant_id).target.object_id
        return
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, delegate, delegation_id=grant_id)
    assert refusal.value.denial_reason == "OBJECT_TYPE_NOT_GRANTED"


@pytest.mark.parametrize("types", [("working_memory",), ("claim",)])
def test_own_rules_cover_both_types(workspace: Workspace, delegate: Client, types: tuple[str]) -> None:
    source = scratch(workspace)
    for object_type in types:
        workspace.allow("actor:delegate", "promote", object_type=object_type)
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, delegate)
    assert refusal.value.denial_reason == "NO_RULE"
    for object_type in {"working_memory", "claim"} - {*types}:
        workspace.allow("actor:delegate", "promote", object_type=object_type)
    assert promote(workspace, source, delegate).target.object_id


WATCHER = "actor:watcher"
PROMOTED = ledger_pb2.EVENT_TYPE_WORKING_MEMORY_PROMOTED


def told(workspace: Workspace, watcher: Client, object_id: str) -> list[list[ledger_pb2.LedgerEvent]]:
    """The events of one object as each way in tells them: the ledger, the history, its range, a subscription."""
    entries = (
        history(workspace, watcher, object_id=object_id),
        history(workspace, watcher, after_sequence=0),
    )
    return [
        workspace.events(watcher),
        *([entry.event for entry in found if entry.HasField("event")] for found in entries),
        list(poll(subscribe(workspace, client=watcher, after_sequence=0), watcher).events),
    ]


@pytest.mark.parametrize("limit", ["by type", "by deny"])
@pytest.mark.parametrize("seen", ["target", "source"])
def test_who_sees_one_end_is_not_told_of_the_promotion(workspace: Workspace, limit: str, seen: str) -> None:
    source = scratch(workspace)
    promote(workspace, source, target_object_id="mem:target")
    ends = {"source": (source.object_id, "working_memory"), "target": ("mem:target", "claim")}
    object_id, object_type = ends.pop(seen)
    [(hidden_id, _)] = ends.values()
    for action in ("ledger.read", "inspect_history", "subscribe"):
        workspace.allow(WATCHER, action, object_type=object_type if limit == "by type" else "*")
        if limit == "by deny":
            workspace.deny(WATCHER, action, object_id=hidden_id)
    for events in told(workspace, workspace.cluster.client(WATCHER), object_id):
        assert object_id in {event.object_id for event in events}
        assert [event for event in events if hidden_id in str(event)] == []


def test_who_sees_both_ends_is_told_of_the_promotion_once(workspace: Workspace) -> None:
    source = scratch(workspace)
    promoted = promote(workspace, source, target_object_id="mem:target")
    for action in ("ledger.read", "inspect_history", "subscribe"):
        for object_type in ("working_memory", "claim"):
            workspace.allow(WATCHER, action, object_type=object_type)
    for object_id in ("mem:target", source.object_id):
        for events in told(workspace, workspace.cluster.client(WATCHER), object_id):
            [event] = [event for event in events if event.event_type == PROMOTED]
            assert (event.object_id, event.relationship_id) == ("mem:target", promoted.relationship_id)
