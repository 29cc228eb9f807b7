"""Durable subscriptions: all reads of them, and of what wakes them (ledger.md, Reading)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.model.subscription import Delivery, Subscription, SubscriptionFilter, actor_of_row
from storage.objects import HEAD_COLUMNS, Heads, heads_of

_COLUMNS: Final = (
    "s.scope_id, s.subscription_id, s.actor, s.delegation_id, s.filter, s.delivery, s.ledger_epoch, s.start_sequence, "
    "s.acknowledged_sequence, s.delivered_sequence, s.withheld, s.stream_id, s.reset_number, s.signal, s.close_reason"
)
_HEAD_WIDTH: Final = 6


def _subscription(columns: Sequence[Any]) -> Subscription:
    scope_id, subscription_id, actor, delegation_id, filter_value, delivery, epoch, *rest = columns
    start, acknowledged, delivered, withheld, stream_id, reset_number, signal, close_reason = rest
    return Subscription(
        scope_id=scope_id,
        subscription_id=subscription_id,
        actor=actor_of_row(actor),
        delegation_id=delegation_id,
        filter=SubscriptionFilter.of_row(filter_value),
        delivery=Delivery.of_row(delivery),
        ledger_epoch=epoch,
        start_sequence=start,
        acknowledged_sequence=acknowledged,
        delivered_sequence=delivered,
        withheld=tuple(zip(withheld[::2], withheld[1::2], strict=True)),
        stream_id=stream_id,
        reset_number=reset_number,
        signal=signal,
        close_reason=close_reason,
    )


_LOAD: Final = f"""
select {HEAD_COLUMNS}, {_COLUMNS}
  from rows from (unnest(%b::text[]), unnest(%b::text[])) with ordinality k(scope_id, subscription_id, ix)
 cross join (select remit.clock() as now) t
  left join lateral (
    select * from remit.ledger_heads h where h.tenant_id = %s and h.scope_id = k.scope_id limit 1) h on true
  left join lateral (
    select * from remit.subscriptions s
     where s.tenant_id = %s and s.scope_id = k.scope_id and s.subscription_id = k.subscription_id limit 1) s on true
 order by k.ix"""

SubscriptionFacts = tuple[Heads | None, Subscription | None]
"""A workspace's head and a subscription there as one statement saw them, each None when there is none."""


async def load_subscriptions(
    database: Database, tenant_id: str, keys: Sequence[tuple[str, str]]
) -> list[SubscriptionFacts]:
    """Returns the facts of each (workspace, subscription), in order. Raises DatabaseUnavailable, StatementTimeout."""
    params = ([scope for scope, _ in keys], [found for _, found in keys], tenant_id, tenant_id)
    rows = await database.tenant_rows(tenant_id, _LOAD, params)
    facts: list[SubscriptionFacts] = []
    for row in rows:
        columns = row[_HEAD_WIDTH:]
        facts.append((heads_of(row[:_HEAD_WIDTH]), None if columns[0] is None else _subscription(columns)))
    return facts


_SIGNALLED: Final = f"""
select {_COLUMNS} from remit.subscriptions s
 where s.tenant_id = %s and s.scope_id = %s and s.signal > %s order by s.signal"""


async def signalled_subscriptions(
    database: Database, tenant_id: str, scope_id: str, after_signal: int
) -> list[Subscription]:
    """Returns the workspace's subscriptions that were opened, taken over, reset or closed since a signal."""
    rows = await database.tenant_rows(tenant_id, _SIGNALLED, (tenant_id, scope_id, after_signal))
    return [_subscription(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Mark:
    """What a watcher compares of a workspace: its head, and the signal of its subscriptions (0: none was ever opened)."""

    heads: Heads
    signal: int


_MARKS: Final = f"""
select {HEAD_COLUMNS}, coalesce(g.signal, 0)
  from unnest(%b::text[]) with ordinality k(scope_id, ix)
 cross join (select remit.clock() as now) t
  left join lateral (
    select * from remit.ledger_heads h where h.tenant_id = %s and h.scope_id = k.scope_id limit 1) h on true
  left join lateral (
    select * from remit.subscription_signals g where g.tenant_id = %s and g.scope_id = k.scope_id limit 1) g on true
 order by k.ix"""


async def load_marks(database: Database, tenant_id: str, scope_ids: Sequence[str]) -> list[Mark | None]:
    """Returns the mark of each workspace, in order, all by one statement. Raises DatabaseUnavailable."""
    rows = await database.tenant_rows(tenant_id, _MARKS, (list(scope_ids), tenant_id, tenant_id))
    marks = []
    for row in rows:
        heads = heads_of(row[:_HEAD_WIDTH])
        marks.append(None if heads is None else Mark(heads, row[_HEAD_WIDTH]))
    return marks
