"""A feed tells each follower every change of its subscription, whatever else is being read meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from server.subscriptions.feed import Feed
from server.subscriptions.feed_page import Page
from storage.model.actor import ActorRef
from storage.model.subscription import Delivery, Subscription, SubscriptionFilter
from storage.objects import Heads
from storage.subscriptions import Mark

ROW = Subscription(
    scope_id="workspace:a",
    subscription_id="sub:a",
    actor=ActorRef("actor:a", "agent"),
    delegation_id=None,
    filter=SubscriptionFilter(),
    delivery=Delivery(),
    ledger_epoch=1,
    start_sequence=0,
    acknowledged_sequence=0,
    delivered_sequence=0,
    withheld=(),
    stream_id="stream:1",
    reset_number=0,
    signal=1,
    close_reason=None,
)
OTHER = replace(ROW, subscription_id="sub:b")


def mark(signal: int) -> Mark:
    """A mark of the workspace at a signal."""
    return Mark(Heads(1, 1, 0, 0, 1, 0), signal)


class Rows:
    """The rows of a workspace; a read sees what there is when it begins, and ends when it is let."""

    def __init__(self) -> None:
        self.rows = [ROW]
        self.may_end = asyncio.Event()
        self.begun = asyncio.Event()

    async def mark(self) -> Mark | None:
        """Not asked for here."""
        raise NotImplementedError

    async def page(self, after_sequence: int) -> Page:
        """Not asked for here."""
        raise NotImplementedError

    async def signalled(self, after_signal: int) -> list[Subscription]:
        """The rows changed since."""
        seen = sorted((row for row in self.rows if row.signal > after_signal), key=lambda row: row.signal)
        self.begun.set()
        await self.may_end.wait()
        return seen


async def test_who_begins_to_follow_while_rows_are_read_misses_nothing() -> None:
    rows = Rows()
    feed = Feed(rows)
    feed.observe(mark(5))
    rows.rows = [replace(ROW, signal=4, stream_id="stream:2"), replace(OTHER, signal=5)]
    with feed.following(replace(OTHER, signal=4)):
        # A read begins of what is newer than what the first follower has; the second has less.
        reading = asyncio.create_task(feed.followed_row("sub:b"))
        await rows.begun.wait()
        with feed.following(ROW):
            rows.may_end.set()
            assert (await reading) == replace(OTHER, signal=5)
            assert (await feed.followed_row("sub:a")) == replace(ROW, signal=4, stream_id="stream:2")
        assert await feed.followed_row("sub:a") is None


async def test_a_page_is_read_once_for_all_and_news_is_told_to_all() -> None:
    feed = Feed(Rows())
    news = [feed.next_news() for _ in range(2)]
    feed.observe(mark(1))
    assert all(one.is_set() for one in news)
    later = feed.next_news()
    feed.observe(mark(1))
    assert not later.is_set()
    feed.wake_after(feed, -1)
    feed.observe(mark(1))
    assert later.is_set()
