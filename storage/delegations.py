"""Delegation Objects: all reads of them (authority.md, "Delegated authority")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.objects import MICROSECONDS


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """A grant's operational row with one of its authenticated versions. Times are microseconds."""

    scope_id: str
    delegation_id: str
    version_id: str
    sequence: int
    grantor_id: str
    delegate_id: str
    target_scope_id: str | None
    parent_delegation_id: str | None
    chain: tuple[str, ...]
    not_before_us: int
    not_after_us: int
    revoked: bool
    usage_limit: int | None
    uses: int
    granted_sequence: int
    core: bytes
    mac: bytes
    mac_key_id: str


@dataclass(frozen=True, slots=True)
class GrantChain:
    """The chain of one grant, root..leaf, and the database's clock when it was read."""

    grants: tuple[StoredGrant, ...]
    now_us: int


_GRANT_COLUMNS: Final = (
    "d.scope_id, d.delegation_id, d.version_id, d.sequence, d.grantor_id, d.delegate_id, d.target_scope_id, "
    "d.parent_delegation_id, d.chain, "
    f"{MICROSECONDS.format('d.not_before')}, {MICROSECONDS.format('d.not_after')}, "
    "d.revoked, d.usage_limit, d.uses, d.granted_sequence, v.core, v.mac, v.mac_key_id"
)
_CHAIN_COLUMN: Final = 8
# Each step is one look-up by a whole key: `limit 1` keeps the planner, which knows nothing of fresh tables, from joining
# a workspace's grants with each other instead (measured: 80 ms for 0.3 at 1,000 grants and 10 keys).
_CURRENT: Final = """
 cross join lateral (
    select l.core, l.mac, l.mac_key_id from remit.delegation_versions l
     where l.tenant_id = d.tenant_id and l.scope_id = d.scope_id and l.delegation_id = d.delegation_id
       and l.sequence = d.sequence limit 1) v"""
_CHAINS: Final = f"""
select k.ix, {MICROSECONDS.format("t.now")}, {_GRANT_COLUMNS}
  from rows from (unnest(%b::text[]), unnest(%b::text[])) with ordinality k(scope_id, delegation_id, ix)
 cross join (select remit.clock() as now) t
 cross join lateral (
    (select l.scope_id, l.chain from remit.delegations l
      where l.tenant_id = %s and l.scope_id = k.scope_id and l.delegation_id = k.delegation_id limit 1)
    union all
    (select l.scope_id, l.chain from remit.delegations l
      where l.tenant_id = %s and l.target_scope_id = k.scope_id and l.delegation_id = k.delegation_id limit 1)) leaf
 cross join lateral unnest(leaf.chain) with ordinality c(delegation_id, depth)
 cross join lateral (
    select l.* from remit.delegations l
     where l.tenant_id = %s and l.scope_id = leaf.scope_id and l.delegation_id = c.delegation_id limit 1) d
{_CURRENT}
 order by k.ix, c.depth"""


def _grant(columns: Sequence[Any]) -> StoredGrant:
    values = list(columns)
    values[_CHAIN_COLUMN] = tuple(values[_CHAIN_COLUMN])
    return StoredGrant(*values)


async def load_chains(database: Database, tenant_id: str, keys: Sequence[tuple[str, str]]) -> list[GrantChain | None]:
    """Returns for each (workspace, grant) the grant's chain, if it lives in that workspace or targets it, else None."""
    rows = await database.tenant_rows(
        tenant_id,
        _CHAINS,
        ([scope for scope, _ in keys], [grant for _, grant in keys], tenant_id, tenant_id, tenant_id),
    )
    grants: dict[int, list[StoredGrant]] = {}
    now_us = 0
    for row in rows:
        now_us = row[1]
        grants.setdefault(row[0], []).append(_grant(row[2:]))
    return [GrantChain(tuple(grants[index]), now_us) if index in grants else None for index in range(1, len(keys) + 1)]


_VERSION: Final = f"""
select {_GRANT_COLUMNS} from remit.delegations d
  join remit.delegation_versions v on v.tenant_id = d.tenant_id and v.scope_id = d.scope_id
   and v.delegation_id = d.delegation_id and v.version_id = %s
 where d.tenant_id = %s and d.scope_id = %s and d.delegation_id = %s"""


async def load_version(
    database: Database, tenant_id: str, home_scope_id: str, delegation_id: str, version_id: str
) -> StoredGrant | None:
    """Returns the grant with the version asked for, None when there is none."""
    rows = await database.tenant_rows(tenant_id, _VERSION, (version_id, tenant_id, home_scope_id, delegation_id))
    return _grant(rows[0]) if rows else None


@dataclass(frozen=True, slots=True)
class GrantFilter:
    """Which grants to list. `party_id` restricts to grants the actor is delegate or grantor of."""

    scope_id: str
    grantor_id: str | None = None
    delegate_id: str | None = None
    party_id: str | None = None
    after: tuple[int, str] = (0, "")


_LISTED: Final = """
   and (%(grantor)s::text is null or d.grantor_id = %(grantor)s)
   and (%(delegate)s::text is null or d.delegate_id = %(delegate)s)
   and (%(party)s::text is null or d.delegate_id = %(party)s or d.grantor_id = %(party)s)
   and (d.granted_sequence, d.delegation_id) > (%(sequence)s, %(after)s)
 order by d.granted_sequence, d.delegation_id limit %(limit)s"""
_LIST: Final = f"""
select {_GRANT_COLUMNS} from (
    (select d.* from remit.delegations d where d.tenant_id = %(tenant)s and d.scope_id collate "C" = %(scope)s {_LISTED})
    union all
    (select d.* from remit.delegations d where d.tenant_id = %(tenant)s and d.target_scope_id = %(scope)s {_LISTED})) d
{_CURRENT}
 order by d.granted_sequence, d.delegation_id limit %(limit)s"""


async def list_grants(database: Database, tenant_id: str, wanted: GrantFilter, limit: int) -> list[StoredGrant]:
    """Returns grants that live in the workspace or target it, oldest first, at most `limit` after `wanted.after`."""
    rows = await database.tenant_rows(
        tenant_id,
        _LIST,
        {
            "tenant": tenant_id,
            "scope": wanted.scope_id,
            "grantor": wanted.grantor_id,
            "delegate": wanted.delegate_id,
            "party": wanted.party_id,
            "sequence": wanted.after[0],
            "after": wanted.after[1],
            "limit": limit,
        },
    )
    return [_grant(row) for row in rows]


_BELOW: Final = f"""
with recursive below(delegation_id, depth) as (
    select l.delegation_id, cardinality(l.chain) from remit.delegations l
     where l.tenant_id = %(tenant)s and l.scope_id = %(scope)s and l.delegation_id = %(root)s
    union
    select d.delegation_id, b.depth + 1 from below b
      join remit.delegations d on d.parent_delegation_id = b.delegation_id
     where d.tenant_id = %(tenant)s and d.scope_id = %(scope)s),
page as (
    select b.delegation_id, b.depth from below b where (b.depth, b.delegation_id) > (%(depth)s, %(after)s)
     order by b.depth, b.delegation_id limit %(limit)s)
select (select count(*) from below), {MICROSECONDS.format("remit.clock()")}, {_GRANT_COLUMNS} from page p
 cross join lateral (
    select l.* from remit.delegations l
     where l.tenant_id = %(tenant)s and l.scope_id = %(scope)s and l.delegation_id = p.delegation_id limit 1) d
{_CURRENT}
 order by p.depth, d.delegation_id"""


async def list_below(
    database: Database, tenant_id: str, home_scope_id: str, delegation_id: str, after: tuple[int, str], limit: int
) -> tuple[int, int, list[StoredGrant]]:
    """Returns how many grants end with this one (itself included), the clock, and a page of them, nearest first."""
    rows = await database.tenant_rows(
        tenant_id,
        _BELOW,
        {
            "tenant": tenant_id,
            "scope": home_scope_id,
            "root": delegation_id,
            "depth": after[0],
            "after": after[1],
            "limit": limit,
        },
    )
    return (rows[0][0], rows[0][1], [_grant(row[2:]) for row in rows]) if rows else (0, 0, [])


_REVOCATION: Final = """
select e.event_id from remit.ledger_events e
 where e.tenant_id = %s and e.scope_id = %s and e.delegation_id = %s and e.event_type = 'delegation_revoked'
 order by e.sequence limit 1"""


async def find_revocation(database: Database, tenant_id: str, home_scope_id: str, delegation_id: str) -> str | None:
    """Returns the event that revoked a grant, None when there is none."""
    rows = await database.tenant_rows(tenant_id, _REVOCATION, (tenant_id, home_scope_id, delegation_id))
    return str(rows[0][0]) if rows else None
