"""Queries of kinds SEMANTIC and HYBRID (PAMSPEC 11; P-10.6-04, P-11-03 to P-11-05)."""

from __future__ import annotations

from remit.v1 import memory_pb2
from server.call import Call
from server.domain_errors import ServiceUnavailable


async def handle(_call: Call, _request: memory_pb2.QueryRequest) -> memory_pb2.QueryResponse:
    """Not built yet."""
    raise ServiceUnavailable
