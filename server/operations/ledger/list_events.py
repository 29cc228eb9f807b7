"""ListEvents (PAMSPEC 7.7; P-7.7-*, P-15.4-14; X-02)."""

from __future__ import annotations

from authz.decision import Allowed, Denied
from authz.reasons import ExactReason
from remit.v1 import ledger_pb2
from server.authority.refusals import Refused
from server.authority.row_authority import confirmed, row_filter
from server.call import Call
from server.events.listed import listed_event
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.wire.enum_numbers import EVENT_TYPE_NAMES
from storage.ledger import EventQuery, list_events
from storage.row_filter import RowFilter
from storage.workspaces import is_party_to_a_grant


async def handle(call: Call, request: ledger_pb2.ListEventsRequest) -> ledger_pb2.ListEventsResponse:
    """Returns one page of the events that the caller may see, in ledger order.

    By a grant (of `inspect_history`) or by its own rule it sees the events of the objects it reaches, and the others
    only when it reaches everything. Without the right, a delegate or grantor sees its own exercises, grants and
    revocations; anybody else is denied.
    """
    authority, own_only = await _authority(call)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    pinned_sequence = request.to_sequence if request.HasField("to_sequence") else None
    after_sequence = request.after_sequence
    if place is not None:
        pinned_sequence, last = place.pinned_sequence, place.last_key[0]
        assert isinstance(last, int)
        after_sequence = last
    query = EventQuery(
        scope_id=call.scope_id,
        after_sequence=after_sequence,
        to_sequence=pinned_sequence,
        event_types=tuple(EVENT_TYPE_NAMES[number] for number in request.event_classes),
        object_id=request.object_id or None,
        actor_id=request.actor_id or None,
        delegation_id=request.filter_delegation_id or None,
        operation_id=request.filter_operation_id or None,
        own_actor_id=call.actor_id if own_only else None,
        authority=authority,
        limit=call.page_size(),
        bytes_max=call.services.settings.page_bytes_max,
    )
    page = await list_events(call.services.database, call.tenant_id, query)
    heads = confirmed(call, page.heads, limited=own_only or bool(authority))
    events = fitting(call, [listed_event(call, event) for event in page.events], query.limit)
    cursor = ""
    if page.more or len(events) < len(page.events):
        pin = min(heads.sequence, heads.sequence if pinned_sequence is None else pinned_sequence)
        cursor = next_cursor(call, binding, (events[-1].sequence,), pin)
    await call.exercise_read(heads)
    return ledger_pb2.ListEventsResponse(
        events=events,
        head_sequence=heads.sequence,
        cursor=cursor,
        operation_id=call.operation_id,
        event_ids=call.exercise_event_ids,
    )


async def _authority(call: Call) -> tuple[tuple[RowFilter, ...], bool]:
    """Returns the filters of the rows, and whether only the caller's own exercises may be seen. Raises Refused."""
    decision = call.evaluate(call.action, (), row_filtered=True)
    if isinstance(decision, Allowed):
        return tuple(row_filter(reach) for reach in decision.reaches), False
    assert isinstance(decision, Denied), "only an object's stored type is ever undecided"
    # A call that names a grant never falls back to what the caller may see without it, and a deny is a deny.
    may_see_own = call.exercise is None and decision.exact is ExactReason.NO_RULE
    if may_see_own and await is_party_to_a_grant(call.services.database, call.tenant_id, call.scope_id, call.actor_id):
        return (), True
    raise Refused(decision)
