"""Structured queries over the current, or pinned, versions of a workspace's objects (memory.md, "One retrieval gate").

One statement gives a page, the head it belongs to and the gate's verdict of now on every row; authority is part of its
WHERE clause. Pages are pinned to the ledger sequence of the first one, so that each object comes once, while what was
removed since is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

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


class Order(Enum):
    """Sort column and whether it descends; ties are broken by object id, then version id, both ascending."""

    LEDGER_ASCENDING = ("v.ledger_sequence", False)
    LEDGER_DESCENDING = ("v.ledger_sequence", True)
    COMMITTED_AT_ASCENDING = ("v.committed_at", False)
    COMMITTED_AT_DESCENDING = ("v.committed_at", True)
    OBJECT_ID_ASCENDING = ("v.object_id", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectQuery:
    """What to find and in which order. `pinned_sequence` (a snapshot's, or an earlier page's) bounds what is seen."""

    scope_id: str
    selection: Selection
    order: Order
    limit: int
    bytes_max: int
    pinned_sequence: int | None = None
    last_key: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryPage:
    """Rows with whether their encrypted parts may be given; `more`: rows are left; `heads` None: no such workspace."""

    heads: Heads | None
    rows: tuple[tuple[StoredVersion, bool], ...]
    more: bool


def key_of(order: Order, version: StoredVersion) -> tuple[int | str, ...]:
    """Returns the sort key of a row, the `last_key` of the page that follows it."""
    if order is Order.OBJECT_ID_ASCENDING:
        return (version.object_id, version.version_id)
    first = version.ledger_sequence if order.value[0] == "v.ledger_sequence" else version.committed_at_us
    return (first, version.object_id, version.version_id)


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
                   v.availability_state, v.retention_state
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
        where.add(f"v.ledger_sequence <= {pin}")
        is_latest = _IS_LATEST_AT.format(tenant=tenant, scope=scope, pin=pin)
    add_selection(where, query.selection)
    if query.last_key:
        _add_keyset(where, query.order, query.last_key)
    column, descends = query.order.value
    by_object = column == "v.object_id"
    statement = _STATEMENT.format(
        head=HEAD_COLUMNS,
        version=VERSION_COLUMNS,
        parts=PARTS,
        part_joins=PART_JOINS,
        row_bytes=ROW_BYTES,
        order=_TIES if by_object else f"{column}{' desc' if descends else ''}, {_TIES}",
        # The index of listings has this collation, the primary key the database's.
        scope_column="v.scope_id" if by_object else 'v.scope_id collate "C"',
        conditions=where.sql,
        is_latest=is_latest,
        gate=gate(where, query.selection),
        given=GIVEN,
        # A number the planner knows, so that it reads no more than a page.
        limit=query.limit + 1,
        tenant=tenant,
        scope=scope,
        bytes_max=where.bind(query.bytes_max, "bigint"),
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    return _page(rows, query.limit)


def _page(rows: Sequence[Sequence[Any]], limit: int) -> QueryPage:
    if not rows:
        return QueryPage(None, (), False)
    found = []
    for row in rows[:limit]:
        version = stored_version(row[_VERSION_START:])
        if version is not None:
            found.append((version, bool(row[_HEAD_WIDTH + 1])))
    row_count = rows[0][_HEAD_WIDTH] or 0
    return QueryPage(heads_of(rows[0][:_HEAD_WIDTH]), tuple(found), row_count > len(found))


def _add_keyset(where: Conditions, order: Order, last_key: tuple[int | str, ...]) -> None:
    column, descends = order.value
    ties = ", ".join(where.bind(value, "text") for value in last_key[-2:])
    if column == "v.object_id":
        where.add(f"({_TIES}) > ({ties})")
        return
    if column == "v.committed_at":
        last = where.bind(to_datetime(int(last_key[0])), "timestamptz")
    else:
        last = where.bind(last_key[0], "bigint")
    past = "<" if descends else ">"
    where.add(f"{column} {past}= {last}")
    where.add(f"({column} {past} {last} or ({_TIES}) > ({ties}))")
