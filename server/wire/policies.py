"""Workspaces and their policies: values of the model -> messages, and the enums of both."""

from __future__ import annotations

from typing import Final

from remit.v1 import admin_pb2, delegation_pb2
from server.domain_errors import InvalidRequest
from server.wire.grammars import is_extension_object_type
from server.wire.times import timestamp_of
from storage.model.policy import Binding, CrossScopeKind, CrossScopeRule, Effect, Rule
from storage.model.states import Dimension, parse_state
from storage.model.workspace import TypeRule, Workspace, WorkspacePolicy

_EFFECTS: Final = {admin_pb2.EFFECT_ALLOW: Effect.ALLOW, admin_pb2.EFFECT_DENY: Effect.DENY}
_EFFECT_NUMBERS: Final = {effect: number for number, effect in _EFFECTS.items()}
_KINDS: Final = {
    admin_pb2.CROSS_SCOPE_KIND_DELEGATION: CrossScopeKind.DELEGATION,
    admin_pb2.CROSS_SCOPE_KIND_RELATIONSHIP: CrossScopeKind.RELATIONSHIP,
}
_KIND_NUMBERS: Final = {kind: number for number, kind in _KINDS.items()}


def effect_of(number: admin_pb2.Effect) -> Effect:
    """Returns the effect of a validated number."""
    return _EFFECTS[number]


def cross_scope_kind_of(number: admin_pb2.CrossScopeKind) -> CrossScopeKind:
    """Returns the kind of a validated number."""
    return _KINDS[number]


def rule_message(rule: Rule) -> admin_pb2.PolicyRule:
    """Returns a rule as a message."""
    return admin_pb2.PolicyRule(
        rule_id=rule.rule_id,
        subject=rule.subject,
        action=rule.action,
        object_type=rule.object_type,
        object_id=rule.object_id,
        effect=_EFFECT_NUMBERS[rule.effect],
    )


def permit_message(permit: CrossScopeRule) -> admin_pb2.CrossScopeRule:
    """Returns a cross-scope permit as a message."""
    return admin_pb2.CrossScopeRule(
        rule_id=permit.rule_id, source_scope_id=permit.source_scope_id, kind=_KIND_NUMBERS[permit.kind]
    )


def binding_message(binding: Binding) -> admin_pb2.RoleBinding:
    """Returns a role binding as a message."""
    return admin_pb2.RoleBinding(actor_id=binding.actor_id, role_id=binding.role_id)


def policy_from(given: admin_pb2.WorkspacePolicy, path: str) -> WorkspacePolicy:
    """Returns the policy of a validated message at `path` of its request.

    Raises InvalidRequest for an extension type that is none, a dimension that is none, and a state that is none of its
    dimension: rules narrow a dimension and never mix two (P-9-02, P-App-02).
    """
    types = None
    if given.HasField("extension_types"):
        types = tuple(given.extension_types.values)
        for index, name in enumerate(types):
            if not is_extension_object_type(name):
                raise InvalidRequest(f"{path}.extension_types.values[{index}]", "is not an extension type")
    return WorkspacePolicy(
        require_purpose=given.require_purpose,
        extension_types=types,
        audit_reads=given.audit_reads,
        lite_states=given.lite_states,
        type_rules=tuple(
            _type_rule(rule, f"{path}.type_rules[{index}]") for index, rule in enumerate(given.type_rules)
        ),
        minimum_retention_seconds=(
            given.minimum_retention_seconds if given.HasField("minimum_retention_seconds") else None
        ),
    )


def _type_rule(given: admin_pb2.TypeRule, path: str) -> TypeRule:
    dimension = next((item for item in Dimension if item.value == given.dimension), None)
    if dimension is None:
        raise InvalidRequest(f"{path}.dimension", "is no dimension")
    for index, state in enumerate(given.forbidden_states):
        if parse_state(dimension, state) is None:
            raise InvalidRequest(f"{path}.forbidden_states[{index}]", "is no state of the dimension")
    return TypeRule(given.object_type, dimension, tuple(given.forbidden_states))


def policy_message(policy: WorkspacePolicy) -> admin_pb2.WorkspacePolicy:
    """Returns a workspace's policy as a message."""
    message = admin_pb2.WorkspacePolicy(
        require_purpose=policy.require_purpose,
        audit_reads=policy.audit_reads,
        lite_states=policy.lite_states,
        type_rules=[
            admin_pb2.TypeRule(
                object_type=rule.object_type, dimension=rule.dimension.value, forbidden_states=rule.forbidden_states
            )
            for rule in policy.type_rules
        ],
        minimum_retention_seconds=policy.minimum_retention_seconds,
    )
    if policy.extension_types is not None:
        message.extension_types.CopyFrom(delegation_pb2.Restriction(values=policy.extension_types))
    return message


def workspace_message(workspace: Workspace) -> admin_pb2.Workspace:
    """Returns a workspace as a message."""
    return admin_pb2.Workspace(
        scope_id=workspace.scope_id,
        scope_kind=workspace.scope_kind,
        parent_scope_id=workspace.parent_scope_id or "",
        policy=policy_message(workspace.policy),
        created_at=timestamp_of(workspace.created_at_us),
    )
