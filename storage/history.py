"""Histories: versions and events of an object or of a range, by ledger sequence (PAMSPEC 10.7; P-10.7-*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.ledger import (
    EVENT_OBJECT,
    EVENT_ROW,
    LINKED_COLUMNS,
    LINKED_WIDTH,
    LinkedEvent,
    add_event_authority,
    linked_event,
)
from storage.objects import HEAD_COLUMNS, VERSION_COLUMNS, Heads, StoredVersion, heads_of, stored_version
from storage.queries import PART_JOINS, PARTS, ROW_BYTES
from storage.row_filter import Conditions, RowFilter

EntryKey = tuple[int, int, str, int]
"""Ledger sequence, 0 for an event and 1 for a version, object id and number of the version ('' and 0 for an event)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """What to list, oldest first; an event comes before the version it made.

    The ledger range bounds events and versions, the version range versions, `event_types` events; the ends are
    inclusive but for `after_sequence`. `authority` filters must all cover an entry's object; `review` covers the
    objects whose content may be given while they are pending deletion. `to_sequence` also pins the pages to the first
    one's head, and `last_key` continues after an entry. `object_ids` are the members of a snapshot that chose them;
    `omit_withheld` leaves out versions whose content may not be given.
    """

    scope_id: str
    object_id: str | None
    after_sequence: int
    to_sequence: int | None
    from_version: int | None
    to_version: int | None
    event_types: tuple[str, ...]
    authority: tuple[RowFilter, ...]
    review: RowFilter
    limit: int
    bytes_max: int
    last_key: EntryKey | None = None
    object_ids: tuple[str, ...] | None = None
    omit_withheld: bool = False


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event, or one version with whether its encrypted parts may be given."""

    key: EntryKey
    event: LinkedEvent | None = None
    version: StoredVersion | None = None
    given: bool = False


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of entries; `more` says that others are left. `heads` None: no such workspace."""

    heads: Heads | None
    entries: tuple[HistoryEntry, ...]
    more: bool


_HEAD_WIDTH: Final = 6
_KEY_START: Final = _HEAD_WIDTH + 1
_EVENT_START: Final = _KEY_START + 5
_VERSION_START: Final = _EVENT_START + LINKED_WIDTH
_ORDER: Final = 'k.at, k.kind, k.object_id collate "C", k.number'
_GIVEN: Final = """((g.verdict = 'open' or g.verdict = 'retention_restricted' and {review})
                            and v.availability_state not in ('redacted', 'deleted'))"""
_STATEMENT: Final = """
select * from (
select {head}, v.row_count, v.at, v.kind, v.entry_object_id, v.number, v.given, {linked}, {version}, {parts},
       v.position,
       coalesce(sum(coalesce(octet_length(e.body), 0) + coalesce({row_bytes}, 0))
           over (order by v.position rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select k.at, k.kind, k.object_id as entry_object_id, k.number, k.given, k.row_count, k.position, v.*
      from (
        select k.*, count(*) over () as row_count, row_number() over (order by {order}) as position
          from (
            select * from (
                (select e.sequence as at, 0 as kind, ''::text as object_id, 0::bigint as number, false as given
                   from remit.ledger_events e{event_object}
                  where e.tenant_id = {tenant} and e.scope_id = {scope}{event_conditions}
                  order by e.sequence limit {limit})
                union all
                (select v.ledger_sequence, 1, v.object_id, v.sequence, {given}
                   from remit.memory_versions v
                  cross join lateral (
                     select g.verdict from remit.retrieval_gate g
                      where g.tenant_id = {tenant} and g.scope_id = {scope} and g.object_id = v.object_id limit 1) g
                  where v.tenant_id = {tenant} and {scope_column} = {scope}{version_conditions}
                  order by v.ledger_sequence, v.object_id collate "C", v.sequence limit {limit})
            ) k order by {order} limit {limit}) k) k
      left join lateral (
        select * from remit.memory_versions x where k.kind = 1 and x.tenant_id = {tenant} and x.scope_id = {scope}
           and x.object_id = k.object_id and x.sequence = k.number limit 1) v on true) v on true{event_row}{part_joins}
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""


async def list_history(database: Database, tenant_id: str, query: HistoryQuery) -> HistoryPage:
    """Returns a page of entries, at most `limit`, cut earlier at about `bytes_max` bytes but not before the first one.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    events, versions = Conditions(), Conditions()
    versions.params = events.params  # one statement, one set of parameters
    _add_events(events, query)
    _add_versions(versions, query)
    given = _GIVEN.format(review=versions.covers(query.review, "v.object_type", "v.object_id"))
    if query.omit_withheld:
        versions.add(given)
    statement = _STATEMENT.format(
        head=HEAD_COLUMNS,
        linked=LINKED_COLUMNS,
        version=VERSION_COLUMNS,
        parts=PARTS,
        part_joins=PART_JOINS,
        row_bytes=ROW_BYTES,
        order=_ORDER,
        event_object=EVENT_OBJECT if query.authority else "",
        event_conditions=events.sql,
        version_conditions=versions.sql,
        given=given,
        event_row=EVENT_ROW.format("case when v.kind = 0 then v.at end"),
        # The index of listings has this collation, the primary key the database's.
        scope_column="v.scope_id" if query.object_id is not None else 'v.scope_id collate "C"',
        # A number the planner knows, so that it reads no more than a page.
        limit=query.limit + 1,
        tenant=events.bind(tenant_id, "text"),
        scope=events.bind(query.scope_id, "text"),
        bytes_max=events.bind(query.bytes_max, "bigint"),
    )
    rows = await database.tenant_rows(tenant_id, statement, events.params)
    if not rows:
        return HistoryPage(None, (), False)
    found = [_entry(row, tenant_id, query.scope_id) for row in rows[: query.limit] if row[_HEAD_WIDTH]]
    return HistoryPage(heads_of(rows[0][:_HEAD_WIDTH]), tuple(found), (rows[0][_HEAD_WIDTH] or 0) > len(found))


def _entry(row: Sequence[Any], tenant_id: str, scope_id: str) -> HistoryEntry:
    at, kind, object_id, number, given = row[_KEY_START:_EVENT_START]
    return HistoryEntry(
        key=(at, kind, object_id, number),
        event=linked_event(row[_EVENT_START:_VERSION_START], tenant_id, scope_id),
        version=stored_version(row[_VERSION_START:]),
        given=bool(given),
    )


def _add_range(where: Conditions, column: str, query: HistoryQuery) -> None:
    where.add(f"{column} > {where.bind(query.after_sequence, 'bigint')}")
    if query.to_sequence is not None:
        where.add(f"{column} <= {where.bind(query.to_sequence, 'bigint')}")


def _add_events(where: Conditions, query: HistoryQuery) -> None:
    _add_range(where, "e.sequence", query)
    if query.object_id is not None:
        where.equal({"e.object_id": query.object_id})
        # A relationship's events are told where both its ends were judged, though they name an object as well.
        where.add("e.relationship_id is null")
    where.one_of("e.event_type", query.event_types)
    if query.object_ids is not None:
        where.add(f"e.object_id = any ({where.bind(list(query.object_ids), 'text[]')})")
    add_event_authority(where, query.authority)
    if query.last_key is not None:
        at, kind, _, _ = query.last_key
        # Behind a version, its event was given; behind an event, the events from the next sequence on are left.
        where.add(f"(e.sequence, 0) > ({where.bind(at, 'bigint')}, {where.bind(kind, 'integer')})")


def _add_versions(where: Conditions, query: HistoryQuery) -> None:
    _add_range(where, "v.ledger_sequence", query)
    where.equal({"v.object_id": query.object_id})
    if query.from_version is not None:
        where.add(f"v.sequence >= {where.bind(query.from_version, 'bigint')}")
    if query.to_version is not None:
        where.add(f"v.sequence <= {where.bind(query.to_version, 'bigint')}")
    if query.object_ids is not None:
        where.add(f"v.object_id = any ({where.bind(list(query.object_ids), 'text[]')})")
    where.admitted(query.authority, "v.object_type", "v.object_id")
    if query.last_key is not None:
        at, kind, object_id, number = query.last_key
        last = (where.bind(at, "bigint"), where.bind(kind, "integer"), where.bind(object_id, "text"))
        where.add(
            '(v.ledger_sequence, 1, v.object_id collate "C", v.sequence) > '
            f"({', '.join(last)}, {where.bind(number, 'bigint')})"
        )
