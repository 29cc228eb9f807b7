"""Queries by field and by time, over current, pinned or all versions (memory.md, "One retrieval gate").

One statement gives a page, the head it belongs to and the gate's verdict of now on every row; authority is part of its
WHERE clause. Pages are pinned to the ledger sequence of the first one, so that each object comes once, while what was
removed since is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from storage.database import Database
from storage.model.times import to_datetime
from storage.objects import (
    HEAD_COLUMNS,
    PART_COLUMNS,
    VERSION_COLUMNS,
    Heads,
    StoredVersion,
    heads_of,
    stored_version,
)
from storage.row_filter import Conditions
from storage.selection import GIVEN, Selection, add_selection, gate

Stored = TypeVar("Stored")


class Order(Enum):
    """Sort column and whether it descends; ties are broken by object id, then version id, both ascending.

    Rows without a `valid_from` hold since ever and come first. The name is the ordering profile's.
    """

    LEDGER_ASCENDING = ("v.ledger_sequence", False)
    LEDGER_DESCENDING = ("v.ledger_sequence", True)
    COMMITTED_AT_ASCENDING = ("v.committed_at", False)
    COMMITTED_AT_DESCENDING = ("v.committed_at", True)
    OBJECT_ID_ASCENDING = ("v.object_id", False)
    OBSERVED_AT_ASCENDING = ("v.observed_at", False)
    ASSERTED_AT_ASCENDING = ("v.asserted_at", False)
    VALID_FROM_ASCENDING = ("v.valid_from", False)
    RECORDED_AT_ASCENDING = ("v.recorded_at", False)

    @property
    def has_ties(self) -> bool:
        """Whether rows of different objects may share a sort key: a ledger sequence and an object id are one row's."""
        return self.value[0] not in (_LEDGER, _OBJECT)


_LEDGER: Final = "v.ledger_sequence"
_OBJECT: Final = "v.object_id"
SortKey = tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """A range on the order's own column, half-open: `start` <= value < `end`, None: without that end.

    Times are microseconds, ledger sequences numbers. In the order of VALID_FROM it is a range of time that the validity,
    from `valid_from` until `valid_until`, must overlap. Rows without the time, or without any validity, are outside.
    """

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectQuery:
    """What to find and in which order. `pinned_sequence` (a snapshot's, or an earlier page's) bounds what is seen.

    `all_versions` finds older versions too. `seed` decides ties before the ids do, by the SHA-256 of seed and object id.
    """

    scope_id: str
    selection: Selection
    order: Order
    limit: int
    bytes_max: int
    within: Within | None = None
    all_versions: bool = False
    seed: int | None = None
    pinned_sequence: int | None = None
    last_key: SortKey = ()


@dataclass(frozen=True, slots=True)
class Page(Generic[Stored]):
    """Rows with whether their encrypted parts may be given; `more`: rows are left; `heads` None: no such workspace."""

    heads: Heads | None
    rows: tuple[tuple[Stored, bool], ...]
    more: bool


QueryPage = Page[StoredVersion]


def key_of(order: Order, version: StoredVersion) -> SortKey:
    """Returns the sort key of a row, the `last_key` of the page that follows it."""
    if order is Order.OBJECT_ID_ASCENDING:
        return (version.object_id, version.version_id)
    name = order.value[0].removeprefix("v.")
    first = version.ledger_sequence if order.value[0] == _LEDGER else getattr(version, f"{name}_us")
    return (first, version.object_id, version.version_id)


def seeded_key(seed: int, object_id: str) -> bytes:
    """Returns what a seed orders an object by among rows with equal sort keys."""
    return hashlib.sha256(_seed_bytes(seed) + object_id.encode()).digest()


def _seed_bytes(seed: int) -> bytes:
    return seed.to_bytes(8, "big", signed=True)


# Ids are compared byte for byte, whatever the database's collation is.
_TIES: Final = 'v.object_id collate "C", v.version_id collate "C"'
PARTS: Final = ", ".join(PART_COLUMNS.format(alias) for alias in "cpi")
# As in storage.objects: a lateral subquery with a limit can only be looked up by key.
PART_JOINS: Final = "".join(
    f"""
  left join lateral (
    select * from remit.memory_contents x where v.given and x.tenant_id = v.tenant_id and x.scope_id = v.scope_id
       and x.object_id = v.object_id and x.content_id = v.{column} limit 1) {alias} on true"""
    for alias, column in (("c", "content_id"), ("p", "provenance_content_id"), ("i", "integrity_content_id"))
)
ROW_BYTES: Final = "octet_length(v.core) + " + " + ".join(
    f"coalesce(octet_length({alias}.ciphertext), 0)" for alias in "cpi"
)
_HEAD_WIDTH: Final = 6
_VERSION_START: Final = _HEAD_WIDTH + 2

# From the inside: keys in order, from an index where there is one; the gate on each, until the page is full; then the
# rows and their parts, and no more of them than a page may hold.
_STATEMENT: Final = """
select * from (
select {head}, k.row_count, v.given, {version}, {parts}, k.position,
       coalesce(sum({row_bytes}) over (order by k.position rows between unbounded preceding and 1 preceding), 0)
           as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select v.object_id, v.sequence, v.given, count(*) over () as row_count,
           row_number() over (order by {order}) as position
      from (
        select v.*, {given} as given
          from (
            select v.object_id, v.object_type, v.sequence, v.version_id, v.ledger_sequence, v.committed_at,
                   v.recorded_at, v.observed_at, v.asserted_at, v.valid_from, v.availability_state, v.retention_state
              from remit.memory_versions v
             where v.tenant_id = {tenant} and {scope_column} = {scope}{conditions}
             order by {order}) v
         cross join lateral (
            select g.sequence, g.verdict from remit.retrieval_gate g
             where g.tenant_id = {tenant} and g.scope_id = {scope} and g.object_id = v.object_id limit 1) g
         where {is_latest}{gate}
         order by {order} limit {limit}) v) k on true
  left join lateral (
    select x.*, k.given from remit.memory_versions x
     where x.tenant_id = {tenant} and x.scope_id = {scope} and x.object_id = k.object_id and x.sequence = k.sequence
     limit 1) v on true{part_joins}
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""
_IS_CURRENT: Final = "v.sequence = g.sequence"
_IS_LATEST_AT: Final = """(
            select n.ledger_sequence from remit.memory_versions n
             where n.tenant_id = {tenant} and n.scope_id = {scope} and n.object_id = v.object_id
               and n.sequence = v.sequence + 1) <= {pin} is not true"""


async def query_objects(database: Database, tenant_id: str, query: ObjectQuery) -> QueryPage:
    """Returns a page of at most `limit` rows, cut earlier, but not before the first row, at about `bytes_max` bytes.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    where = Conditions()
    tenant, scope = where.bind(tenant_id, "text"), where.bind(query.scope_id, "text")
    is_latest = _IS_CURRENT
    if query.pinned_sequence is not None:
        pin = where.bind(query.pinned_sequence, "bigint")
        # A sum is no index condition: the plan is made for any pin, and would take the ledger's index for it, and sort.
        is_indexed = query.order.value[0] == _LEDGER
        where.add(f"v.ledger_sequence{'' if is_indexed else ' + 0'} <= {pin}")
        is_latest = _IS_LATEST_AT.format(tenant=tenant, scope=scope, pin=pin)
    add_selection(where, query.selection)
    if query.within is not None:
        _add_range(where, query.order, query.within)
    ties = _ties(where, query)
    if query.last_key:
        _add_keyset(where, query, ties)
    statement = _STATEMENT.format(
        head=HEAD_COLUMNS,
        version=VERSION_COLUMNS,
        parts=PARTS,
        part_joins=PART_JOINS,
        row_bytes=ROW_BYTES,
        order=_order_by(query.order, ties),
        # The index of listings has this collation, the primary key the database's.
        scope_column="v.scope_id" if query.order is Order.OBJECT_ID_ASCENDING else 'v.scope_id collate "C"',
        conditions=where.sql,
        is_latest="true" if query.all_versions else is_latest,
        gate=gate(where, query.selection),
        given=GIVEN,
        # A number the planner knows, so that it reads no more than a page.
        limit=query.limit + 1,
        tenant=tenant,
        scope=scope,
        bytes_max=where.bind(query.bytes_max, "bigint"),
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    return page_of(rows, query.limit, stored_version)


def page_of(
    rows: Sequence[Sequence[Any]], limit: int, stored: Callable[[Sequence[Any]], Stored | None]
) -> Page[Stored]:
    """Returns the page in rows of a head, how many there are, whether parts may be given, and what `stored` reads."""
    if not rows:
        return Page(None, (), False)
    found = []
    for row in rows[:limit]:
        version = stored(row[_VERSION_START:])
        if version is not None:
            found.append((version, bool(row[_HEAD_WIDTH + 1])))
    row_count = rows[0][_HEAD_WIDTH] or 0
    return Page(heads_of(rows[0][:_HEAD_WIDTH]), tuple(found), row_count > len(found))


def _ties(where: Conditions, query: ObjectQuery) -> str:
    if query.seed is None or not query.order.has_ties:
        return _TIES
    return f"sha256({where.bind(_seed_bytes(query.seed), 'bytea')} || convert_to(v.object_id, 'UTF8')), {_TIES}"


def _order_by(order: Order, ties: str) -> str:
    column, descends = order.value
    if column == _OBJECT:
        return ties
    nulls = " nulls first" if order is Order.VALID_FROM_ASCENDING else ""
    return f"{column}{' desc' if descends else ''}{nulls}, {ties}"


def _bound(where: Conditions, order: Order, value: int) -> str:
    if order.value[0] == _LEDGER:
        return where.bind(value, "bigint")
    return where.bind(to_datetime(value), "timestamptz")


def _add_range(where: Conditions, order: Order, within: Within) -> None:
    column = order.value[0]
    if order is Order.VALID_FROM_ASCENDING:
        where.add("(v.valid_from is not null or v.valid_until is not null)")
        if within.end is not None:
            where.add(f"(v.valid_from is null or v.valid_from < {_bound(where, order, within.end)})")
        if within.start is not None:
            start = _bound(where, order, within.start)
            # What begins in the range overlaps it, even if it holds for an instant only.
            where.add(f"(v.valid_until is null or v.valid_until > {start} or v.valid_from >= {start})")
        return
    where.add(f"{column} is not null")
    if within.start is not None:
        where.add(f"{column} >= {_bound(where, order, within.start)}")
    if within.end is not None:
        where.add(f"{column} < {_bound(where, order, within.end)}")


def _add_keyset(where: Conditions, query: ObjectQuery, ties: str) -> None:
    column, descends = query.order.value
    object_id, version_id = query.last_key[-2:]
    last_ties = f"{where.bind(object_id, 'text')}, {where.bind(version_id, 'text')}"
    if ties is not _TIES:
        assert query.seed is not None
        last_ties = f"{where.bind(seeded_key(query.seed, str(object_id)), 'bytea')}, {last_ties}"
    behind_ties = f"({ties}) > ({last_ties})"
    if column == _OBJECT:
        where.add(behind_ties)
        return
    first = query.last_key[0]
    if first is None:
        where.add(f"({column} is not null or {behind_ties})")
        return
    last = _bound(where, query.order, int(first))
    past = "<" if descends else ">"
    where.add(f"{column} {past}= {last}")
    where.add(f"({column} {past} {last} or {behind_ties})")
