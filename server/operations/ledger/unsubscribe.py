"""Unsubscribe (PAMSPEC 10.8, 18.3; P-10.8-06, P-10.8-08, P-18.3-05)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from server.subscriptions.answers import subscription_message
from server.subscriptions.changes import UNSUBSCRIBED, cold
from server.subscriptions.own import own_subscription
from storage.commands import Status
from storage.model.subscription_events import SubscriptionClosed
from storage.workspaces import load_heads


async def handle(call: Call, request: ledger_pb2.UnsubscribeRequest) -> ledger_pb2.UnsubscribeResponse:
    """Closes the caller's subscription; one that is closed stays as it was closed, and that is a success.

    Raises Refused, ObjectNotFound, StaleFacts.
    """
    subscription = await own_subscription(call, request.subscription_id)
    call.demand((), row_filtered=True)
    kept: Mapping[str, Any] | None = call.replayed()
    event_ids: list[str] = []
    if kept is None and not subscription.closed:
        services, key = call.services, (call.tenant_id, call.scope_id, subscription.subscription_id)
        await services.feeds.settle(*key)
        reason = request.reason or UNSUBSCRIBED
        _, now = await services.subscriptions.get(call.tenant_id, key[1:])
        delivered = (now or subscription).delivered_sequence
        closed = call.event(
            SubscriptionClosed(
                subscription_id=subscription.subscription_id,
                reason=reason,
                closed_by="subscriber",
                last_delivered_sequence=delivered,
            )
        )
        change = cold("close", subscription, reason=reason, delivered_sequence=delivered)
        result = {"subscription_id": subscription.subscription_id, "event_ids": [closed.event_id]}
        outcome = await call.commit(Change(events=[closed], result=result, colds=[change]))
        if outcome.status is Status.REPLAYED:
            kept = outcome.detail
        elif outcome.status is Status.ACCEPTED:
            event_ids = [closed.event_id, *call.exercise_event_ids]
    else:
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
    if kept is not None:
        event_ids = [str(event_id) for event_id in kept["event_ids"]]
    _, standing = await call.services.subscriptions.get(call.tenant_id, (call.scope_id, subscription.subscription_id))
    if standing is None:
        raise StaleFacts
    return ledger_pb2.UnsubscribeResponse(
        subscription=subscription_message(standing),
        last_delivered_sequence=standing.delivered_sequence,
        event_ids=event_ids,
        replayed=kept is not None,
        operation_id=call.operation_id if kept is None else str(kept["operation_id"]),
    )
