"""What interceptors hand to each other while a unary call passes through them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from authz.principal import Principal
from server.access import MethodAccess


@dataclass(slots=True)
class Frame:
    """One unary call: `data` are the request's bytes, `context` is gRPC's."""

    access: MethodAccess
    data: bytes
    context: Any
    operation_id: str = ""
    correlation_id: str = ""
    principal: Principal | None = None
    request: Any = None


Handler = Callable[[Frame], Awaitable[Message]]
