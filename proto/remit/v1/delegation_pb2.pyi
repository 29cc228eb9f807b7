import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remit.v1 import access_pb2 as _access_pb2
from remit.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Restriction(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...

class Delegation(_message.Message):
    __slots__ = ("spec_version", "delegation_id", "version_id", "scope_id", "granting_actor", "delegated_actor", "granted_operations", "granted_object_types", "granted_object_ids", "target_scope_id", "policy_basis", "not_before", "not_after", "revocable", "usage_limit", "lifecycle_state", "availability_state", "retention_state", "validation_state", "committed_at", "recorded_at", "sequence", "actor", "provenance", "parent_delegation_id", "max_redelegations")
    SPEC_VERSION_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    GRANTING_ACTOR_FIELD_NUMBER: _ClassVar[int]
    DELEGATED_ACTOR_FIELD_NUMBER: _ClassVar[int]
    GRANTED_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    GRANTED_OBJECT_TYPES_FIELD_NUMBER: _ClassVar[int]
    GRANTED_OBJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    TARGET_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    NOT_AFTER_FIELD_NUMBER: _ClassVar[int]
    REVOCABLE_FIELD_NUMBER: _ClassVar[int]
    USAGE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_STATE_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_AT_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    PARENT_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_REDELEGATIONS_FIELD_NUMBER: _ClassVar[int]
    spec_version: str
    delegation_id: str
    version_id: str
    scope_id: str
    granting_actor: _common_pb2.Actor
    delegated_actor: _common_pb2.Actor
    granted_operations: _containers.RepeatedScalarFieldContainer[str]
    granted_object_types: Restriction
    granted_object_ids: Restriction
    target_scope_id: str
    policy_basis: str
    not_before: _timestamp_pb2.Timestamp
    not_after: _timestamp_pb2.Timestamp
    revocable: bool
    usage_limit: int
    lifecycle_state: _common_pb2.LifecycleState
    availability_state: _common_pb2.AvailabilityState
    retention_state: _common_pb2.RetentionState
    validation_state: _common_pb2.ValidationState
    committed_at: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    sequence: int
    actor: _common_pb2.Actor
    provenance: _common_pb2.Provenance
    parent_delegation_id: str
    max_redelegations: int
    def __init__(self, spec_version: _Optional[str] = ..., delegation_id: _Optional[str] = ..., version_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., granting_actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., delegated_actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., granted_operations: _Optional[_Iterable[str]] = ..., granted_object_types: _Optional[_Union[Restriction, _Mapping]] = ..., granted_object_ids: _Optional[_Union[Restriction, _Mapping]] = ..., target_scope_id: _Optional[str] = ..., policy_basis: _Optional[str] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., not_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revocable: _Optional[bool] = ..., usage_limit: _Optional[int] = ..., lifecycle_state: _Optional[_Union[_common_pb2.LifecycleState, str]] = ..., availability_state: _Optional[_Union[_common_pb2.AvailabilityState, str]] = ..., retention_state: _Optional[_Union[_common_pb2.RetentionState, str]] = ..., validation_state: _Optional[_Union[_common_pb2.ValidationState, str]] = ..., committed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sequence: _Optional[int] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., provenance: _Optional[_Union[_common_pb2.Provenance, _Mapping]] = ..., parent_delegation_id: _Optional[str] = ..., max_redelegations: _Optional[int] = ...) -> None: ...

class GrantDelegationRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "policy_basis", "delegated_actor", "granted_operations", "granted_object_types", "granted_object_ids", "target_scope_id", "not_before", "not_after", "revocable", "usage_limit", "parent_delegation_id", "max_redelegations")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    DELEGATED_ACTOR_FIELD_NUMBER: _ClassVar[int]
    GRANTED_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    GRANTED_OBJECT_TYPES_FIELD_NUMBER: _ClassVar[int]
    GRANTED_OBJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    TARGET_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    NOT_AFTER_FIELD_NUMBER: _ClassVar[int]
    REVOCABLE_FIELD_NUMBER: _ClassVar[int]
    USAGE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    PARENT_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_REDELEGATIONS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    delegated_actor: _common_pb2.Actor
    granted_operations: _containers.RepeatedScalarFieldContainer[str]
    granted_object_types: Restriction
    granted_object_ids: Restriction
    target_scope_id: str
    not_before: _timestamp_pb2.Timestamp
    not_after: _timestamp_pb2.Timestamp
    revocable: bool
    usage_limit: int
    parent_delegation_id: str
    max_redelegations: int
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., delegated_actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., granted_operations: _Optional[_Iterable[str]] = ..., granted_object_types: _Optional[_Union[Restriction, _Mapping]] = ..., granted_object_ids: _Optional[_Union[Restriction, _Mapping]] = ..., target_scope_id: _Optional[str] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., not_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revocable: _Optional[bool] = ..., usage_limit: _Optional[int] = ..., parent_delegation_id: _Optional[str] = ..., max_redelegations: _Optional[int] = ...) -> None: ...

class GrantDelegationResponse(_message.Message):
    __slots__ = ("delegation", "event_id", "replayed", "operation_id")
    DELEGATION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    delegation: Delegation
    event_id: str
    replayed: bool
    operation_id: str
    def __init__(self, delegation: _Optional[_Union[Delegation, _Mapping]] = ..., event_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class CheckDelegationRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "check", "dry_run")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    CHECK_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    check: DelegationCheck
    dry_run: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., check: _Optional[_Union[DelegationCheck, _Mapping]] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class DelegationCheck(_message.Message):
    __slots__ = ("target_delegation_id", "delegated_actor_id", "operation", "dimension", "object_id", "object_type")
    TARGET_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATED_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    target_delegation_id: str
    delegated_actor_id: str
    operation: str
    dimension: str
    object_id: str
    object_type: str
    def __init__(self, target_delegation_id: _Optional[str] = ..., delegated_actor_id: _Optional[str] = ..., operation: _Optional[str] = ..., dimension: _Optional[str] = ..., object_id: _Optional[str] = ..., object_type: _Optional[str] = ...) -> None: ...

class CheckDelegationResponse(_message.Message):
    __slots__ = ("delegation", "remaining_uses", "object_types", "object_ids", "event_id", "operation_id")
    DELEGATION_FIELD_NUMBER: _ClassVar[int]
    REMAINING_USES_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPES_FIELD_NUMBER: _ClassVar[int]
    OBJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    delegation: Delegation
    remaining_uses: int
    object_types: Restriction
    object_ids: Restriction
    event_id: str
    operation_id: str
    def __init__(self, delegation: _Optional[_Union[Delegation, _Mapping]] = ..., remaining_uses: _Optional[int] = ..., object_types: _Optional[_Union[Restriction, _Mapping]] = ..., object_ids: _Optional[_Union[Restriction, _Mapping]] = ..., event_id: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...

class BatchCheckDelegationRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "checks")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    checks: _containers.RepeatedCompositeFieldContainer[DelegationCheck]
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., checks: _Optional[_Iterable[_Union[DelegationCheck, _Mapping]]] = ...) -> None: ...

class DelegationVerdict(_message.Message):
    __slots__ = ("allowed", "denial_reason", "remaining_uses")
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    DENIAL_REASON_FIELD_NUMBER: _ClassVar[int]
    REMAINING_USES_FIELD_NUMBER: _ClassVar[int]
    allowed: bool
    denial_reason: str
    remaining_uses: int
    def __init__(self, allowed: _Optional[bool] = ..., denial_reason: _Optional[str] = ..., remaining_uses: _Optional[int] = ...) -> None: ...

class BatchCheckDelegationResponse(_message.Message):
    __slots__ = ("verdicts", "operation_id")
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[DelegationVerdict]
    operation_id: str
    def __init__(self, verdicts: _Optional[_Iterable[_Union[DelegationVerdict, _Mapping]]] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ExplainAccessRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "actor_id", "operation", "object_id", "object_type", "target_delegation_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    TARGET_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    actor_id: str
    operation: str
    object_id: str
    object_type: str
    target_delegation_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., actor_id: _Optional[str] = ..., operation: _Optional[str] = ..., object_id: _Optional[str] = ..., object_type: _Optional[str] = ..., target_delegation_id: _Optional[str] = ...) -> None: ...

class AccessStep(_message.Message):
    __slots__ = ("step", "passed", "reason", "policy_rule_id", "delegation_id", "delegation_version_id")
    STEP_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULE_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    step: str
    passed: bool
    reason: str
    policy_rule_id: str
    delegation_id: str
    delegation_version_id: str
    def __init__(self, step: _Optional[str] = ..., passed: _Optional[bool] = ..., reason: _Optional[str] = ..., policy_rule_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., delegation_version_id: _Optional[str] = ...) -> None: ...

class ExplainAccessResponse(_message.Message):
    __slots__ = ("allowed", "denial_reason", "steps", "policy_revision", "operation_id")
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    DENIAL_REASON_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    POLICY_REVISION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    allowed: bool
    denial_reason: str
    steps: _containers.RepeatedCompositeFieldContainer[AccessStep]
    policy_revision: int
    operation_id: str
    def __init__(self, allowed: _Optional[bool] = ..., denial_reason: _Optional[str] = ..., steps: _Optional[_Iterable[_Union[AccessStep, _Mapping]]] = ..., policy_revision: _Optional[int] = ..., operation_id: _Optional[str] = ...) -> None: ...

class PreviewRevocationRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "target_delegation_id", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    TARGET_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    target_delegation_id: str
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., target_delegation_id: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class RevocationEffect(_message.Message):
    __slots__ = ("delegation_id", "delegated_actor_id", "depth", "remaining_uses", "effective")
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATED_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    REMAINING_USES_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    delegation_id: str
    delegated_actor_id: str
    depth: int
    remaining_uses: int
    effective: bool
    def __init__(self, delegation_id: _Optional[str] = ..., delegated_actor_id: _Optional[str] = ..., depth: _Optional[int] = ..., remaining_uses: _Optional[int] = ..., effective: _Optional[bool] = ...) -> None: ...

class PreviewRevocationResponse(_message.Message):
    __slots__ = ("effects", "total", "cursor", "operation_id")
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    effects: _containers.RepeatedCompositeFieldContainer[RevocationEffect]
    total: int
    cursor: str
    operation_id: str
    def __init__(self, effects: _Optional[_Iterable[_Union[RevocationEffect, _Mapping]]] = ..., total: _Optional[int] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...

class RevokeDelegationRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "policy_basis", "target_delegation_id", "reason")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    TARGET_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    target_delegation_id: str
    reason: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., target_delegation_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RevokeDelegationResponse(_message.Message):
    __slots__ = ("delegation", "event_id", "replayed", "operation_id")
    DELEGATION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    delegation: Delegation
    event_id: str
    replayed: bool
    operation_id: str
    def __init__(self, delegation: _Optional[_Union[Delegation, _Mapping]] = ..., event_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class GetDelegationRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "target_delegation_id", "version_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    TARGET_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    target_delegation_id: str
    version_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., target_delegation_id: _Optional[str] = ..., version_id: _Optional[str] = ...) -> None: ...

class DelegationStanding(_message.Message):
    __slots__ = ("delegation", "effective", "ineffective_reason", "uses", "remaining_uses")
    DELEGATION_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    INEFFECTIVE_REASON_FIELD_NUMBER: _ClassVar[int]
    USES_FIELD_NUMBER: _ClassVar[int]
    REMAINING_USES_FIELD_NUMBER: _ClassVar[int]
    delegation: Delegation
    effective: bool
    ineffective_reason: str
    uses: int
    remaining_uses: int
    def __init__(self, delegation: _Optional[_Union[Delegation, _Mapping]] = ..., effective: _Optional[bool] = ..., ineffective_reason: _Optional[str] = ..., uses: _Optional[int] = ..., remaining_uses: _Optional[int] = ...) -> None: ...

class GetDelegationResponse(_message.Message):
    __slots__ = ("standing", "operation_id")
    STANDING_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    standing: DelegationStanding
    operation_id: str
    def __init__(self, standing: _Optional[_Union[DelegationStanding, _Mapping]] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ListDelegationsRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "granting_actor_id", "delegated_actor_id", "effective_only", "object_id", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    GRANTING_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATED_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_ONLY_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    granting_actor_id: str
    delegated_actor_id: str
    effective_only: bool
    object_id: str
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., granting_actor_id: _Optional[str] = ..., delegated_actor_id: _Optional[str] = ..., effective_only: _Optional[bool] = ..., object_id: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListDelegationsResponse(_message.Message):
    __slots__ = ("delegations", "cursor", "operation_id")
    DELEGATIONS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    delegations: _containers.RepeatedCompositeFieldContainer[DelegationStanding]
    cursor: str
    operation_id: str
    def __init__(self, delegations: _Optional[_Iterable[_Union[DelegationStanding, _Mapping]]] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...
