"""Promotions by grant and by rule: both the source and the target are covered (authority.md, "Object lists fail closed")."""

from __future__ import annotations

import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Client, Refusal, Workspace
from tests.server.operations.memory.requests import grant
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
