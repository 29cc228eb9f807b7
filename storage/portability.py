"""Exports: the pages of a whole workspace, bound to one ledger sequence.

Versions never change, so pages that are bound to one sequence agree with each other whatever is written meanwhile; what
was removed since is withheld by the gate of now, on every page (memory.md, "One retrieval gate").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from storage.database import Database
from storage.ledger import EVENT_COLUMNS
from storage.model.ledger_rows import EventRow
from storage.objects import HEAD_COLUMNS, VERSION_COLUMNS, Heads, StoredVersion, heads_of, stored_version
from storage.queries import PART_JOINS, PARTS, ROW_BYTES
from storage.relationships import (
    CONTENT_OWNER,
    RELATIONSHIP_COLUMNS,
    RELATIONSHIP_PARTS,
    StoredRelationship,
    stored_relationship,
)
from storage.row_filter import Conditions, RowFilter

PAGE_ROWS: Final = 200
_HEAD_WIDTH: Final = 6


class Bound(NamedTuple):
    """What an export is bound to: a ledger sequence, the chain hash there, and the ledger's random id."""

    heads: Heads
    sequence: int
    chain_hash: bytes
    ledger_id: UUID


_BOUND: Final = f"""
select {HEAD_COLUMNS}, h.chain_hash, h.ledger_id,
       (select e.chain_hash from remit.ledger_events e
         where e.tenant_id = h.tenant_id and e.scope_id = h.scope_id and e.sequence = %s)
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
 where h.tenant_id = %s and h.scope_id = %s"""


async def load_bound(database: Database, tenant_id: str, scope_id: str, sequence: int | None) -> Bound | None:
    """Returns the workspace's present head as a bound, or an earlier `sequence`; None when there is no such workspace."""
    rows = await database.tenant_rows(tenant_id, _BOUND, (sequence or 0, tenant_id, scope_id))
    if not rows:
        return None
    heads = heads_of(rows[0][:_HEAD_WIDTH])
    assert heads is not None
    chain_hash, ledger_id, earlier_hash = rows[0][_HEAD_WIDTH:]
    if sequence is None:
        return Bound(heads, heads.sequence, chain_hash, ledger_id)
    return Bound(heads, sequence, earlier_hash or b"", ledger_id)


class ExportedVersion(NamedTuple):
    """A version with whether its parts may be given, and the references that came with it when it was imported."""

    version: StoredVersion
    given: bool
    relationship_refs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A page; none is left when it is empty. `heads` are those of its statement, None: no such workspace."""

    heads: Heads | None
    rows: tuple[ExportedVersion, ...]


_VERSIONS: Final = """
select * from (
select {head}, v.given, r.relationship_refs, {version}, {parts}, v.position,
       coalesce(sum({row_bytes}) over (order by v.position rows between unbounded preceding and 1 preceding), 0)
           as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select v.*, row_number() over (order by v.object_id, v.sequence) as position,
           (g.verdict = 'open' or g.verdict = 'retention_restricted' and {review})
               and v.availability_state not in ('redacted', 'deleted') as given
      from (select v.* from remit.memory_versions v
             where v.tenant_id = {tenant} and v.scope_id = {scope} and v.ledger_sequence <= {bound}
               and (v.object_id, v.sequence) > ({object_id}, {number}){conditions}
             order by v.object_id, v.sequence limit {limit}) v
     cross join lateral (
        select g.verdict from remit.retrieval_gate g
         where g.tenant_id = v.tenant_id and g.scope_id = v.scope_id and g.object_id = v.object_id limit 1) g) v
    on true{part_joins}
  left join lateral (
    select x.relationship_refs from remit.imported_versions x
     where x.tenant_id = v.tenant_id and x.scope_id = v.scope_id and x.object_id = v.object_id
       and x.sequence = v.sequence limit 1) r on true
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""
_REFS_AT: Final = _HEAD_WIDTH + 1
_VERSION_AT: Final = _HEAD_WIDTH + 2


async def page_of_versions(
    database: Database,
    tenant_id: str,
    scope_id: str,
    *,
    bound: int,
    after: tuple[str, int],
    review: RowFilter,
    bytes_max: int,
    object_ids: Sequence[str] | None = None,
) -> VersionPage:
    """Returns the versions after an object's version, by object id and number, with `ledger_sequence` up to `bound`.

    At most PAGE_ROWS, cut earlier at about `bytes_max` bytes but not before the first one; `object_ids` None: of all
    objects. `review` covers objects whose content may be given while they are pending deletion.
    """
    where = Conditions()
    if object_ids is not None:
        where.add(f"v.object_id = any ({where.bind(list(object_ids), 'text[]')})")
    conditions = where.sql
    statement = _VERSIONS.format(
        head=HEAD_COLUMNS,
        version=VERSION_COLUMNS,
        parts=PARTS,
        part_joins=PART_JOINS,
        row_bytes=ROW_BYTES,
        conditions=conditions,
        review=where.covers(review, "v.object_type", "v.object_id"),
        tenant=where.bind(tenant_id, "text"),
        scope=where.bind(scope_id, "text"),
        bound=where.bind(bound, "bigint"),
        object_id=where.bind(after[0], "text"),
        number=where.bind(after[1], "bigint"),
        bytes_max=where.bind(bytes_max, "bigint"),
        # A number the planner knows, so that it reads no more than a page.
        limit=PAGE_ROWS,
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    if not rows:
        return VersionPage(None, ())
    found = []
    for row in rows:
        version = stored_version(row[_VERSION_AT:])
        if version is not None:
            refs = row[_REFS_AT]
            found.append(ExportedVersion(version, bool(row[_HEAD_WIDTH]), None if refs is None else tuple(refs)))
    return VersionPage(heads_of(rows[0][:_HEAD_WIDTH]), tuple(found))


class ExportedRelationship(NamedTuple):
    """A version of a relationship with whether its parts may be given, and the stored types of its ends (None: gone)."""

    version: StoredRelationship
    given: bool
    source_type: str | None
    target_type: str | None


@dataclass(frozen=True, slots=True)
class RelationshipPage:
    """A page; none is left when it is empty. `heads` are those of its statement, None: no such workspace."""

    heads: Heads | None
    rows: tuple[ExportedRelationship, ...]


_RELATIONSHIPS: Final = f"""
select * from (
select {HEAD_COLUMNS}, v.given, v.source_type, v.target_type, {RELATIONSHIP_COLUMNS}, {RELATIONSHIP_PARTS}, v.position,
       coalesce(sum({ROW_BYTES}) over (order by v.position rows between unbounded preceding and 1 preceding), 0)
           as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select v.*, row_number() over (order by v.relationship_id, v.sequence) as position,
           s.object_type as source_type, e.object_type as target_type,
           g.verdict = 'open' and v.availability_state not in ('redacted', 'deleted') as given
      from (select v.* from remit.relationship_versions v
             where v.tenant_id = %(tenant)s and v.scope_id = %(scope)s and v.ledger_sequence <= %(bound)s
               and (v.relationship_id, v.sequence) > (%(after)s, %(number)s)
             order by v.relationship_id, v.sequence limit {PAGE_ROWS}) v
     cross join lateral (
        select g.verdict from remit.relationship_gate g
         where g.tenant_id = v.tenant_id and g.scope_id = v.scope_id and g.relationship_id = v.relationship_id limit 1) g
      left join lateral (
        select o.object_type from remit.memory_objects o where o.tenant_id = v.tenant_id and o.scope_id = v.scope_id
           and o.object_id = v.source_object_id limit 1) s on true
      left join lateral (
        select o.object_type from remit.memory_objects o where o.tenant_id = v.tenant_id
           and o.scope_id = v.target_scope_id and o.object_id = v.target_object_id limit 1) e on true) v on true
{PART_JOINS.replace("v.object_id", "(" + CONTENT_OWNER.format("v") + ")")}
 where h.tenant_id = %(tenant)s and h.scope_id = %(scope)s) page
 where bytes_before < %(bytes_max)s
 order by position"""
_RELATIONSHIP_AT: Final = _HEAD_WIDTH + 3


async def page_of_relationships(
    database: Database, tenant_id: str, scope_id: str, *, bound: int, after: tuple[str, int], bytes_max: int
) -> RelationshipPage:
    """Returns the versions of relationships as `page_of_versions` does those of objects."""
    params: Mapping[str, Any] = {
        **{"tenant": tenant_id, "scope": scope_id, "bound": bound, "bytes_max": bytes_max},
        **{"after": after[0], "number": after[1]},
    }
    rows = await database.tenant_rows(tenant_id, _RELATIONSHIPS, params)
    if not rows:
        return RelationshipPage(None, ())
    found = []
    for row in rows:
        version = stored_relationship(row[_RELATIONSHIP_AT:])
        if version is not None:
            given, source_type, target_type = row[_HEAD_WIDTH:_RELATIONSHIP_AT]
            found.append(ExportedRelationship(version, bool(given), source_type, target_type))
    return RelationshipPage(heads_of(rows[0][:_HEAD_WIDTH]), tuple(found))


class GrantVersion(NamedTuple):
    """A version of a grant of the workspace, to be authenticated."""

    delegation_id: str
    sequence: int
    core: bytes
    mac: bytes
    mac_key_id: str


_GRANT_VERSIONS: Final = f"""
select g.delegation_id, g.sequence, g.core, g.mac, g.mac_key_id from remit.delegation_versions g
 where g.tenant_id = %s and g.scope_id = %s and g.ledger_sequence <= %s
   and (g.delegation_id collate "C", g.sequence) > (%s, %s)
 order by g.delegation_id collate "C", g.sequence limit {PAGE_ROWS}"""


async def page_of_grants(
    database: Database, tenant_id: str, scope_id: str, bound: int, after: tuple[str, int]
) -> list[GrantVersion]:
    """Returns the versions of grants after a grant's version, by grant and number, up to `bound`; empty at the end."""
    rows = await database.tenant_rows(tenant_id, _GRANT_VERSIONS, (tenant_id, scope_id, bound, *after))
    return [GrantVersion(*row) for row in rows]


_EVENTS: Final = f"""
select {EVENT_COLUMNS} from remit.ledger_events e
 where e.tenant_id = %s and e.scope_id = %s and e.sequence <= %s and e.sequence > %s
 order by e.sequence limit {PAGE_ROWS}"""


async def page_of_events(
    database: Database, tenant_id: str, scope_id: str, bound: int, after_sequence: int
) -> list[EventRow]:
    """Returns the events after a sequence up to `bound`, oldest first; empty at the end."""
    rows = await database.tenant_rows(tenant_id, _EVENTS, (tenant_id, scope_id, bound, after_sequence))
    return [EventRow(*row) for row in rows]


HistoryKey = tuple[int, int]
"""Ledger sequence of an import, and the position of a record in it."""


class HistoryRecord(NamedTuple):
    """A record that came with an import and stays as it came."""

    key: HistoryKey
    kind: str
    record: bytes


_HISTORY: Final = """
select i.ledger_sequence, x.position, x.kind, x.record
  from remit.imports i
  join remit.{0} x on x.tenant_id = i.tenant_id and x.scope_id = i.scope_id and x.import_id = i.import_id
 where i.tenant_id = %s and i.scope_id = %s and i.ledger_sequence <= %s and (i.ledger_sequence, x.position) > (%s, %s)
 order by i.ledger_sequence, x.position limit {1}"""
_IMPORTED_DELEGATIONS: Final = _HISTORY.format("imported_delegations", PAGE_ROWS)
_FOREIGN_LEDGERS: Final = _HISTORY.format("foreign_ledger_records", PAGE_ROWS)


async def page_of_imported_grants(
    database: Database, tenant_id: str, scope_id: str, bound: int, after: HistoryKey
) -> list[HistoryRecord]:
    """Returns records of grants of another origin after a key, import by import; empty at the end."""
    rows = await database.tenant_rows(tenant_id, _IMPORTED_DELEGATIONS, (tenant_id, scope_id, bound, *after))
    return [HistoryRecord((sequence, position), kind, record) for sequence, position, kind, record in rows]


async def page_of_foreign_ledgers(
    database: Database, tenant_id: str, scope_id: str, bound: int, after: HistoryKey
) -> list[HistoryRecord]:
    """Returns records of attached ledgers after a key, import by import; empty at the end."""
    rows = await database.tenant_rows(tenant_id, _FOREIGN_LEDGERS, (tenant_id, scope_id, bound, *after))
    return [HistoryRecord((sequence, position), kind, record) for sequence, position, kind, record in rows]
