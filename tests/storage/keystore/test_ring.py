"""The keys a process has at hand: drawn once each, found while they exist, gone when destroyed."""

import asyncio
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from uuid import UUID

import pytest

from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.keystore import DirectoryKeyStore, KeyDestroyed, KeyId, KeyPage, KeyRing, KeyStoreUnavailable

TENANT = "acme"


class WatchedKeyStore(DirectoryKeyStore):
    """The real store, whose calls are counted and can be held up or made to fail."""

    def __init__(self, path: Path, keys: DeploymentKeys) -> None:
        super().__init__(path, keys)
        self.calls: Counter[str] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()
        self.called = asyncio.Event()
        self.failing = False

    async def _pass(self, call: str) -> None:
        self.calls[call] += 1
        self.called.set()
        await self.gate.wait()
        if self.failing:
            raise KeyStoreUnavailable("test")

    async def reserve_page(self, tenant_id: str, size: int) -> KeyPage:
        await self._pass("reserve")
        return await super().reserve_page(tenant_id, size)

    async def load_page(self, tenant_id: str, page_id: UUID) -> KeyPage:
        page = await super().load_page(tenant_id, page_id)
        await self._pass("load")
        return page

    async def destroy(self, tenant_id: str, key_ids: Collection[KeyId]) -> int:
        self.calls["destroy"] += 1
        return await super().destroy(tenant_id, key_ids)


@pytest.fixture
async def store(tmp_path: Path, keys: DeploymentKeys) -> WatchedKeyStore:
    store = WatchedKeyStore(tmp_path / "keys", keys)
    await store.open()
    return store


async def settled(condition: asyncio.Event) -> None:
    await asyncio.wait_for(condition.wait(), 30)


async def test_every_key_is_drawn_once(store: WatchedKeyStore) -> None:
    ring, other = KeyRing(store, page_size=8), KeyRing(store, page_size=8)
    drawn = await asyncio.gather(*(r.draw(t) for r in (ring, other) for t in ("a", "b") for _ in range(40)))
    assert len({key_id for key_id, _ in drawn}) == len({key for _, key in drawn}) == 160
    for ring_ in (ring, other):
        await ring_.close()


async def test_drawn_keys_are_found_by_any_process(store: WatchedKeyStore) -> None:
    ring, other = KeyRing(store, page_size=4), KeyRing(store, page_size=4)
    drawn = dict([await ring.draw(TENANT) for _ in range(10)])
    assert await ring.keys(TENANT, drawn) == drawn
    assert await other.keys(TENANT, drawn) == drawn
    some_id, some_key = next(iter(drawn.items()))
    assert await other.key(TENANT, some_id) == some_key
    assert await ring.keys(TENANT, []) == {}
    await ring.close()


async def test_concurrent_draws_wait_for_one_page(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=64)
    await asyncio.gather(*(ring.draw(TENANT) for _ in range(31)))
    assert store.calls["reserve"] == 1
    await ring.close()


async def test_next_page_is_fetched_ahead_of_need(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=8)
    await ring.draw(TENANT)
    store.gate.clear()
    store.called.clear()
    for _ in range(7):  # none of these waits, though the store answers nothing
        await asyncio.wait_for(ring.draw(TENANT), 30)
    await settled(store.called)
    assert store.calls["reserve"] == 2
    waiting = [asyncio.create_task(ring.draw(TENANT)) for _ in range(3)]
    store.gate.set()
    assert len({key_id for key_id, _ in await asyncio.gather(*waiting)}) == 3
    assert store.calls["reserve"] == 2
    await ring.close()


async def test_failed_refill_is_met_only_by_who_needs_it(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=2)
    store.failing = True
    for _ in range(2):
        with pytest.raises(KeyStoreUnavailable):
            await ring.draw(TENANT)
    store.failing = False
    await ring.draw(TENANT)
    store.failing = True
    await ring.draw(TENANT)
    with pytest.raises(KeyStoreUnavailable):
        await ring.draw(TENANT)
    store.failing = False
    await ring.draw(TENANT)
    await ring.close()


async def test_cancelled_draw_takes_nothing_from_the_others(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=8)
    store.gate.clear()
    cancelled, other = asyncio.create_task(ring.draw(TENANT)), asyncio.create_task(ring.draw(TENANT))
    await settled(store.called)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    assert cancelled.cancelled()
    store.gate.set()
    assert len((await other)[1]) == 32
    assert store.calls["reserve"] == 1
    await ring.close()


async def test_closed_ring_draws_nothing(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=2)
    store.gate.clear()
    waiting = asyncio.create_task(ring.draw(TENANT))
    await settled(store.called)
    await ring.close()
    with pytest.raises(KeyStoreUnavailable):
        await waiting
    with pytest.raises(KeyStoreUnavailable):
        await ring.draw(TENANT)


async def test_tenants_with_reserved_keys_are_bounded(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=8, tenants_reserved_max=2)
    for tenant in ("a", "b", "c", "b", "c", "a"):
        await ring.draw(tenant)
    assert store.calls["reserve"] == 4
    await ring.close()


async def test_destroyed_key_is_gone_at_once_where_it_was_destroyed(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=4)
    (doomed, _), (kept, kept_key) = await ring.draw(TENANT), await ring.draw(TENANT)
    assert len(await ring.keys(TENANT, [doomed, kept])) == 2
    assert await ring.destroy(TENANT, [doomed]) == 1
    assert await ring.destroy(TENANT, [doomed]) == 0
    assert await ring.keys(TENANT, [doomed, kept]) == {kept: kept_key}
    with pytest.raises(KeyDestroyed):
        await ring.key(TENANT, doomed)
    await ring.close()


async def test_reserved_key_that_is_destroyed_is_not_drawn(store: WatchedKeyStore) -> None:
    ring = KeyRing(store, page_size=4)
    first, _ = await ring.draw(TENANT)
    await ring.destroy(TENANT, [KeyId(first.page_id, 1), KeyId(first.page_id, 2)])
    assert (await ring.draw(TENANT))[0] == KeyId(first.page_id, 3)
    await ring.close()


async def test_page_cached_elsewhere_is_not_used_past_its_age(store: WatchedKeyStore) -> None:
    now = [0.0]
    ring = KeyRing(store, page_size=4)
    other = KeyRing(store, page_size=4, page_age_seconds_max=60, monotonic=lambda: now[0])
    key_id, key = await ring.draw(TENANT)
    assert await other.keys(TENANT, [key_id]) == {key_id: key}
    await ring.destroy(TENANT, [key_id])
    now[0] = 60.0
    assert await other.keys(TENANT, [key_id]) == {key_id: key}
    now[0] = 60.5
    assert await other.keys(TENANT, [key_id]) == {}
    await ring.close()


async def test_cached_pages_are_bounded_and_the_least_used_goes(store: WatchedKeyStore) -> None:
    pages = [await store.reserve_page(TENANT, 1) for _ in range(3)]
    ids = [KeyId(page.page_id, 0) for page in pages]
    ring = KeyRing(store, pages_cached_max=2)
    for index, loads in ((0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4)):
        await ring.keys(TENANT, [ids[index]])
        assert store.calls["load"] == loads
    assert len(await ring.keys(TENANT, ids)) == 3


async def test_concurrent_readers_load_a_page_once(store: WatchedKeyStore) -> None:
    page = await store.reserve_page(TENANT, 4)
    ring = KeyRing(store)
    found = await asyncio.gather(*(ring.keys(TENANT, [KeyId(page.page_id, slot)]) for slot in range(4)))
    assert store.calls["load"] == 1
    assert {key_id.slot: key for keys in found for key_id, key in keys.items()} == {s: page.key(s) for s in range(4)}


async def test_load_that_raced_a_destruction_is_neither_kept_nor_joined(store: WatchedKeyStore) -> None:
    page = await store.reserve_page(TENANT, 2)
    key_id = KeyId(page.page_id, 0)
    ring = KeyRing(store)
    store.gate.clear()
    racing = asyncio.create_task(ring.keys(TENANT, [key_id]))
    await settled(store.called)  # it has read the page and not answered yet
    assert await ring.destroy(TENANT, [key_id]) == 1
    later = asyncio.create_task(ring.keys(TENANT, [key_id]))
    store.gate.set()
    await racing
    assert await later == {}
    assert await ring.keys(TENANT, [key_id]) == {}


async def test_failures_of_the_store_come_through(store: WatchedKeyStore) -> None:
    page = await store.reserve_page(TENANT, 1)
    ring = KeyRing(store)
    store.failing = True
    with pytest.raises(KeyStoreUnavailable):
        await ring.keys(TENANT, [KeyId(page.page_id, 0)])
    store.failing = False
    assert len(await ring.keys(TENANT, [KeyId(page.page_id, 0)])) == 1
    with pytest.raises(IntegrityViolation):
        await ring.keys(TENANT, [KeyId(UUID(int=9), 0)])
    with pytest.raises(IntegrityViolation):
        await ring.destroy(TENANT, [KeyId(UUID(int=9), 0)])
