"""AcknowledgeSubscription (PAMSPEC 10.8; P-10.8-03, P-10.8-05; Q33)."""

from __future__ import annotations

from typing import Final

from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import InvalidRequest
from server.subscriptions.changes import cold, submit, why
from server.subscriptions.own import demand_standing, own_subscription
from storage.commands import Status

_BIGINT_MAX: Final = 2**63 - 1


async def handle(
    call: Call, request: ledger_pb2.AcknowledgeSubscriptionRequest
) -> ledger_pb2.AcknowledgeSubscriptionResponse:
    """Moves the cursor on; never back, and not when the subscription is closed. Answers where it stands.

    Raises Refused, ObjectNotFound, InvalidRequest for a sequence that has not happened yet, StaleFacts.
    """
    subscription = await own_subscription(call, request.subscription_id)
    acknowledged = subscription.acknowledged_sequence
    if not subscription.closed:
        services, tenant_id = call.services, call.tenant_id
        with services.feeds.watch(tenant_id, call.scope_id) as feed:
            standing = await demand_standing(call, subscription, feed)
        sequence = min(request.sequence, _BIGINT_MAX)
        change = cold("acknowledge", subscription, sequence=sequence)
        outcome = await submit(services, tenant_id, subscription, change, standing=standing)
        if why(outcome) == "AHEAD":
            raise InvalidRequest("sequence", "names what has not happened yet")
        if outcome.status is Status.ACCEPTED:
            acknowledged = sequence
        elif outcome.status is Status.UNCHANGED:
            acknowledged = int(outcome.detail["acknowledged_sequence"])
        else:
            raise StaleFacts
        services.feeds.acknowledged(tenant_id, call.scope_id, subscription.subscription_id, acknowledged)
    return ledger_pb2.AcknowledgeSubscriptionResponse(
        acknowledged_sequence=acknowledged, operation_id=call.operation_id
    )
