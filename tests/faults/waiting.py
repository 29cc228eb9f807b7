"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_GIVE_UP_SECONDS = 90.0
_POLL_SECONDS = 0.02


def until(condition: Callable[[], T], what: str, *, poll_seconds: float = _POLL_SECONDS) -> T:
    """Returns the condition's first true value; fails naming `what` when there is none within the bound."""
    give_up_at = time.monotonic() + _GIVE_UP_SECONDS
    pause = threading.Event()
    while not (found := condition()):
        assert time.monotonic() < give_up_at, f"waited in vain: {what}"
        pause.wait(poll_seconds)
    return found
