"""Walks along relationships, one step at a time: what leads on from a set of objects (P-8.5-07, P-15.7-01).

A relationship is followed when the object it leads to is within reach under the policy of that object's workspace, and,
where it crosses workspaces, the target's workspace still permits it. All of that is judged inside the statement, so
that nothing is cut before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from storage.database import Database
from storage.objects import PART_JOINS
from storage.relationship_ends import ScopeReach
from storage.relationships import (
    CONTENT_OWNER,
    RELATIONSHIP_COLUMNS,
    RELATIONSHIP_PARTS,
    StoredRelationship,
    stored_relationship,
)
from storage.row_filter import Conditions

Place = tuple[str, str]
"""A workspace and an object or a relationship in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepQuery:
    """From where to go on, and how.

    `reaches` are those of every workspace that is known; `permitted` are the pairs of workspaces of which the second lets
    relationships of the first end in it. Relationships of `scope_id` are seen as they stood at `pinned_sequence`. With
    `member_ids` the walk stays in a snapshot of that workspace. `after` and `limit` cut the steps, which come in the order
    of their ids.
    """

    scope_id: str
    pinned_sequence: int
    places: Sequence[Place]
    reaches: Sequence[ScopeReach]
    permitted: Sequence[tuple[str, str]]
    outgoing: bool
    incoming: bool
    relationship_types: Sequence[str]
    in_snapshot: bool = False
    member_ids: Sequence[str] | None = None
    own_only: bool = False
    after: Place | None = None
    limit: int | None = None


class Step(NamedTuple):
    """A relationship that may be followed, at the version seen, and how the object it leads to stands now."""

    scope_id: str
    relationship_id: str
    sequence: int
    given: bool
    source_object_id: str
    target_object_id: str
    target_scope_id: str
    outgoing: bool
    other_scope_id: str
    other_object_id: str
    object_type: str
    version_id: str
    availability_state: str

    @property
    def other(self) -> Place:
        """The object it leads to."""
        return self.other_scope_id, self.other_object_id

    @property
    def key(self) -> Place:
        """The relationship."""
        return self.scope_id, self.relationship_id


@dataclass(frozen=True, slots=True)
class StepPage:
    """Steps in the byte order of workspace and relationship; `unknown_scopes` are workspaces some of them would lead to."""

    steps: tuple[Step, ...]
    unknown_scopes: tuple[str, ...]


# A relationship without a direction, or with both, is followed from either end. As in storage.objects, lateral
# subqueries with a limit can only be looked up by key.
_STATEMENT: Final = """
with edge as materialized (
select r.*, v.sequence as seen_sequence, g.verdict = 'open' and v.availability_state not in ('redacted', 'deleted') as given
  from rows from (unnest({scopes}), unnest({ids})) k(scope_id, object_id)
 cross join lateral (
    select r.scope_id, r.relationship_id, r.source_object_id, r.target_object_id, r.target_scope_id, true as outgoing,
           r.target_scope_id as other_scope_id, r.target_object_id as other_object_id
      from remit.relationships r
     where r.tenant_id = {tenant} and r.scope_id collate "C" = k.scope_id and r.source_object_id = k.object_id
       and ({outgoing} or r.directionality <> 'directed')
    union all
    select r.scope_id, r.relationship_id, r.source_object_id, r.target_object_id, r.target_scope_id, false,
           r.scope_id, r.source_object_id
      from remit.relationships r
     where r.tenant_id = {tenant} and r.target_scope_id collate "C" = k.scope_id and r.target_object_id = k.object_id
       and ({incoming} or r.directionality <> 'directed')
       and (r.scope_id, r.source_object_id) is distinct from (r.target_scope_id, r.target_object_id)) r
 cross join lateral (
    select g.verdict from remit.relationship_gate g
     where g.tenant_id = {tenant} and g.scope_id = r.scope_id and g.relationship_id = r.relationship_id limit 1) g
 cross join lateral (
    select x.sequence, x.availability_state, x.relationship_type from remit.relationship_versions x
     where x.tenant_id = {tenant} and x.scope_id = r.scope_id and x.relationship_id = r.relationship_id
       and (x.scope_id <> {scope} or x.ledger_sequence <= {pin})
     order by x.sequence desc limit 1) v
 where g.verdict in ('open', 'redacted') and v.availability_state <> 'deleted'{conditions})
(select e.scope_id, e.relationship_id, e.seen_sequence, e.given, e.source_object_id, e.target_object_id,
        e.target_scope_id, e.outgoing, e.other_scope_id, e.other_object_id, o.object_type, {version_id},
        {availability_state}
   from edge e
  cross join lateral (
     select g.object_type, g.version_id, g.availability_state, g.verdict from remit.retrieval_gate g
      where g.tenant_id = {tenant} and g.scope_id = e.other_scope_id and g.object_id = e.other_object_id limit 1) o{at}
  where ({reached})
    and (e.scope_id = e.target_scope_id
         or (e.scope_id, e.target_scope_id) in (select * from unnest({permitted_sources}, {permitted_targets}))){after}
  order by e.scope_id collate "C", e.relationship_id collate "C", e.outgoing desc{limit})
union all
select distinct null, null, null::bigint, null::boolean, null, null, null, null::boolean, e.other_scope_id, null, null,
       null, null
  from edge e where e.other_scope_id <> all ({known})"""
# The version of the object that a snapshot has; it is there, since the relationship was there.
_AT: Final = """
  cross join lateral (
     select x.version_id, x.availability_state from remit.memory_versions x
      where x.tenant_id = {tenant} and x.scope_id = e.other_scope_id and x.object_id = e.other_object_id
        and x.ledger_sequence <= {pin}
      order by x.sequence desc limit 1) a"""


async def next_steps(database: Database, tenant_id: str, query: StepQuery) -> StepPage:
    """Returns the steps that lead on from the places. Raises DatabaseUnavailable, StatementTimeout."""
    where = Conditions()
    tenant, scope = where.bind(tenant_id, "text"), where.bind(query.scope_id, "text")
    pin = where.bind(query.pinned_sequence, "bigint")
    where.one_of("v.relationship_type", list(query.relationship_types))
    if query.in_snapshot:
        where.add(f"r.scope_id = {scope}")
        where.add(f"r.target_scope_id = {scope}")
        if query.member_ids is not None:
            where.add(f"r.other_object_id = any ({where.bind(list(query.member_ids), 'text[]')})")
    if query.own_only:
        where.add(f"r.scope_id = {scope}")
    conditions = where.sql
    statement = _STATEMENT.format(
        scopes=where.bind([place[0] for place in query.places], "text[]"),
        ids=where.bind([place[1] for place in query.places], "text[]"),
        tenant=tenant,
        scope=scope,
        pin=pin,
        outgoing=where.bind(query.outgoing, "boolean"),
        incoming=where.bind(query.incoming, "boolean"),
        conditions=conditions,
        version_id="a.version_id" if query.in_snapshot else "o.version_id",
        availability_state=(
            # What was removed since is shown as what it is now.
            "case when o.verdict in ('deleted', 'redacted') then o.availability_state else a.availability_state end"
            if query.in_snapshot
            else "o.availability_state"
        ),
        at=_AT.format(tenant=tenant, pin=pin) if query.in_snapshot else "",
        reached=_reached(where, query.reaches),
        permitted_sources=where.bind([pair[0] for pair in query.permitted], "text[]"),
        permitted_targets=where.bind([pair[1] for pair in query.permitted], "text[]"),
        after=_after(where, query.after),
        known=where.bind([reach.scope_id for reach in query.reaches], "text[]"),
        limit="" if query.limit is None else f" limit {query.limit}",
    )
    rows = await database.tenant_rows(tenant_id, statement, where.params)
    steps = tuple(Step(*row) for row in rows if row[0] is not None)
    return StepPage(steps, tuple(sorted(row[8] for row in rows if row[0] is None)))


def _after(where: Conditions, after: Place | None) -> str:
    if after is None:
        return ""
    last = ", ".join(where.bind(one, "text") for one in after)
    return f' and (e.scope_id collate "C", e.relationship_id collate "C") > ({last})'


def _reached(where: Conditions, reaches: Sequence[ScopeReach]) -> str:
    texts = []
    for reach in reaches:
        if reach.filters is not None:
            parts = [f"e.other_scope_id = {where.bind(reach.scope_id, 'text')}"]
            parts += [where.covers(one, "o.object_type", "e.other_object_id") for one in reach.filters]
            review = where.covers(reach.review, "o.object_type", "e.other_object_id")
            parts.append(f"(o.verdict <> 'retention_restricted' or {review})")
            texts.append(" and ".join(parts))
    return " or ".join(f"({text})" for text in texts) or "false"


_LOAD: Final = f"""
select {RELATIONSHIP_COLUMNS}, {RELATIONSHIP_PARTS}
  from rows from (unnest(%(scopes)s::text[]), unnest(%(ids)s::text[]), unnest(%(sequences)s::bigint[])) with ordinality
       k(scope_id, relationship_id, sequence, ix)
  left join lateral (
    select x.*, {CONTENT_OWNER.format("x")} as object_id from remit.relationship_versions x
     where x.tenant_id = %(tenant)s and x.scope_id = k.scope_id and x.relationship_id = k.relationship_id
       and x.sequence = k.sequence limit 1) v on true{PART_JOINS}
 order by k.ix"""


async def load_steps(database: Database, tenant_id: str, steps: Sequence[Step]) -> list[StoredRelationship | None]:
    """Returns the version that each step follows, None where its row is gone. Raises DatabaseUnavailable."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "scopes": [step.scope_id for step in steps],
        "ids": [step.relationship_id for step in steps],
        "sequences": [step.sequence for step in steps],
    }
    rows = await database.tenant_rows(tenant_id, _LOAD, params)
    return [stored_relationship(row) for row in rows]
