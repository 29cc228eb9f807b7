"""One page of objects or versions in the order of a column: what structured and temporal queries share (P-11-08)."""

from __future__ import annotations

from typing import Final

from remit.v1 import memory_pb2
from server.call import Call
from server.memory.mutations import content_state, readable
from server.memory.retrieval import open_rows
from server.paging import fitting, next_cursor
from server.querying.asked import TIE_BREAK, Asked
from server.wire.envelopes import envelope_of
from storage.queries import ObjectQuery, Order, Within, key_of, query_objects

SEEDED_TIE_BREAK: Final = ("seeded_object_id", *TIE_BREAK)
"""The keys of ties in a snapshot with a seed: SHA-256 of the seed (8 bytes, big-endian) and the object id, then ids."""


async def page_of(
    call: Call, request: memory_pb2.QueryRequest, asked: Asked, order: Order, within: Within | None = None
) -> memory_pb2.QueryResponse:
    """Returns one page of the rows that the filters, the gate and the caller's authority let through.

    Rows of removed objects come without their parts, and only when a filter asks for their state; rows pending deletion
    only to reviewers that ask. Older versions come when versions are asked for; those of removed objects are withheld.
    """
    seed = None if asked.bound is None or not order.has_ties else asked.bound.seed
    query = ObjectQuery(
        scope_id=call.scope_id,
        selection=asked.selection,
        order=order,
        limit=request.limit,
        bytes_max=call.services.settings.page_bytes_max,
        within=within,
        all_versions=request.result_kind == memory_pb2.QUERY_RESULT_KIND_VERSIONS,
        seed=seed,
        pinned_sequence=asked.pinned_sequence,
        last_key=() if asked.place is None else asked.place.last_key,
    )
    page = await query_objects(call.services.database, call.tenant_id, query)
    heads = asked.confirmed(call, page.heads)
    opened = await open_rows(call, page.rows, heads)
    results = fitting(call, [envelope_of(core, readable(call, core, parts)) for core, parts in opened], request.limit)
    pinned_sequence = heads.sequence if asked.pinned_sequence is None else asked.pinned_sequence
    cursor = ""
    if page.more or len(results) < len(page.rows):
        cursor = next_cursor(call, asked.binding, key_of(order, page.rows[len(results) - 1][0]), pinned_sequence)
    states = [content_state(given, parts) for (_, given), (_, parts) in zip(page.rows, opened, strict=True)]
    await call.exercise_read(heads)
    return memory_pb2.QueryResponse(
        results=results,
        content_states=states[: len(results)],
        cursor=cursor,
        applied_filters=asked.filters,
        metadata=memory_pb2.QueryMetadata(
            ledger_sequence=pinned_sequence,
            tie_break=TIE_BREAK if seed is None else SEEDED_TIE_BREAK,
            snapshot_id=request.snapshot_id,
            ordering_profile=ordering_profile(order, seed is not None),
        ),
        operation_id=call.operation_id,
        event_ids=call.exercise_event_ids,
    )


def ordering_profile(order: Order, seeded: bool) -> str:
    """Returns the name of an ordering: with the same filters in the same snapshot, it repeats exactly (P-11-02)."""
    column, _, direction = order.name.lower().rpartition("_")
    return f"remit.{column.replace('_', '-')}.{direction}{'.seeded' if seeded else ''}/1"
