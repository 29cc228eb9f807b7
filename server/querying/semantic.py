"""Queries of kinds SEMANTIC and HYBRID (PAMSPEC 7.8 and 11; P-7.8-03, P-7.8-04, P-10.6-04, P-11-03 to P-11-05, P-12-08)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from remit.v1 import memory_pb2
from server.call import Call
from server.derived.derivation import check_vector, space_of
from server.derived.lexical_index import BATCHES_OF_QUERY, catch_up, query_tokens
from server.domain_errors import EmbeddingSpaceMismatch, InvalidRequest
from server.memory.mutations import content_state, readable
from server.memory.retrieval import open_rows
from server.paging import fitting, next_cursor
from server.querying.asked import TIE_BREAK, Asked, as_asked
from server.wire.envelopes import envelope_of
from storage.derivatives import StoredSpace
from storage.lexical import FUSION_CONSTANT, search_hybrid
from storage.model.embedding import DistanceMetric, vector_index_id
from storage.vectors import FoundRow, RankedPage, VectorQuery, search_vectors


@dataclass(frozen=True, slots=True)
class _Found:
    """A page of the search and how it was made. `before` is how many rows came on the pages before."""

    page: RankedPage
    mode: memory_pb2.SearchMode
    before: int
    lexical_sequence: int | None = None


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page of the objects nearest to a vector, of those that filters, gate and authority let through.

    Raises InvalidRequest without a space or a vector, EmbeddingSpaceMismatch for a space that is none here or not in the
    snapshot, a vector of another space or of another length; SnapshotNotFound.
    """
    asked = await as_asked(call, request)
    stored = await _space(call, request, asked)
    found = await _searched(call, request, asked, stored)
    page = found.page
    heads = asked.confirmed(call, page.heads)
    opened = await open_rows(call, [(row.version, row.given) for row in page.rows], heads)
    results = fitting(call, [envelope_of(core, readable(call, core, parts)) for core, parts in opened], request.limit)
    pinned_sequence = heads.sequence if asked.pinned_sequence is None else asked.pinned_sequence
    cursor = ""
    if page.more or len(results) < len(page.rows):
        last = page.rows[len(results) - 1]
        key = (float.hex(-last.score), last.version.object_id, found.before + len(results))
        cursor = next_cursor(call, asked.binding, key, pinned_sequence)
    states = [content_state(row.given, parts) for row, (_, parts) in zip(page.rows, opened, strict=True)]
    await call.exercise_read(heads)
    return memory_pb2.QueryResponse(
        results=results,
        content_states=states[: len(results)],
        cursor=cursor,
        applied_filters=asked.filters,
        metadata=_metadata(request, asked, stored, found, pinned_sequence),
        operation_id=call.operation_id,
        event_ids=call.exercise_event_ids,
        rankings=[
            _ranking(
                row,
                stored.space.distance_metric,
                found.before + index + 1,
                is_hybrid=found.lexical_sequence is not None,
                explained=request.explain_ranking,
            )
            for index, row in enumerate(page.rows[: len(results)])
        ],
    )


async def _space(call: Call, request: memory_pb2.QueryRequest, asked: Asked) -> StoredSpace:
    if not request.embedding_space_id:
        raise InvalidRequest("embedding_space_id", "is required")
    if not request.query_vector:
        raise InvalidRequest("query_vector", "is required")
    if request.query.kind == memory_pb2.QUERY_KIND_HYBRID and not request.query.text:
        raise InvalidRequest("query.text", "is required")
    if request.query_vector_space_id not in ("", request.embedding_space_id):
        raise EmbeddingSpaceMismatch
    included = None if asked.bound is None else asked.bound.embedding_space_ids
    if included is not None and request.embedding_space_id not in included:
        raise EmbeddingSpaceMismatch
    stored = await space_of(call, request.embedding_space_id)
    check_vector(stored.space, request.query_vector, "query_vector")
    return stored


async def _searched(call: Call, request: memory_pb2.QueryRequest, asked: Asked, stored: StoredSpace) -> _Found:
    services = call.services
    query = _query(call, request, asked, stored)
    before = 0 if asked.place is None else int(str(asked.place.last_key[2]))
    tokens: list[bytes] = []
    lexical_sequence = None
    if request.query.kind == memory_pb2.QUERY_KIND_HYBRID:
        tokens = query_tokens(call, request.query.text)
        lexical_sequence = await catch_up(call, BATCHES_OF_QUERY)

    async def search(asked_for: VectorQuery) -> RankedPage:
        if lexical_sequence is None:
            return await search_vectors(services.database, services.vector_math, call.tenant_id, asked_for)
        return await search_hybrid(services.database, services.vector_math, call.tenant_id, asked_for, tokens)

    if request.search_mode == memory_pb2.SEARCH_MODE_APPROXIMATE and stored.listed_sequence is not None:
        page = await search(replace(query, listed_sequence=stored.listed_sequence))
        # Who may find little may have none of it in the nearest lists: then everything permitted is compared.
        if page.more:
            return _Found(page, memory_pb2.SEARCH_MODE_APPROXIMATE, before, lexical_sequence)
    return _Found(await search(query), memory_pb2.SEARCH_MODE_EXACT, before, lexical_sequence)


def _query(call: Call, request: memory_pb2.QueryRequest, asked: Asked, stored: StoredSpace) -> VectorQuery:
    place = asked.place
    return VectorQuery(
        scope_id=call.scope_id,
        selection=asked.selection,
        embedding_space_id=request.embedding_space_id,
        metric=stored.space.distance_metric,
        vector=tuple(request.query_vector),
        limit=request.limit,
        bytes_max=call.services.settings.page_bytes_max,
        pinned_sequence=asked.pinned_sequence,
        last=None if place is None else (float.fromhex(str(place.last_key[0])), str(place.last_key[1])),
    )


def _metadata(
    request: memory_pb2.QueryRequest, asked: Asked, stored: StoredSpace, found: _Found, pinned_sequence: int
) -> memory_pb2.QueryMetadata:
    behind = found.page.behind_sequence
    index_sequence = pinned_sequence if behind is None else min(behind - 1, pinned_sequence)
    # Outside a snapshot nothing holds the index still; within one, a vector that left the space since is missed.
    # Whose it was is not told: who may not find everything hears the same whether one left or not.
    approximate = (
        asked.bound is None
        or bool(asked.selection.authority)
        or found.mode == memory_pb2.SEARCH_MODE_APPROXIMATE
        or stored.reduced_sequence > pinned_sequence
        or found.lexical_sequence is not None
    )
    stale = behind is not None or (found.lexical_sequence is not None and found.lexical_sequence < pinned_sequence)
    return memory_pb2.QueryMetadata(
        ledger_sequence=pinned_sequence,
        tie_break=TIE_BREAK,
        ordering_profile=_ordering_profile(stored.space.distance_metric, is_hybrid=found.lexical_sequence is not None),
        snapshot_id=request.snapshot_id,
        embedding_space_id=request.embedding_space_id,
        index_id=vector_index_id(request.embedding_space_id),
        index_sequence=index_sequence,
        approximate=approximate,
        distance_metric=stored.space.distance_metric.value,
        stale=stale,
        search_mode=found.mode,
        lexical_index_sequence=found.lexical_sequence or 0,
        fusion_constant=0 if found.lexical_sequence is None else FUSION_CONSTANT,
    )


def _ordering_profile(metric: DistanceMetric, *, is_hybrid: bool) -> str:
    """Returns the name of the ordering: nearest first by the metric, or by both places fused; then the tie-break."""
    return f"remit.{'fused' if is_hybrid else 'similarity'}.{metric.value.replace('_', '-')}/1"


def _ranking(
    row: FoundRow, metric: DistanceMetric, place: int, *, is_hybrid: bool, explained: bool
) -> memory_pb2.Ranking:
    vector_score = None if row.distance is None else metric.score(row.distance)
    ranking = memory_pb2.Ranking(
        score=row.score if is_hybrid or vector_score is None else vector_score,
        vector_score=vector_score,
        lexical_score=row.lexical_score,
        vector_rank=row.vector_rank if is_hybrid else place,
        lexical_rank=row.lexical_rank,
        artifact_id=row.artifact_id or "",
        object_id=row.version.object_id,
    )
    if explained:
        ranking.explanation = _explanation(ranking, metric, is_hybrid=is_hybrid)
    return ranking


def _explanation(ranking: memory_pb2.Ranking, metric: DistanceMetric, *, is_hybrid: bool) -> str:
    """Returns how the row came to its place, told from the row alone."""
    by_vector = "It has no vector of the space."
    if ranking.HasField("vector_rank"):
        by_vector = (
            f"By {metric.value} it is number {ranking.vector_rank}: "
            f"score {ranking.vector_score:.6g} of its vector {ranking.artifact_id}."
        )
    if not is_hybrid:
        return by_vector
    by_words = "None of the words is in it."
    if ranking.HasField("lexical_rank"):
        by_words = f"By words it is number {ranking.lexical_rank}: score {ranking.lexical_score:.6g}."
    return f"{by_vector} {by_words} Fused: {ranking.score:.6g}."
