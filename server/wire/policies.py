"""Workspaces and their policies: values of the model -> messages, and the enums of both."""

from __future__ import annotations

from typing import Final

from remit.v1 import admin_pb2, delegation_pb2
from server.wire.times import timestamp_of
from storage.model.policy import Binding, CrossScopeKind, CrossScopeRule, Effect, Rule
from storage.model.workspace import Workspace

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


def workspace_message(workspace: Workspace) -> admin_pb2.Workspace:
    """Returns a workspace as a message."""
    policy = admin_pb2.WorkspacePolicy(require_purpose=workspace.require_purpose)
    if workspace.extension_types is not None:
        policy.extension_types.CopyFrom(delegation_pb2.Restriction(values=workspace.extension_types))
    return admin_pb2.Workspace(
        scope_id=workspace.scope_id,
        scope_kind=workspace.scope_kind,
        parent_scope_id=workspace.parent_scope_id or "",
        policy=policy,
        created_at=timestamp_of(workspace.created_at_us),
    )
