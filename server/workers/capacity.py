"""Measures how much workspaces hold, for the metrics endpoint (P-17.6-01).

Ids of workspaces become labels, so it has to be asked for, by number: the first so many workspaces that this process
serves are measured, one statement for each tenant a turn, and no scrape ever reaches the database.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from server.metrics import STORED
from storage.capacity import load_capacity
from storage.database import Database
from storage.errors import StorageError

_log = logging.getLogger(__name__)

KINDS: Final = ("versions", "ledger_entries", "snapshots", "indexes", "tombstones")


class CapacityWorker:
    """Measures the workspaces that `served` names, tenant and scope, until there are `scopes_max` of them."""

    def __init__(
        self,
        database: Database,
        served: Callable[[], Iterable[tuple[str, str]]],
        *,
        scopes_max: int,
        interval_seconds: float,
    ) -> None:
        self._database = database
        self._served = served
        self._scopes_max = scopes_max
        self._interval_seconds = interval_seconds
        # Kept for good: a series that came and went with a cache would tell nothing over time.
        self._measured: dict[tuple[str, str], None] = {}

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            try:
                await self.measure()
            except StorageError as error:
                _log.warning("capacity is not measured: %s", type(error).__name__)
            await asyncio.sleep(self._interval_seconds)

    async def measure(self) -> None:
        """Measures once."""
        for place in self._served():
            if len(self._measured) >= self._scopes_max:
                break
            self._measured.setdefault(place)
        tenants: defaultdict[str, list[str]] = defaultdict(list)
        for tenant_id, scope_id in self._measured:
            tenants[tenant_id].append(scope_id)
        for tenant_id, scope_ids in tenants.items():
            for found in await load_capacity(self._database, tenant_id, scope_ids):
                for kind in KINDS:
                    STORED.labels(kind, tenant_id, found.scope_id).set(getattr(found, kind))
