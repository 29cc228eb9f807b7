"""One poll of a subscription: its answer is given by the commit that moves the cursor (Q33).

The commit holds the cursor, the policy and the grants to what the answer was made of. Of polls that run at once, one
gets the events; the others go on from where it left the cursor.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import Final

from authz.decision import Denied
from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.subscriptions.authority import Standing, standing_of
from server.subscriptions.changes import CloseReason, close, cold, submit
from server.subscriptions.feed import Feed
from server.subscriptions.feed_page import FeedEntry
from server.subscriptions.filters import Matcher
from server.subscriptions.place import Place
from storage.commands import Status
from storage.model.identifiers import new_uuid
from storage.model.subscription import Subscription

# Events that one poll looks at before it answers with what it has, so that a long history without a match is passed by
# many calls instead of one that never ends.
_LOOKED_AT_MAX: Final = 10_000
# A call that brings no deadline has thirty seconds, or what is configured: a wait ends before.
_DEADLINE_MARGIN_SECONDS: Final = 2.0


class SubscriptionPoll:
    """A poll of the caller's own subscription for at most `max_events` events."""

    def __init__(self, call: Call, subscription: Subscription, max_events: int) -> None:
        self._call = call
        self._services = call.services
        self._subscription = subscription
        self._matcher = Matcher(subscription.filter)
        self._max_events = max_events
        self._place = Place(subscription, counts=False)
        self._looked_at = 0

    async def answer(self, wait_seconds: float) -> ledger_pb2.PollSubscriptionResponse:
        """Returns what there is, or what comes within the time. Raises StaleFacts, IntegrityViolation, StorageError."""
        longest = max(0.0, self._services.settings.deadline_seconds_default - _DEADLINE_MARGIN_SECONDS)
        give_up_at = time.monotonic() + min(wait_seconds, longest)
        with self._services.feeds.watch(self._call.tenant_id, self._call.scope_id) as feed:
            while not self._subscription.closed:
                news = feed.next_news()
                heads = (await feed.fresh_mark()).heads
                if heads.epoch != self._subscription.ledger_epoch:
                    await self._close(CloseReason.LEDGER_RESTORED)
                    continue
                matching = await self._read_on(feed, heads.sequence)
                if matching is None:
                    await self._reload()
                    continue
                standing = await standing_of(self._services, self._call.tenant_id, self._subscription, feed)
                if isinstance(standing.decision, Denied):
                    await self._close(CloseReason.ACCESS_LOST, standing)
                    continue
                visible = self._fitting([entry for entry in matching if standing.sees(entry)])
                left_seconds = 0.0 if self._services.feeds.draining else give_up_at - time.monotonic()
                if visible or left_seconds <= 0 or self._looked_at >= _LOOKED_AT_MAX:
                    if await self._take(standing, visible):
                        return self._response(visible)
                elif not matching:
                    await _news_within(news, left_seconds)
        return self._response([])

    async def _read_on(self, feed: Feed, head_sequence: int) -> list[FeedEntry] | None:
        """Returns the matching events after the place, and moves it past all that were looked at; None at its end."""
        matching: list[FeedEntry] = []
        while self._place.position < head_sequence and self._looked_at < _LOOKED_AT_MAX:
            page = await feed.page_after(self._place.position)
            for entry in page.after(self._place.position):
                if entry.closes(self._subscription.subscription_id):
                    return None
                self._place.position = entry.sequence
                self._looked_at += 1
                if self._matcher.matches(entry) and not self._place.is_withheld(entry.sequence):
                    matching.append(entry)
                    if len(matching) == self._max_events:
                        return matching
        return matching

    def _fitting(self, visible: list[FeedEntry]) -> list[FeedEntry]:
        """Returns those that fit an answer, at least one; the place is then after the last of them."""
        left_bytes = self._services.settings.page_bytes_max
        for index, entry in enumerate(visible):
            left_bytes -= entry.message.ByteSize()
            if left_bytes < 0 and index:
                self._place.position = visible[index - 1].sequence
                return visible[:index]
        return visible

    async def _take(self, standing: Standing, visible: list[FeedEntry]) -> bool:
        """Moves the cursor to the place; returns False when that was not to be, and the poll begins again."""
        subscription, position = self._subscription, self._place.position
        if position == subscription.acknowledged_sequence:
            return True
        change = cold(
            "advance",
            subscription,
            expected_sequence=subscription.acknowledged_sequence,
            reset_number=subscription.reset_number,
            sequence=position,
            delivered_sequence=visible[-1].sequence if visible else None,
            advance_id=str(new_uuid()),
        )
        outcome = await submit(self._services, self._call.tenant_id, subscription, change, standing=standing)
        # UNCHANGED: it stood already when it was handed over again, its first answer lost.
        if outcome.status in (Status.ACCEPTED, Status.UNCHANGED):
            delivered = visible[-1].sequence if visible else subscription.delivered_sequence
            self._subscription = replace(
                subscription,
                acknowledged_sequence=position,
                delivered_sequence=max(subscription.delivered_sequence, delivered),
            )
            return True
        await self._reload()
        return False

    async def _close(self, reason: CloseReason, standing: Standing | None = None) -> None:
        """Closes the subscription; if the policy moved since `standing` was judged, it is judged again."""
        delivered = self._subscription.delivered_sequence
        await close(self._services, self._call.tenant_id, self._subscription, reason, delivered, standing)
        await self._reload()

    async def _reload(self) -> None:
        key = (self._call.scope_id, self._subscription.subscription_id)
        _, subscription = await self._services.subscriptions.get(self._call.tenant_id, key)
        if subscription is None:
            raise StaleFacts
        self._subscription = subscription
        self._place.reset(subscription)
        self._looked_at = 0

    def _response(self, events: list[FeedEntry]) -> ledger_pb2.PollSubscriptionResponse:
        return ledger_pb2.PollSubscriptionResponse(
            events=[entry.message for entry in events],
            cursor=self._subscription.acknowledged_sequence,
            closed=self._subscription.closed,
            close_reason=self._subscription.close_reason or "",
            last_delivered_sequence=self._subscription.delivered_sequence,
            operation_id=self._call.operation_id,
        )


async def _news_within(news: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()
