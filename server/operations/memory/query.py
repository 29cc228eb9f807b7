"""Query, kind STRUCTURED (PAMSPEC 10.6 and 11; P-10.6-01 to P-10.6-03, P-11-01 to P-11-12; Q20, Q21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from authz.permissions import REVIEW
from remit.v1 import common_pb2, memory_pb2
from server.call import Call
from server.domain_errors import InvalidRequest
from server.mutations import readable
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.retrieval import open_rows
from server.row_authority import authority_over_rows, confirmed, row_filter
from server.wire.enum_numbers import AVAILABILITY_NAMES, LIFECYCLE_NAMES, RETENTION_NAMES, VALIDATION_NAMES
from server.wire.envelopes import envelope_of
from server.wire.predicates import conditions_from
from storage.queries import ObjectQuery, Order, key_of, query_objects
from storage.row_filter import RowFilter

TIE_BREAK: Final = ("object_id", "version_id")
"""The keys that settle the order of rows whose sort keys are equal, both ascending (P-11-09)."""

_ORDERS: Final = {
    number: Order[name.removeprefix("QUERY_ORDER_")] for name, number in memory_pb2.QueryOrder.items() if number
}


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page of the objects that the filters, the gate and the caller's authority let through.

    Rows of removed objects come without their parts, and only when a filter asks for their state; rows pending deletion
    only to reviewers that ask. Raises InvalidRequest.
    """
    if not request.HasField("limit"):
        raise InvalidRequest("limit", "is required")
    filters = _with_defaults(request.query.filters)
    order = request.order or memory_pb2.QUERY_ORDER_LEDGER_ASCENDING
    authority = authority_over_rows(call)
    pending = _pending_deletion(call, filters)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    lookup = partial(call.services.keys.lookup, "integrity_digest", tenant_id=call.tenant_id)
    query = ObjectQuery(
        scope_id=call.scope_id,
        lifecycle_states=_names(filters.lifecycle_state, LIFECYCLE_NAMES),
        availability_states=_names(filters.availability_state, AVAILABILITY_NAMES),
        retention_states=_names(filters.retention_state, RETENTION_NAMES),
        validation_states=_names(filters.validation_state, VALIDATION_NAMES),
        object_types=tuple(filters.object_type),
        provenance_ids=tuple(filters.provenance_id),
        conditions=conditions_from(filters.predicates, lookup),
        authority=authority,
        pending_deletion=pending,
        order=_ORDERS[order],
        limit=request.limit,
        bytes_max=call.services.settings.page_bytes_max,
        pinned_sequence=None if place is None else place.pinned_sequence,
        last_key=() if place is None else tuple(value for value in place.last_key if value is not None),
    )
    page = await query_objects(call.services.database, call.tenant_id, query)
    heads = confirmed(call, page.heads, limited=bool(authority) or pending is not None)
    opened = await open_rows(call, page.rows, heads)
    results = fitting(call, [envelope_of(core, readable(call, core, parts)) for core, parts in opened], request.limit)
    pinned_sequence = heads.sequence if place is None else place.pinned_sequence
    cursor = ""
    if page.more or len(results) < len(page.rows):
        cursor = next_cursor(call, binding, key_of(query.order, page.rows[len(results) - 1][0]), pinned_sequence)
    await call.exercise_read(heads)
    return memory_pb2.QueryResponse(
        results=results,
        cursor=cursor,
        applied_filters=filters,
        metadata=memory_pb2.QueryMetadata(ledger_sequence=pinned_sequence, order=order, tie_break=TIE_BREAK),
        operation_id=call.operation_id,
        event_ids=call.exercise_event_ids,
    )


def _with_defaults(given: memory_pb2.QueryFilters) -> memory_pb2.QueryFilters:
    """Returns the filters with the trusted default of each dimension that names no state (P-11-12)."""
    filters = memory_pb2.QueryFilters()
    filters.CopyFrom(given)
    if not filters.lifecycle_state:
        filters.lifecycle_state.append(common_pb2.LIFECYCLE_STATE_ACTIVE)
    if not filters.availability_state:
        filters.availability_state.append(common_pb2.AVAILABILITY_STATE_AVAILABLE)
    if not filters.retention_state:
        filters.retention_state.append(common_pb2.RETENTION_STATE_RETAINED)
    if not filters.validation_state:
        filters.validation_state.append(common_pb2.VALIDATION_STATE_CORROBORATED)
    return filters


def _names(numbers: Iterable[int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(names[number] for number in numbers)


def _pending_deletion(call: Call, filters: memory_pb2.QueryFilters) -> RowFilter | None:
    if common_pb2.RETENTION_STATE_PENDING_DELETION not in filters.retention_state:
        return None
    return row_filter(call.view.enforcer.reach(call.actor_id, REVIEW))
