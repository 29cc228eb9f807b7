"""Adding tenants: the root scope with its first administrators, as ledger events (authority.md, "Who is calling")."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from authz.permissions import OWNER_ACTIONS, ROLE_OWNER
from storage.commands import Command, Outcome, WorkspaceOpening, event_row
from storage.commit import Coalescer
from storage.model.actor import ActorRef
from storage.model.administration_events import TenantCreated, WorkspaceCreated
from storage.model.event_record import EventRecord
from storage.model.identifiers import new_id, root_scope_id
from storage.model.policy import Binding, Effect, Rule
from storage.model.workspace import DEFAULT_POLICY, WorkspacePolicy

OPERATOR = ActorRef("actor:remit:operator", "operator")


def owner_rules() -> tuple[Rule, ...]:
    """Returns the rules of `role:owner` in a new workspace: every action but those held by explicit rule only."""
    return tuple(Rule(new_id(), ROLE_OWNER, action, "*", "*", Effect.ALLOW) for action in sorted(OWNER_ACTIONS))


def opening(
    scope_id: str,
    scope_kind: str,
    owners: Sequence[str],
    rules: Sequence[Rule],
    *,
    parent_scope_id: str | None = None,
    policy: WorkspacePolicy = DEFAULT_POLICY,
    new_tenant: bool = False,
) -> WorkspaceOpening:
    """Returns a workspace to open, with its bootstrap rules and its owners bound."""
    return WorkspaceOpening(
        scope_id=scope_id,
        ledger_id=uuid4(),
        scope_kind=scope_kind,
        parent_scope_id=parent_scope_id,
        policy=policy.for_event(),
        rules=[
            {
                "rule_id": rule.rule_id,
                "subject": rule.subject,
                "action": rule.action,
                "object_type": rule.object_type,
                "object_id": rule.object_id,
                "effect": rule.effect.value,
            }
            for rule in rules
        ],
        bindings=[{"actor_id": owner, "role_id": ROLE_OWNER} for owner in owners],
        new_tenant=new_tenant,
    )


async def add_tenant(coalescer: Coalescer, tenant_id: str, administrators: Sequence[str]) -> Outcome:
    """Creates a tenant's root scope; the outcome is SCOPE_EXISTS when the tenant is there already.

    Raises DatabaseUnavailable.
    """
    scope_id = root_scope_id(tenant_id)
    rules = owner_rules()
    operation_id = new_id()
    created = WorkspaceCreated(
        scope_kind="tenant",
        rules=rules,
        bindings=tuple(Binding(administrator, ROLE_OWNER) for administrator in administrators),
        policy_revision=1,
    )
    records = [
        EventRecord(scope_id=scope_id, event_id=new_id(), operation_id=operation_id, actor=OPERATOR, event=event)
        for event in (TenantCreated(root_scope_id=scope_id), created)
    ]
    return await coalescer.submit(
        Command(
            tenant_id=tenant_id,
            scope_id=scope_id,
            actor_id=OPERATOR.actor_id,
            events=[event_row(tenant_id, record) for record in records],
            workspace=opening(scope_id, "tenant", administrators, rules, new_tenant=True),
        )
    )
