"""What differs between two sealed snapshots of a workspace, by object (PAMSPEC 18.11; P-18.11-06)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.objects import HEAD_COLUMNS, Heads, heads_of
from storage.row_filter import Conditions, RowFilter
from storage.snapshots import VERSION_AT


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two snapshots: its boundary, and its members (None: all objects)."""

    watermark: int
    object_ids: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Held:
    """The version that a snapshot has of an object, its core not yet authenticated."""

    version_id: str
    sequence: int
    core: bytes
    mac: bytes
    mac_key_id: str


@dataclass(frozen=True, slots=True)
class Difference:
    """An object whose versions differ; a side is None where its snapshot has no version of the object."""

    object_id: str
    left: Held | None
    right: Held | None


@dataclass(frozen=True, slots=True)
class DifferencePage:
    """A page by object id; `more`: others are left; `heads` None: no such workspace."""

    heads: Heads | None
    differences: tuple[Difference, ...]
    more: bool


_HEAD_WIDTH: Final = 6
_HELD: Final = ", ".join(
    f"{{0}}.{name} as {{0}}_{name}" for name in ("version_id", "sequence", "core", "mac", "mac_key_id")
)
_LEFT_START: Final = _HEAD_WIDTH + 1
_RIGHT_START: Final = _LEFT_START + 5
# What is a tombstone is not there; who was there on neither side is no difference.
_STATEMENT: Final = """
select {head}, d.*
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select c.object_id, {left_columns}, {right_columns}
      from {candidates} c
     cross join lateral (
        select o.object_id, o.object_type from remit.memory_objects o
         where o.tenant_id = {tenant} and o.scope_id = {scope} and o.object_id = c.object_id limit 1) o
      left join lateral ({left}) l on true
      left join lateral ({right}) r on true
     where l.version_id is distinct from r.version_id
       and (l.availability_state <> 'deleted' or r.availability_state <> 'deleted'){conditions}
     order by c.object_id limit {limit}) d on true
 where h.tenant_id = {tenant} and h.scope_id = {scope}
 order by d.object_id"""
# Between two boundaries with the same members, only what was written in between can differ.
_WRITTEN_BETWEEN: Final = """(
        select distinct v.object_id from remit.memory_versions v
         where v.tenant_id = {tenant} and v.scope_id collate "C" = {scope}
           and v.ledger_sequence > {low} and v.ledger_sequence <= {high})"""
_ALL: Final = """(
        select o.object_id from remit.memory_objects o where o.tenant_id = {tenant} and o.scope_id = {scope}{members})"""


async def list_differences(
    database: Database,
    tenant_id: str,
    scope_id: str,
    left: Side,
    right: Side,
    *,
    object_ids: Sequence[str],
    authority: Sequence[RowFilter],
    after: str,
    limit: int,
) -> DifferencePage:
    """Returns up to `limit` objects after an object id that differ, of those that every authority filter covers.

    `object_ids` narrows to those objects; empty: all. Raises DatabaseUnavailable, StatementTimeout.
    """
    where = Conditions()
    tenant, scope = where.bind(tenant_id, "text"), where.bind(scope_id, "text")
    where.add(f"c.object_id > {where.bind(after, 'text')}")
    if object_ids:
        where.add(f"c.object_id = any ({where.bind(list(object_ids), 'text[]')})")
    where.admitted(authority, "o.object_type", "o.object_id")
    statement = _STATEMENT.format(
        head=HEAD_COLUMNS,
        left_columns=_HELD.format("l"),
        right_columns=_HELD.format("r"),
        candidates=_candidates(where, tenant, scope, left, right),
        left=_version(where, tenant, scope, left),
        right=_version(where, tenant, scope, right),
        tenant=tenant,
        scope=scope,
        conditions=where.sql,
        limit=limit + 1,
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    if not rows:
        return DifferencePage(None, (), False)
    found = tuple(_difference(row) for row in rows[:limit] if row[_HEAD_WIDTH] is not None)
    return DifferencePage(heads_of(rows[0][:_HEAD_WIDTH]), found, len(rows) > limit)


def _version(where: Conditions, tenant: str, scope: str, side: Side) -> str:
    version = VERSION_AT.format(
        tenant=tenant, scope=scope, object_id="c.object_id", watermark=where.bind(side.watermark, "bigint")
    )
    if side.object_ids is None:
        return version
    members = where.bind(list(side.object_ids), "text[]")
    return f"select m.* from ({version}) m where c.object_id = any ({members})"


def _candidates(where: Conditions, tenant: str, scope: str, left: Side, right: Side) -> str:
    if left.object_ids == right.object_ids:
        low, high = sorted((left.watermark, right.watermark))
        return _WRITTEN_BETWEEN.format(
            tenant=tenant, scope=scope, low=where.bind(low, "bigint"), high=where.bind(high, "bigint")
        )
    members = ""
    if left.object_ids is not None and right.object_ids is not None:
        both = sorted({*left.object_ids, *right.object_ids})
        members = f" and o.object_id = any ({where.bind(both, 'text[]')})"
    return _ALL.format(tenant=tenant, scope=scope, members=members)


def _difference(row: Sequence[Any]) -> Difference:
    return Difference(row[_HEAD_WIDTH], _held(row[_LEFT_START:_RIGHT_START]), _held(row[_RIGHT_START:]))


def _held(columns: Sequence[Any]) -> Held | None:
    return None if columns[0] is None else Held(*columns)
