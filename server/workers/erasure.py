"""Erasure: destroys the keys of removed content, then its rows (memory.md, "Erasure destroys the key").

Jobs are durable rows written with the tombstone; this worker is woken by the process that wrote one, and looks for those
left behind when it starts and now and then. Every step may be repeated, by any number of workers, and none is reported
done before it is durable.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from uuid import UUID

from server.metrics import ERASURES
from storage.commands import ColdChange, Command, Status, event_row
from storage.commit import Coalescer
from storage.database import Database
from storage.errors import DatabaseUnavailable, QueueFull, StorageError
from storage.keystore import KeyId, KeyRing, KeyStoreUnavailable
from storage.model.actor import ActorRef
from storage.model.event_record import EventRecord
from storage.model.events import PropagationJobClosed
from storage.model.identifiers import new_id
from storage.model.relationship import owned_by
from storage.objects import ErasureJob, keys_of_removed_parts, open_erasures
from storage.redactions import RedactionJob, load_parts, open_redaction_jobs

_log = logging.getLogger(__name__)

ERASURE_ACTOR = ActorRef("actor:remit:erasure", "service")
_BATCH = 100
_PAUSE_SECONDS = 1.0
# They pass; whatever else storage raises is met again by the next sweep.
_DELAYS = (DatabaseUnavailable, KeyStoreUnavailable, QueueFull)


class ErasureWorker:
    """Closes the open erasure jobs of tenants it is told of, or finds with `tenants`."""

    def __init__(
        self,
        database: Database,
        coalescer: Coalescer,
        key_ring: KeyRing,
        tenants: Callable[[], Awaitable[list[str]]],
        *,
        sweep_seconds: float = 30.0,
    ) -> None:
        self._database = database
        self._coalescer = coalescer
        self._key_ring = key_ring
        self._tenants = tenants
        self._sweep_seconds = sweep_seconds
        self._woken: set[str] = set()
        self._wake = asyncio.Event()

    def wake(self, tenant_id: str) -> None:
        """Says that the tenant has a new job."""
        self._woken.add(tenant_id)
        self._wake.set()

    async def run(self) -> None:
        """Runs until cancelled, whatever storage raises."""
        next_sweep_at = 0.0
        while True:
            tenants = set(self._woken)
            self._woken -= tenants
            self._wake.clear()
            again, is_delayed = tenants, True
            try:
                if time.monotonic() >= next_sweep_at:
                    tenants = tenants | set(await self._tenants())
                    next_sweep_at = time.monotonic() + self._sweep_seconds
                again = {tenant_id for tenant_id in tenants if not await self._attended(tenant_id)}
                is_delayed = bool(again)
            except StorageError as error:
                _log.warning("erasure is delayed: %s", type(error).__name__)
            self._woken |= again
            if is_delayed:
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), next_sweep_at - time.monotonic())

    async def _attended(self, tenant_id: str) -> bool:
        """Closes what can be closed of a tenant; returns False when it is to be tried again before the next sweep."""
        try:
            await self.close_open_jobs(tenant_id)
        except _DELAYS as error:
            _log.warning("erasure is delayed: %s", type(error).__name__)
            return False
        except StorageError as error:
            _log.error("erasure of a tenant is left to the next sweep: %s", type(error).__name__)
        return True

    async def close_open_jobs(self, tenant_id: str) -> int:
        """Closes every open job of a tenant that can be closed; returns how many. Raises StorageError."""
        closed = 0
        while done := await self._closed(tenant_id, await open_erasures(self._database, tenant_id, _BATCH)):
            closed += done
        while done := await self._closed(tenant_id, await open_redaction_jobs(self._database, tenant_id, _BATCH)):
            closed += done
        return closed

    async def _closed(self, tenant_id: str, jobs: Sequence[ErasureJob | RedactionJob]) -> int:
        """Closes those of the jobs that can be; the others stay open, and keep none of the rest from being closed."""
        closed = 0
        for job in jobs:
            try:
                if isinstance(job, ErasureJob):
                    await self._close_erasure(tenant_id, job)
                else:
                    await self._close_redaction(tenant_id, job)
                closed += 1
            except _DELAYS:
                raise
            except StorageError as error:
                _log.error("erasure job %s stays open: %s", job.job_id, type(error).__name__)
        return closed

    async def _close_erasure(self, tenant_id: str, job: ErasureJob) -> None:
        kept = job.kept_content_ids
        found = await keys_of_removed_parts(self._database, tenant_id, job.scope_id, job.object_id, kept)
        await self._close(tenant_id, job, "erasure", found, "erasure_close")

    async def _close_redaction(self, tenant_id: str, job: RedactionJob) -> None:
        places = [(job.object_id, content_id) for content_id in job.erased_content_ids]
        parts = await load_parts(self._database, tenant_id, job.scope_id, places)
        found = [(part.key_page, part.key_slot) for part in parts.values()]
        await self._close(tenant_id, job, job.kind, found, "redaction.close")

    async def _close(
        self, tenant_id: str, job: ErasureJob | RedactionJob, kind: str, keys: Sequence[tuple[UUID, int]], change: str
    ) -> None:
        # The order is the promise: keys first, durably; only then may the job say so.
        destroyed = await self._key_ring.destroy(tenant_id, [KeyId(page, slot) for page, slot in keys])
        record = EventRecord(
            scope_id=job.scope_id,
            event_id=new_id(),
            operation_id=job.job_id,
            actor=ERASURE_ACTOR,
            event=PropagationJobClosed(job_id=job.job_id, kind=kind, keys_destroyed=destroyed),
            **owned_by(job.object_id),
        )
        outcome = await self._coalescer.submit(
            Command(
                tenant_id=tenant_id,
                scope_id=job.scope_id,
                actor_id=ERASURE_ACTOR.actor_id,
                events=[event_row(tenant_id, record)],
                colds=[ColdChange(change, {"job_id": job.job_id})],
            )
        )
        if outcome.status is Status.ACCEPTED:
            ERASURES.inc()
