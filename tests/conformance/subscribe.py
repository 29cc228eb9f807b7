"""The cases of PAMSPEC-Subscribe (section 18.3), each a function of a fresh workspace and the place it is in."""

from __future__ import annotations

from typing import Any

from remit.v1 import ledger_pb2
from tests.cluster import Workspace
from tests.conformance.lite import Case
from tests.conformance.places import Place
from tests.server.operations.memory.requests import delete, update

_CREATED = {"event_classes": {"event_types": [ledger_pb2.EVENT_TYPE_OBJECT_CREATED]}}


def _subscribe(workspace: Workspace, **fields: Any) -> Any:
    fields.setdefault("filter", _CREATED)
    request = ledger_pb2.SubscribeRequest(scope_id=workspace.scope_id, **fields)
    return workspace.owner.ledger.Subscribe(request).subscription


def _poll(workspace: Workspace, subscription_id: str) -> list[Any]:
    request = ledger_pb2.PollSubscriptionRequest(
        scope_id=workspace.scope_id, subscription_id=subscription_id, max_events=100, wait_ms=0
    )
    return list(workspace.owner.ledger.PollSubscription(request).events)


def case_subscription_delivers_matching_events(workspace: Workspace, place: Place) -> None:
    opened = _subscribe(workspace)
    assert opened.subscription_id
    assert opened.start_sequence == workspace.events()[-1].sequence
    made = [workspace.create().object_id for _ in range(5)]
    delivered = _poll(workspace, opened.subscription_id)
    assert [event.object_id for event in delivered] == made
    sequences = [event.sequence for event in delivered]
    assert sequences == sorted(set(sequences))


def case_subscription_filter_excludes_non_matching(workspace: Workspace, place: Place) -> None:
    opened = _subscribe(workspace)
    made = workspace.create()
    changed = update(workspace, made.object_id, made.version_id)
    delete(workspace, made.object_id, changed.version_id)
    assert [event.event_type for event in _poll(workspace, opened.subscription_id)] == [
        ledger_pb2.EVENT_TYPE_OBJECT_CREATED
    ]


def case_cursor_advances(workspace: Workspace, place: Place) -> None:
    opened = _subscribe(workspace)
    first = workspace.create().object_id
    assert [event.object_id for event in _poll(workspace, opened.subscription_id)] == [first]
    assert _poll(workspace, opened.subscription_id) == []
    second = workspace.create().object_id
    assert [event.object_id for event in _poll(workspace, opened.subscription_id)] == [second]
    reset = ledger_pb2.ResetSubscriptionRequest(
        scope_id=workspace.scope_id, subscription_id=opened.subscription_id, after_sequence=opened.start_sequence
    )
    workspace.owner.ledger.ResetSubscription(reset)
    assert [event.object_id for event in _poll(workspace, opened.subscription_id)] == [first, second]


def case_close_stops_delivery(workspace: Workspace, place: Place) -> None:
    opened = _subscribe(workspace)
    closing = ledger_pb2.UnsubscribeRequest(
        scope_id=workspace.scope_id, subscription_id=opened.subscription_id, reason="done"
    )
    workspace.owner.ledger.Unsubscribe(closing)
    workspace.create()
    assert _poll(workspace, opened.subscription_id) == []


SUBSCRIBE: dict[str, Case] = {name: case for name, case in globals().items() if name.startswith("case_")}
