"""Requests of subscriptions, and what they deliver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.v1 import ledger_pb2
from tests.cluster import Client, Stream, Workspace

CREATED = ledger_pb2.EVENT_TYPE_OBJECT_CREATED
UPDATED = ledger_pb2.EVENT_TYPE_OBJECT_UPDATED
OPENED = ledger_pb2.EVENT_TYPE_SUBSCRIPTION_OPENED
CLOSED = ledger_pb2.EVENT_TYPE_SUBSCRIPTION_CLOSED
RESET = ledger_pb2.EVENT_TYPE_SUBSCRIPTION_RESET


def classes(*event_types: int) -> ledger_pb2.EventClasses:
    """A choice of event types."""
    return ledger_pb2.EventClasses(event_types=event_types)  # type: ignore[arg-type]


def subscribe_request(workspace: Workspace, *event_types: int, **fields: Any) -> ledger_pb2.SubscribeRequest:
    """A subscription to events of some types (all of them without any); `wanted` are further fields of the filter."""
    wanted: dict[str, Any] = fields.pop("wanted", {})
    if event_types:
        wanted = wanted | {"event_classes": classes(*event_types)}
    return ledger_pb2.SubscribeRequest(
        scope_id=workspace.scope_id, filter=ledger_pb2.SubscriptionFilter(**wanted), **fields
    )


def subscribe(
    workspace: Workspace, *event_types: int, client: Client | None = None, **fields: Any
) -> ledger_pb2.Subscription:
    """Opens a subscription, of the owner unless of another."""
    request = subscribe_request(workspace, *event_types, **fields)
    response = (client or workspace.owner).ledger.Subscribe(request)
    subscription: ledger_pb2.Subscription = response.subscription
    return subscription


def poll(subscription: ledger_pb2.Subscription, client: Client, **fields: Any) -> ledger_pb2.PollSubscriptionResponse:
    """One poll; `max_events`, `wait_ms`."""
    request = ledger_pb2.PollSubscriptionRequest(
        scope_id=subscription.scope_id, subscription_id=subscription.subscription_id, **fields
    )
    response: ledger_pb2.PollSubscriptionResponse = client.ledger.PollSubscription(request)
    return response


def stream(subscription: ledger_pb2.Subscription, client: Client) -> Stream:
    """A stream that is under way: its first message, which says where it begins, has come."""
    request = ledger_pb2.StreamSubscriptionRequest(
        scope_id=subscription.scope_id, subscription_id=subscription.subscription_id
    )
    opened: Stream = client.ledger.StreamSubscription(request, timeout=None)
    first = next(opened)
    assert first.HasField("keepalive"), first
    return opened


def items(opened: Stream) -> Iterator[ledger_pb2.LedgerEvent | ledger_pb2.SubscriptionClosed]:
    """The events of a stream one by one, and its end."""
    for response in opened:
        if response.HasField("closed"):
            yield response.closed
        yield from response.batch.events


def take(opened: Stream, count: int) -> list[ledger_pb2.LedgerEvent]:
    """The next events of a stream, which are to come in whole batches."""
    found: list[ledger_pb2.LedgerEvent] = []
    while len(found) < count:
        response = next(opened)
        assert not response.HasField("closed"), response
        found.extend(response.batch.events)
    assert len(found) == count, found
    return found


def end_of(opened: Stream) -> tuple[list[ledger_pb2.LedgerEvent], ledger_pb2.SubscriptionClosed]:
    """What a stream brings until its terminal message, after which nothing may follow."""
    found: list[ledger_pb2.LedgerEvent] = []
    for response in opened:
        found.extend(response.batch.events)
        if response.HasField("closed"):
            assert next(opened, None) is None
            return found, response.closed
    raise AssertionError("the stream ended without a terminal message")


def acknowledge(subscription: ledger_pb2.Subscription, client: Client, sequence: int) -> int:
    """Acknowledges; returns where the cursor stands."""
    request = ledger_pb2.AcknowledgeSubscriptionRequest(
        scope_id=subscription.scope_id, subscription_id=subscription.subscription_id, sequence=sequence
    )
    return int(client.ledger.AcknowledgeSubscription(request).acknowledged_sequence)


def reset(subscription: ledger_pb2.Subscription, client: Client, after_sequence: int, **fields: Any) -> Any:
    """Moves the cursor; returns the response."""
    request = ledger_pb2.ResetSubscriptionRequest(
        scope_id=subscription.scope_id,
        subscription_id=subscription.subscription_id,
        after_sequence=after_sequence,
        **fields,
    )
    return client.ledger.ResetSubscription(request)


def unsubscribe(subscription: ledger_pb2.Subscription, client: Client, **fields: Any) -> Any:
    """Closes; returns the response."""
    request = ledger_pb2.UnsubscribeRequest(
        scope_id=subscription.scope_id, subscription_id=subscription.subscription_id, **fields
    )
    return client.ledger.Unsubscribe(request)


def sequences(events: Any) -> list[int]:
    """Where events stand."""
    return [event.sequence for event in events]
