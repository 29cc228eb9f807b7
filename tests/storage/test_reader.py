"""Coalesced reads: one statement for what waits, one at a time for a tenant, and every waiter answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from storage.gathering import IDLE_TURNS
from storage.reader import CoalescedReader


class Source:
    """Answers keys with themselves, when it is told to; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[int]]] = []
        self.go = asyncio.Event()
        self.failure: Exception | None = None

    async def load(self, tenant_id: str, keys: Sequence[int]) -> list[int]:
        self.asked.append((tenant_id, list(keys)))
        await self.go.wait()
        if self.failure is not None:
            raise self.failure
        return list(keys)


async def settle() -> None:
    for _ in range(IDLE_TURNS + 5):
        await asyncio.sleep(0)


async def test_what_arrives_meanwhile_goes_together() -> None:
    source = Source()
    reader = CoalescedReader(source.load, batch_max=3)
    tasks = [asyncio.ensure_future(reader.get("a", 0))]
    await settle()
    tasks += [asyncio.ensure_future(reader.get("a", number)) for number in range(1, 6)]
    await settle()
    assert source.asked == [("a", [0])]
    source.go.set()
    assert await asyncio.gather(*tasks) == list(range(6))
    assert source.asked == [("a", [0]), ("a", [1, 2, 3]), ("a", [4, 5])]


async def test_tenants_do_not_wait_for_each_other() -> None:
    source = Source()
    reader = CoalescedReader(source.load, in_flight_max=2)
    tasks = [asyncio.ensure_future(reader.get(tenant_id, 1)) for tenant_id in "abc"]
    await settle()
    assert source.asked == [("a", [1]), ("b", [1])]
    source.go.set()
    assert await asyncio.gather(*tasks) == [1, 1, 1]


async def test_a_waiter_that_gave_up_is_not_read_for_and_holds_nobody_up() -> None:
    source = Source()
    reader = CoalescedReader(source.load, batch_max=2)
    tasks = [asyncio.ensure_future(reader.get("a", 0))]
    await settle()
    gone = [asyncio.ensure_future(reader.get("a", number)) for number in (1, 2)]
    tasks.append(asyncio.ensure_future(reader.get("a", 3)))
    await settle()
    for task in gone:
        task.cancel()
    source.go.set()
    assert await asyncio.gather(*tasks) == [0, 3]
    assert source.asked == [("a", [0]), ("a", [3])]


async def test_a_failure_reaches_every_waiter_and_the_next_read_starts_anew() -> None:
    source = Source()
    source.go.set()
    source.failure = OSError("gone")
    reader = CoalescedReader(source.load)
    results = await asyncio.gather(reader.get("a", 1), reader.get("a", 2), return_exceptions=True)
    assert [(type(result), str(result)) for result in results] == [(OSError, "gone")] * 2
    assert results[0] is not results[1]
    source.failure = None
    assert await reader.get("a", 3) == 3
