"""Single rules of a workspace's policy, and pages of them: what administration reads (authority.md, Own authority)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storage.database import Database
from storage.model.policy import Binding, CrossScopeKind, CrossScopeRule, Effect, Rule
from storage.objects import HEAD_COLUMNS, Heads, heads_of

_FIND: Final = """
select r.rule_id, r.subject, r.action, r.object_type, r.object_id, r.effect, null::text, null::text
  from remit.policy_rules r where r.tenant_id = %(tenant)s and r.scope_id = %(scope)s and r.rule_id = %(rule)s
union all
select x.rule_id, null, null, null, null, null, x.source_scope_id, x.kind
  from remit.cross_scope_rules x where x.tenant_id = %(tenant)s and x.scope_id = %(scope)s and x.rule_id = %(rule)s"""


async def find_rule(database: Database, tenant_id: str, scope_id: str, rule_id: str) -> Rule | CrossScopeRule | None:
    """Returns the rule or cross-scope permit of that id, None when the workspace has none."""
    rows = await database.tenant_rows(tenant_id, _FIND, {"tenant": tenant_id, "scope": scope_id, "rule": rule_id})
    if not rows:
        return None
    found, subject, action, object_type, object_id, effect, source_scope_id, kind = rows[0]
    if subject is None:
        return CrossScopeRule(found, source_scope_id, CrossScopeKind(kind))
    return Rule(found, subject, action, object_type, object_id, Effect(effect))


_HAS_DENY: Final = """
select exists (select from remit.policy_rules r
                where r.tenant_id = %s and r.scope_id = %s and r.subject = %s and r.effect = 'deny')"""


async def has_deny(database: Database, tenant_id: str, scope_id: str, subject: str) -> bool:
    """Returns whether a rule of the workspace denies the subject anything."""
    rows = await database.tenant_rows(tenant_id, _HAS_DENY, (tenant_id, scope_id, subject))
    return bool(rows[0][0])


# One statement, hence one snapshot: the page belongs to the revision it is told with. `%(first)s` spares later pages
# the permits and bindings.
_PAGE: Final = f"""
select {HEAD_COLUMNS},
       (select coalesce(jsonb_agg(
                   jsonb_build_array(p.rule_id, p.subject, p.action, p.object_type, p.object_id, p.effect)
                   order by p.rule_id), '[]')
          from (select r.* from remit.policy_rules r
                 where r.tenant_id = h.tenant_id and r.scope_id = h.scope_id and r.rule_id > %(after)s
                   and (%(subject)s::text is null or r.subject = %(subject)s)
                 order by r.rule_id limit %(limit)s) p),
       (select coalesce(jsonb_agg(jsonb_build_array(x.rule_id, x.source_scope_id, x.kind) order by x.rule_id), '[]')
          from remit.cross_scope_rules x
         where %(first)s and %(subject)s::text is null and x.tenant_id = h.tenant_id and x.scope_id = h.scope_id),
       (select coalesce(jsonb_agg(jsonb_build_array(b.actor_id, b.role_id) order by b.role_id, b.actor_id), '[]')
          from remit.role_bindings b
         where %(first)s and b.tenant_id = h.tenant_id and b.scope_id = h.scope_id
           and (%(subject)s::text is null or %(subject)s in (b.actor_id, b.role_id)))
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
 where h.tenant_id = %(tenant)s and h.scope_id = %(scope)s"""
_HEAD_WIDTH: Final = 6


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """A page of rules by id, with the permits and bindings on the first one, and the head they were read at."""

    heads: Heads | None
    rules: tuple[Rule, ...] = ()
    permits: tuple[CrossScopeRule, ...] = ()
    bindings: tuple[Binding, ...] = ()


async def list_policy(
    database: Database, tenant_id: str, scope_id: str, subject: str | None, after_rule_id: str, limit: int
) -> PolicyPage:
    """Returns at most `limit` rules after a given id ('' for the first page), of one subject where one is named."""
    rows = await database.tenant_rows(
        tenant_id,
        _PAGE,
        {
            "tenant": tenant_id,
            "scope": scope_id,
            "subject": subject,
            "after": after_rule_id,
            "first": not after_rule_id,
            "limit": limit,
        },
    )
    if not rows:
        return PolicyPage(None)
    rules, permits, bindings = rows[0][_HEAD_WIDTH:]
    return PolicyPage(
        heads_of(rows[0][:_HEAD_WIDTH]),
        tuple(Rule(r[0], r[1], r[2], r[3], r[4], Effect(r[5])) for r in rules),
        tuple(CrossScopeRule(x[0], x[1], CrossScopeKind(x[2])) for x in permits),
        tuple(Binding(*binding) for binding in bindings),
    )
