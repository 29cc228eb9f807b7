"""Coalesced reads: one statement answers whatever is waiting, without timers (write-path.md, "Reads coalesce")."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from functools import partial
from typing import Generic, TypeVar

from storage.gathering import Gathering

Key = TypeVar("Key")
Facts = TypeVar("Facts")


class CoalescedReader(Generic[Key, Facts]):
    """Loads facts by key. `load(tenant_id, keys)` must give one answer per key, in the order of the keys.

    A lone read goes alone; what arrives while a statement of its tenant is under way goes with the next one, at most
    `batch_max` keys together. Tenants do not wait for each other until `in_flight_max` statements are under way.
    """

    def __init__(
        self,
        load: Callable[[str, Sequence[Key]], Awaitable[Sequence[Facts]]],
        *,
        batch_max: int = 64,
        in_flight_max: int = 4,
    ) -> None:
        self._load = load
        self._batch_max = batch_max
        self._in_flight_max = in_flight_max
        self._waiting: dict[str, list[tuple[Key, asyncio.Future[Facts]]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._gathering = Gathering(self._pump)

    async def get(self, tenant_id: str, key: Key) -> Facts:
        """Returns the facts of one key; raises what `load` raised."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Facts] = loop.create_future()
        self._waiting.setdefault(tenant_id, []).append((key, answer))
        self._gathering.arrived()
        return await answer

    def _pump(self) -> None:
        for tenant_id in [tenant_id for tenant_id in self._waiting if tenant_id not in self._tasks]:
            if len(self._tasks) >= self._in_flight_max:
                return
            waiting = [(key, answer) for key, answer in self._waiting.pop(tenant_id) if not answer.done()]
            batch, rest = waiting[: self._batch_max], waiting[self._batch_max :]
            if rest:
                self._waiting[tenant_id] = rest
            if batch:
                task = asyncio.get_running_loop().create_task(self._run(tenant_id, batch))
                self._tasks[tenant_id] = task
                task.add_done_callback(partial(self._finished, tenant_id))

    def _finished(self, tenant_id: str, _: asyncio.Task[None]) -> None:
        del self._tasks[tenant_id]
        if self._waiting:
            self._gathering.arrived()

    async def _run(self, tenant_id: str, batch: Sequence[tuple[Key, asyncio.Future[Facts]]]) -> None:
        try:
            found = await self._load(tenant_id, [key for key, _ in batch])
        except Exception as error:  # whoever waits must be answered, whatever went wrong
            for _, answer in batch:
                if not answer.done():
                    # One of its own for each: an exception that many raise collects all their tracebacks.
                    answer.set_exception(copy(error))
            return
        for (_, answer), facts in zip(batch, found, strict=True):
            if not answer.done():
                answer.set_result(facts)
