"""A workspace: one scope of one tenant, with one ledger and one policy (PAMSPEC 7.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from storage.model.canonical import JsonValue
from storage.model.states import AvailabilityState, Dimension, LifecycleState, RetentionState, State, ValidationState

LITE_STATES: Final[Mapping[Dimension, frozenset[State]]] = MappingProxyType(
    {
        Dimension.LIFECYCLE: frozenset({LifecycleState.ACTIVE, LifecycleState.SUPERSEDED, LifecycleState.ARCHIVED}),
        Dimension.AVAILABILITY: frozenset({AvailabilityState.AVAILABLE, AvailabilityState.DELETED}),
        Dimension.RETENTION: frozenset({RetentionState.RETAINED, RetentionState.PENDING_DELETION}),
        Dimension.VALIDATION: frozenset({ValidationState.UNVERIFIED, ValidationState.CORROBORATED}),
    }
)
"""The states of the profile Lite (P-18.1-02)."""


@dataclass(frozen=True, slots=True)
class TypeRule:
    """States of one dimension that objects of a type never take (P-App-02)."""

    object_type: str
    dimension: Dimension
    forbidden_states: tuple[str, ...]

    def for_event(self) -> dict[str, JsonValue]:
        """Returns the rule as the event of the workspace carries it, and as it is stored."""
        return {
            "object_type": self.object_type,
            "dimension": self.dimension.value,
            "forbidden_states": self.forbidden_states,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacePolicy:
    """What a workspace demands of its calls.

    `extension_types` lists the extension types that may be created, None allows all. `lite_states` admits only
    LITE_STATES. `minimum_retention_seconds` is how long content is kept before it may be redacted or deleted.
    """

    require_purpose: bool = False
    extension_types: tuple[str, ...] | None = None
    audit_reads: bool = False
    lite_states: bool = False
    type_rules: tuple[TypeRule, ...] = ()
    minimum_retention_seconds: int | None = None

    def admits(self, object_type: str, dimension: Dimension, state: str) -> bool:
        """Returns whether objects of the type may take a state of the dimension."""
        if self.lite_states and state not in LITE_STATES[dimension]:
            return False
        return not any(
            rule.object_type == object_type and rule.dimension is dimension and state in rule.forbidden_states
            for rule in self.type_rules
        )

    def for_event(self) -> dict[str, JsonValue]:
        """Returns the policy as the event of the workspace carries it, and as it is stored; what is unset is left out."""
        value: dict[str, JsonValue] = {"require_purpose": self.require_purpose}
        if self.extension_types is not None:
            value["extension_types"] = self.extension_types
        if self.audit_reads:
            value["audit_reads"] = True
        if self.lite_states:
            value["lite_states"] = True
        if self.type_rules:
            value["type_rules"] = [rule.for_event() for rule in self.type_rules]
        if self.minimum_retention_seconds is not None:
            value["minimum_retention_seconds"] = self.minimum_retention_seconds
        return value


DEFAULT_POLICY: Final = WorkspacePolicy()
"""Nothing is demanded."""


def parse_policy(value: Mapping[str, Any]) -> WorkspacePolicy:
    """Returns a policy as `for_event` gives it."""
    types = value.get("extension_types")
    return WorkspacePolicy(
        require_purpose=bool(value.get("require_purpose", False)),
        extension_types=None if types is None else tuple(types),
        audit_reads=bool(value.get("audit_reads", False)),
        lite_states=bool(value.get("lite_states", False)),
        type_rules=tuple(
            TypeRule(rule["object_type"], Dimension(rule["dimension"]), tuple(rule["forbidden_states"]))
            for rule in value.get("type_rules", ())
        ),
        minimum_retention_seconds=value.get("minimum_retention_seconds"),
    )


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace; `created_at_us` is in microseconds since 1970 UTC."""

    scope_id: str
    scope_kind: str
    parent_scope_id: str | None
    policy: WorkspacePolicy
    created_at_us: int
