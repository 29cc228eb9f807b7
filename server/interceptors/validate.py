"""Parses the request and holds it to the rules that stand in the .proto files, for every RPC alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError, Message

from server.domain_errors import InvalidRequest
from server.interceptors.frame import Frame, Handler


def validate(check: Callable[[Message], None]) -> Callable[[Handler], Handler]:
    """`check` raises InvalidRequest or InvalidObject naming the field."""

    def intercept(handler: Handler) -> Handler:
        async def handle(frame: Frame) -> Message:
            try:
                request: Any = frame.access.request_class.FromString(frame.data)
            except DecodeError:
                raise InvalidRequest("request", "is not a message of this method") from None
            check(request)
            frame.request = request
            if request.operation_id:
                frame.operation_id = request.operation_id
            frame.correlation_id = request.correlation_id
            return await handler(frame)

        return handle

    return intercept
