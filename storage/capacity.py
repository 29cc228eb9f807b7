"""How much a workspace holds, for planning (PAMSPEC 17.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.database import Database

# Versions of an object are numbered without gaps, so its pointer counts them: rows of objects are read, not of versions.
_CAPACITY: Final = """
select h.scope_id, h.sequence, o.versions + r.versions, o.tombstones, s.snapshots, i.indexes
  from remit.ledger_heads h
 cross join lateral (select coalesce(sum(m.sequence), 0)::bigint as versions,
                            count(*) filter (where m.deleted) as tombstones
                       from remit.memory_objects m where m.tenant_id = h.tenant_id and m.scope_id = h.scope_id) o
 cross join lateral (select coalesce(sum(l.sequence), 0)::bigint as versions
                       from remit.relationships l where l.tenant_id = h.tenant_id and l.scope_id = h.scope_id) r
 cross join lateral (select count(*) as snapshots
                       from remit.snapshots n where n.tenant_id = h.tenant_id and n.scope_id = h.scope_id) s
 cross join lateral (select count(*) as indexes
                       from remit.index_states x where x.tenant_id = h.tenant_id and x.scope_id = h.scope_id) i
 where h.tenant_id = %s and h.scope_id = any (%s)"""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What one workspace holds: versions of objects and of relationships, events, snapshots, indexes, tombstones."""

    scope_id: str
    ledger_entries: int
    versions: int
    tombstones: int
    snapshots: int
    indexes: int


async def load_capacity(database: Database, tenant_id: str, scope_ids: Sequence[str]) -> list[Capacity]:
    """Returns what those of the workspaces that are there hold; one statement."""
    rows = await database.tenant_rows(tenant_id, _CAPACITY, (tenant_id, list(scope_ids)))
    return [Capacity(*row) for row in rows]
