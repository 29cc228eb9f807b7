"""What interceptors hand to each other while a call passes through them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from authz.principal import Principal
from server.access import MethodAccess


@dataclass(slots=True)
class Frame:
    """One call: `data` are the bytes of its request, or of the first one of a stream; `context` is gRPC's.

    `later_data` are the bytes of the requests after the first one of a stream, `later_requests` the same, parsed and
    held to the rules.
    """

    access: MethodAccess
    data: bytes
    context: Any
    operation_id: str = ""
    correlation_id: str = ""
    principal: Principal | None = None
    request: Any = None
    later_data: AsyncIterator[bytes] | None = None
    later_requests: AsyncIterator[Any] | None = None


Answer = Message | AsyncIterator[Message]
"""One response, or the responses of a stream, which are made as they are asked for."""

Handler = Callable[[Frame], Awaitable[Answer]]


@asynccontextmanager
async def closing(responses: AsyncIterator[Message]) -> AsyncIterator[None]:
    """Ends a stream's maker together with the block that sends what it makes, so that a cancelled call leaves nothing."""
    try:
        yield
    finally:
        aclose = getattr(responses, "aclose", None)
        if aclose is not None:
            await aclose()
