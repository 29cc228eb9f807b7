"""Events of administration: tenants, workspaces, rules and roles (surface.md, section 5)."""

from dataclasses import dataclass, fields
from typing import ClassVar

from storage.model.canonical import JsonValue
from storage.model.event_record import Event
from storage.model.policy import Binding, CrossScopeRule, Rule
from storage.model.workspace import DEFAULT_POLICY, WorkspacePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantCreated(Event):
    """A tenant was added; recorded in its root scope."""

    TYPE: ClassVar[str] = "tenant_created"

    root_scope_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCreated(Event):
    """A workspace was created, with the rules and bindings it starts with.

    The copy in the tenant's root scope names the new workspace in `created_scope_id` and carries no rules or bindings:
    those are the new workspace's, whose own first event has them.
    """

    TYPE: ClassVar[str] = "workspace_created"

    scope_kind: str
    parent_scope_id: str | None = None
    policy: WorkspacePolicy = DEFAULT_POLICY
    rules: tuple[Rule, ...] = ()
    bindings: tuple[Binding, ...] = ()
    policy_revision: int
    created_scope_id: str | None = None

    def payload(self) -> dict[str, JsonValue]:
        """Returns the payload."""
        value: dict[str, JsonValue] = {
            "scope_kind": self.scope_kind,
            "policy": self.policy.for_event(),
            "rules": [rule.for_event() for rule in self.rules],
            "bindings": [binding.for_event() for binding in self.bindings],
            "policy_revision": self.policy_revision,
        }
        if self.parent_scope_id is not None:
            value["parent_scope_id"] = self.parent_scope_id
        if self.created_scope_id is not None:
            value["created_scope_id"] = self.created_scope_id
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRuleChanged(Event):
    """A rule or a cross-scope permit changed; `policy_revision` is the one after the change."""

    rule: Rule | CrossScopeRule
    policy_revision: int

    def payload(self) -> dict[str, JsonValue]:
        """Returns the payload."""
        return {**self.rule.for_event(), "policy_revision": self.policy_revision}

    @classmethod
    def payload_keys(cls) -> frozenset[str]:
        """Returns the wire's keys of everything that the payload may hold: a rule's or a permit's own."""
        rules = frozenset(item.name for rule in (Rule, CrossScopeRule) for item in fields(rule))
        return rules | {"policy_revision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRuleAdded(PolicyRuleChanged):
    """A rule or a cross-scope permit was added."""

    TYPE: ClassVar[str] = "policy_rule_added"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRuleRemoved(PolicyRuleChanged):
    """A rule or a cross-scope permit was removed."""

    TYPE: ClassVar[str] = "policy_rule_removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChanged(Event):
    """A binding changed; `policy_revision` is the one after the change."""

    actor_id: str
    role_id: str
    policy_revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBound(RoleChanged):
    """A role was bound to an actor."""

    TYPE: ClassVar[str] = "role_bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUnbound(RoleChanged):
    """A role was unbound from an actor."""

    TYPE: ClassVar[str] = "role_unbound"
