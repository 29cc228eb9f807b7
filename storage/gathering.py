"""When to send what waits: as soon as the event loop stops bringing more (write-path.md, "at once and without timers")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

# Turns of the loop without an arrival after which what waits is sent, and turns after which it is sent in any case. The
# gRPC engine brings a call over several turns; an empty turn costs microseconds, so a lone call loses nothing by them.
IDLE_TURNS: Final = 16
TURNS_MAX: Final = 96


class Gathering:
    """Calls `send` when arrivals pause. Belongs to one event loop.

    Under load the turns are filled with other calls' work, and what they bring goes together. Measured with 32 calls in
    flight: statements that carried 1.6 to 3.8 reads carry more than twice as many, at half the driver's work a read.
    """

    def __init__(self, send: Callable[[], None]) -> None:
        self._send = send
        self._gathering = False
        self._idle = 0
        self._turns = 0

    def arrived(self) -> None:
        """Something waits."""
        self._idle = 0
        if not self._gathering:
            self._gathering = True
            self._turns = 0
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turns += 1
        self._idle += 1
        if self._idle > IDLE_TURNS or self._turns >= TURNS_MAX:
            self._gathering = False
            self._send()
        else:
            asyncio.get_running_loop().call_soon(self._turn)
