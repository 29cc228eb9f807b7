"""One stream of a subscription: at least once, in order, from what was acknowledged (P-10.8-03 to P-10.8-09; Q33, Q37).

Events are gathered while they may wait, judged together at the moment they are sent, and never gathered beyond a batch:
a subscriber that does not take them makes the stream wait. The ledger is read once for all streams of a workspace.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from typing import Final

from authz.decision import Denied
from remit.v1 import ledger_pb2
from server.authority.refusals import StaleFacts
from server.metrics import SUBSCRIPTION_STREAMS
from server.services import Services
from server.subscriptions.authority import Standing, standing_of
from server.subscriptions.changes import CloseReason, close, cold, submit
from server.subscriptions.feed import Feed
from server.subscriptions.feed_page import FeedEntry
from server.subscriptions.filters import Matcher
from server.subscriptions.lag import LAG_GRACE_SECONDS, LagGuard
from server.subscriptions.place import Place
from storage.encryption import IntegrityViolation
from storage.errors import StorageError
from storage.model.subscription import Backpressure, Subscription

_log = logging.getLogger(__name__)

Response = ledger_pb2.StreamSubscriptionResponse
# How often a long stream makes durable what it passed, so that a later one need not read it again.
_FLUSH_SECONDS: Final = 30.0


class _Ended(Exception):
    """The stream is over."""

    def __init__(self, reason: str, *, resumable: bool = False) -> None:
        self.reason = reason
        self.resumable = resumable


class SubscriptionStream:
    """A stream of an open subscription whose `stream_id` was just made the newest one."""

    def __init__(
        self, services: Services, tenant_id: str, subscription: Subscription, standing: Standing, operation_id: str
    ) -> None:
        assert subscription.stream_id is not None
        self._services = services
        self._tenant_id = tenant_id
        self._subscription = subscription
        self._operation_id = operation_id
        self._delivery = subscription.delivery
        self._closes_on_lag = self._delivery.backpressure is Backpressure.CLOSE_ON_LAG
        self._matcher = Matcher(subscription.filter)
        self._place = Place(subscription, counts=self._closes_on_lag)
        self._flushed = self._place.durable(self._place.position)
        self._guard = LagGuard(self._delivery.lag_events_max, self._counts)
        self._pending: list[FeedEntry] = []
        self._pending_since = 0.0
        self._lagging_since: float | None = None
        self._standing = standing
        self._feed: Feed | None = None
        self._home: Feed | None = None
        self._judged_home_sequence = -1
        self._over = False
        self._signal = subscription.signal
        self._sent_at = 0.0
        self._flush_at = time.monotonic() + _FLUSH_SECONDS

    @property
    def key(self) -> tuple[str, str, str]:
        """Tenant, workspace and subscription."""
        return self._tenant_id, self._subscription.scope_id, self._subscription.subscription_id

    async def responses(self) -> AsyncIterator[Response]:
        """Yields what the subscriber is sent; ends after the terminal message. Raises StorageError, StaleFacts."""
        feeds, exercise = self._services.feeds, self._standing.exercise
        with ExitStack() as stack:
            feed = stack.enter_context(feeds.watch(self._tenant_id, self._subscription.scope_id))
            if exercise is not None and exercise.home_scope_id != self._subscription.scope_id:
                # A grant that lives elsewhere is revoked elsewhere.
                self._home = stack.enter_context(feeds.watch(self._tenant_id, exercise.home_scope_id))
                stack.enter_context(self._home.relaying_to(feed))
            stack.enter_context(feed.following(self._subscription))
            stack.enter_context(feeds.streaming(self))
            stack.enter_context(SUBSCRIPTION_STREAMS.track_inprogress())
            stack.callback(feed.wake_after, self, None)
            self._feed = feed
            try:
                await self._judge(feed)
                if self._closes_on_lag:
                    guarded = asyncio.get_running_loop().create_task(self._guard_lag(feed))
                    stack.callback(guarded.cancel)
                yield self._keepalive()
                while True:
                    news = feed.next_news()
                    response = await self._next(feed, news)
                    if response is not None:
                        self._guard.sending_since = time.monotonic()
                        yield response
                        self._guard.sending_since = None
            except _Ended as ended:
                self._over = not ended.resumable
                yield self._closed(ended)

    def acknowledge(self, sequence: int) -> None:
        """Takes an acknowledgement that this process committed."""
        self._place.acknowledge(sequence)
        if self._lagging_since is not None and self._feed is not None:
            self._feed.wake()

    async def flush(self) -> None:
        """Makes durable what the subscriber has behind it; what can't be written now is sent or passed again later."""
        passed = self._pending[0].sequence - 1 if self._pending else self._place.position
        durable = self._place.durable(passed)
        if self._over or durable == self._flushed:
            return
        sequence, delivered, withheld = durable
        change = cold(
            "pass",
            self._subscription,
            stream_id=self._subscription.stream_id,
            reset_number=self._place.reset_number,
            sequence=sequence,
            delivered_sequence=delivered,
            withheld=withheld,
        )
        try:
            await submit(self._services, self._tenant_id, self._subscription, change)
            self._flushed = durable
        except StorageError as error:
            _log.warning("the place of a stream is not kept: %s", type(error).__name__)

    async def _next(self, feed: Feed, news: asyncio.Event) -> Response | None:
        """Returns what is to be sent now, or None after a step on the way there. Raises _Ended."""
        await self._look_round(feed)
        advanced = await self._read_on(feed)
        now = time.monotonic()
        if self._is_due(now) and not await self._is_lagging(feed, now):
            batch = await self._batch(feed)
            if batch is not None:
                self._sent_at = now
                return batch
            return None
        if not advanced and await self._waited(news, now):
            return None
        now = time.monotonic()
        if now >= self._flush_at:
            self._flush_at = now + _FLUSH_SECONDS
            await self.flush()
        return self._keepalive() if self._keepalive_left(now) <= 0 else None

    async def _look_round(self, feed: Feed) -> None:
        """Ends the stream when the subscription, the ledger or the authority says so."""
        mark, subscription = feed.mark, self._subscription
        assert mark is not None, "the authority was judged by one"
        if self._services.feeds.draining:
            raise _Ended(CloseReason.SHUTDOWN_RESUMABLE, resumable=True)
        if mark.signal > self._signal:
            row = await feed.followed_row(subscription.subscription_id)
            self._signal = mark.signal
            if row is not None:
                self._follow(row)
        if mark.heads.epoch != subscription.ledger_epoch:
            await self._close(CloseReason.LEDGER_RESTORED)
        if mark.heads.policy_revision > self._standing.policy_revision or self._may_be_revoked(feed):
            # What was passed so far was passed under the authority of then, whatever is given back now.
            await self.flush()
            await self._judge(feed)

    def _may_be_revoked(self, feed: Feed) -> bool:
        """Returns whether a grant's window may have ended, or something happened where the grant lives."""
        ends_at_us = self._standing.ends_at_us
        if ends_at_us is None or feed.mark is None:
            return False
        return feed.mark.heads.now_us > ends_at_us or _head(self._home or feed) != self._judged_home_sequence

    def _follow(self, row: Subscription) -> None:
        if row.signal <= self._subscription.signal:
            return
        if row.close_reason is not None:
            raise _Ended(row.close_reason)
        if row.stream_id != self._subscription.stream_id:
            raise _Ended(CloseReason.TAKEN_OVER, resumable=True)
        if row.reset_number != self._place.reset_number:
            self._pending.clear()
            self._place.reset(row)
            self._flushed = self._place.durable(self._place.position)

    async def _judge(self, feed: Feed) -> None:
        """Judges the authority of now, and closes the subscription when all of it is lost."""
        while True:
            home_sequence = _head(self._home or feed)
            self._standing = await standing_of(self._services, self._tenant_id, self._subscription, feed)
            if not isinstance(self._standing.decision, Denied):
                feed.wake_after(self, self._standing.ends_at_us)
                self._judged_home_sequence = home_sequence
                return
            await self._close(CloseReason.ACCESS_LOST, self._standing)

    async def _close(self, reason: CloseReason, standing: Standing | None = None) -> None:
        """Closes the subscription and ends the stream; returns when the policy has moved and must be judged again."""
        delivered = self._place.delivered_sequence
        if await close(self._services, self._tenant_id, self._subscription, reason, delivered, standing):
            raise _Ended(reason)

    async def _read_on(self, feed: Feed) -> bool:
        """Gathers matching events up to a batch; returns whether it came any further."""
        assert feed.mark is not None
        room = self._delivery.batch_events_max - len(self._pending)
        if room <= 0 or self._place.position >= feed.mark.heads.sequence:
            return False
        page = await feed.page_after(self._place.position)
        before = self._place.position
        for entry in page.after(self._place.position):
            if entry.closes(self._subscription.subscription_id):
                raise _Ended(str(entry.payload["reason"]))
            self._place.position = entry.sequence
            if self._matcher.matches(entry) and not self._place.is_withheld(entry.sequence):
                if not self._pending:
                    self._pending_since = time.monotonic()
                self._pending.append(entry)
                room -= 1
                if not room:
                    break
        return self._place.position > before

    def _is_due(self, now: float) -> bool:
        if len(self._pending) >= self._delivery.batch_events_max:
            return True
        return bool(self._pending) and now - self._pending_since >= self._delivery.batch_wait_ms / 1000

    async def _is_lagging(self, feed: Feed, now: float) -> bool:
        """Returns whether the subscriber must acknowledge first; closes the subscription when it has not for too long."""
        limit = self._delivery.lag_events_max
        if not self._closes_on_lag or self._place.unacknowledged_count < limit:
            self._lagging_since = None
            return False
        if self._lagging_since is None:
            self._lagging_since = now
        if now - self._lagging_since < LAG_GRACE_SECONDS:
            return True
        # Acknowledgements taken by other processes stand in the row.
        facts = await self._services.subscriptions.get(self._tenant_id, self.key[1:])
        self._place.acknowledge(facts[1].acknowledged_sequence if facts[1] else 0)
        self._lagging_since = None
        if self._place.unacknowledged_count < limit:
            return False
        await self._judge(feed)
        if any(self._standing.sees(entry) for entry in self._pending):
            await self._close(CloseReason.LAG)
        return False

    def _counts(self, entry: FeedEntry) -> bool:
        return self._matcher.matches(entry) and self._standing.sees(entry)

    async def _guard_lag(self, feed: Feed) -> None:
        """Closes the subscription when its stream can't move; the stream finds that out when it can."""
        place = self._place
        with suppress(StorageError, StaleFacts, IntegrityViolation, _Ended):
            await self._guard.run(
                feed,
                lambda: (place.position, place.unacknowledged_count + len(self._pending)),
                lambda: self._close(CloseReason.LAG),
            )

    async def _batch(self, feed: Feed) -> Response | None:
        """Returns the events gathered that may be seen now, None when there are none."""
        await self._judge(feed)
        room = self._delivery.batch_events_max
        if self._closes_on_lag:
            room = min(room, self._delivery.lag_events_max - self._place.unacknowledged_count)
        left_bytes = self._services.settings.page_bytes_max
        visible: list[ledger_pb2.LedgerEvent] = []
        taken = 0
        for entry in self._pending:
            if not self._standing.sees(entry):
                self._place.withhold(entry.sequence)
            elif len(visible) >= room or (visible and entry.message.ByteSize() > left_bytes):
                break
            else:
                left_bytes -= entry.message.ByteSize()
                visible.append(entry.message)
                self._place.sent(entry.sequence)
            taken += 1
        del self._pending[:taken]
        if not visible:
            return None
        batch = ledger_pb2.EventBatch(events=visible, cursor=visible[-1].sequence)
        return Response(batch=batch, operation_id=self._operation_id)

    async def _waited(self, news: asyncio.Event, now: float) -> bool:
        """Waits for news or the next time something is due; returns whether there is news."""
        left = [self._flush_at - now, self._keepalive_left(now)]
        if self._pending:
            left.append(self._pending_since + self._delivery.batch_wait_ms / 1000 - now)
        if self._lagging_since is not None:
            left = [*left[:2], self._lagging_since + LAG_GRACE_SECONDS - now]
        try:
            async with asyncio.timeout(max(0.0, min(left))):
                await news.wait()
        except TimeoutError:
            return False
        return True

    def _keepalive_left(self, now: float) -> float:
        interval_ms = self._delivery.keepalive_ms
        return self._sent_at + interval_ms / 1000 - now if interval_ms else _FLUSH_SECONDS

    def _keepalive(self) -> Response:
        self._sent_at = time.monotonic()
        keepalive = ledger_pb2.Keepalive(cursor=self._place.position)
        return Response(keepalive=keepalive, operation_id=self._operation_id)

    def _closed(self, ended: _Ended) -> Response:
        closed = ledger_pb2.SubscriptionClosed(
            close_reason=ended.reason,
            last_delivered_sequence=self._place.delivered_sequence,
            resumable=ended.resumable,
        )
        return Response(closed=closed, operation_id=self._operation_id)


def _head(feed: Feed) -> int:
    return -1 if feed.mark is None else feed.mark.heads.sequence
