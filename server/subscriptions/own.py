"""The caller's own subscription, and its authority at the call: nobody else's can be told from one that is not there."""

from __future__ import annotations

from authz.decision import Denied
from server.authority.refusals import Refused
from server.call import Call
from server.domain_errors import ObjectNotFound
from server.subscriptions.authority import Standing, standing_of
from server.subscriptions.feed import Feed
from storage.model.subscription import Subscription


async def own_subscription(call: Call, subscription_id: str) -> Subscription:
    """Returns the caller's subscription, open or closed.

    Raises Refused when the caller may not do the call's action at all, ObjectNotFound where it has no such subscription,
    StaleFacts.
    """
    heads, subscription = await call.services.subscriptions.get(call.tenant_id, (call.scope_id, subscription_id))
    if subscription is not None and subscription.actor.actor_id == call.actor_id:
        return subscription
    call.demand((), row_filtered=True)
    call.confirm(heads)
    raise ObjectNotFound


async def demand_standing(call: Call, subscription: Subscription, feed: Feed) -> Standing:
    """Returns the authority that the subscription stands on now. Raises Refused, StaleFacts."""
    standing = await standing_of(call.services, call.tenant_id, subscription, feed)
    if isinstance(standing.decision, Denied):
        raise Refused(standing.decision, subscription.filter.object_id)
    return standing
