"""Query: what is asked must fit together; then each kind and result kind has a module of its own (PAMSPEC 10.6, 11).

P-10.6-01 to P-10.6-04. A field that means nothing to the kind of query is refused by name, never ignored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from remit.v1 import memory_pb2
from server.call import Call
from server.domain_errors import InvalidRequest
from server.querying import relationships, semantic, structured, temporal

Handler = Callable[[Call, memory_pb2.QueryRequest], Awaitable[memory_pb2.QueryResponse]]

_STRUCTURED: Final = memory_pb2.QUERY_KIND_STRUCTURED
_SEMANTIC: Final = memory_pb2.QUERY_KIND_SEMANTIC
_HYBRID: Final = memory_pb2.QUERY_KIND_HYBRID
_TEMPORAL: Final = memory_pb2.QUERY_KIND_TEMPORAL
_OBJECTS: Final = memory_pb2.QUERY_RESULT_KIND_OBJECTS
_VERSIONS: Final = memory_pb2.QUERY_RESULT_KIND_VERSIONS
_RELATIONSHIPS: Final = memory_pb2.QUERY_RESULT_KIND_RELATIONSHIPS

_HANDLERS: Final[dict[tuple[int, int], Handler]] = {
    (_STRUCTURED, _OBJECTS): structured.handle,
    (_STRUCTURED, _VERSIONS): structured.handle,
    (_STRUCTURED, _RELATIONSHIPS): relationships.handle,
    (_TEMPORAL, _OBJECTS): temporal.handle,
    (_TEMPORAL, _VERSIONS): temporal.handle,
    (_SEMANTIC, _OBJECTS): semantic.handle,
    (_HYBRID, _OBJECTS): semantic.handle,
}

# Fields that have a meaning for some kinds only, by their path in the request.
_BY_MEANING: Final = frozenset({_SEMANTIC, _HYBRID})
_BY_TIME: Final = frozenset({_TEMPORAL})
_KINDS_OF_FIELDS: Final = {
    "text": frozenset({_HYBRID}),
    "temporal_basis": _BY_TIME,
    "time_from": _BY_TIME,
    "time_to": _BY_TIME,
    "sequence_from": _BY_TIME,
    "sequence_to": _BY_TIME,
}
_KINDS_OF_REQUEST_FIELDS: Final = {
    # Rows of the other kinds come in the order of the kind: by the basis, by the score.
    "order": frozenset({_STRUCTURED}),
    "embedding_space_id": _BY_MEANING,
    "query_vector": _BY_MEANING,
    "query_vector_space_id": _BY_MEANING,
    "search_mode": _BY_MEANING,
    "explain_ranking": _BY_MEANING,
}


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page of rows, or raises InvalidRequest naming the field that does not fit; else as the kind's module."""
    if not request.HasField("limit"):
        raise InvalidRequest("limit", "is required")
    kind = request.query.kind
    result_kind = request.result_kind or _OBJECTS
    for message, prefix, kinds_of in (
        (request.query, "query.", _KINDS_OF_FIELDS),
        (request, "", _KINDS_OF_REQUEST_FIELDS),
    ):
        for field, _ in message.ListFields():
            if kind not in kinds_of.get(field.name, (kind,)):
                raise InvalidRequest(f"{prefix}{field.name}", "has no meaning for this kind of query")
    handler = _HANDLERS.get((kind, result_kind))
    if handler is None:
        raise InvalidRequest("result_kind", "is not a result of this kind of query")
    return await handler(call, request)
