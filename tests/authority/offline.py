"""The offline verification of what a cluster's ledgers export."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from server.cli.offline_verifier import VerificationReport, verify
from storage.database import Database
from storage.ledger_export import export_source
from storage.ledger_snapshot import ledger_snapshot


def verify_exports(dsn: str, ledgers: Sequence[tuple[str, str]]) -> list[VerificationReport]:
    """The report on the export of each (tenant, workspace), in order; `dsn` is the server role's."""
    return [verify(lines) for lines in asyncio.run(_exports(dsn, ledgers))]


async def _exports(dsn: str, ledgers: Sequence[tuple[str, str]]) -> list[list[str]]:
    exports = []
    async with Database(dsn, size_max=1) as database:
        for tenant_id, scope_id in ledgers:
            async with ledger_snapshot(database, tenant_id, scope_id) as snapshot:
                assert snapshot is not None
                exports.append([line async for line in export_source(snapshot.source)])
    return exports
