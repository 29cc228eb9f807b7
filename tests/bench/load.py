"""A load of calls: so many in flight from this process, bounded in count and time."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable

import grpc
import uvloop

Call = Callable[[grpc.aio.Channel, int], Awaitable[object]]


async def _run(address: str, call: Call, in_flight: int, seconds: float, calls_max: int, channels: int) -> float:
    opened = [
        grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(channels)
    ]
    await asyncio.gather(*(channel.channel_ready() for channel in opened))
    numbers = itertools.count()
    started = time.perf_counter()
    done = 0

    async def caller(index: int) -> None:
        nonlocal done
        channel = opened[index % channels]
        while time.perf_counter() - started < seconds:
            number = next(numbers)
            if number >= calls_max:
                return
            await call(channel, number)
            done += 1

    await asyncio.gather(*(caller(index) for index in range(in_flight)))
    rate = done / (time.perf_counter() - started)
    await asyncio.gather(*(channel.close() for channel in opened))
    return rate


def rate(
    address: str, call: Call, *, in_flight: int = 32, seconds: float, calls_max: int = 1_000_000, channels: int = 2
) -> float:
    """Calls a second. `channels` are connections: with several processes on a port each gets its share of them."""
    return uvloop.run(_run(address, call, in_flight, seconds, calls_max, channels))
