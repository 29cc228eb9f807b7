import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remit.v1 import access_pb2 as _access_pb2
from remit.v1 import common_pb2 as _common_pb2
from remit.v1 import delegation_pb2 as _delegation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Effect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_UNSPECIFIED: _ClassVar[Effect]
    EFFECT_ALLOW: _ClassVar[Effect]
    EFFECT_DENY: _ClassVar[Effect]

class CrossScopeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CROSS_SCOPE_KIND_UNSPECIFIED: _ClassVar[CrossScopeKind]
    CROSS_SCOPE_KIND_DELEGATION: _ClassVar[CrossScopeKind]
    CROSS_SCOPE_KIND_RELATIONSHIP: _ClassVar[CrossScopeKind]
EFFECT_UNSPECIFIED: Effect
EFFECT_ALLOW: Effect
EFFECT_DENY: Effect
CROSS_SCOPE_KIND_UNSPECIFIED: CrossScopeKind
CROSS_SCOPE_KIND_DELEGATION: CrossScopeKind
CROSS_SCOPE_KIND_RELATIONSHIP: CrossScopeKind

class Workspace(_message.Message):
    __slots__ = ("scope_id", "scope_kind", "parent_scope_id", "policy", "created_at")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_KIND_FIELD_NUMBER: _ClassVar[int]
    PARENT_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    scope_kind: str
    parent_scope_id: str
    policy: WorkspacePolicy
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, scope_id: _Optional[str] = ..., scope_kind: _Optional[str] = ..., parent_scope_id: _Optional[str] = ..., policy: _Optional[_Union[WorkspacePolicy, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TypeRule(_message.Message):
    __slots__ = ("object_type", "dimension", "forbidden_states")
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    FORBIDDEN_STATES_FIELD_NUMBER: _ClassVar[int]
    object_type: str
    dimension: str
    forbidden_states: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, object_type: _Optional[str] = ..., dimension: _Optional[str] = ..., forbidden_states: _Optional[_Iterable[str]] = ...) -> None: ...

class WorkspacePolicy(_message.Message):
    __slots__ = ("require_purpose", "extension_types", "audit_reads", "lite_states", "type_rules", "minimum_retention_seconds")
    REQUIRE_PURPOSE_FIELD_NUMBER: _ClassVar[int]
    EXTENSION_TYPES_FIELD_NUMBER: _ClassVar[int]
    AUDIT_READS_FIELD_NUMBER: _ClassVar[int]
    LITE_STATES_FIELD_NUMBER: _ClassVar[int]
    TYPE_RULES_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_RETENTION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    require_purpose: bool
    extension_types: _delegation_pb2.Restriction
    audit_reads: bool
    lite_states: bool
    type_rules: _containers.RepeatedCompositeFieldContainer[TypeRule]
    minimum_retention_seconds: int
    def __init__(self, require_purpose: _Optional[bool] = ..., extension_types: _Optional[_Union[_delegation_pb2.Restriction, _Mapping]] = ..., audit_reads: _Optional[bool] = ..., lite_states: _Optional[bool] = ..., type_rules: _Optional[_Iterable[_Union[TypeRule, _Mapping]]] = ..., minimum_retention_seconds: _Optional[int] = ...) -> None: ...

class PolicyRule(_message.Message):
    __slots__ = ("rule_id", "subject", "action", "object_type", "object_id", "effect")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    subject: str
    action: str
    object_type: str
    object_id: str
    effect: Effect
    def __init__(self, rule_id: _Optional[str] = ..., subject: _Optional[str] = ..., action: _Optional[str] = ..., object_type: _Optional[str] = ..., object_id: _Optional[str] = ..., effect: _Optional[_Union[Effect, str]] = ...) -> None: ...

class CrossScopeRule(_message.Message):
    __slots__ = ("rule_id", "source_scope_id", "kind")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    source_scope_id: str
    kind: CrossScopeKind
    def __init__(self, rule_id: _Optional[str] = ..., source_scope_id: _Optional[str] = ..., kind: _Optional[_Union[CrossScopeKind, str]] = ...) -> None: ...

class RoleBinding(_message.Message):
    __slots__ = ("actor_id", "role_id")
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_ID_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    role_id: str
    def __init__(self, actor_id: _Optional[str] = ..., role_id: _Optional[str] = ...) -> None: ...

class CreateWorkspaceRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "new_scope_id", "scope_kind", "parent_scope_id", "policy")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    NEW_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_KIND_FIELD_NUMBER: _ClassVar[int]
    PARENT_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    new_scope_id: str
    scope_kind: str
    parent_scope_id: str
    policy: WorkspacePolicy
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., new_scope_id: _Optional[str] = ..., scope_kind: _Optional[str] = ..., parent_scope_id: _Optional[str] = ..., policy: _Optional[_Union[WorkspacePolicy, _Mapping]] = ...) -> None: ...

class CreateWorkspaceResponse(_message.Message):
    __slots__ = ("workspace", "event_ids", "replayed", "operation_id")
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    workspace: Workspace
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, workspace: _Optional[_Union[Workspace, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class GetWorkspaceRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ...) -> None: ...

class GetWorkspaceResponse(_message.Message):
    __slots__ = ("workspace", "operation_id")
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    workspace: Workspace
    operation_id: str
    def __init__(self, workspace: _Optional[_Union[Workspace, _Mapping]] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ListWorkspacesRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListWorkspacesResponse(_message.Message):
    __slots__ = ("workspaces", "cursor", "operation_id")
    WORKSPACES_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    workspaces: _containers.RepeatedCompositeFieldContainer[Workspace]
    cursor: str
    operation_id: str
    def __init__(self, workspaces: _Optional[_Iterable[_Union[Workspace, _Mapping]]] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...

class AddPolicyRuleRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "rule", "cross_scope_rule")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    CROSS_SCOPE_RULE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    rule: NewPolicyRule
    cross_scope_rule: NewCrossScopeRule
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., rule: _Optional[_Union[NewPolicyRule, _Mapping]] = ..., cross_scope_rule: _Optional[_Union[NewCrossScopeRule, _Mapping]] = ...) -> None: ...

class NewPolicyRule(_message.Message):
    __slots__ = ("subject", "action", "object_type", "object_id", "effect")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    subject: str
    action: str
    object_type: str
    object_id: str
    effect: Effect
    def __init__(self, subject: _Optional[str] = ..., action: _Optional[str] = ..., object_type: _Optional[str] = ..., object_id: _Optional[str] = ..., effect: _Optional[_Union[Effect, str]] = ...) -> None: ...

class NewCrossScopeRule(_message.Message):
    __slots__ = ("source_scope_id", "kind")
    SOURCE_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    source_scope_id: str
    kind: CrossScopeKind
    def __init__(self, source_scope_id: _Optional[str] = ..., kind: _Optional[_Union[CrossScopeKind, str]] = ...) -> None: ...

class AddPolicyRuleResponse(_message.Message):
    __slots__ = ("rule", "cross_scope_rule", "policy_revision", "event_id", "replayed", "operation_id")
    RULE_FIELD_NUMBER: _ClassVar[int]
    CROSS_SCOPE_RULE_FIELD_NUMBER: _ClassVar[int]
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    rule: PolicyRule
    cross_scope_rule: CrossScopeRule
    policy_revision: int
    event_id: str
    replayed: bool
    operation_id: str
    def __init__(self, rule: _Optional[_Union[PolicyRule, _Mapping]] = ..., cross_scope_rule: _Optional[_Union[CrossScopeRule, _Mapping]] = ..., policy_revision: _Optional[int] = ..., event_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class RemovePolicyRuleRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "rule_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    rule_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., rule_id: _Optional[str] = ...) -> None: ...

class RemovePolicyRuleResponse(_message.Message):
    __slots__ = ("policy_revision", "event_id", "replayed", "operation_id")
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    policy_revision: int
    event_id: str
    replayed: bool
    operation_id: str
    def __init__(self, policy_revision: _Optional[int] = ..., event_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ListPolicyRulesRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "subject", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    subject: str
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., subject: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListPolicyRulesResponse(_message.Message):
    __slots__ = ("rules", "cross_scope_rules", "bindings", "policy_revision", "cursor", "operation_id")
    RULES_FIELD_NUMBER: _ClassVar[int]
    CROSS_SCOPE_RULES_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[PolicyRule]
    cross_scope_rules: _containers.RepeatedCompositeFieldContainer[CrossScopeRule]
    bindings: _containers.RepeatedCompositeFieldContainer[RoleBinding]
    policy_revision: int
    cursor: str
    operation_id: str
    def __init__(self, rules: _Optional[_Iterable[_Union[PolicyRule, _Mapping]]] = ..., cross_scope_rules: _Optional[_Iterable[_Union[CrossScopeRule, _Mapping]]] = ..., bindings: _Optional[_Iterable[_Union[RoleBinding, _Mapping]]] = ..., policy_revision: _Optional[int] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...

class BindRoleRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "actor_id", "role_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    actor_id: str
    role_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., actor_id: _Optional[str] = ..., role_id: _Optional[str] = ...) -> None: ...

class BindRoleResponse(_message.Message):
    __slots__ = ("binding", "policy_revision", "event_id", "replayed", "operation_id")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    binding: RoleBinding
    policy_revision: int
    event_id: str
    replayed: bool
    operation_id: str
    def __init__(self, binding: _Optional[_Union[RoleBinding, _Mapping]] = ..., policy_revision: _Optional[int] = ..., event_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class UnbindRoleRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "actor_id", "role_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    actor_id: str
    role_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., actor_id: _Optional[str] = ..., role_id: _Optional[str] = ...) -> None: ...

class UnbindRoleResponse(_message.Message):
    __slots__ = ("policy_revision", "event_id", "replayed", "operation_id")
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    policy_revision: int
    event_id: str
    replayed: bool
    operation_id: str
    def __init__(self, policy_revision: _Optional[int] = ..., event_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...
