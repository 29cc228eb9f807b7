"""A subscription's authority as it stands now: judged for every delivery (P-10.8-09; authority.md, "The second check").

An event of an object is seen by who may subscribe to that object. What is about no object of the workspace, and the
records of denials, are the ledger's own: they are seen by who may also read it, by rule; a grant conveys neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from authz.decision import Allowed, Denied, decide
from authz.permissions import ANY, LEDGER_READ, SUBSCRIBE
from authz.policy import Enforcer
from authz.request import AccessRequest, Touched
from server.authority import denials
from server.authority.grants import Exercise, exercise_of
from server.services import Services
from server.subscriptions.feed import Feed
from server.subscriptions.feed_page import FeedEntry
from storage.commands import ChainGuard
from storage.model.subscription import Subscription

_DENIAL: Final = "access_denied"


@dataclass(frozen=True, slots=True)
class Standing:
    """A decision with what it stands on, which the commit function can hold it to.

    `decision` is about the whole subscription: Denied means that nothing can be delivered any more.
    """

    subscriber_id: str
    decision: Allowed | Denied
    enforcer: Enforcer
    exercise: Exercise | None

    @property
    def policy_revision(self) -> int:
        """The policy it was decided by."""
        return self.enforcer.policy_revision

    @property
    def chain_guard(self) -> ChainGuard | None:
        """What must still hold of the grant; delivering takes no use of it."""
        if not self.exercise or isinstance(self.decision, Denied):
            return None
        grants = tuple((grant.delegation_id, grant.sequence) for grant in self.exercise.grants)
        return ChainGuard(self.exercise.home_scope_id, grants, take_use=False)

    @property
    def ends_at_us(self) -> int | None:
        """When the window of the grant, or of one above it, ends."""
        if self.exercise is None:
            return None
        return min(grant.not_after_us for grant in self.exercise.grants)

    def sees(self, entry: FeedEntry) -> bool:
        """Returns whether the subscriber may be given an event."""
        if isinstance(self.decision, Denied):
            return False
        if not entry.objects:
            return not self.decision.reaches and self._reads_ledger(ANY, ANY)
        return all(
            self.decision.admits(object_type, object_id)
            and (entry.event_type != _DENIAL or self._reads_ledger(object_type, object_id))
            for object_type, object_id in entry.objects
        )

    def _reads_ledger(self, object_type: str, object_id: str) -> bool:
        if self.exercise is not None:
            return False
        return self.enforcer.check(self.subscriber_id, LEDGER_READ, object_type, object_id).allowed


async def standing_of(services: Services, tenant_id: str, subscription: Subscription, feed: Feed) -> Standing:
    """Returns the authority of now: policy, grants and clock are read by statements that begin after the call.

    Raises StaleFacts when the workspace is gone, IntegrityViolation, StorageError.
    """
    scope_id = subscription.scope_id
    mark = await feed.fresh_mark()
    view = await services.views.get(tenant_id, scope_id)
    if view is None or view.enforcer.policy_revision < mark.heads.policy_revision:
        view = await services.views.fresh(tenant_id, scope_id)
    assert view is not None, "workspaces are never removed"
    exercise: Exercise | None = None
    if subscription.delegation_id is not None:
        chain = await services.chains.get(tenant_id, (scope_id, subscription.delegation_id))
        if chain is None:
            return Standing(subscription.actor.actor_id, denials.unknown_grant(), view.enforcer, None)
        exercise = exercise_of(services.keys, tenant_id, chain)
    decision = _decided(tenant_id, subscription, view.enforcer, exercise)
    return Standing(subscription.actor.actor_id, decision, view.enforcer, exercise)


def _decided(
    tenant_id: str, subscription: Subscription, enforcer: Enforcer, exercise: Exercise | None
) -> Allowed | Denied:
    object_id = subscription.filter.object_id

    def decided(*touched: Touched) -> Allowed | Denied | None:
        request = AccessRequest(
            tenant_id=tenant_id,
            scope_id=subscription.scope_id,
            actor_id=subscription.actor.actor_id,
            action=SUBSCRIBE,
            operation=SUBSCRIBE,
            touched=touched,
            row_filtered=True,
        )
        grants = None if exercise is None else exercise.grants
        # The use was paid at opening.
        decision = decide(request, enforcer, grants, 0 if exercise is None else exercise.now_us, ignore_uses=True)
        return decision if isinstance(decision, Allowed | Denied) else None

    if object_id is not None and isinstance(denied := decided(Touched(object_id)), Denied):
        return denied
    decision = decided()
    assert decision is not None, "only an object's stored type is ever undecided"
    return decision
