"""Erasure: destroys the keys of removed content, then its rows (memory.md, "Erasure destroys the key").

Jobs are durable rows written with the tombstone; this worker is woken by the process that wrote one, and looks for those
left behind when it starts and now and then. Every step may be repeated, by any number of workers, and none is reported
done before it is durable.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from server.metrics import ERASURES
from storage.commands import ColdChange, Command, Status, event_row
from storage.commit import Coalescer
from storage.database import Database
from storage.errors import DatabaseUnavailable, QueueFull
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
        """Runs until cancelled."""
        sweep = True
        while True:
            tenants = set(self._woken)
            self._woken -= tenants
            self._wake.clear()
            try:
                for tenant_id in tenants | set(await self._tenants() if sweep else []):
                    await self.close_open_jobs(tenant_id)
            except (DatabaseUnavailable, KeyStoreUnavailable, QueueFull) as error:
                _log.warning("erasure is delayed: %s", type(error).__name__)
                self._woken |= tenants
                await asyncio.sleep(1.0)
                continue
            try:
                await asyncio.wait_for(self._wake.wait(), self._sweep_seconds)
                sweep = False
            except TimeoutError:
                sweep = True

    async def close_open_jobs(self, tenant_id: str) -> int:
        """Closes every open job of a tenant; returns how many."""
        closed = 0
        while jobs := await open_erasures(self._database, tenant_id, _BATCH):
            for job in jobs:
                kept = job.kept_content_ids
                found = await keys_of_removed_parts(self._database, tenant_id, job.scope_id, job.object_id, kept)
                await self._close(tenant_id, job, "erasure", found, "erasure_close")
            closed += len(jobs)
        while redactions := await open_redaction_jobs(self._database, tenant_id, _BATCH):
            for redaction in redactions:
                places = [(redaction.object_id, content_id) for content_id in redaction.erased_content_ids]
                parts = await load_parts(self._database, tenant_id, redaction.scope_id, places)
                found = [(part.key_page, part.key_slot) for part in parts.values()]
                await self._close(tenant_id, redaction, redaction.kind, found, "redaction.close")
            closed += len(redactions)
        return closed

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
