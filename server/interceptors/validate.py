"""Parses the request and holds it to the rules that stand in the .proto files, for every RPC alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from remit.v1 import access_pb2
from server.domain_errors import InvalidRequest
from server.interceptors.frame import Answer, Frame, Handler
from server.wire.grammars import STRING_GRAMMARS
from storage.model.identifiers import is_id

_LABEL_BYTES_MAX: Final = 256
_is_label: Final = STRING_GRAMMARS[access_pb2.GRAMMAR_LABEL].accepts


def validate(check: Callable[[Message], None]) -> Callable[[Handler], Handler]:
    """`check` raises InvalidRequest or InvalidObject naming the field."""

    def intercept(handler: Handler) -> Handler:
        async def handle(frame: Frame) -> Answer:
            request = _parsed(frame, frame.data)
            _take_ids(frame, request)
            check(request)
            frame.request = request
            if frame.later_data is not None:
                frame.later_requests = _later(frame, frame.later_data, check)
            return await handler(frame)

        return handle

    return intercept


def _parsed(frame: Frame, data: bytes) -> Any:
    try:
        return frame.access.request_class.FromString(data)
    except DecodeError:
        raise InvalidRequest("request", "is not a message of this method") from None


async def _later(
    frame: Frame, later_data: AsyncIterator[bytes], check: Callable[[Message], None]
) -> AsyncIterator[Any]:
    async for data in later_data:
        request = _parsed(frame, data)
        check(request)
        yield request


def _take_ids(frame: Frame, request: Any) -> None:
    # Ids in their grammar are the call's whatever else the request breaks: by them the caller knows its refusal.
    if is_id(request.operation_id):
        frame.operation_id = request.operation_id
    if len(request.correlation_id) <= _LABEL_BYTES_MAX and _is_label(request.correlation_id):
        frame.correlation_id = request.correlation_id
