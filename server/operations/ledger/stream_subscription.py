"""StreamSubscription (PAMSPEC 10.8; P-10.8-03 to P-10.8-07, P-10.8-09; Q33, Q36, Q37)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from authz.decision import Denied
from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.subscriptions.authority import standing_of
from server.subscriptions.changes import CloseReason, close, cold, submit, why
from server.subscriptions.own import own_subscription
from server.subscriptions.stream import SubscriptionStream
from storage.commands import Status
from storage.model.identifiers import new_id
from storage.model.subscription import Subscription


async def handle(
    call: Call, request: ledger_pb2.StreamSubscriptionRequest
) -> AsyncIterator[ledger_pb2.StreamSubscriptionResponse]:
    """Streams events after what was acknowledged; the newest stream of a subscription takes over from an older one.

    One that is closed, or whose authority is lost, answers with its end alone. Raises Refused, ObjectNotFound, StaleFacts.
    """
    subscription = await own_subscription(call, request.subscription_id)
    if subscription.close_reason is not None:
        return _ended(call, subscription, subscription.close_reason)
    services, tenant_id = call.services, call.tenant_id
    with services.feeds.watch(tenant_id, call.scope_id) as feed:
        standing = await standing_of(services, tenant_id, subscription, feed)
        if isinstance(standing.decision, Denied):
            delivered, reason = subscription.delivered_sequence, CloseReason.ACCESS_LOST
            if not await close(services, tenant_id, subscription, reason, delivered, standing):
                raise StaleFacts
            return _ended(call, subscription, reason)
        await services.feeds.settle(tenant_id, call.scope_id, subscription.subscription_id)
        stream_id = new_id()
        outcome = await submit(
            services, tenant_id, subscription, cold("attach", subscription, stream_id=stream_id), standing=standing
        )
        if outcome.status is not Status.ACCEPTED and why(outcome) != "CLOSED":
            raise StaleFacts
        _, attached = await services.subscriptions.get(tenant_id, (call.scope_id, subscription.subscription_id))
    if attached is None:
        raise StaleFacts
    if attached.close_reason is not None:
        return _ended(call, attached, attached.close_reason)
    if attached.stream_id != stream_id:
        return _ended(call, attached, CloseReason.TAKEN_OVER, resumable=True)
    return SubscriptionStream(services, tenant_id, attached, standing, call.operation_id).responses()


async def _ended(
    call: Call, subscription: Subscription, reason: str, *, resumable: bool = False
) -> AsyncIterator[ledger_pb2.StreamSubscriptionResponse]:
    closed = ledger_pb2.SubscriptionClosed(
        close_reason=reason, last_delivered_sequence=subscription.delivered_sequence, resumable=resumable
    )
    yield ledger_pb2.StreamSubscriptionResponse(closed=closed, operation_id=call.operation_id)
