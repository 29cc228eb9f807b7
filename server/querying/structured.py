"""Queries of kind STRUCTURED, for objects and for versions (PAMSPEC 10.6 and 11; P-10.6-02, P-10.6-03, P-11-01)."""

from __future__ import annotations

from typing import Final

from remit.v1 import memory_pb2
from server.call import Call
from server.querying.asked import as_asked
from server.querying.pages import page_of
from storage.queries import Order

_ORDERS: Final = {
    number: Order[name.removeprefix("QUERY_ORDER_")] for name, number in memory_pb2.QueryOrder.items() if number
}


async def handle(call: Call, request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Returns one page in the order asked for, by default that of the ledger. Raises InvalidRequest, SnapshotNotFound."""
    order = request.order or memory_pb2.QUERY_ORDER_LEDGER_ASCENDING
    response = await page_of(call, request, await as_asked(call, request), _ORDERS[order])
    response.metadata.order = order
    return response
