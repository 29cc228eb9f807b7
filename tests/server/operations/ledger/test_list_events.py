"""ListEvents and GetEvent (PAMSPEC 7.7)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Client, Refusal, Workspace
from tests.server.operations.memory.relationships import relate
from tests.server.operations.memory.requests import delete, grant, history, query_ids, transition, update


def _names(events: list[ledger_pb2.LedgerEvent]) -> list[str]:
    return [ledger_pb2.EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower() for event in events]


def _page(workspace: Workspace, client: Client | None = None, **fields: Any) -> ledger_pb2.ListEventsResponse:
    request = ledger_pb2.ListEventsRequest(scope_id=workspace.scope_id, **fields)
    response: ledger_pb2.ListEventsResponse = (client or workspace.owner).ledger.ListEvents(request)
    return response


@pytest.mark.req("P-7.7-01")
def test_a_denied_read_is_an_event_and_no_version(workspace: Workspace) -> None:
    made = workspace.create()
    workspace.allow("actor:reader", "query")
    before = len(workspace.events())
    with pytest.raises(Refusal):
        workspace.read(made.object_id, workspace.cluster.client("actor:reader"))
    [denied] = workspace.events()[before:]
    assert _names([denied]) == ["access_denied"]
    assert len([entry for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]) == 1


@pytest.mark.req("P-7.7-02", "P-7.7-07")
def test_every_change_is_an_event_of_its_operation(workspace: Workspace) -> None:
    made = workspace.create()
    second = update(workspace, made.object_id, made.version_id, operation_id="op:update")
    third = transition(workspace, made.object_id, second.version_id, "lifecycle", "archived")
    last = delete(workspace, made.object_id, third.version_id)
    delegation_id = grant(workspace, "actor:delegate", "read", operation_id="op:grant")
    events = workspace.events()
    by_operation = {event.operation_id for event in events}
    assert {made.operation_id, "op:update", third.operation_id, last.operation_id, "op:grant"} <= by_operation
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    for event in events:
        assert event.event_id
        assert event.operation_id
        assert event.scope_id == workspace.scope_id
        assert event.event_type
        assert event.HasField("recorded_at")
        assert event.actor.actor_id
        assert event.actor.actor_kind
    versions = {name: event.version_id for name, event in zip(_names(events), events, strict=True) if event.object_id}
    assert versions["object_created"] == made.version_id
    assert versions["object_updated"] == second.version_id
    assert versions["lifecycle_transitioned"] == third.version_id
    assert versions["object_deleted"] == last.version_id
    assert events[-1].delegation_id == delegation_id or delegation_id in {event.delegation_id for event in events}
    times = [(event.recorded_at.seconds, event.recorded_at.nanos) for event in events]
    assert times == sorted(times)


@pytest.mark.req("P-7.7-03")
def test_an_old_range_listed_again_is_the_same(workspace: Workspace) -> None:
    made = workspace.create()
    then = workspace.events()
    update(workspace, made.object_id, made.version_id)
    delete(workspace, made.object_id, workspace.read(made.object_id).envelope.version_id)
    again = workspace.events(to_sequence=len(then))
    assert [event.SerializeToString() for event in again] == [event.SerializeToString() for event in then]
    for event, following in pairwise(then):
        assert following.previous_hash == event.chain_hash
    methods = {method.name for method in ledger_pb2.DESCRIPTOR.services_by_name["LedgerService"].methods}
    of_events = {"ListEvents", "GetEvent", "VerifyLedger"}
    # What else there is changes subscriptions: nothing changes an event.
    assert methods - of_events == {f"{verb}Subscription" for verb in ("Poll", "Stream", "Acknowledge", "Reset")} | {
        "Subscribe",
        "Unsubscribe",
    }


@pytest.mark.req("P-7.7-04")
def test_events_of_an_object_come_in_the_order_of_its_versions(workspace: Workspace) -> None:
    made = workspace.create()

    def change(number: int) -> None:
        while True:
            current = workspace.read(made.object_id).envelope.version_id
            try:
                update(workspace, made.object_id, current, canonical_content=b"%d" % number)
                return
            except Refusal as refused:
                if refused.reason != "VERSION_CONFLICT":
                    raise

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(change, range(10)))
    events = workspace.events(object_id=made.object_id, event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_UPDATED])
    assert [json.loads(event.payload_json)["object_sequence"] for event in events] == list(range(2, 12))
    versions = [entry.version for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert [event.version_id for event in events] == [version.version_id for version in versions[1:]]


def test_each_filter_gives_the_exact_part(workspace: Workspace) -> None:
    workspace.allow("actor:writer", "create")
    writer = workspace.cluster.client("actor:writer")
    first, second = workspace.create(), workspace.create(writer)
    delegation_id = grant(workspace, "actor:delegate", "query")
    query_ids(workspace, workspace.cluster.client("actor:delegate"), delegation_id=delegation_id)
    whole = workspace.events()

    def asked(**filters: Any) -> list[ledger_pb2.LedgerEvent]:
        found = workspace.events(**filters)
        pages, cursor = [], ""
        while True:
            page = _page(workspace, limit=2, cursor=cursor, **filters)
            pages.extend(page.events)
            cursor = page.cursor
            if not cursor:
                assert pages == found
                return found

    created = ledger_pb2.EVENT_TYPE_OBJECT_CREATED
    assert asked() == whole
    assert asked(after_sequence=3) == whole[3:]
    assert asked(after_sequence=3, to_sequence=5) == whole[3:5]
    assert asked(to_sequence=2**64 - 1, after_sequence=2) == whole[2:]
    assert asked(after_sequence=2**64 - 1) == []
    assert [event.object_id for event in asked(event_classes=[created])] == [first.object_id, second.object_id]
    assert asked(object_id=second.object_id) == [event for event in whole if event.object_id == second.object_id]
    assert asked(actor_id="actor:writer") == [event for event in whole if event.actor.actor_id == "actor:writer"]
    used = asked(filter_delegation_id=delegation_id)
    assert _names(used) == ["delegation_granted", "delegation_exercised"]
    assert [event.version_id for event in asked(filter_operation_id=first.operation_id)] == [first.version_id]
    assert asked(event_classes=[created], object_id=first.object_id, actor_id="actor:writer") == []
    assert _page(workspace, limit=1).head_sequence == len(whole)


def test_pages_are_pinned_to_the_first_ones_head(workspace: Workspace) -> None:
    for _ in range(3):
        workspace.create()
    page = _page(workspace, limit=2)
    head = page.head_sequence
    found = list(page.events)
    while page.cursor:
        workspace.create()
        page = _page(workspace, limit=2, cursor=page.cursor)
        found.extend(page.events)
    assert [event.sequence for event in found] == list(range(1, head + 1))
    assert page.head_sequence > head


@pytest.mark.parametrize("number", [0, 999])
def test_unknown_types_are_refused_in_filters(workspace: Workspace, number: int) -> None:
    with pytest.raises(Refusal) as refused:
        _page(workspace, event_classes=[number])
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["event_classes[0]"])


def test_a_delegate_sees_its_own_exercises_and_no_more(workspace: Workspace) -> None:
    first = grant(workspace, "actor:one", "query")
    second = grant(workspace, "actor:two", "query", usage_limit=1)
    one, two = workspace.cluster.client("actor:one"), workspace.cluster.client("actor:two")
    query_ids(workspace, one, delegation_id=first)
    query_ids(workspace, two, delegation_id=second)
    with pytest.raises(Refusal):
        query_ids(workspace, two, delegation_id=second)
    [seen] = _page(workspace, two).events
    assert (seen.delegation_id, seen.actor.actor_id, seen.use_number) == (second, "actor:two", 1)
    assert _page(workspace, two, filter_delegation_id=first).events == []
    assert _page(workspace, two, actor_id="actor:one").events == []
    # A deny is a deny, and a bystander sees nothing.
    workspace.deny("actor:two", "ledger.read")
    with pytest.raises(Refusal) as refused:
        _page(workspace, two)
    assert refused.value.denial_reason == "EXPLICIT_DENY"
    workspace.allow("actor:bystander", "query")
    with pytest.raises(Refusal) as refused:
        _page(workspace, workspace.cluster.client("actor:bystander"))
    assert refused.value.denial_reason == "NO_RULE"
    # The right, once given, opens the whole ledger at the next call.
    workspace.allow("actor:one", "ledger.read")
    assert len(_page(workspace, one).events) == len(workspace.events())


def test_by_a_grant_of_history_the_events_of_its_objects_are_seen(workspace: Workspace) -> None:
    made = [workspace.create(), workspace.create(object_type="task")]
    delegation_id = grant(
        workspace, "actor:delegate", "inspect_history", granted_object_types={"values": ["task"]}, usage_limit=2
    )
    delegate = workspace.cluster.client("actor:delegate")
    page = _page(workspace, delegate, delegation_id=delegation_id)
    assert [event.object_id for event in page.events] == [made[1].object_id]
    assert len(page.event_ids) == 1
    workspace.deny("actor:delegate", "ledger.read")
    with pytest.raises(Refusal) as refused:
        _page(workspace, delegate, delegation_id=delegation_id)
    assert refused.value.denial_reason == "EXPLICIT_DENY"
    other = grant(workspace, "actor:third", "query")
    with pytest.raises(Refusal) as refused:
        _page(workspace, workspace.cluster.client("actor:third"), delegation_id=other)
    assert refused.value.denial_reason == "OPERATION_NOT_GRANTED"


def test_rights_limited_by_type_see_the_events_of_that_type(workspace: Workspace) -> None:
    workspace.create()
    task = workspace.create(object_type="task")
    workspace.allow("actor:limited", "ledger.read", object_type="task")
    limited = workspace.cluster.client("actor:limited")
    assert [event.object_id for event in _page(workspace, limited).events] == [task.object_id]
    with pytest.raises(Refusal) as refused:
        limited.ledger.GetEvent(ledger_pb2.GetEventRequest(scope_id=workspace.scope_id, event_id=task.event_ids[0]))
    assert refused.value.denial_reason == "NO_RULE"


def test_an_event_is_given_with_what_was_hashed(workspace: Workspace) -> None:
    made = workspace.create()
    request = ledger_pb2.GetEventRequest(scope_id=workspace.scope_id, event_id=made.event_ids[0])
    found = workspace.owner.ledger.GetEvent(request)
    [listed] = [event for event in workspace.events() if event.event_id == made.event_ids[0]]
    assert found.event == listed
    assert (listed.object_id, listed.version_id) == (made.object_id, made.version_id)
    body = json.loads(found.body)
    assert (body["event_id"], body["scope_id"]) == (made.event_ids[0], workspace.scope_id)
    assert json.loads(found.event.payload_json) == body["payload"]
    other = Workspace(workspace.cluster)
    with pytest.raises(Refusal) as refused:
        other.owner.ledger.GetEvent(ledger_pb2.GetEventRequest(scope_id=other.scope_id, event_id=made.event_ids[0]))
    assert refused.value.reason == "OBJECT_NOT_FOUND"


def test_an_event_that_is_not_listed_is_told_like_one_that_is_not_there(workspace: Workspace) -> None:
    hidden, other = workspace.create(object_id="mem:hidden"), workspace.create()
    relate(workspace, other.object_id, "mem:hidden")
    workspace.allow("actor:reader", "ledger.read")
    workspace.deny("actor:reader", "ledger.read", object_id="mem:hidden")
    reader = workspace.cluster.client("actor:reader")
    listed = {event.event_id for event in workspace.events(reader)}

    def given(event_id: str) -> tuple[str, str] | None:
        request = ledger_pb2.GetEventRequest(
            scope_id=workspace.scope_id, event_id=event_id, operation_id="operation:get-event"
        )
        try:
            assert reader.ledger.GetEvent(request).event.event_id == event_id
        except Refusal as refused:
            return str(refused), refused.reason
        return None

    absent = given("event:absent")
    assert absent is not None
    assert absent[1] == "OBJECT_NOT_FOUND"
    events = workspace.events()
    assert {_names([event])[0] for event in events if event.event_id not in listed} >= {
        "object_created",
        "relationship_created",
        "policy_rule_added",
    }
    assert {event.event_id: given(event.event_id) for event in events} == {
        event.event_id: None if event.event_id in listed else absent for event in events
    }
    assert hidden.event_ids[0] not in listed
    assert other.event_ids[0] in listed


def test_the_history_rpc_and_the_ledger_tell_the_same_events(workspace: Workspace) -> None:
    workspace.create()
    entries = workspace.owner.memory.InspectHistory(
        memory_pb2.InspectHistoryRequest(scope_id=workspace.scope_id, after_sequence=0)
    ).entries
    assert [entry.event for entry in entries if entry.HasField("event")] == workspace.events()
