"""One watched workspace of a process: its newest mark, the pages that its subscribers share, and who waits for news."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from server.authority.refusals import StaleFacts
from server.subscriptions.feed_page import Page
from storage.model.subscription import Subscription
from storage.subscriptions import Mark

_PAGES_KEPT_MAX: Final = 4


class Reads(Protocol):
    """What a feed asks of its process. All raise StorageError."""

    async def mark(self) -> Mark | None:
        """Returns the workspace's mark as a statement saw it that began after the call, None without a workspace."""

    async def page(self, after_sequence: int) -> Page:
        """Returns the events after a sequence."""

    async def signalled(self, after_signal: int) -> list[Subscription]:
        """Returns the subscriptions that changed since a signal."""


class Feed:
    """What subscribers of a workspace share. Nothing here lives longer than they do."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._news = asyncio.Event()
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._reading: dict[int, asyncio.Task[Page]] = {}
        self._deadlines: dict[object, int] = {}
        self._relayed: Counter[Feed] = Counter()
        self._followed: Counter[str] = Counter()
        self._rows: dict[str, Subscription] = {}
        self._rows_signal = 0
        self._rows_turn = asyncio.Lock()
        self.watchers = 0
        self.mark: Mark | None = None

    def observe(self, mark: Mark | None) -> None:
        """Takes a mark that was just read, and wakes the subscribers when it tells something new."""
        if mark is None:
            return
        before, self.mark = self.mark, mark
        overdue = bool(self._deadlines) and min(self._deadlines.values()) < mark.heads.now_us
        if before is None or overdue or _told(before) != _told(mark):
            self.wake()

    def wake(self) -> None:
        """Wakes whoever waits for news, here or where this is relayed to."""
        for feed in (self, *self._relayed):
            feed._news.set()
            feed._news = asyncio.Event()

    def next_news(self) -> asyncio.Event:
        """Returns what is set at the next news; to be asked for before looking for what there is, so that none is lost."""
        return self._news

    def wake_after(self, owner: object, time_us: int | None) -> None:
        """Wakes the subscribers once the database's clock is past a time (the end of a grant's window); None: no more."""
        if time_us is None:
            self._deadlines.pop(owner, None)
        else:
            self._deadlines[owner] = time_us

    async def fresh_mark(self) -> Mark:
        """Returns the mark as a statement saw it that began after this call. Raises StaleFacts, StorageError."""
        mark = await self._reads.mark()
        if mark is None:
            raise StaleFacts
        return mark

    async def page_after(self, sequence: int) -> Page:
        """Returns events that follow a sequence, read once for all who are there. Raises StorageError."""
        for page in reversed(self._pages.values()):
            if page.after_sequence <= sequence < page.last_sequence:
                return page
        task = self._reading.get(sequence)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._read(sequence))
            self._reading[sequence] = task
            task.add_done_callback(lambda _: self._reading.pop(sequence, None))
        # The page is everybody's: a subscriber that goes must not take it along.
        return await asyncio.shield(task)

    async def _read(self, sequence: int) -> Page:
        page = await self._reads.page(sequence)
        if page.entries:
            self._pages[sequence] = page
            self._pages.move_to_end(sequence)
            while len(self._pages) > _PAGES_KEPT_MAX:
                self._pages.popitem(last=False)
        return page

    @contextmanager
    def following(self, subscription: Subscription) -> Iterator[None]:
        """Keeps the changes of a subscription since the row given, for as long as the block lasts."""
        subscription_id = subscription.subscription_id
        self._rows_signal = min(self._rows_signal, subscription.signal) if self._followed else subscription.signal
        self._followed[subscription_id] += 1
        try:
            yield
        finally:
            self._followed[subscription_id] -= 1
            if not self._followed[subscription_id]:
                del self._followed[subscription_id]
                self._rows.pop(subscription_id, None)

    @contextmanager
    def relaying_to(self, other: Feed) -> Iterator[None]:
        """Wakes the subscribers of another workspace as well, for as long as the block lasts."""
        self._relayed[other] += 1
        try:
            yield
        finally:
            self._relayed[other] -= 1
            if not self._relayed[other]:
                del self._relayed[other]

    async def followed_row(self, subscription_id: str) -> Subscription | None:
        """Returns a followed subscription as its last change left it, None when none was seen. Raises StorageError."""
        async with self._rows_turn:
            while self.mark is not None and self._rows_signal < self.mark.signal:
                after_signal = self._rows_signal
                rows = await self._reads.signalled(after_signal)
                self._rows |= {row.subscription_id: row for row in rows if row.subscription_id in self._followed}
                # Lowered meanwhile: who began to follow needs what was read before it did.
                if self._rows_signal == after_signal:
                    self._rows_signal = max([self.mark.signal, *(row.signal for row in rows)])
        return self._rows.get(subscription_id)


def _told(mark: Mark) -> tuple[int, ...]:
    return (mark.heads.sequence, mark.heads.policy_revision, mark.heads.epoch, mark.signal)
