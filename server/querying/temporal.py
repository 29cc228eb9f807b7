"""Queries of kind TEMPORAL: by one named basis, in its order (PAMSPEC 11; P-11-06, P-17.4-01)."""

from __future__ import annotations

from typing import Final

from remit.v1 import memory_pb2
from server.call import Call
from server.domain_errors import InvalidRequest
from server.querying.asked import as_asked
from server.querying.pages import page_of
from server.wire.inputs import time_us
from storage.queries import Order, Within

_ORDERS: Final = {
    memory_pb2.TEMPORAL_BASIS_OBSERVED_AT: Order.OBSERVED_AT_ASCENDING,
    memory_pb2.TEMPORAL_BASIS_ASSERTED_AT: Order.ASSERTED_AT_ASCENDING,
    memory_pb2.TEMPORAL_BASIS_VALID_TIME: Order.VALID_FROM_ASCENDING,
    memory_pb2.TEMPORAL_BASIS_COMMITTED_AT: Order.COMMITTED_AT_ASCENDING,
    memory_pb2.TEMPORAL_BASIS_RECORDED_AT: Order.RECORDED_AT_ASCENDING,
    memory_pb2.TEMPORAL_BASIS_SEQUENCE: Order.LEDGER_ASCENDING,
}


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page of the rows in the range, earliest first by the basis; rows without that time are in no range.

    Raises InvalidRequest naming the basis when there is none, or the end of a range that does not fit it.
    """
    basis = request.query.temporal_basis
    if not basis:
        raise InvalidRequest("query.temporal_basis", "is required")
    within = _by_sequence(request.query) if basis == memory_pb2.TEMPORAL_BASIS_SEQUENCE else _by_time(request.query)
    response = await page_of(call, request, await as_asked(call, request), _ORDERS[basis], within)
    response.metadata.temporal_basis = basis
    return response


def _by_time(query: memory_pb2.QueryExpression) -> Within:
    _refuse(query, "sequence_from", "sequence_to")
    start_us, end_us = time_us(query, "time_from"), time_us(query, "time_to")
    if start_us is not None and end_us is not None and start_us > end_us:
        raise InvalidRequest("query.time_to", "is before the start of the range")
    return Within(start_us, end_us)


def _by_sequence(query: memory_pb2.QueryExpression) -> Within:
    _refuse(query, "time_from", "time_to")
    first = query.sequence_from if query.HasField("sequence_from") else None
    last = query.sequence_to if query.HasField("sequence_to") else None
    if first is not None and last is not None and first > last:
        raise InvalidRequest("query.sequence_to", "is before the start of the range")
    return Within(first, None if last is None else last + 1)


def _refuse(query: memory_pb2.QueryExpression, *names: str) -> None:
    for name in names:
        if query.HasField(name):
            raise InvalidRequest(f"query.{name}", "has no meaning for this basis")
