"""Imports: what an import finds in the workspace that it comes to (surface.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from storage.database import Database


class ObjectHere(NamedTuple):
    """An object or a relationship that stands here under an id of an import. `retention_state` is its current one."""

    id: str
    version_id: str
    sequence: int
    deleted: bool
    availability_state: str
    retention_state: str


_OBJECTS_HERE: Final = """
select k.id, g.version_id, g.sequence, g.verdict = 'deleted', g.availability_state, g.retention_state
  from unnest(%b::text[]) k(id)
 cross join lateral (
    select * from remit.retrieval_gate g where g.tenant_id = %s and g.scope_id = %s and g.object_id = k.id limit 1) g"""
_RELATIONSHIPS_HERE: Final = """
select k.id, r.version_id, r.sequence, r.availability_state = 'deleted', r.availability_state, r.retention_state
  from unnest(%b::text[]) k(id)
 cross join lateral (
    select * from remit.relationships r
     where r.tenant_id = %s and r.scope_id = %s and r.relationship_id = k.id limit 1) r"""


async def objects_here(database: Database, tenant_id: str, scope_id: str, ids: Sequence[str]) -> list[ObjectHere]:
    """Returns the objects of the workspace that have one of the ids."""
    rows = await database.tenant_rows(tenant_id, _OBJECTS_HERE, (list(ids), tenant_id, scope_id))
    return [ObjectHere(*row) for row in rows]


async def relationships_here(database: Database, tenant_id: str, scope_id: str, ids: Sequence[str]) -> list[ObjectHere]:
    """Returns the relationships of the workspace that have one of the ids."""
    rows = await database.tenant_rows(tenant_id, _RELATIONSHIPS_HERE, (list(ids), tenant_id, scope_id))
    return [ObjectHere(*row) for row in rows]


# One pass over the workspace's versions: version ids have no index, for nothing else looks one up alone.
_VERSION_IDS_HERE: Final = """
select v.version_id, 'memory_object', v.object_id from remit.memory_versions v
  join unnest(%(ids)b::text[]) k(id) on k.id = v.version_id
 where v.tenant_id = %(tenant)s and v.scope_id = %(scope)s
union all
select v.version_id, 'relationship', v.relationship_id from remit.relationship_versions v
  join unnest(%(ids)b::text[]) k(id) on k.id = v.version_id
 where v.tenant_id = %(tenant)s and v.scope_id = %(scope)s"""


async def version_ids_here(
    database: Database, tenant_id: str, scope_id: str, ids: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Returns version id, kind and id of the owner for each of the version ids that stands here."""
    params = {"ids": list(ids), "tenant": tenant_id, "scope": scope_id}
    return [(row[0], row[1], row[2]) for row in await database.tenant_rows(tenant_id, _VERSION_IDS_HERE, params)]


class EarlierImport(NamedTuple):
    """How many imports there were, and the answer of the one of the same export (None: there was none)."""

    imports: int
    result: Mapping[str, Any] | None


_EARLIER: Final = """
select (select count(*) from remit.imports i where i.tenant_id = %(tenant)s and i.scope_id = %(scope)s),
       (select i.result from remit.imports i where i.tenant_id = %(tenant)s and i.scope_id = %(scope)s
           and i.export_digest = %(digest)s and i.source_tenant_id = %(source_tenant)s
           and i.source_scope_id = %(source_scope)s)"""


async def earlier_import(
    database: Database, tenant_id: str, scope_id: str, digest: bytes, source: tuple[str, str]
) -> EarlierImport:
    """Returns what is known here of imports, and of the one of this export from that tenant and workspace."""
    params = {
        **{"tenant": tenant_id, "scope": scope_id, "digest": digest},
        **{"source_tenant": source[0], "source_scope": source[1]},
    }
    [(count, result)] = await database.tenant_rows(tenant_id, _EARLIER, params)
    return EarlierImport(count, result)
