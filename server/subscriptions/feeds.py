"""What wakes subscribers: one watcher a process, which asks for the heads of all watched workspaces at once.

A commit of this process wakes the subscribers of its workspace at once, one of another process by the next short poll: a
lost wake-up delays and never loses, since every subscriber reads the ledger on from its own place (ledger.md, Reading).
However many are idle, a tenant's workspaces cost one statement a poll; what is new is read once a workspace and page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from server.authority.refusals import StaleFacts
from server.metrics import WATCHED_WORKSPACES
from server.subscriptions.feed import Feed
from server.subscriptions.feed_page import FeedEntry, Page, is_of_relationship, objects_of, related_object_ids
from storage.database import Database
from storage.ledger_feed import object_types, read_feed
from storage.model.subscription import Subscription
from storage.subscriptions import Mark, load_marks, signalled_subscriptions

_log = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.2
# Wake-ups by this process's own commits are gathered for so long, so that a busy workspace costs few statements.
_WAKE_PAUSE_SECONDS: Final = 0.01
_READS_MAX: Final = 3


class Streaming(Protocol):
    """A stream as the process knows it."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Tenant, workspace and subscription."""

    def acknowledge(self, sequence: int) -> None:
        """Takes an acknowledgement that was committed."""

    async def flush(self) -> None:
        """Makes durable what was passed. Raises nothing."""


class LedgerFeeds:
    """The workspaces that this process watches. Belongs to one event loop."""

    def __init__(self, database: Database, *, page_bytes_max: int, poll_seconds: float = POLL_SECONDS) -> None:
        self._database = database
        self._page_bytes_max = page_bytes_max
        self._poll_seconds = poll_seconds
        self._feeds: dict[tuple[str, str], Feed] = {}
        self._asked: dict[str, dict[str, asyncio.Future[Mark | None]]] = {}
        self._answering: dict[str, asyncio.Task[None]] = {}
        self._woken: set[tuple[str, str]] = set()
        self._wake = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        # Catching up must leave connections to the calls that wait for an answer.
        self._reads = asyncio.Semaphore(_READS_MAX)
        self._streams: dict[tuple[str, str, str], Streaming] = {}
        self._flushing: dict[tuple[str, str, str], asyncio.Task[None]] = {}
        self.draining = False

    @contextmanager
    def watch(self, tenant_id: str, scope_id: str) -> Iterator[Feed]:
        """Watches a workspace for as long as the block lasts."""
        key = (tenant_id, scope_id)
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = Feed(_Reads(self, tenant_id, scope_id))
            WATCHED_WORKSPACES.inc()
        feed.watchers += 1
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            yield feed
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                del self._feeds[key]
                WATCHED_WORKSPACES.dec()
            if not self._feeds and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    def committed(self, tenant_id: str, scope_ids: Iterable[str]) -> None:
        """Says that this process has committed to these workspaces."""
        woken = {key for scope_id in scope_ids if (key := (tenant_id, scope_id)) in self._feeds}
        if woken:
            self._woken |= woken
            self._wake.set()

    def drain(self) -> None:
        """Ends the streams and waits of this process; subscriptions stay open."""
        self.draining = True
        for feed in self._feeds.values():
            feed.wake()

    @contextmanager
    def streaming(self, stream: Streaming) -> Iterator[None]:
        """Knows a stream for as long as the block lasts; what it leaves behind is made durable afterwards."""
        key = stream.key
        self._streams[key] = stream
        try:
            yield
        finally:
            if self._streams.get(key) is stream:
                del self._streams[key]
            task = asyncio.get_running_loop().create_task(stream.flush())
            self._flushing[key] = task
            task.add_done_callback(lambda _: self._flushed(key, task))

    def _flushed(self, key: tuple[str, str, str], task: asyncio.Task[None]) -> None:
        if self._flushing.get(key) is task:
            del self._flushing[key]

    async def settle(self, tenant_id: str, scope_id: str, subscription_id: str) -> None:
        """Returns when what streams of this process had passed of a subscription is durable."""
        key = (tenant_id, scope_id, subscription_id)
        stream, task = self._streams.get(key), self._flushing.get(key)
        if stream is not None:
            await stream.flush()
        elif task is not None:
            await asyncio.shield(task)

    def acknowledged(self, tenant_id: str, scope_id: str, subscription_id: str, sequence: int) -> None:
        """Tells the subscription's stream, if it is here, of an acknowledgement that was committed."""
        stream = self._streams.get((tenant_id, scope_id, subscription_id))
        if stream is not None:
            stream.acknowledge(sequence)

    async def close(self) -> None:
        """Returns when nothing of this is left."""
        while self._flushing:
            await asyncio.wait([*self._flushing.values()])
        tasks = [*self._answering.values(), *([self._watching] if self._watching else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def ask(self, tenant_id: str, scope_id: str) -> Mark | None:
        """Returns a workspace's mark as a statement saw it that began after this call.

        Who asks while a statement of the tenant is under way is answered by the next one, together with all others.
        Raises StorageError.
        """
        asked = self._asked.setdefault(tenant_id, {})
        answer = asked.get(scope_id)
        if answer is None:
            answer = asked[scope_id] = asyncio.get_running_loop().create_future()
        if tenant_id not in self._answering:
            task = asyncio.get_running_loop().create_task(self._answer(tenant_id))
            self._answering[tenant_id] = task
        # The answer is everybody's: one who is cancelled must not take it along.
        return await asyncio.shield(answer)

    async def _answer(self, tenant_id: str) -> None:
        try:
            while asked := self._asked.pop(tenant_id, {}):
                try:
                    marks = await load_marks(self._database, tenant_id, list(asked))
                except Exception as error:  # whoever waits must be answered, whatever went wrong
                    for answer in asked.values():
                        _fail(answer, error)
                    continue
                for (scope_id, answer), mark in zip(asked.items(), marks, strict=True):
                    if not answer.done():
                        answer.set_result(mark)
                    feed = self._feeds.get((tenant_id, scope_id))
                    if feed is not None:
                        feed.observe(mark)
        finally:
            del self._answering[tenant_id]

    async def _watch(self) -> None:
        """Asks for all marks every so often, and for those of woken workspaces at once."""
        loop = asyncio.get_running_loop()
        due_at = loop.time()
        while True:
            woken, self._woken = self._woken, set()
            self._wake.clear()
            if loop.time() >= due_at:
                due_at = loop.time() + self._poll_seconds
                woken = set(self._feeds)
            await self._look(woken)
            await asyncio.sleep(_WAKE_PAUSE_SECONDS)
            try:
                async with asyncio.timeout_at(due_at):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _look(self, keys: set[tuple[str, str]]) -> None:
        results = await asyncio.gather(*(self.ask(*key) for key in keys), return_exceptions=True)
        failed = [result for result in results if isinstance(result, BaseException)]
        if failed:
            # Subscribers wait on; the next look will tell them.
            _log.warning("the watch of ledgers is delayed: %s", type(failed[0]).__name__)

    async def page(self, tenant_id: str, scope_id: str, after_sequence: int) -> Page:
        """Returns the events of a workspace after a sequence. Raises StorageError, StaleFacts without a workspace."""
        async with self._reads:
            read = await read_feed(self._database, tenant_id, scope_id, after_sequence, self._page_bytes_max)
            if read.heads is None:
                raise StaleFacts
            ends = {fed.linked.row.sequence: related_object_ids(fed) for fed in read.events if is_of_relationship(fed)}
            ids = {object_id for found in ends.values() for object_id in found}
            types = await object_types(self._database, tenant_id, scope_id, ids) if ids else {}
        entries = [FeedEntry(scope_id, fed, objects_of(fed, ends, types)) for fed in read.events]
        return Page(after_sequence, entries, read.heads)

    async def signalled(self, tenant_id: str, scope_id: str, after_signal: int) -> list[Subscription]:
        """Returns the subscriptions of a workspace that changed since a signal. Raises StorageError."""
        return await signalled_subscriptions(self._database, tenant_id, scope_id, after_signal)


class _Reads:
    """The reads of one feed."""

    def __init__(self, feeds: LedgerFeeds, tenant_id: str, scope_id: str) -> None:
        self._feeds = feeds
        self._tenant_id = tenant_id
        self._scope_id = scope_id

    async def mark(self) -> Mark | None:
        return await self._feeds.ask(self._tenant_id, self._scope_id)

    async def page(self, after_sequence: int) -> Page:
        return await self._feeds.page(self._tenant_id, self._scope_id, after_sequence)

    async def signalled(self, after_signal: int) -> list[Subscription]:
        return await self._feeds.signalled(self._tenant_id, self._scope_id, after_signal)


def _fail(answer: asyncio.Future[Mark | None], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
        answer.exception()  # whoever asked may have gone: then nobody is to be told that nobody looked
