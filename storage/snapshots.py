"""Sealed snapshots: all reads of them, and of the versions they hold (PAMSPEC 12; P-12-09, P-18.11-*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.database import Database
from storage.row_filter import Conditions


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A row of remit.snapshots, and how many changes were made under its evaluation run (0 where it names none)."""

    snapshot_id: str
    core: bytes
    mac: bytes
    mac_key_id: str


Member = tuple[str, str, int, bytes]
"""Object id, version id, number of the version, SHA-256 of its core."""

_LOAD: Final = (
    "select snapshot_id, core, mac, mac_key_id from remit.snapshots"
    " where tenant_id = %s and scope_id = %s and snapshot_id = %s"
)
_CHANGES: Final = "select changes from remit.evaluation_runs where tenant_id = %s and scope_id = %s and run_key = %s"
# The version of an object at a boundary: the last one whose ledger sequence is not beyond it.
VERSION_AT: Final = """
    select x.* from remit.memory_versions x
     where x.tenant_id = {tenant} and x.scope_id = {scope} and x.object_id = {object_id}
       and x.ledger_sequence <= {watermark}
     order by x.sequence desc limit 1"""
_MEMBERS: Final = """
select o.object_id, v.version_id, v.sequence, sha256(v.core)
  from remit.memory_objects o
 cross join lateral ({version_at}) v
 where o.tenant_id = {tenant} and o.scope_id = {scope} and o.object_id > {after}{conditions}
 order by o.object_id limit {limit}"""


async def load_snapshot(database: Database, tenant_id: str, scope_id: str, snapshot_id: str) -> StoredSnapshot | None:
    """Returns the snapshot of the workspace, None when it has none of that id. Raises DatabaseUnavailable."""
    rows = await database.tenant_rows(tenant_id, _LOAD, (tenant_id, scope_id, snapshot_id))
    return StoredSnapshot(*rows[0]) if rows else None


async def count_changes(database: Database, tenant_id: str, scope_id: str, run_key: str) -> int:
    """Returns how many changes were made under an evaluation run. Raises DatabaseUnavailable."""
    rows = await database.tenant_rows(tenant_id, _CHANGES, (tenant_id, scope_id, run_key))
    return int(rows[0][0]) if rows else 0


async def list_members(
    database: Database,
    tenant_id: str,
    scope_id: str,
    *,
    watermark: int,
    object_ids: Sequence[str] | None,
    after: str,
    limit: int,
) -> list[Member]:
    """Returns up to `limit` members after an object id, in the byte order of object ids, as they stood at a boundary.

    `object_ids` None: all objects. What stood at a sequence that was committed never changes, so the pages of a listing
    agree with each other whatever is written meanwhile. Raises DatabaseUnavailable, StatementTimeout.
    """
    where = Conditions()
    tenant, scope = where.bind(tenant_id, "text"), where.bind(scope_id, "text")
    if object_ids is not None:
        where.add(f"o.object_id = any ({where.bind(list(object_ids), 'text[]')})")
    statement = _MEMBERS.format(
        version_at=VERSION_AT.format(
            tenant=tenant, scope=scope, object_id="o.object_id", watermark=where.bind(watermark, "bigint")
        ),
        tenant=tenant,
        scope=scope,
        after=where.bind(after, "text"),
        conditions=where.sql,
        limit=limit,
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    return [(object_id, version_id, sequence, digest) for object_id, version_id, sequence, digest in rows]


async def version_at(
    database: Database, tenant_id: str, scope_id: str, object_id: str, version_id: str | None, watermark: int
) -> tuple[str, int] | None:
    """Returns id and number of an object's version at a boundary, or of the asked version if it stood by then."""
    where = Conditions()
    statement = VERSION_AT.replace("x.*", "x.version_id, x.sequence").replace("order by", "{conditions} order by")
    names = {
        "tenant": where.bind(tenant_id, "text"),
        "scope": where.bind(scope_id, "text"),
        "object_id": where.bind(object_id, "text"),
        "watermark": where.bind(watermark, "bigint"),
    }
    where.equal({"x.version_id": version_id})
    rows = await database.tenant_rows(tenant_id, statement.format(**names, conditions=where.sql), where.params)
    return (str(rows[0][0]), int(rows[0][1])) if rows else None
