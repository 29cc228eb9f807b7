"""redact: not built yet."""

from __future__ import annotations

from typing import Any

from server.call import Call
from server.domain_errors import ServiceUnavailable


async def handle(_call: Call, _request: Any) -> Any:
    """Not built yet."""
    raise ServiceUnavailable
