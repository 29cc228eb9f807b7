"""Redactions: the version that rules what may be shown of an object, and parts by their ids (P-10.9-*)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from storage.database import Database
from storage.objects import MICROSECONDS, PART_COLUMNS, StoredPart


class StoredCore(NamedTuple):
    """What authenticates a version of an object, without the columns that repeat it."""

    object_id: str
    sequence: int
    version_id: str
    core: bytes
    mac: bytes
    mac_key_id: str


_CORE_COLUMNS: Final = "v.object_id, v.sequence, v.version_id, v.core, v.mac, v.mac_key_id"
_CORE_WIDTH: Final = 6

# The newest version there is, whatever the object's pointer says. Of its redaction parts the core names one.
_RULING: Final = f"""
select {_CORE_COLUMNS}, {PART_COLUMNS.format("r")}
  from unnest(%b::text[]) k(object_id)
 cross join lateral (
    select * from remit.memory_versions x where x.tenant_id = %s and x.scope_id = %s and x.object_id = k.object_id
     order by x.sequence desc limit 1) v
  left join remit.memory_contents r
    on r.tenant_id = v.tenant_id and r.scope_id = v.scope_id and r.object_id = v.object_id and r.part = 'redaction'"""


async def load_ruling_versions(
    database: Database, tenant_id: str, scope_id: str, object_ids: Sequence[str]
) -> dict[str, tuple[StoredCore, dict[UUID, StoredPart]]]:
    """Returns the newest version of each object with the redaction parts that the object has, by content id."""
    rows = await database.tenant_rows(tenant_id, _RULING, (list(object_ids), tenant_id, scope_id))
    found: dict[str, tuple[StoredCore, dict[UUID, StoredPart]]] = {}
    for row in rows:
        core = StoredCore(*row[:_CORE_WIDTH])
        parts = found.setdefault(core.object_id, (core, {}))[1]
        if row[_CORE_WIDTH] is not None:
            part = StoredPart(*row[_CORE_WIDTH:])
            parts[part.content_id] = part
    return found


_PARTS: Final = f"""
select c.object_id, {PART_COLUMNS.format("c")}
  from rows from (unnest(%b::text[]), unnest(%b::uuid[])) k(object_id, content_id)
  join remit.memory_contents c
    on c.tenant_id = %s and c.scope_id = %s and c.object_id = k.object_id and c.content_id = k.content_id"""


async def load_parts(
    database: Database, tenant_id: str, scope_id: str, places: Sequence[tuple[str, UUID]]
) -> dict[tuple[str, UUID], StoredPart]:
    """Returns those of the parts, each named by its object and content id, that there are."""
    arguments: tuple[Any, ...] = ([place[0] for place in places], [place[1] for place in places], tenant_id, scope_id)
    rows = await database.tenant_rows(tenant_id, _PARTS, arguments)
    return {(row[0], row[1]): StoredPart(*row[1:]) for row in rows}


_ALL_CORES: Final = f"""
select {_CORE_COLUMNS} from remit.memory_versions v
 where v.tenant_id = %s and v.scope_id = %s and v.object_id = %s and v.sequence > %s order by v.sequence limit %s"""
_CORES_AT_ONCE: Final = 500


async def load_cores(database: Database, tenant_id: str, scope_id: str, object_id: str) -> list[StoredCore]:
    """Returns every version of an object, oldest first."""
    found: list[StoredCore] = []
    while True:
        last = found[-1].sequence if found else 0
        rows = await database.tenant_rows(tenant_id, _ALL_CORES, (tenant_id, scope_id, object_id, last, _CORES_AT_ONCE))
        found += [StoredCore(*row) for row in rows]
        if len(rows) < _CORES_AT_ONCE:
            return found


# By the ledger, which the database's clock stamps under the lock; a version's own time may be a snapshot's.
_KEPT_SINCE: Final = f"""
select {MICROSECONDS.format("e.recorded_at")} from remit.memory_versions v
  join remit.ledger_events e
    on e.tenant_id = v.tenant_id and e.scope_id = v.scope_id and e.sequence = v.ledger_sequence
 where v.tenant_id = %s and v.scope_id = %s and v.object_id = %s and v.content_id is not distinct from %s::uuid
 order by v.sequence limit 1"""


async def content_kept_since_us(
    database: Database, tenant_id: str, scope_id: str, object_id: str, content_id: UUID | None
) -> int:
    """Returns when the content that versions of the object share was recorded first, in microseconds."""
    rows = await database.tenant_rows(tenant_id, _KEPT_SINCE, (tenant_id, scope_id, object_id, content_id))
    return int(rows[0][0])


class RedactionJob(NamedTuple):
    """Parts that a redaction replaced or removed, whose keys are still to be destroyed."""

    scope_id: str
    job_id: str
    object_id: str
    kind: str
    erased_content_ids: tuple[UUID, ...]


_OPEN_JOBS: Final = """
select j.scope_id, j.job_id, j.object_id, j.kind, j.erased_content_ids from remit.redaction_jobs j
 where j.tenant_id = %s and j.state = 'open' order by j.opened_at limit %s"""


async def open_redaction_jobs(database: Database, tenant_id: str, limit: int) -> list[RedactionJob]:
    """Returns jobs of redactions that are still open, oldest first, at most `limit`."""
    rows = await database.tenant_rows(tenant_id, _OPEN_JOBS, (tenant_id, limit))
    return [
        RedactionJob(scope_id, job_id, object_id, kind, tuple(erased))
        for scope_id, job_id, object_id, kind, erased in rows
    ]
