"""Queries of kind STRUCTURED for objects (PAMSPEC 10.6 and 11; P-10.6-03, P-11-01, P-11-08 to P-11-12)."""

from __future__ import annotations

from typing import Final

from remit.v1 import memory_pb2
from server.call import Call
from server.mutations import readable
from server.paging import fitting, next_cursor
from server.querying.asked import TIE_BREAK, as_asked
from server.retrieval import open_rows
from server.wire.envelopes import envelope_of
from storage.queries import ObjectQuery, Order, key_of, query_objects

_ORDERS: Final = {
    number: Order[name.removeprefix("QUERY_ORDER_")] for name, number in memory_pb2.QueryOrder.items() if number
}


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page of the objects that the filters, the gate and the caller's authority let through.

    Rows of removed objects come without their parts, and only when a filter asks for their state; rows pending deletion
    only to reviewers that ask. Raises InvalidRequest, SnapshotNotFound.
    """
    asked = await as_asked(call, request)
    order = request.order or memory_pb2.QUERY_ORDER_LEDGER_ASCENDING
    place = asked.place
    query = ObjectQuery(
        scope_id=call.scope_id,
        selection=asked.selection,
        order=_ORDERS[order],
        limit=request.limit,
        bytes_max=call.services.settings.page_bytes_max,
        pinned_sequence=asked.pinned_sequence,
        last_key=() if place is None else tuple(value for value in place.last_key if value is not None),
    )
    page = await query_objects(call.services.database, call.tenant_id, query)
    heads = asked.confirmed(call, page.heads)
    opened = await open_rows(call, page.rows, heads)
    results = fitting(call, [envelope_of(core, readable(call, core, parts)) for core, parts in opened], request.limit)
    pinned_sequence = heads.sequence if asked.pinned_sequence is None else asked.pinned_sequence
    cursor = ""
    if page.more or len(results) < len(page.rows):
        cursor = next_cursor(call, asked.binding, key_of(query.order, page.rows[len(results) - 1][0]), pinned_sequence)
    await call.exercise_read(heads)
    return memory_pb2.QueryResponse(
        results=results,
        cursor=cursor,
        applied_filters=asked.filters,
        metadata=memory_pb2.QueryMetadata(
            ledger_sequence=pinned_sequence, order=order, tie_break=TIE_BREAK, snapshot_id=request.snapshot_id
        ),
        operation_id=call.operation_id,
        event_ids=call.exercise_event_ids,
    )
