"""Gives the call its operation id: the caller's when it brought one in the grammar, else one of ours.

It runs before the request is parsed, so the caller's own id is taken over by `validate` once it is known to be one.
"""

from __future__ import annotations

from server.interceptors.frame import Answer, Frame, Handler
from storage.model.identifiers import new_id


def request_id(handler: Handler) -> Handler:
    """Every call has an operation id, whatever becomes of it."""

    async def handle(frame: Frame) -> Answer:
        frame.operation_id = new_id()
        return await handler(frame)

    return handle
