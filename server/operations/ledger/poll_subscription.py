"""PollSubscription (PAMSPEC 18.3; P-18.3-02 to P-18.3-05; Q33, Q36, Q37)."""

from __future__ import annotations

from remit.v1 import ledger_pb2
from server.call import Call
from server.subscriptions.own import own_subscription
from server.subscriptions.poll import SubscriptionPoll


async def handle(call: Call, request: ledger_pb2.PollSubscriptionRequest) -> ledger_pb2.PollSubscriptionResponse:
    """Returns the next events and moves the cursor past them in the same breath: none ever comes twice.

    With nothing to give it waits up to `wait_ms`. A subscription that is closed answers so, without events; so does one
    that is closed by this very poll, because its authority is lost. Raises Refused, ObjectNotFound, StaleFacts.
    """
    subscription = await own_subscription(call, request.subscription_id)
    max_events = call.page_size("max_events")
    return await SubscriptionPoll(call, subscription, max_events).answer(request.wait_ms / 1000)
