"""Events of a workspace's ledger: all reads of them but the whole-ledger ones (ledger.md, Shape and Reading)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from storage.database import Database
from storage.model.ledger_rows import EventRow
from storage.objects import HEAD_COLUMNS, MICROSECONDS, Heads, heads_of
from storage.relationship_ends import ends_covered
from storage.row_filter import Conditions, RowFilter

EVENT_COLUMNS: Final = (
    f"e.sequence, {MICROSECONDS.format('e.recorded_at')}, e.use_number, e.body, e.leaf_hash, e.chain_hash, e.event_id, "
    "e.event_type, e.operation_id, e.actor_id, e.object_id, e.version_id, e.delegation_id, e.relationship_id"
)
EVENT_WIDTH: Final = 14
# An event's row with the head's random id and the chain hash before it.
LINKED_COLUMNS: Final = (
    "h.ledger_id, (select b.chain_hash from remit.ledger_events b where b.tenant_id = h.tenant_id "
    f"and b.scope_id = h.scope_id and b.sequence = e.sequence - 1), {EVENT_COLUMNS}"
)
LINKED_WIDTH: Final = EVENT_WIDTH + 2
_HEAD_WIDTH: Final = 6


@dataclass(frozen=True, slots=True)
class LinkedEvent:
    """An event with the chain hash before it: the genesis for the first one, empty when its predecessor is gone."""

    row: EventRow
    previous_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Which events to list, in ledger order. `event_types`, when not empty, names the only ones.

    With `authority`, which must all cover both ends of an event's relationship, or its object where it is of none, events
    that name neither are left out. `own_actor_id` leaves only that actor's grants, revocations and exercises.
    `to_sequence` also pins the pages to the first one's head.
    """

    scope_id: str
    after_sequence: int
    to_sequence: int | None
    event_types: tuple[str, ...] = ()
    object_id: str | None = None
    actor_id: str | None = None
    delegation_id: str | None = None
    operation_id: str | None = None
    own_actor_id: str | None = None
    authority: tuple[RowFilter, ...] = ()
    limit: int
    bytes_max: int


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of events; `more` says that others are left. `heads` None: no such workspace."""

    heads: Heads | None
    events: tuple[LinkedEvent, ...]
    more: bool


# What an actor may see of itself without the right to read the ledger. Denials are not among it: their records hold
# the exact reason, which is the ledger's alone.
_OWN_EVENT_TYPES: Final = ("delegation_granted", "delegation_revoked", "delegation_exercised")


def genesis_hash(tenant_id: str, scope_id: str, ledger_id: UUID) -> bytes:
    """Returns the chain hash of sequence 0 (ledger.md, Shape)."""
    framed = (len(name).to_bytes(4, "big") + name for name in (tenant_id.encode(), scope_id.encode()))
    return hashlib.sha256(b"\x02" + b"".join(framed) + ledger_id.bytes).digest()


def leaf_hash(row: EventRow) -> bytes:
    """Returns what the row's leaf hash must be (ledger.md, Shape)."""
    numbers = (row.sequence, row.recorded_at_us, row.use_number)
    return hashlib.sha256(b"\x00" + b"".join(n.to_bytes(8, "big", signed=True) for n in numbers) + row.body).digest()


def linked_event(columns: Sequence[Any], tenant_id: str, scope_id: str) -> LinkedEvent | None:
    """Returns the event in LINKED_COLUMNS, None when there was none."""
    ledger_id, previous_hash, *event = columns
    if event[0] is None:
        return None
    row = EventRow(*event)
    if previous_hash is None:
        previous_hash = genesis_hash(tenant_id, scope_id, ledger_id) if row.sequence == 1 else b""
    return LinkedEvent(row, previous_hash)


_OF_RELATIONSHIP: Final = """(e.relationship_id is not null and exists (
           select from remit.relationships r
            where r.tenant_id = e.tenant_id and r.scope_id = e.scope_id
              and r.relationship_id = e.relationship_id collate "C" and r.target_scope_id = r.scope_id and {ends}))"""


def add_event_authority(where: Conditions, authority: Sequence[RowFilter]) -> None:
    """Adds that every filter covers both ends of the event's relationship, or, where it is of none, its object.

    Objects are judged by the type they are stored with; nothing is added without filters. Of a relationship that ends in
    another workspace, nothing is told here.
    """
    if not authority:
        return
    covered = " and ".join(where.covers(one, "o.object_type", "e.object_id") for one in authority)
    where.add(
        f"(e.relationship_id is null and {covered} or {_OF_RELATIONSHIP.format(ends=ends_covered(where, authority))})"
    )


# As in storage.objects: a lateral subquery with a limit can only be looked up by key.
EVENT_OBJECT: Final = """
          left join lateral (
            select o.object_type from remit.memory_objects o
             where o.tenant_id = e.tenant_id and o.scope_id = e.scope_id and o.object_id = e.object_id limit 1) o on true"""
EVENT_ROW: Final = """
  left join lateral (
    select * from remit.ledger_events e
     where e.tenant_id = h.tenant_id and e.scope_id = h.scope_id and e.sequence = {0} limit 1) e on true"""
_LIST: Final = """
select * from (
select {head}, k.row_count, {linked}, k.sequence as position,
       coalesce(sum(octet_length(e.body))
           over (order by k.sequence rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select e.sequence, count(*) over () as row_count
      from (
        select e.sequence from remit.ledger_events e{event_object}
         where e.tenant_id = {tenant} and e.scope_id = {scope}{conditions}
         order by e.sequence limit {limit}) e) k on true{event_row}
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""


async def list_events(database: Database, tenant_id: str, query: EventQuery) -> EventPage:
    """Returns a page of events, at most `limit`, cut earlier at about `bytes_max` bytes but not before the first one.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    where = Conditions()
    where.add(f"e.sequence > {where.bind(query.after_sequence, 'bigint')}")
    if query.to_sequence is not None:
        where.add(f"e.sequence <= {where.bind(query.to_sequence, 'bigint')}")
    where.one_of("e.event_type", query.event_types)
    where.equal(
        {
            "e.object_id": query.object_id,
            "e.actor_id": query.actor_id,
            "e.delegation_id": query.delegation_id,
            "e.operation_id": query.operation_id,
        }
    )
    if query.own_actor_id is not None:
        where.equal({"e.actor_id": query.own_actor_id})
        where.one_of("e.event_type", _OWN_EVENT_TYPES)
    add_event_authority(where, query.authority)
    statement = _LIST.format(
        head=HEAD_COLUMNS,
        linked=LINKED_COLUMNS,
        event_object=EVENT_OBJECT if query.authority else "",
        event_row=EVENT_ROW.format("k.sequence"),
        conditions=where.sql,
        # A number the planner knows, so that it reads no more than a page.
        limit=query.limit + 1,
        tenant=where.bind(tenant_id, "text"),
        scope=where.bind(query.scope_id, "text"),
        bytes_max=where.bind(query.bytes_max, "bigint"),
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    if not rows:
        return EventPage(None, (), False)
    columns = (row[_HEAD_WIDTH + 1 : _HEAD_WIDTH + 1 + LINKED_WIDTH] for row in rows[: query.limit])
    found = [event for each in columns if (event := linked_event(each, tenant_id, query.scope_id)) is not None]
    return EventPage(heads_of(rows[0][:_HEAD_WIDTH]), tuple(found), (rows[0][_HEAD_WIDTH] or 0) > len(found))


_GET: Final = """
select {head}, {linked}
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select e.* from remit.ledger_events e{event_object}
     where e.tenant_id = h.tenant_id and e.scope_id = h.scope_id{conditions} limit 1) e on true
 where h.tenant_id = {tenant} and h.scope_id = {scope}"""


async def get_event(
    database: Database, tenant_id: str, scope_id: str, event_id: str, authority: Sequence[RowFilter] = ()
) -> tuple[Heads | None, LinkedEvent | None]:
    """Returns the head and the event of that id, each None when there is none; events as `EventQuery.authority` says.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    where = Conditions()
    where.equal({"e.event_id": event_id})
    add_event_authority(where, authority)
    statement = _GET.format(
        head=HEAD_COLUMNS,
        linked=LINKED_COLUMNS,
        event_object=EVENT_OBJECT if authority else "",
        conditions=where.sql,
        tenant=where.bind(tenant_id, "text"),
        scope=where.bind(scope_id, "text"),
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    if not rows:
        return None, None
    return heads_of(rows[0][:_HEAD_WIDTH]), linked_event(rows[0][_HEAD_WIDTH:], tenant_id, scope_id)
