"""ResetSubscription (PAMSPEC 18.3; P-18.3-04; Q33)."""

from __future__ import annotations

from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from server.domain_errors import InvalidRequest, PolicyDenied
from server.subscriptions.answers import subscription_message
from server.subscriptions.changes import cold, why
from server.subscriptions.own import demand_standing, own_subscription
from storage.commands import Status
from storage.model.subscription_events import SubscriptionReset


async def handle(call: Call, request: ledger_pb2.ResetSubscriptionRequest) -> ledger_pb2.ResetSubscriptionResponse:
    """Moves the cursor back, or on: what comes after it is delivered again, judged by the authority of then.

    Raises Refused, ObjectNotFound, PolicyDenied when the subscription is closed, InvalidRequest for a sequence that has
    not happened yet, StaleFacts.
    """
    subscription = await own_subscription(call, request.subscription_id)
    if not subscription.closed:
        with call.services.feeds.watch(call.tenant_id, call.scope_id) as feed:
            await demand_standing(call, subscription, feed)
    kept = call.replayed()
    if kept is not None:
        event_ids, operation_id = kept["event_ids"], str(kept["operation_id"])
    elif subscription.closed:
        raise PolicyDenied("the subscription is closed", field="subscription_id")
    else:
        reset = call.event(
            SubscriptionReset(
                subscription_id=subscription.subscription_id,
                from_sequence=subscription.acknowledged_sequence,
                to_sequence=request.after_sequence,
            )
        )
        change = cold("reset", subscription, after_sequence=request.after_sequence)
        result = {"subscription_id": subscription.subscription_id, "event_ids": [reset.event_id]}
        outcome = await call.commit(Change(events=[reset], result=result, colds=[change]))
        if why(outcome) == "AHEAD":
            raise InvalidRequest("after_sequence", "names what has not happened yet")
        if outcome.status is Status.REPLAYED:
            kept = outcome.detail
        elif outcome.status is not Status.ACCEPTED:
            raise StaleFacts
        event_ids, operation_id = (result if kept is None else kept)["event_ids"], call.operation_id
    _, standing = await call.services.subscriptions.get(call.tenant_id, (call.scope_id, subscription.subscription_id))
    if standing is None:
        raise StaleFacts
    return ledger_pb2.ResetSubscriptionResponse(
        subscription=subscription_message(standing),
        event_ids=[str(event_id) for event_id in event_ids],
        replayed=kept is not None,
        operation_id=operation_id if kept is None else str(kept["operation_id"]),
    )
