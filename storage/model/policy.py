"""A workspace's policy: rules, role bindings and cross-scope permits (authority.md, Own authority)."""

from dataclasses import dataclass
from enum import StrEnum

from storage.model.canonical import JsonValue


class Effect(StrEnum):
    """Effect of a rule; a deny overrides every allow."""

    ALLOW = "allow"
    DENY = "deny"


class CrossScopeKind(StrEnum):
    """What a cross-scope rule permits the other workspace."""

    DELEGATION = "delegation"
    RELATIONSHIP = "relationship"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: subject is `actor:...` or `role:...`; action, object type and object id are exact or `*`."""

    rule_id: str
    subject: str
    action: str
    object_type: str
    object_id: str
    effect: Effect

    def for_event(self) -> dict[str, JsonValue]:
        """Returns the rule as policy events carry it."""
        return {
            "rule_id": self.rule_id,
            "subject": self.subject,
            "action": self.action,
            "object_type": self.object_type,
            "object_id": self.object_id,
            "effect": self.effect.value,
        }


@dataclass(frozen=True, slots=True)
class CrossScopeRule:
    """Permits another workspace of the tenant to reach into the one that holds the rule."""

    rule_id: str
    source_scope_id: str
    kind: CrossScopeKind

    def for_event(self) -> dict[str, JsonValue]:
        """Returns the rule as policy events carry it."""
        return {"rule_id": self.rule_id, "source_scope_id": self.source_scope_id, "kind": self.kind.value}


@dataclass(frozen=True, slots=True)
class Binding:
    """Binds an actor to a role."""

    actor_id: str
    role_id: str

    def for_event(self) -> dict[str, JsonValue]:
        """Returns the binding as policy events carry it."""
        return {"actor_id": self.actor_id, "role_id": self.role_id}


@dataclass(frozen=True, slots=True)
class PolicySnapshot:
    """All of one workspace's policy as one database snapshot saw it, with the revisions it stands at.

    `policy_revision` moves with every change of rules or bindings, `restrict_revision` only with those that can take
    something away.
    """

    tenant_id: str
    scope_id: str
    policy_revision: int
    restrict_revision: int
    rules: tuple[Rule, ...]
    bindings: tuple[Binding, ...]
    cross_scope_rules: tuple[CrossScopeRule, ...]
