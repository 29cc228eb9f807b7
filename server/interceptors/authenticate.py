"""Who is calling: a verified JWT, or the call ends here (authority.md, "Who is calling")."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

from authz.errors import InvalidToken
from authz.principal import Principal
from server.domain_errors import Unauthenticated
from server.interceptors.frame import Answer, Frame, Handler
from server.metrics import UNAUTHENTICATED

_log = logging.getLogger(__name__)

_SCHEME = "bearer "


class Verifier(Protocol):
    """What proves tokens."""

    async def verify(self, token: str, now_us: int) -> Principal:
        """Returns the principal that the token proves; raises InvalidToken."""
        ...


async def principal_of(verifier: Verifier, context: Any) -> Principal:
    """Returns the principal of a call's `authorization` metadata; raises Unauthenticated after a metric and a log line."""
    reason = "TOKEN_MISSING"
    found = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
    if len(found) == 1 and isinstance(found[0], str) and found[0][: len(_SCHEME)].lower() == _SCHEME:
        try:
            return await verifier.verify(found[0][len(_SCHEME) :], time.time_ns() // 1000)
        except InvalidToken as error:
            reason = error.reason
    elif found:
        reason = "TOKEN_MALFORMED"
    UNAUTHENTICATED.labels(reason).inc()
    _log.info("unauthenticated call", extra={"reason": reason})
    raise Unauthenticated


def authenticate(verifier: Verifier) -> Callable[[Handler], Handler]:
    """No handler below this runs without a principal."""

    def intercept(handler: Handler) -> Handler:
        async def handle(frame: Frame) -> Answer:
            frame.principal = await principal_of(verifier, frame.context)
            return await handler(frame)

        return handle

    return intercept
