"""Queries whose result are relationships (P-10.6-02, P-11-01): current versions of those of which both ends are visible."""

from __future__ import annotations

from functools import partial
from typing import Final

from remit.v1 import memory_pb2
from server.authority.row_authority import confirmed
from server.call import Call
from server.domain_errors import InvalidRequest
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.querying.asked import pending_deletion, state_names, with_defaults
from server.querying.pages import ordering_profile
from server.relationships.reach import Reaches
from server.relationships.retrieval import ends_of, open_relationships, readable_relationship
from server.snapshots.reading import SnapshotBound, snapshot_bound
from server.wire.enum_numbers import AVAILABILITY_NAMES, LIFECYCLE_NAMES, RETENTION_NAMES, VALIDATION_NAMES
from server.wire.predicates import conditions_from
from storage.cursors import Cursor
from storage.queries import Order
from storage.relationship_ends import EndReach
from storage.relationship_queries import (
    RELATIONSHIP_FIELDS,
    RelationshipQuery,
    query_relationships,
    relationship_key,
)

TIE_BREAK: Final = ("relationship_id", "version_id")
_ORDERS: Final = {
    memory_pb2.QUERY_ORDER_LEDGER_ASCENDING: Order.LEDGER_ASCENDING,
    memory_pb2.QUERY_ORDER_LEDGER_DESCENDING: Order.LEDGER_DESCENDING,
    memory_pb2.QUERY_ORDER_COMMITTED_AT_ASCENDING: Order.COMMITTED_AT_ASCENDING,
    memory_pb2.QUERY_ORDER_COMMITTED_AT_DESCENDING: Order.COMMITTED_AT_DESCENDING,
}
# What only objects have.
_OF_OBJECTS: Final = ("object_type", "task_ref", "evidence_ref")


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page of relationships that the filters, the gate and the caller's authority let through.

    Raises InvalidRequest for a filter or an order that only objects have, SnapshotNotFound.
    """
    for name in _OF_OBJECTS:
        if getattr(request.query.filters, name):
            raise InvalidRequest(f"query.filters.{name}", "has no meaning for relationships")
    order = request.order or memory_pb2.QUERY_ORDER_LEDGER_ASCENDING
    if order not in _ORDERS:
        raise InvalidRequest("order", "is not an order of relationships")
    filters = with_defaults(request.query.filters)
    reaches = Reaches(call, call.action)
    reach = await reaches.of_ends()
    bound = await snapshot_bound(call, request.snapshot_id)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    query = _query(call, request, filters, reach, bound, place)
    page = await query_relationships(call.services.database, call.tenant_id, query)
    limited = bool(reach.own.filters) or query.pending_deletion is not None
    heads = confirmed(call, page.heads, limited=limited)
    await reaches.confirm()
    opened = await open_relationships(call, page.rows, {call.scope_id: heads})
    ends = await ends_of(call, [core for core, _ in opened], reaches.views)
    rows = [readable_relationship(call, *one, its_ends) for one, its_ends in zip(opened, ends, strict=True)]
    results = fitting(call, rows, request.limit)
    pinned_sequence = heads.sequence if query.pinned_sequence is None else query.pinned_sequence
    cursor = ""
    if page.more or len(results) < len(page.rows):
        last = page.rows[len(results) - 1][0]
        cursor = next_cursor(call, binding, relationship_key(query.order, last), pinned_sequence)
    await call.exercise_read(heads)
    return memory_pb2.QueryResponse(
        relationships=results,
        cursor=cursor,
        applied_filters=filters,
        metadata=memory_pb2.QueryMetadata(
            ledger_sequence=pinned_sequence,
            order=order,
            tie_break=TIE_BREAK,
            snapshot_id=request.snapshot_id,
            ordering_profile=ordering_profile(query.order, seeded=False),
        ),
        operation_id=call.operation_id,
        event_ids=call.exercise_event_ids,
    )


def _query(
    call: Call,
    request: memory_pb2.QueryRequest,
    filters: memory_pb2.QueryFilters,
    reach: EndReach,
    bound: SnapshotBound | None,
    place: Cursor | None,
) -> RelationshipQuery:
    lookup = partial(call.services.keys.lookup, "integrity_digest", tenant_id=call.tenant_id)
    pinned_sequence = None if place is None else place.pinned_sequence
    return RelationshipQuery(
        scope_id=call.scope_id,
        lifecycle_states=state_names(filters.lifecycle_state, LIFECYCLE_NAMES),
        availability_states=state_names(filters.availability_state, AVAILABILITY_NAMES),
        retention_states=state_names(filters.retention_state, RETENTION_NAMES),
        validation_states=state_names(filters.validation_state, VALIDATION_NAMES),
        provenance_ids=tuple(filters.provenance_id),
        relationship_types=tuple(filters.relationship_type),
        related_object_id=filters.related_object_id or None,
        conditions=conditions_from(filters.predicates, lookup, RELATIONSHIP_FIELDS),
        reach=reach,
        pending_deletion=pending_deletion(call, filters),
        order=_ORDERS[request.order or memory_pb2.QUERY_ORDER_LEDGER_ASCENDING],
        limit=request.limit,
        bytes_max=call.services.settings.page_bytes_max,
        pinned_sequence=pinned_sequence if bound is None else bound.sequence,
        in_snapshot=bound is not None,
        member_ids=None if bound is None else bound.object_ids,
        last_key=() if place is None else place.last_key,
    )
