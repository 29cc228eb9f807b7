"""Whether a server process keeps its memory over many calls, some of them cancelled.

    python -m tests.faults.soak --calls 100000 --cancelled 10000

One process of `remit serve` on an embedded PostgreSQL of its own. A third of the calls write, the rest read, by own
authority and by a metered grant in turn. Prints the resident memory along the way, in MiB, and exits with 1 when it
grew by more than `--growth-max` MiB from the end of the warm-up to the end.

The process caches 1,024 pages of data keys. Pages are small here, so that this cache is full when the warm-up ends; with
pages of the default size it goes on to fill for about 400,000 calls, by some 50 MiB, which would hide a leak.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import grpc

from remit.v1 import memory_pb2
from tests.cluster import ADMIN, TENANT, Client, Cluster, Workspace
from tests.conftest import reachable_folder
from tests.faults.account import check_ledger, check_nothing_torn
from tests.faults.load import DELEGATE, grant_to_delegate
from tests.faults.postgres_process import own_postgres

_CONCURRENCY = 64
_WARM_UP_SHARE = 0.2
_SAMPLES = 20
_KEY_PAGE_SIZE = "8"


def resident_mib(pid: int) -> float:
    """The resident memory of a process, MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kib = next(line.split()[1] for line in lines if line.startswith("VmRSS:"))
    return int(kib) / 1024


class Soak:
    """Calls of a workspace, `_CONCURRENCY` at a time."""

    def __init__(self, workspace: Workspace, address: str, owner: Client, delegate: Client, delegation_id: str) -> None:
        self._channel = grpc.aio.insecure_channel(address)
        self._create = self._channel.unary_unary("/remit.v1.MemoryService/Create")
        self._read = self._channel.unary_unary("/remit.v1.MemoryService/Read")
        self._metadata = (owner.metadata, delegate.metadata)
        scope_id = workspace.scope_id
        stored = workspace.create().object_id
        self._requests: list[tuple[bool, int, bytes]] = []
        for number in range(6):
            by_grant = {"delegation_id": delegation_id} if number % 2 else {}
            writes = number < 2
            request = (
                memory_pb2.CreateRequest(
                    scope_id=scope_id,
                    object_type="claim",
                    canonical_content=b'{"statement":"soak"}',
                    provenance={"activity": "observed"},
                    **by_grant,
                )
                if writes
                else memory_pb2.ReadRequest(scope_id=scope_id, object_id=stored, **by_grant)
            )
            self._requests.append((writes, number % 2, request.SerializeToString()))

    def _begin(self, number: int) -> grpc.aio.UnaryUnaryCall:
        writes, who, request = self._requests[number % len(self._requests)]
        method = self._create if writes else self._read
        return method(request, metadata=self._metadata[who], timeout=60)

    async def answered(self, number: int) -> None:
        """One call to its end."""
        await self._begin(number)

    async def cancelled(self, number: int) -> None:
        """One call that is given up after a few turns of the loop: before, while or after it is answered."""
        call = self._begin(number)
        for _ in range(number % 50):
            await asyncio.sleep(0)
        call.cancel()

    async def many(self, one: Callable[[int], Awaitable[None]], count: int) -> None:
        """So many of them."""
        numbers = iter(range(count))

        async def work() -> None:
            for number in numbers:
                await one(number)

        await asyncio.gather(*(work() for _ in range(_CONCURRENCY)))

    async def close(self) -> None:
        """Closes the channel."""
        await self._channel.close()


async def soak(made: Callable[[], Soak], pid: int, calls: int, cancelled: int) -> list[float]:
    """Makes the calls; returns the resident memory at the start and after each twentieth of them."""
    run = made()  # its channel belongs to this loop
    samples = [resident_mib(pid)]
    for _ in range(_SAMPLES):
        await run.many(run.answered, calls // _SAMPLES)
        await run.many(run.cancelled, cancelled // _SAMPLES)
        samples.append(resident_mib(pid))
        print(f"{len(samples) - 1}/{_SAMPLES}: {samples[-1]:.1f} MiB", file=sys.stderr, flush=True)
    await run.close()
    return samples


def main() -> int:
    """Runs it; prints a JSON object with the samples."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--cancelled", type=int, default=10_000)
    parser.add_argument("--growth-max", type=float, default=6.0, help="MiB")
    options = parser.parse_args()
    with own_postgres() as postgres:
        cluster = Cluster(postgres.databases(), reachable_folder("remit-soak-"))
        try:
            cluster.add_tenant(TENANT, ADMIN)
            server = cluster.start_server(REMIT_LOG_LEVEL="WARNING", REMIT_KEY_PAGE_SIZE=_KEY_PAGE_SIZE)
            workspace = Workspace(cluster)
            delegation_id = grant_to_delegate(workspace, usage_limit=1_000_000_000)
            owner, delegate = cluster.client(ADMIN), cluster.client(DELEGATE)
            made = partial(Soak, workspace, server.address, owner, delegate, delegation_id)
            samples = asyncio.run(soak(made, server.process.pid, options.calls, options.cancelled))
            with cluster.superuser() as connection:
                check_nothing_torn(connection)
            check_ledger(workspace, owner)
        finally:
            cluster.close()
    warm = samples[round(_SAMPLES * _WARM_UP_SHARE)]
    growth = max(samples[-3:]) - warm
    print(
        json.dumps(
            {
                "calls": options.calls,
                "cancelled": options.cancelled,
                "resident_mib": [round(sample, 1) for sample in samples],
                "growth_after_warm_up_mib": round(growth, 1),
            }
        )
    )
    return 0 if growth <= options.growth_max else 1


if __name__ == "__main__":
    sys.exit(main())
