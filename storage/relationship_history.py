"""Histories of relationships: their versions, and the events that name them, by ledger sequence (P-10.7-03)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.history import EntryKey
from storage.ledger import EVENT_ROW, LINKED_COLUMNS, LINKED_WIDTH, LinkedEvent, linked_event
from storage.objects import HEAD_COLUMNS, Heads, heads_of
from storage.queries import PART_JOINS, ROW_BYTES
from storage.relationship_ends import EndReach, ends_admitted
from storage.relationships import (
    CONTENT_OWNER,
    RELATIONSHIP_COLUMNS,
    RELATIONSHIP_PARTS,
    StoredRelationship,
    stored_relationship,
)
from storage.row_filter import Conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipHistoryQuery:
    """What to list of one relationship, of those that end at an object, or of all of a range; oldest first.

    As in HistoryQuery; `reach` must cover both ends. Without `with_events` only versions are listed. `version_range` is
    of the relationship's own versions.
    """

    scope_id: str
    relationship_id: str | None
    object_id: str | None
    after_sequence: int
    to_sequence: int | None
    version_range: tuple[int | None, int | None]
    event_types: tuple[str, ...]
    reach: EndReach
    limit: int
    bytes_max: int
    with_events: bool
    last_key: EntryKey | None = None
    member_ids: tuple[str, ...] | None = None
    omit_withheld: bool = False


@dataclass(frozen=True, slots=True)
class RelationshipEntry:
    """One event, or one version with whether its encrypted parts may be given and its ends' stored types."""

    key: EntryKey
    event: LinkedEvent | None
    version: StoredRelationship | None
    given: bool


@dataclass(frozen=True, slots=True)
class RelationshipHistoryPage:
    """A page of entries; `more` says that others are left. `heads` None: no such workspace."""

    heads: Heads | None
    entries: tuple[RelationshipEntry, ...]
    more: bool


_HEAD_WIDTH: Final = 6
_KEY_START: Final = _HEAD_WIDTH + 1
_EVENT_START: Final = _KEY_START + 5
_VERSION_START: Final = _EVENT_START + LINKED_WIDTH
_ORDER: Final = 'k.at, k.kind, k.relationship_id collate "C", k.number'
_GIVEN: Final = "(g.verdict = 'open' and v.availability_state not in ('redacted', 'deleted'))"
_GATE: Final = """
         cross join lateral (
            select g.verdict from remit.relationship_gate g
             where g.tenant_id = {tenant} and g.scope_id = {scope} and g.relationship_id = v.relationship_id limit 1) g"""
# Few relationships are asked for: each leads to its events and versions, and "offset 0" keeps the planner from going the
# other way round, through all of the ledger (measured: 45 ms for 2). The ledger's ids have the database's collation.
_OF_SOME: Final = """
        (select e.sequence as at, 0 as kind, ''::text as relationship_id, 0::bigint as number, false as given
           from ({some}) r
          cross join lateral (
             select e.sequence from remit.ledger_events e
              where e.tenant_id = {tenant} and e.scope_id = {scope}
                and e.relationship_id = r.relationship_id collate "default"{event_conditions} offset 0) e
          where {visible}
          order by e.sequence limit {limit})
        union all
        (select v.ledger_sequence, 2, v.relationship_id, v.sequence, {given}
           from ({some}) r
          cross join lateral (
             select * from remit.relationship_versions v
              where v.tenant_id = {tenant} and v.scope_id = {scope} and v.relationship_id = r.relationship_id
                {version_conditions} offset 0) v{gate}
          where {visible}{omitted}
          order by v.ledger_sequence, v.relationship_id collate "C", v.sequence limit {limit})"""
# A range of the ledger leads to the relationships.
_OF_ALL: Final = """
        (select e.sequence as at, 0 as kind, ''::text as relationship_id, 0::bigint as number, false as given
           from remit.ledger_events e
          cross join lateral (
             select * from remit.relationships r
              where r.tenant_id = {tenant} and r.scope_id = {scope} and r.relationship_id = e.relationship_id collate "C"
              limit 1) r
          where e.tenant_id = {tenant} and e.scope_id = {scope} and e.relationship_id is not null and {visible}
            {event_conditions}
          order by e.sequence limit {limit})
        union all
        (select v.ledger_sequence, 2, v.relationship_id, v.sequence, {given}
           from remit.relationship_versions v
          cross join lateral (
             select * from remit.relationships r
              where r.tenant_id = {tenant} and r.scope_id = {scope} and r.relationship_id = v.relationship_id limit 1)
             r{gate}
          where v.tenant_id = {tenant} and v.scope_id collate "C" = {scope} and {visible}{omitted}
            {version_conditions}
          order by v.ledger_sequence, v.relationship_id collate "C", v.sequence limit {limit})"""
_ONE: Final = """
             select * from remit.relationships r
              where r.tenant_id = {tenant} and r.scope_id = {scope} and r.relationship_id = {relationship}"""
_AT_OBJECT: Final = """
             select * from remit.relationships r
              where r.tenant_id = {tenant} and r.scope_id collate "C" = {scope} and r.source_object_id = {object}
             union
             select * from remit.relationships r
              where r.tenant_id = {tenant} and r.target_scope_id collate "C" = {scope}
                and r.target_object_id = {object} and r.scope_id = {scope}"""
_STATEMENT: Final = """
select * from (
select {head}, v.row_count, v.at, v.kind, v.entry_id, v.number, v.given, {linked}, {version}, {parts}, v.position,
       coalesce(sum(coalesce(octet_length(e.body), 0) + coalesce({row_bytes}, 0))
           over (order by v.position rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select k.at, k.kind, k.relationship_id as entry_id, k.number, k.given, k.row_count, k.position, v.*
      from (
        select k.*, count(*) over () as row_count, row_number() over (order by {order}) as position
          from (select * from ({entries}) k order by {order} limit {limit}) k) k
      left join lateral (
        select x.*, {owner} as object_id from remit.relationship_versions x
         where k.kind = 2 and x.tenant_id = {tenant} and x.scope_id = {scope}
           and x.relationship_id = k.relationship_id and x.sequence = k.number limit 1) v on true) v on true{event_row}
  {part_joins}
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""


async def list_relationship_history(
    database: Database, tenant_id: str, query: RelationshipHistoryQuery
) -> RelationshipHistoryPage:
    """Returns a page of entries, at most `limit`, cut earlier at about `bytes_max` bytes but not before the first one.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    events, versions = Conditions(), Conditions()
    versions.params = events.params  # one statement, one set of parameters
    tenant, scope = events.bind(tenant_id, "text"), events.bind(query.scope_id, "text")
    _add_events(events, query)
    _add_versions(versions, query)
    visible = ends_admitted(events, query.reach)
    if query.member_ids is not None:
        members = events.bind(list(query.member_ids), "text[]")
        visible += f" and r.source_object_id = any ({members}) and r.target_object_id = any ({members})"
        visible += f" and r.target_scope_id = {scope}"
    if query.relationship_id is not None:
        some = _ONE.format(tenant=tenant, scope=scope, relationship=events.bind(query.relationship_id, "text"))
    elif query.object_id is not None:
        some = _AT_OBJECT.format(tenant=tenant, scope=scope, object=events.bind(query.object_id, "text"))
    else:
        some = ""
    # A number the planner knows, so that it reads no more than a page.
    limit = query.limit + 1
    entries = (_OF_SOME if some else _OF_ALL).format(
        some=some,
        tenant=tenant,
        scope=scope,
        visible=visible,
        event_conditions=events.sql,
        version_conditions=versions.sql,
        given=_GIVEN,
        gate=_GATE.format(tenant=tenant, scope=scope),
        omitted=f" and {_GIVEN}" if query.omit_withheld else "",
        limit=limit,
    )
    statement = _STATEMENT.format(
        head=HEAD_COLUMNS,
        linked=LINKED_COLUMNS,
        version=RELATIONSHIP_COLUMNS,
        parts=RELATIONSHIP_PARTS,
        part_joins=PART_JOINS,
        row_bytes=ROW_BYTES,
        order=_ORDER,
        entries=entries,
        owner=CONTENT_OWNER.format("x"),
        event_row=EVENT_ROW.format("case when v.kind = 0 then v.at end"),
        limit=limit,
        tenant=tenant,
        scope=scope,
        bytes_max=events.bind(query.bytes_max, "bigint"),
    )
    rows = await database.tenant_rows(tenant_id, statement, events.params)
    if not rows:
        return RelationshipHistoryPage(None, (), False)
    found = tuple(_entry(row, tenant_id, query.scope_id) for row in rows[: query.limit] if row[_HEAD_WIDTH])
    return RelationshipHistoryPage(heads_of(rows[0][:_HEAD_WIDTH]), found, (rows[0][_HEAD_WIDTH] or 0) > len(found))


_KNOWN: Final = """
select exists (select from remit.relationships r
                where r.tenant_id = {tenant} and r.scope_id = {scope} and r.relationship_id = {relationship}
                  and {visible})"""


async def is_known(database: Database, tenant_id: str, scope_id: str, relationship_id: str, reach: EndReach) -> bool:
    """Returns whether the workspace has the relationship and both its ends are within reach."""
    where = Conditions()
    statement = _KNOWN.format(
        tenant=where.bind(tenant_id, "text"),
        scope=where.bind(scope_id, "text"),
        relationship=where.bind(relationship_id, "text"),
        visible=ends_admitted(where, reach),
    )
    [(known,)] = await database.tenant_rows(tenant_id, statement, where.params)
    return bool(known)


def _entry(row: Sequence[Any], tenant_id: str, scope_id: str) -> RelationshipEntry:
    at, kind, relationship_id, number, given = row[_KEY_START:_EVENT_START]
    return RelationshipEntry(
        key=(at, kind, relationship_id, number),
        event=linked_event(row[_EVENT_START:_VERSION_START], tenant_id, scope_id),
        version=stored_relationship(row[_VERSION_START:]),
        given=bool(given),
    )


def _add_range(where: Conditions, column: str, query: RelationshipHistoryQuery) -> None:
    where.add(f"{column} > {where.bind(query.after_sequence, 'bigint')}")
    if query.to_sequence is not None:
        where.add(f"{column} <= {where.bind(query.to_sequence, 'bigint')}")


def _add_events(where: Conditions, query: RelationshipHistoryQuery) -> None:
    _add_range(where, "e.sequence", query)
    where.one_of("e.event_type", query.event_types)
    if not query.with_events:
        where.add("false")
    if query.last_key is not None:
        at, kind, _, _ = query.last_key
        where.add(f"(e.sequence, 0) > ({where.bind(at, 'bigint')}, {where.bind(kind, 'integer')})")


def _add_versions(where: Conditions, query: RelationshipHistoryQuery) -> None:
    _add_range(where, "v.ledger_sequence", query)
    first, last = query.version_range
    if first is not None:
        where.add(f"v.sequence >= {where.bind(first, 'bigint')}")
    if last is not None:
        where.add(f"v.sequence <= {where.bind(last, 'bigint')}")
    if query.last_key is not None:
        at, kind, relationship_id, number = query.last_key
        key = (where.bind(at, "bigint"), where.bind(kind, "integer"), where.bind(relationship_id, "text"))
        where.add(
            '(v.ledger_sequence, 2, v.relationship_id collate "C", v.sequence) > '
            f"({', '.join(key)}, {where.bind(number, 'bigint')})"
        )
