"""ListLineage (PAMSPEC 7.8; P-7.8-01; A-G004-05)."""

from __future__ import annotations

from remit.v1 import derived_pb2
from server.call import Call
from server.memory.retrieval import load
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.wire.embeddings import lineage_message
from storage.derivatives import LINEAGE_START, LineagePlace, list_lineage, place_of


async def handle(call: Call, request: derived_pb2.ListLineageRequest) -> derived_pb2.ListLineageResponse:
    """Returns a page of what was derived of an object, oldest registration first.

    Of a deleted object it lists what is left in other stores. Raises ObjectNotFound, InvalidRequest for a cursor of
    another listing.
    """
    await load(call, request.source_object_id)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    after: LineagePlace = LINEAGE_START
    if place is not None:
        sequence, store, kind, artifact_id, version = place.last_key
        after = (int(str(sequence)), str(store), str(kind), str(artifact_id), str(version))
    size = call.page_size()
    heads, rows = await list_lineage(
        call.services.database,
        call.tenant_id,
        call.scope_id,
        request.source_object_id,
        request.source_version_id,
        after,
        size + 1,
    )
    call.confirm(heads)
    page = fitting(call, [lineage_message(row) for row in rows], size)
    cursor = next_cursor(call, binding, place_of(rows[len(page) - 1])) if len(page) < len(rows) else ""
    return derived_pb2.ListLineageResponse(rows=page, cursor=cursor, operation_id=call.operation_id)
