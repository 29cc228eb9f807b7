"""Structured queries for relationships: their current, or pinned, versions (P-10.6-02, P-11-01).

As `storage.queries` for objects: one statement gives a page, its head, and the gate's verdict of now on every row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from storage.database import Database
from storage.model.times import to_datetime
from storage.objects import HEAD_COLUMNS
from storage.queries import PART_JOINS, ROW_BYTES, Order, Page, page_of
from storage.relationship_ends import EndReach, ends_admitted
from storage.relationships import (
    CONTENT_OWNER,
    RELATIONSHIP_COLUMNS,
    RELATIONSHIP_PARTS,
    StoredRelationship,
    stored_relationship,
)
from storage.row_filter import Conditions, RowFilter
from storage.selection import FIELDS, FieldCondition, FieldKind, add_condition

_FIELDS: Final = {
    **dict.fromkeys(("relationship_id", "source_object_id", "target_object_id"), FieldKind.TEXT),
    **{name: kind for name, kind in FIELDS.items() if name not in ("object_id", "object_type", "schema_id")},
}
RELATIONSHIP_FIELDS: Final[Mapping[str, FieldKind]] = MappingProxyType(_FIELDS)
"""The fields that conditions on relationships may name."""
_COLUMNS: Final = {name: f"v.{name}" for name in _FIELDS} | {"integrity_digest": "v.integrity_lookup"}
_ORDERED_BY: Final = {"v.ledger_sequence": "bigint", "v.committed_at": "timestamptz"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipQuery:
    """What to find and in which order. State lists are never empty; the other lists are, when they do not matter.

    `reach` must cover both ends; `pending_deletion` covers sources of relationships that are pending deletion, None gives
    no such row. `related_object_id` is either end. `pinned_sequence` bounds what is seen, `member_ids` are the objects of
    a snapshot that chose them.
    """

    scope_id: str
    lifecycle_states: tuple[str, ...]
    availability_states: tuple[str, ...]
    retention_states: tuple[str, ...]
    validation_states: tuple[str, ...]
    provenance_ids: tuple[str, ...]
    relationship_types: tuple[str, ...]
    related_object_id: str | None
    conditions: tuple[FieldCondition, ...]
    reach: EndReach
    pending_deletion: RowFilter | None
    order: Order
    limit: int
    bytes_max: int
    pinned_sequence: int | None = None
    in_snapshot: bool = False
    member_ids: tuple[str, ...] | None = None
    last_key: tuple[int | str | None, ...] = ()


RelationshipPage = Page[StoredRelationship]


def relationship_key(order: Order, version: StoredRelationship) -> tuple[int | str, ...]:
    """Returns the sort key of a row, the `last_key` of the page that follows it."""
    column = order.value[0]
    if column not in _ORDERED_BY:
        return (version.relationship_id, version.version_id)
    first = version.ledger_sequence if column == "v.ledger_sequence" else version.committed_at_us
    return (first, version.relationship_id, version.version_id)


_TIES: Final = 'v.relationship_id collate "C", v.version_id collate "C"'
_STATEMENT: Final = """
select * from (
select {head}, k.row_count, v.given, {version}, {parts}, k.position,
       coalesce(sum({row_bytes}) over (order by k.position rows between unbounded preceding and 1 preceding), 0)
           as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select v.relationship_id, v.sequence, v.given, count(*) over () as row_count,
           row_number() over (order by {order}) as position
      from (
        select v.relationship_id, v.sequence, v.version_id, v.ledger_sequence, v.committed_at,
               r.verdict in ('open', 'retention_restricted') and v.availability_state not in ('redacted', 'deleted')
                   as given
          from remit.relationship_versions v
         cross join lateral (
            select * from remit.relationship_gate r
             where r.tenant_id = {tenant} and r.scope_id = {scope} and r.relationship_id = v.relationship_id limit 1) r
         where v.tenant_id = {tenant} and v.scope_id collate "C" = {scope} and {is_latest}{conditions}
         order by {order} limit {limit}) v) k on true
  left join lateral (
    select x.*, {owner} as object_id, k.given from remit.relationship_versions x
     where x.tenant_id = {tenant} and x.scope_id = {scope} and x.relationship_id = k.relationship_id
       and x.sequence = k.sequence limit 1) v on true{part_joins}
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""
_IS_LATEST_AT: Final = """(
            select n.ledger_sequence from remit.relationship_versions n
             where n.tenant_id = {tenant} and n.scope_id = {scope} and n.relationship_id = v.relationship_id
               and n.sequence = v.sequence + 1) <= {pin} is not true"""


async def query_relationships(database: Database, tenant_id: str, query: RelationshipQuery) -> RelationshipPage:
    """Returns a page of at most `limit` rows, cut earlier, but not before the first row, at about `bytes_max` bytes.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    where = Conditions()
    tenant, scope = where.bind(tenant_id, "text"), where.bind(query.scope_id, "text")
    is_latest = "v.sequence = r.sequence"
    if query.pinned_sequence is not None:
        pin = where.bind(query.pinned_sequence, "bigint")
        where.add(f"v.ledger_sequence <= {pin}")
        is_latest = _IS_LATEST_AT.format(tenant=tenant, scope=scope, pin=pin)
    _add_fields(where, query)
    if query.in_snapshot:
        where.add(f"v.target_scope_id = {scope}")
    if query.member_ids is not None:
        members = where.bind(list(query.member_ids), "text[]")
        where.add(f"v.source_object_id = any ({members})")
        where.add(f"v.target_object_id = any ({members})")
    _add_gate(where, query)
    where.add(ends_admitted(where, query.reach))
    if query.last_key:
        _add_keyset(where, query.order, query.last_key)
    column, descends = query.order.value
    statement = _STATEMENT.format(
        head=HEAD_COLUMNS,
        version=RELATIONSHIP_COLUMNS,
        parts=RELATIONSHIP_PARTS,
        part_joins=PART_JOINS,
        row_bytes=ROW_BYTES,
        owner=CONTENT_OWNER.format("x"),
        order=f"{column}{' desc' if descends else ''}, {_TIES}" if column in _ORDERED_BY else _TIES,
        is_latest=is_latest,
        conditions=where.sql,
        # A number the planner knows, so that it reads no more than a page.
        limit=query.limit + 1,
        tenant=tenant,
        scope=scope,
        bytes_max=where.bind(query.bytes_max, "bigint"),
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    return page_of(rows, query.limit, stored_relationship)


def _add_fields(where: Conditions, query: RelationshipQuery) -> None:
    where.one_of("v.lifecycle_state", query.lifecycle_states)
    where.one_of("v.availability_state", query.availability_states)
    where.one_of("v.retention_state", query.retention_states)
    where.one_of("v.validation_state", query.validation_states)
    where.one_of("v.provenance_id", query.provenance_ids)
    where.one_of("v.relationship_type", query.relationship_types)
    if query.related_object_id is not None:
        end = where.bind(query.related_object_id, "text")
        where.add(f"(v.source_object_id = {end} or v.target_object_id = {end})")
    for condition in query.conditions:
        add_condition(where, condition, _COLUMNS[condition.field], RELATIONSHIP_FIELDS[condition.field])


def _add_gate(where: Conditions, query: RelationshipQuery) -> None:
    pending = "false"
    if query.pending_deletion is not None:
        covered = where.covers(query.pending_deletion, "o.object_type", "o.object_id")
        pending = (
            "exists (select from remit.memory_objects o where o.tenant_id = r.tenant_id and o.scope_id = r.scope_id"
            f" and o.object_id = r.source_object_id and {covered})"
        )
    # A row that was found as available is not given once its relationship is removed.
    where.add(
        "case r.verdict when 'open' then true when 'deleted' then v.availability_state = 'deleted' "
        f"when 'redacted' then v.availability_state = 'redacted' when 'retention_restricted' then {pending} end"
    )
    where.add(f"(v.retention_state <> 'pending_deletion' or {pending})")


def _add_keyset(where: Conditions, order: Order, last_key: tuple[int | str | None, ...]) -> None:
    column, descends = order.value
    ties = f"({_TIES}) > ({', '.join(where.bind(value, 'text') for value in last_key[-2:])})"
    kind = _ORDERED_BY.get(column)
    if kind is None:
        where.add(ties)
        return
    value: Any = last_key[0]
    last = where.bind(to_datetime(int(value)) if kind == "timestamptz" else value, kind)
    past = "<" if descends else ">"
    where.add(f"{column} {past}= {last}")
    where.add(f"({column} {past} {last} or {ties})")
