"""Changes of subscriptions that take no use of a grant: each is one command, most without an event (Q33, Q36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from server.services import Services
from server.subscriptions.authority import Standing
from storage.commands import ChainGuard, ColdChange, Command, Outcome, Revisions, Status, event_row
from storage.model.actor import ActorRef
from storage.model.event_record import Event, EventRecord
from storage.model.identifiers import new_id
from storage.model.subscription import Subscription
from storage.model.subscription_events import SubscriptionClosed

SERVICE_ACTOR: Final = ActorRef("actor:remit:subscriptions", "service")


class CloseReason(StrEnum):
    """Why a subscription, or only a stream of it, ended without its subscriber asking.

    SHUTDOWN_RESUMABLE and TAKEN_OVER end a stream; the subscription stays open, and is streamed or polled on.
    """

    ACCESS_LOST = "access_lost"
    LAG = "lag"
    LEDGER_RESTORED = "ledger_restored"
    SHUTDOWN_RESUMABLE = "shutdown_resumable"
    TAKEN_OVER = "taken_over"


UNSUBSCRIBED: Final = "unsubscribed"


def cold(verb: str, subscription: Subscription, **fields: Any) -> ColdChange:
    """Returns the change by name of a subscription."""
    return ColdChange(f"subscription.{verb}", {"subscription_id": subscription.subscription_id, **fields})


async def submit(
    services: Services,
    tenant_id: str,
    subscription: Subscription,
    change: ColdChange,
    *,
    event: Event | None = None,
    standing: Standing | None = None,
    urgent: bool = False,
) -> Outcome:
    """Commits a change of a subscription, guarded by the authority it was decided on where one is given.

    Raises QueueFull, DatabaseUnavailable.
    """
    events: Sequence[Any] = ()
    chain: ChainGuard | None = None
    revisions = Revisions()
    actor = subscription.actor
    if event is not None:
        actor = SERVICE_ACTOR
        record = EventRecord(
            scope_id=subscription.scope_id, event_id=new_id(), operation_id=new_id(), actor=actor, event=event
        )
        events = [event_row(tenant_id, record)]
    if standing is not None:
        chain, revisions = standing.chain_guard, Revisions(policy=standing.policy_revision)
    command = Command(
        tenant_id=tenant_id,
        scope_id=subscription.scope_id,
        actor_id=actor.actor_id,
        events=events,
        revisions=revisions,
        chain=chain,
        colds=[change],
        urgent=urgent,
    )
    return await services.coalescer.submit(command)


async def close(
    services: Services,
    tenant_id: str,
    subscription: Subscription,
    reason: CloseReason,
    delivered_sequence: int,
    standing: Standing | None = None,
) -> bool:
    """Closes a subscription for its subscriber; returns False when the policy moved since `standing` was judged.

    One that is closed already stays as it was closed.
    """
    event = SubscriptionClosed(
        subscription_id=subscription.subscription_id,
        reason=reason.value,
        closed_by="service",
        last_delivered_sequence=delivered_sequence,
    )
    change = cold("close", subscription, reason=reason.value, delivered_sequence=delivered_sequence)
    outcome = await submit(services, tenant_id, subscription, change, event=event, standing=standing)
    return outcome.status is not Status.STALE


def why(outcome: Outcome) -> str:
    """Returns why a change was in conflict: MOVED, CLOSED or AHEAD; empty when it was not."""
    detail: Mapping[str, Any] = outcome.detail
    return str(detail.get("why", "")) if outcome.status is Status.CONFLICT else ""
