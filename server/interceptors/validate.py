"""Parses the request and holds it to the rules that stand in the .proto files, for every RPC alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from remit.v1 import access_pb2
from server.domain_errors import InvalidRequest
from server.interceptors.frame import Frame, Handler
from server.wire.grammars import STRING_GRAMMARS
from storage.model.identifiers import is_id

_LABEL_BYTES_MAX: Final = 256
_is_label: Final = STRING_GRAMMARS[access_pb2.GRAMMAR_LABEL].accepts


def validate(check: Callable[[Message], None]) -> Callable[[Handler], Handler]:
    """`check` raises InvalidRequest or InvalidObject naming the field."""

    def intercept(handler: Handler) -> Handler:
        async def handle(frame: Frame) -> Message:
            try:
                request: Any = frame.access.request_class.FromString(frame.data)
            except DecodeError:
                raise InvalidRequest("request", "is not a message of this method") from None
            _take_ids(frame, request)
            check(request)
            frame.request = request
            return await handler(frame)

        return handle

    return intercept


def _take_ids(frame: Frame, request: Any) -> None:
    # Ids in their grammar are the call's whatever else the request breaks: by them the caller knows its refusal.
    if is_id(request.operation_id):
        frame.operation_id = request.operation_id
    if len(request.correlation_id) <= _LABEL_BYTES_MAX and _is_label(request.correlation_id):
        frame.correlation_id = request.correlation_id
