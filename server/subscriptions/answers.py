"""Subscriptions, model -> wire, and the delivery that a request asks for (P-10.8-02, P-10.8-10)."""

from __future__ import annotations

from typing import Final

from remit.v1 import ledger_pb2
from server.domain_errors import PolicyDenied
from server.subscriptions.filters import filter_message
from server.wire.actors import actor_message
from storage.model.subscription import Backpressure, Delivery, Subscription

CHANNEL: Final = "/remit.v1.LedgerService/StreamSubscription"
_BACKPRESSURE: Final = {
    ledger_pb2.BACKPRESSURE_UNSPECIFIED: Backpressure.BLOCK,
    ledger_pb2.BACKPRESSURE_BLOCK: Backpressure.BLOCK,
    ledger_pb2.BACKPRESSURE_CLOSE_ON_LAG: Backpressure.CLOSE_ON_LAG,
}
_NAMES: Final = {
    "batching_max_events": "batch_events_max",
    "batching_max_wait_ms": "batch_wait_ms",
    "keepalive_interval_ms": "keepalive_ms",
    "lag_max_events": "lag_events_max",
}
_NUMBERS: Final = {
    Backpressure.BLOCK: ledger_pb2.BACKPRESSURE_BLOCK,
    Backpressure.CLOSE_ON_LAG: ledger_pb2.BACKPRESSURE_CLOSE_ON_LAG,
}


def delivery_from(message: ledger_pb2.Delivery) -> Delivery:
    """Returns the delivery asked for, defaults filled in. Raises PolicyDenied where events would be dropped (Q35)."""
    backpressure = _BACKPRESSURE.get(message.backpressure)
    if backpressure is None:
        raise PolicyDenied("every event is delivered: none may be dropped", field="delivery.backpressure")
    given = {_NAMES[field.name]: int(value) for field, value in message.ListFields() if field.name in _NAMES}
    return Delivery(backpressure=backpressure, **given)


def delivery_message(delivery: Delivery) -> ledger_pb2.Delivery:
    """Returns the resolved delivery."""
    return ledger_pb2.Delivery(
        batching_max_events=delivery.batch_events_max,
        batching_max_wait_ms=delivery.batch_wait_ms,
        keepalive_interval_ms=delivery.keepalive_ms,
        backpressure=_NUMBERS[delivery.backpressure],
        lag_max_events=delivery.lag_events_max,
    )


def subscription_message(subscription: Subscription) -> ledger_pb2.Subscription:
    """Returns a subscription as its subscriber sees it."""
    return ledger_pb2.Subscription(
        subscription_id=subscription.subscription_id,
        scope_id=subscription.scope_id,
        actor=actor_message(subscription.actor),
        filter=filter_message(subscription.filter),
        start_sequence=subscription.start_sequence,
        delivery=delivery_message(subscription.delivery),
        channel_ref=CHANNEL,
        acknowledged_sequence=subscription.acknowledged_sequence,
        closed=subscription.closed,
        close_reason=subscription.close_reason or "",
        delegation_id=subscription.delegation_id or "",
    )
