"""Workspaces, their policy and who belongs to them: all reads of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.model.policy import Binding, CrossScopeKind, CrossScopeRule, Effect, PolicySnapshot, Rule
from storage.model.workspace import Workspace, parse_policy
from storage.objects import HEAD_COLUMNS, MICROSECONDS, Heads, heads_of

_WORKSPACE_COLUMNS: Final = "w.scope_id, w.scope_kind, w.parent_scope_id, w.policy, " + MICROSECONDS.format(
    "w.created_at"
)
# One statement, hence one snapshot: rules, bindings, permits and the revisions they stand at belong together.
_SNAPSHOT: Final = f"""
select {HEAD_COLUMNS}, {_WORKSPACE_COLUMNS},
       (select coalesce(jsonb_agg(jsonb_build_array(r.rule_id, r.subject, r.action, r.object_type, r.object_id, r.effect)
                                  order by r.rule_id), '[]')
          from remit.policy_rules r where r.tenant_id = h.tenant_id and r.scope_id = h.scope_id),
       (select coalesce(jsonb_agg(jsonb_build_array(b.actor_id, b.role_id) order by b.role_id, b.actor_id), '[]')
          from remit.role_bindings b where b.tenant_id = h.tenant_id and b.scope_id = h.scope_id),
       (select coalesce(jsonb_agg(jsonb_build_array(x.rule_id, x.source_scope_id, x.kind) order by x.rule_id), '[]')
          from remit.cross_scope_rules x where x.tenant_id = h.tenant_id and x.scope_id = h.scope_id)
  from remit.ledger_heads h
  join remit.workspaces w on w.tenant_id = h.tenant_id and w.scope_id = h.scope_id
 cross join (select remit.clock() as now) t
 where h.tenant_id = %s and h.scope_id = %s"""


@dataclass(frozen=True, slots=True)
class WorkspaceSnapshot:
    """A workspace, its policy and its head as one statement saw them."""

    workspace: Workspace
    policy: PolicySnapshot
    heads: Heads


def _workspace(columns: Sequence[Any]) -> Workspace:
    scope_id, scope_kind, parent_scope_id, policy, created_at_us = columns
    return Workspace(
        scope_id=scope_id,
        scope_kind=scope_kind,
        parent_scope_id=parent_scope_id,
        policy=parse_policy(policy),
        created_at_us=created_at_us,
    )


async def load_workspace(database: Database, tenant_id: str, scope_id: str) -> WorkspaceSnapshot | None:
    """Returns the workspace of this tenant, None when it is absent (another tenant's is absent)."""
    rows = await database.tenant_rows(tenant_id, _SNAPSHOT, (tenant_id, scope_id))
    if not rows:
        return None
    row = rows[0]
    heads = heads_of(row[:6])
    assert heads is not None
    rules, bindings, permits = row[11:]
    policy = PolicySnapshot(
        tenant_id=tenant_id,
        scope_id=scope_id,
        policy_revision=heads.policy_revision,
        restrict_revision=heads.restrict_revision,
        rules=tuple(Rule(r[0], r[1], r[2], r[3], r[4], Effect(r[5])) for r in rules),
        bindings=tuple(Binding(*binding) for binding in bindings),
        cross_scope_rules=tuple(CrossScopeRule(x[0], x[1], CrossScopeKind(x[2])) for x in permits),
    )
    return WorkspaceSnapshot(_workspace(row[6:11]), policy, heads)


_HEADS: Final = f"""
select {HEAD_COLUMNS}
  from unnest(%b::text[]) with ordinality k(scope_id, ix)
 cross join (select remit.clock() as now) t
  left join lateral (
    select * from remit.ledger_heads h where h.tenant_id = %s and h.scope_id = k.scope_id limit 1) h on true
 order by k.ix"""


async def load_heads(database: Database, tenant_id: str, scope_ids: Sequence[str]) -> list[Heads | None]:
    """Returns the head of each workspace, in order."""
    rows = await database.tenant_rows(tenant_id, _HEADS, (list(scope_ids), tenant_id))
    return [heads_of(row) for row in rows]


_LIST: Final = f"""
select {_WORKSPACE_COLUMNS} from remit.workspaces w
 where w.tenant_id = %s and w.scope_id > %s order by w.scope_id limit %s"""


async def list_workspaces(database: Database, tenant_id: str, after_scope_id: str, limit: int) -> list[Workspace]:
    """Returns workspaces of the tenant by id, at most `limit` after a given one ('' for the first)."""
    rows = await database.tenant_rows(tenant_id, _LIST, (tenant_id, after_scope_id, limit))
    return [_workspace(row) for row in rows]


_VISIBLE: Final = """
select scope_id from (
    select r.scope_id from remit.policy_rules r where r.tenant_id = %s and r.subject = %s
    union select b.scope_id from remit.role_bindings b where b.tenant_id = %s and b.actor_id = %s
    union select d.scope_id from remit.delegations d
           where d.tenant_id = %s and (d.delegate_id = %s or d.grantor_id = %s)
    union select d.target_scope_id from remit.delegations d
           where d.tenant_id = %s and d.target_scope_id is not null and (d.delegate_id = %s or d.grantor_id = %s)) s
 order by scope_id limit %s"""


async def visible_scopes(database: Database, tenant_id: str, actor_id: str, limit: int) -> list[str]:
    """Returns workspaces where the actor is the subject of a rule or binding or party to a grant, at most `limit`."""
    ruled, granted = (tenant_id, actor_id), (tenant_id, actor_id, actor_id)
    rows = await database.tenant_rows(tenant_id, _VISIBLE, (*ruled * 2, *granted * 2, limit))
    return [scope_id for (scope_id,) in rows]


_PARTY: Final = """
select exists (select from remit.delegations d where d.tenant_id = %s and d.scope_id collate "C" = %s and d.delegate_id = %s)
    or exists (select from remit.delegations d where d.tenant_id = %s and d.scope_id collate "C" = %s and d.grantor_id = %s)
    or exists (select from remit.delegations d where d.tenant_id = %s and d.target_scope_id = %s and d.delegate_id = %s)
    or exists (select from remit.delegations d where d.tenant_id = %s and d.target_scope_id = %s and d.grantor_id = %s)"""


async def is_party_to_a_grant(database: Database, tenant_id: str, scope_id: str, actor_id: str) -> bool:
    """Returns whether the actor was ever delegate or grantor of a grant that lives in the workspace or targets it."""
    rows = await database.tenant_rows(tenant_id, _PARTY, (tenant_id, scope_id, actor_id) * 4)
    return bool(rows[0][0])
