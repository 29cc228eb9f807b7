"""Bounds every call: its own deadline, at most the longest honoured, or the default (surface.md, section 1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from server.domain_errors import DeadlineExceeded
from server.interceptors.frame import Answer, Frame, Handler


def deadline(default_seconds: float, max_seconds: float) -> Callable[[Handler], Handler]:
    """A call without a deadline gets `default_seconds`; none runs longer than `max_seconds`."""

    def intercept(handler: Handler) -> Handler:
        async def handle(frame: Frame) -> Answer:
            remaining = frame.context.time_remaining()
            if remaining is not None and remaining <= max_seconds:
                return await handler(frame)  # gRPC ends the call, and this task with it
            try:
                async with asyncio.timeout(default_seconds if remaining is None else max_seconds):
                    return await handler(frame)
            except TimeoutError:
                raise DeadlineExceeded from None

        return handle

    return intercept
