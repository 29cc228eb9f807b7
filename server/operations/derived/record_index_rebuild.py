"""RecordIndexRebuild (PAMSPEC 7.6 and 16; P-7.6-01, P-8.4-04, P-12-08)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remit.v1 import derived_pb2
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from server.derived.derivation import space_of
from server.derived.lexical_index import rebuild
from server.domain_errors import InvalidRequest
from storage.commands import ColdChange, Status
from storage.derivatives import index_recorded
from storage.model.derived_events import IndexRebuilt
from storage.model.embedding import LEXICAL_INDEX_ID, VECTOR_INDEX_PREFIX
from storage.objects import Heads
from storage.vector_lists import listed, read_lists
from storage.workspaces import load_heads


async def handle(call: Call, request: derived_pb2.RecordIndexRebuildRequest) -> derived_pb2.RecordIndexRebuildResponse:
    """Rebuilds an index of this service, or records that one elsewhere was rebuilt; no version is made.

    The index of a space's vectors serves approximate searches; where all are as quickly compared it stays empty. Raises
    EmbeddingSpaceMismatch for a space that is none, InvalidRequest for a sequence that the ledger has not reached.
    """
    earlier = call.replayed()
    heads = await _heads(call)
    if earlier is not None:
        return _answer(earlier, replayed=True)
    change, sequence = await _rebuilt(call, request, heads)
    event = call.event(IndexRebuilt(index_id=request.index_id, indexed_sequence=sequence))
    kept = {"indexed_sequence": sequence, "event_ids": [event.event_id]}
    outcome = await call.commit(Change(events=[event], result=kept, colds=[change]))
    if outcome.status is Status.REPLAYED:
        return _answer(outcome.detail, replayed=True)
    return _answer(kept | {"operation_id": call.operation_id}, replayed=False)


async def _heads(call: Call) -> Heads:
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    call.confirm(heads)
    if heads is None:
        raise StaleFacts
    return heads


async def _rebuilt(call: Call, request: derived_pb2.RecordIndexRebuildRequest, heads: Heads) -> tuple[ColdChange, int]:
    is_ours = request.index_id == LEXICAL_INDEX_ID or request.index_id.startswith(VECTOR_INDEX_PREFIX)
    if is_ours and request.HasField("indexed_sequence"):
        raise InvalidRequest("indexed_sequence", "is known of an index of this service")
    if request.index_id == LEXICAL_INDEX_ID:
        sequence = await rebuild(call)
        return index_recorded(LEXICAL_INDEX_ID, sequence), sequence
    if is_ours:
        stored = await space_of(call, request.index_id.removeprefix(VECTOR_INDEX_PREFIX))
        services = call.services
        lists = await read_lists(
            services.database, services.vector_math, call.tenant_id, call.scope_id, stored, heads.sequence
        )
        return listed(stored, lists, heads.sequence), heads.sequence
    if not request.HasField("indexed_sequence"):
        raise InvalidRequest("indexed_sequence", "is required of an index elsewhere")
    if request.indexed_sequence > heads.sequence:
        raise InvalidRequest("indexed_sequence", "is beyond the ledger")
    return index_recorded(request.index_id, request.indexed_sequence), request.indexed_sequence


def _answer(kept: Mapping[str, Any], *, replayed: bool) -> derived_pb2.RecordIndexRebuildResponse:
    return derived_pb2.RecordIndexRebuildResponse(
        indexed_sequence=kept["indexed_sequence"],
        event_ids=kept["event_ids"],
        replayed=replayed,
        operation_id=str(kept["operation_id"]),
    )
