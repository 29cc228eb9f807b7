"""GetEvent (PAMSPEC 7.7; P-10.1-04)."""

from __future__ import annotations

from remit.v1 import ledger_pb2
from server.authority.row_authority import authority_over_rows, confirmed
from server.call import Call
from server.domain_errors import ObjectNotFound
from server.events.listed import listed_event
from storage.ledger import get_event


async def handle(call: Call, request: ledger_pb2.GetEventRequest) -> ledger_pb2.GetEventResponse:
    """Returns an event with its hashes and the bytes that were hashed.

    Raises ObjectNotFound: also for an event that ListEvents would leave out for the caller.
    """
    authority = authority_over_rows(call)
    heads, event = await get_event(call.services.database, call.tenant_id, call.scope_id, request.event_id, authority)
    confirmed(call, heads, limited=bool(authority))
    if event is None:
        raise ObjectNotFound
    return ledger_pb2.GetEventResponse(
        event=listed_event(call, event), operation_id=call.operation_id, body=event.row.body
    )
