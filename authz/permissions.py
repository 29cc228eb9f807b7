"""The one list of actions that rules name and of operations that grants name (surface.md, Actions; P-10-02).

An action is what a policy rule allows or denies. An operation is one of PAMSPEC's twelve and is what a grant conveys.
An operation conveys one action, `transition` one for each dimension.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ANY: Final = "*"
ROLE_OWNER: Final = "role:owner"

CREATE: Final = "create"
READ: Final = "read"
UPDATE: Final = "update"
TRANSITION_LIFECYCLE: Final = "transition.lifecycle"
TRANSITION_AVAILABILITY: Final = "transition.availability"
TRANSITION_RETENTION: Final = "transition.retention"
TRANSITION_VALIDATION: Final = "transition.validation"
RELATE: Final = "relate"
QUERY: Final = "query"
INSPECT_HISTORY: Final = "inspect_history"
REDACT: Final = "redact"
DELETE: Final = "delete"
PROMOTE: Final = "promote"
SUBSCRIBE: Final = "subscribe"
UNSUBSCRIBE: Final = "unsubscribe"

ASSERT_STATE: Final = "assert_state"
ACTIVATE: Final = "activate"
TRANSITION_OVERRIDE: Final = "transition_override"
RESTORE: Final = "restore"
RELEASE_HOLD: Final = "release_hold"
REVIEW: Final = "review"
PROVENANCE_READ: Final = "provenance.read"
PROVENANCE_ATTRIBUTE: Final = "provenance.attribute"

DELEGATE: Final = "delegate"
DELEGATION_CHECK: Final = "delegation.check"
DELEGATION_READ: Final = "delegation.read"
DELEGATION_REVOKE: Final = "delegation.revoke"
AUTHORITY_EXPLAIN: Final = "authority.explain"
LEDGER_READ: Final = "ledger.read"
LEDGER_VERIFY: Final = "ledger.verify"
SNAPSHOT_SEAL: Final = "snapshot.seal"
SNAPSHOT_READ: Final = "snapshot.read"
EXPORT: Final = "export"
IMPORT: Final = "import"
DERIVED_READ: Final = "derived.read"
DERIVED_WRITE: Final = "derived.write"
ADMIN_WORKSPACE: Final = "admin.workspace"
ADMIN_POLICY: Final = "admin.policy"

LIFECYCLE_POLICY: Final = "lifecycle.policy"
LIFECYCLE_READ: Final = "lifecycle.read"
LIFECYCLE_VALIDATE: Final = "lifecycle.validate"
LIFECYCLE_VERIFY: Final = "lifecycle.verify"
LIFECYCLE_DECAY: Final = "lifecycle.decay"
LIFECYCLE_FORGET: Final = "lifecycle.forget"
LIFECYCLE_PROPAGATE: Final = "lifecycle.propagate"
LIFECYCLE_ADMIN: Final = "lifecycle.admin"

LIFECYCLE_ACTIONS: Final = frozenset(
    {
        LIFECYCLE_POLICY,
        LIFECYCLE_READ,
        LIFECYCLE_VALIDATE,
        LIFECYCLE_VERIFY,
        LIFECYCLE_DECAY,
        LIFECYCLE_FORGET,
        LIFECYCLE_PROPAGATE,
        LIFECYCLE_ADMIN,
    }
)

# Held by rule only; no grant ever conveys them (authority.md, Own authority).
CONDITIONAL: Final = LIFECYCLE_ACTIONS | {
    ASSERT_STATE,
    ACTIVATE,
    TRANSITION_OVERRIDE,
    RESTORE,
    RELEASE_HOLD,
    REVIEW,
    PROVENANCE_READ,
    PROVENANCE_ATTRIBUTE,
}

TRANSITION: Final = "transition"
TRANSITION_ACTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lifecycle": TRANSITION_LIFECYCLE,
        "availability": TRANSITION_AVAILABILITY,
        "retention": TRANSITION_RETENTION,
        "validation": TRANSITION_VALIDATION,
    }
)

_ACTIONS_OF_OPERATION: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        CREATE: frozenset({CREATE}),
        READ: frozenset({READ}),
        UPDATE: frozenset({UPDATE}),
        TRANSITION: frozenset(TRANSITION_ACTIONS.values()),
        RELATE: frozenset({RELATE}),
        QUERY: frozenset({QUERY}),
        INSPECT_HISTORY: frozenset({INSPECT_HISTORY}),
        REDACT: frozenset({REDACT}),
        DELETE: frozenset({DELETE}),
        PROMOTE: frozenset({PROMOTE}),
        SUBSCRIBE: frozenset({SUBSCRIBE}),
        UNSUBSCRIBE: frozenset({UNSUBSCRIBE}),
    }
)

PAMSPEC_OPERATIONS: Final = frozenset(_ACTIONS_OF_OPERATION)
DELEGABLE: Final = frozenset(action for actions in _ACTIONS_OF_OPERATION.values() for action in actions)

ALL_ACTIONS: Final = (
    DELEGABLE
    | CONDITIONAL
    | {
        DELEGATE,
        DELEGATION_CHECK,
        DELEGATION_READ,
        DELEGATION_REVOKE,
        AUTHORITY_EXPLAIN,
        LEDGER_READ,
        LEDGER_VERIFY,
        SNAPSHOT_SEAL,
        SNAPSHOT_READ,
        EXPORT,
        IMPORT,
        DERIVED_READ,
        DERIVED_WRITE,
        ADMIN_WORKSPACE,
        ADMIN_POLICY,
    }
)
NON_DELEGABLE: Final = ALL_ACTIONS - DELEGABLE

# What the creator of a workspace holds there, through ROLE_OWNER.
OWNER_ACTIONS: Final = ALL_ACTIONS - LIFECYCLE_ACTIONS - {TRANSITION_OVERRIDE, RELEASE_HOLD}


def actions_of(operation: str, dimension: str | None = None) -> frozenset[str]:
    """Returns the actions that an operation conveys, those of one dimension when `transition` comes with one.

    A grantor of `transition` must hold all four. Empty when the operation is not one of the twelve, the dimension is
    unknown, or a dimension comes with another operation: nothing is conveyed by what nobody knows.
    """
    if dimension is None:
        return _ACTIONS_OF_OPERATION.get(operation, frozenset())
    if operation != TRANSITION or dimension not in TRANSITION_ACTIONS:
        return frozenset()
    return frozenset({TRANSITION_ACTIONS[dimension]})


def conveyed_action(action: str, operation: str | None) -> str | None:
    """Returns the action to ask the grantor for when `action` is done under a grant of `operation`, or None.

    None when no grant reaches the action. `ledger.read` is reached as `inspect_history` (surface.md, Actions): the
    delegate then sees the events of what the grantor may inspect, not the ledger.
    """
    if operation is None:
        return None
    if action == LEDGER_READ and operation == INSPECT_HISTORY:
        return INSPECT_HISTORY
    return action if action in _ACTIONS_OF_OPERATION.get(operation, frozenset()) else None
