"""Data keys at hand: new ones ahead of need, used ones in a bounded cache (memory.md, Encrypted parts).

What a cache may still hold after a key was destroyed. The process that destroys a key forgets it in the same call.
Another process may hold its page until it is evicted, by count or by age, whichever comes first; past the age limit a
page is loaded again before it is used. In between nothing can be read with such a key: erasure has deleted the content
row before, and the retrieval gate hides the object. Cached pages hold their keys wrapped and are written nowhere.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Coroutine, Iterable
from typing import Any, Final, TypeVar
from uuid import UUID

from storage.keystore.page import KeyDestroyed, KeyId, KeyPage, KeyStore, KeyStoreUnavailable, slots_by_page

T = TypeVar("T")
_Place = tuple[str, UUID]

PAGE_SIZE: Final = 256
PAGES_CACHED_MAX: Final = 1024
PAGE_AGE_SECONDS_MAX: Final = 600.0
TENANTS_RESERVED_MAX: Final = 1024


class KeyRing:
    """Draws, finds and destroys data keys over a KeyStore. Belongs to one event loop.

    `page_size` keys are reserved at a time for each tenant that writes, the next page when half of one is left, so that
    a write waits for the key store only when it outruns it. Reserved keys that are not drawn when the process ends, or
    when more than `tenants_reserved_max` tenants write, are given up. `monotonic` returns seconds.
    """

    def __init__(
        self,
        store: KeyStore,
        *,
        page_size: int = PAGE_SIZE,
        pages_cached_max: int = PAGES_CACHED_MAX,
        page_age_seconds_max: float = PAGE_AGE_SECONDS_MAX,
        tenants_reserved_max: int = TENANTS_RESERVED_MAX,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._page_size = page_size
        self._pages_cached_max = pages_cached_max
        self._page_age_seconds_max = page_age_seconds_max
        self._tenants_reserved_max = tenants_reserved_max
        self._monotonic = monotonic
        self._reserved: OrderedDict[str, deque[tuple[KeyPage, int]]] = OrderedDict()
        self._refills: dict[str, asyncio.Task[None]] = {}
        self._cached: OrderedDict[_Place, tuple[KeyPage, float]] = OrderedDict()
        self._loads: dict[_Place, asyncio.Task[KeyPage]] = {}
        # Moves when keys are destroyed: a page whose loading began before that may hold them and is not cached.
        self._destructions = 0
        self._closed = False

    async def close(self) -> None:
        """Ends refills and loads under way; the store stays open. Drawing afterwards raises KeyStoreUnavailable."""
        self._closed = True
        tasks = [*self._refills.values(), *self._loads.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._reserved.clear()
        self._cached.clear()

    async def draw(self, tenant_id: str) -> tuple[KeyId, bytes]:
        """Returns a fresh 32-byte key that is durable in the store and given to nobody else.

        Raises KeyStoreUnavailable when none is reserved and the store can't give a page.
        """
        while not (reserved := self._reserved.get(tenant_id)):
            await self._wait_for(self._refill(tenant_id))
        self._reserved.move_to_end(tenant_id)
        page, slot = reserved.popleft()
        if len(reserved) <= self._page_size // 2 and not self._closed:
            self._refill(tenant_id)
        key = page.key(slot)
        assert key is not None, "reserved keys are dropped when they are destroyed"
        return KeyId(page.page_id, slot), key

    async def keys(self, tenant_id: str, key_ids: Iterable[KeyId]) -> dict[KeyId, bytes]:
        """Returns those of the keys that exist; a missing one was destroyed.

        Raises KeyStoreUnavailable, or IntegrityViolation for a page or a key the store must not trust.
        """
        wanted = tuple(key_ids)
        pages = {page_id: self._fresh((tenant_id, page_id)) for page_id in {key_id.page_id for key_id in wanted}}
        absent = [page_id for page_id, page in pages.items() if page is None]
        if absent:
            loads = [self._load((tenant_id, page_id)) for page_id in absent]
            pages.update(zip(absent, await asyncio.gather(*map(self._wait_for, loads)), strict=True))
        found: dict[KeyId, bytes] = {}
        for key_id in wanted:
            page = pages[key_id.page_id]
            assert page is not None
            key = page.key(key_id.slot)
            if key is not None:
                found[key_id] = key
        return found

    async def key(self, tenant_id: str, key_id: KeyId) -> bytes:
        """Returns one key. Raises KeyDestroyed when it was destroyed; otherwise as `keys`."""
        found = await self.keys(tenant_id, (key_id,))
        if key_id not in found:
            raise KeyDestroyed
        return found[key_id]

    async def destroy(self, tenant_id: str, key_ids: Collection[KeyId]) -> int:
        """Destroys the keys durably and forgets them here; returns how many still existed. May be repeated.

        Raises KeyStoreUnavailable, after which the keys may be destroyed or not, and IntegrityViolation.
        """
        self._forget(tenant_id, key_ids)
        try:
            return await self._store.destroy(tenant_id, key_ids)
        finally:
            # Again, for what was loaded in between.
            self._forget(tenant_id, key_ids)

    def _forget(self, tenant_id: str, key_ids: Collection[KeyId]) -> None:
        self._destructions += 1
        for page_id in slots_by_page(key_ids):
            self._cached.pop((tenant_id, page_id), None)
            self._loads.pop((tenant_id, page_id), None)  # who asks from now on must not join it
        if tenant_id in self._reserved:
            destroyed = set(key_ids)
            kept = (item for item in self._reserved[tenant_id] if KeyId(item[0].page_id, item[1]) not in destroyed)
            self._reserved[tenant_id] = deque(kept)

    def _fresh(self, place: _Place) -> KeyPage | None:
        entry = self._cached.get(place)
        if entry is None:
            return None
        page, loaded_at = entry
        if self._monotonic() - loaded_at > self._page_age_seconds_max:
            del self._cached[place]
            return None
        self._cached.move_to_end(place)
        return page

    def _cache(self, place: _Place, page: KeyPage, loaded_at: float) -> None:
        self._cached[place] = (page, loaded_at)
        self._cached.move_to_end(place)
        oldest_allowed = self._monotonic() - self._page_age_seconds_max
        for expired in [item for item, (_, at) in self._cached.items() if at < oldest_allowed]:
            del self._cached[expired]
        while len(self._cached) > self._pages_cached_max:
            self._cached.popitem(last=False)

    def _load(self, place: _Place) -> asyncio.Task[KeyPage]:
        if place not in self._loads:
            self._loads[place] = self._start(self._load_page(place))
        return self._loads[place]

    async def _load_page(self, place: _Place) -> KeyPage:
        destructions, loaded_at = self._destructions, self._monotonic()
        try:
            page = await self._store.load_page(*place)
        finally:
            if self._loads.get(place) is asyncio.current_task():
                del self._loads[place]
        if destructions == self._destructions:
            self._cache(place, page, loaded_at)
        return page

    def _refill(self, tenant_id: str) -> asyncio.Task[None]:
        if self._closed:
            raise KeyStoreUnavailable("closed")
        if tenant_id not in self._refills:
            self._refills[tenant_id] = self._start(self._reserve_page(tenant_id))
        return self._refills[tenant_id]

    async def _reserve_page(self, tenant_id: str) -> None:
        try:
            page = await self._store.reserve_page(tenant_id, self._page_size)
        finally:
            del self._refills[tenant_id]
        reserved = self._reserved.setdefault(tenant_id, deque())
        reserved.extend((page, slot) for slot in sorted(page.slots()))
        self._reserved.move_to_end(tenant_id)
        while len(self._reserved) > self._tenants_reserved_max:
            self._reserved.popitem(last=False)
        # What is written now is often read soon.
        self._cache((tenant_id, page.page_id), page, self._monotonic())

    @staticmethod
    def _start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        # A refill ahead of need has nobody waiting: its failure is met again by the next draw, not reported here.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _wait_for(self, task: asyncio.Task[T]) -> T:
        try:
            # Shared with other callers: one that is cancelled must not take it from them.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled() and self._closed:
                raise KeyStoreUnavailable("closed") from None
            raise
