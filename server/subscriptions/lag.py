"""Subscribers that take nothing: what gathers behind them is counted while their stream can't move (P-10.8-06)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from server.subscriptions.feed import Feed
from server.subscriptions.feed_page import FeedEntry

# How long a subscriber that has reached its lag may take to acknowledge something before it is closed.
LAG_GRACE_SECONDS: Final = 1.0


class LagGuard:
    """Watches a stream that closes on lag. `sending_since` is set by the stream for as long as a message is on its way."""

    def __init__(self, lag_events_max: int, counts: Callable[[FeedEntry], bool]) -> None:
        self._lag_events_max = lag_events_max
        self._counts = counts
        self._position = 0
        self._behind = 0
        self.sending_since: float | None = None

    async def run(self, feed: Feed, place: Callable[[], tuple[int, int]], close: Callable[[], Awaitable[None]]) -> None:
        """Calls `close` when more has gathered than is tolerated; ends then, or when it is cancelled.

        `place` tells how far the stream has read, and how many events it holds or has sent without acknowledgement.
        """
        while True:
            news, since = feed.next_news(), self.sending_since
            if since is not None and time.monotonic() - since >= LAG_GRACE_SECONDS:
                if await self._lags(feed, *place()):
                    await close()
                    return
            else:
                self._position = self._behind = 0
            try:
                async with asyncio.timeout(LAG_GRACE_SECONDS):
                    await news.wait()
            except TimeoutError:
                continue

    async def _lags(self, feed: Feed, position: int, held: int) -> bool:
        """Counts on from where it counted before; the stream does not move meanwhile."""
        self._position = max(self._position, position)
        while feed.mark is not None and self._position < feed.mark.heads.sequence:
            if held + self._behind > self._lag_events_max:
                break
            page = await feed.page_after(self._position)
            self._behind += sum(1 for entry in page.after(self._position) if self._counts(entry))
            self._position = page.last_sequence
        return held + self._behind > self._lag_events_max
