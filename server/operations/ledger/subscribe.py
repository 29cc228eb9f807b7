"""Subscribe (PAMSPEC 10.8, 18.3; P-10.8-01, P-10.8-02, P-10.8-08, P-10.8-10, P-10.8-11; Q34, Q35)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from authz.decision import Denied
from authz.request import Touched
from remit.v1 import ledger_pb2
from server.authority.refusals import Refused, StaleFacts
from server.call import Call, Change
from server.domain_errors import InvalidRequest, VersionConflict
from server.subscriptions.answers import delivery_from, subscription_message
from server.subscriptions.changes import why
from server.subscriptions.filters import filter_digest, filter_from
from storage.commands import ColdChange, Status
from storage.model.identifiers import new_id
from storage.model.subscription import Subscription, actor_for_row
from storage.model.subscription_events import SubscriptionOpened
from storage.workspaces import load_heads


async def handle(call: Call, request: ledger_pb2.SubscribeRequest) -> ledger_pb2.SubscribeResponse:
    """Opens a subscription for the caller, on its own authority or on that of the grant it names (one use).

    Only the authority over ids is decided here, which does not depend on what is there: a filter on an object that is
    hidden opens like one on an object that is absent, and each event is judged when it is delivered. Raises Refused,
    PolicyDenied where events would be dropped, InvalidRequest for a start that has not happened yet, VersionConflict
    where the id is taken.
    """
    object_id = request.filter.object_id or None
    touched = () if object_id is None else (Touched(object_id),)
    decision = call.evaluate(call.action, touched, row_filtered=True)
    if isinstance(decision, Denied):
        raise Refused(decision, object_id)
    kept = call.replayed()
    if kept is not None:
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
        return await _replayed(call, kept)
    wanted, delivery = filter_from(request.filter), delivery_from(request.delivery)
    start_sequence = request.after_sequence if request.HasField("after_sequence") else None
    subscription_id = request.subscription_id or new_id()
    actor = call.actor_ref()
    opened = call.event(
        SubscriptionOpened(
            subscription_id=subscription_id,
            start_sequence=start_sequence,
            filter_digest=filter_digest(wanted),
            event_classes=wanted.event_classes,
        )
    )
    fields = {
        "subscription_id": subscription_id,
        "actor_id": actor.actor_id,
        "actor": actor_for_row(actor),
        "delegation_id": request.delegation_id or None,
        "filter": wanted.for_row(),
        "delivery": delivery.for_row(),
        "after_sequence": start_sequence,
    }
    outcome = await call.commit(
        Change(
            events=[opened],
            result={"subscription_id": subscription_id, "event_ids": [opened.event_id]},
            colds=[ColdChange("subscription.open", fields)],
            exercised_object_id=object_id,
        )
    )
    if outcome.status is Status.REPLAYED:
        return await _replayed(call, outcome.detail)
    if outcome.status is Status.EXISTS:
        raise VersionConflict(None, None, subscription_id)
    if why(outcome) == "AHEAD":
        raise InvalidRequest("after_sequence", "names what has not happened yet")
    message = subscription_message(await _opened(call, subscription_id))
    event_ids = [opened.event_id, *call.exercise_event_ids]
    return ledger_pb2.SubscribeResponse(subscription=message, event_ids=event_ids, operation_id=call.operation_id)


async def _opened(call: Call, subscription_id: str) -> Subscription:
    """Returns the subscription as it was opened, whatever has become of it since."""
    _, subscription = await call.services.subscriptions.get(call.tenant_id, (call.scope_id, subscription_id))
    if subscription is None:
        raise StaleFacts
    return replace(subscription, acknowledged_sequence=subscription.start_sequence, close_reason=None)


async def _replayed(call: Call, kept: Mapping[str, Any]) -> ledger_pb2.SubscribeResponse:
    return ledger_pb2.SubscribeResponse(
        subscription=subscription_message(await _opened(call, str(kept["subscription_id"]))),
        event_ids=[str(event_id) for event_id in kept["event_ids"]],
        replayed=True,
        operation_id=str(kept["operation_id"]),
    )
