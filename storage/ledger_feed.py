"""The ledger read forward for subscriptions: pages that all subscribers of a workspace share (ledger.md, Reading)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from storage.database import Database
from storage.ledger import EVENT_OBJECT, LINKED_COLUMNS, LINKED_WIDTH, LinkedEvent, linked_event
from storage.objects import HEAD_COLUMNS, Heads, heads_of

_HEAD_WIDTH: Final = 6
# Events of a page are literally limited, so that the planner reads no more than a page.
FEED_PAGE_EVENTS: Final = 500
_READ: Final = f"""
select * from (
select {HEAD_COLUMNS}, {LINKED_COLUMNS}, o.object_type, e.sequence as position,
       coalesce(sum(octet_length(e.body))
           over (order by e.sequence rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
  left join lateral (
    select * from remit.ledger_events e
     where e.tenant_id = h.tenant_id and e.scope_id = h.scope_id and e.sequence > %s::bigint
     order by e.sequence limit {FEED_PAGE_EVENTS}) e on true{EVENT_OBJECT}
 where h.tenant_id = %s and h.scope_id = %s) page
 where bytes_before < %s::bigint
 order by position"""


@dataclass(frozen=True, slots=True)
class FedEvent:
    """An event with the type its object is stored with, None where it names no object or the object is not there."""

    linked: LinkedEvent
    object_type: str | None


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Consecutive events after a sequence, and the head as the same statement saw it (None: no such workspace)."""

    heads: Heads | None
    events: tuple[FedEvent, ...]


async def read_feed(database: Database, tenant_id: str, scope_id: str, after_sequence: int, bytes_max: int) -> FeedPage:
    """Returns the page of all events after a sequence, cut at about `bytes_max` bytes but not before the first one.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    rows = await database.tenant_rows(tenant_id, _READ, (after_sequence, tenant_id, scope_id, bytes_max))
    if not rows:
        return FeedPage(None, ())
    events = []
    for row in rows:
        linked = linked_event(row[_HEAD_WIDTH : _HEAD_WIDTH + LINKED_WIDTH], tenant_id, scope_id)
        if linked is not None:
            events.append(FedEvent(linked, row[_HEAD_WIDTH + LINKED_WIDTH]))
    return FeedPage(heads_of(rows[0][:_HEAD_WIDTH]), tuple(events))


_TYPES: Final = """
select k.object_id, o.object_type from unnest(%b::text[]) k(object_id)
 cross join lateral (
    select o.object_type from remit.memory_objects o
     where o.tenant_id = %s and o.scope_id = %s and o.object_id = k.object_id limit 1) o"""


async def object_types(
    database: Database, tenant_id: str, scope_id: str, object_ids: Collection[str]
) -> dict[str, str]:
    """Returns the types that objects of the workspace are stored with; those that are not there are left out."""
    rows = await database.tenant_rows(tenant_id, _TYPES, (sorted(object_ids), tenant_id, scope_id))
    return dict(rows)
