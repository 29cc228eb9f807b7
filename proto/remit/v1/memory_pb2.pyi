import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remit.v1 import access_pb2 as _access_pb2
from remit.v1 import common_pb2 as _common_pb2
from remit.v1 import ledger_pb2 as _ledger_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ContentState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTENT_STATE_UNSPECIFIED: _ClassVar[ContentState]
    CONTENT_STATE_PRESENT: _ClassVar[ContentState]
    CONTENT_STATE_PARTIAL: _ClassVar[ContentState]
    CONTENT_STATE_WITHHELD: _ClassVar[ContentState]

class Dimension(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIMENSION_UNSPECIFIED: _ClassVar[Dimension]
    DIMENSION_LIFECYCLE: _ClassVar[Dimension]
    DIMENSION_AVAILABILITY: _ClassVar[Dimension]
    DIMENSION_RETENTION: _ClassVar[Dimension]
    DIMENSION_VALIDATION: _ClassVar[Dimension]

class QueryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUERY_KIND_UNSPECIFIED: _ClassVar[QueryKind]
    QUERY_KIND_STRUCTURED: _ClassVar[QueryKind]

class ComparisonOperator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPARISON_OPERATOR_UNSPECIFIED: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_EQ: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_NE: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_IN: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_NOT_IN: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_LT: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_LE: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_GT: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_GE: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_PRESENT: _ClassVar[ComparisonOperator]
    COMPARISON_OPERATOR_ABSENT: _ClassVar[ComparisonOperator]

class QueryOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUERY_ORDER_UNSPECIFIED: _ClassVar[QueryOrder]
    QUERY_ORDER_LEDGER_ASCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_LEDGER_DESCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_COMMITTED_AT_ASCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_COMMITTED_AT_DESCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_OBJECT_ID_ASCENDING: _ClassVar[QueryOrder]
CONTENT_STATE_UNSPECIFIED: ContentState
CONTENT_STATE_PRESENT: ContentState
CONTENT_STATE_PARTIAL: ContentState
CONTENT_STATE_WITHHELD: ContentState
DIMENSION_UNSPECIFIED: Dimension
DIMENSION_LIFECYCLE: Dimension
DIMENSION_AVAILABILITY: Dimension
DIMENSION_RETENTION: Dimension
DIMENSION_VALIDATION: Dimension
QUERY_KIND_UNSPECIFIED: QueryKind
QUERY_KIND_STRUCTURED: QueryKind
COMPARISON_OPERATOR_UNSPECIFIED: ComparisonOperator
COMPARISON_OPERATOR_EQ: ComparisonOperator
COMPARISON_OPERATOR_NE: ComparisonOperator
COMPARISON_OPERATOR_IN: ComparisonOperator
COMPARISON_OPERATOR_NOT_IN: ComparisonOperator
COMPARISON_OPERATOR_LT: ComparisonOperator
COMPARISON_OPERATOR_LE: ComparisonOperator
COMPARISON_OPERATOR_GT: ComparisonOperator
COMPARISON_OPERATOR_GE: ComparisonOperator
COMPARISON_OPERATOR_PRESENT: ComparisonOperator
COMPARISON_OPERATOR_ABSENT: ComparisonOperator
QUERY_ORDER_UNSPECIFIED: QueryOrder
QUERY_ORDER_LEDGER_ASCENDING: QueryOrder
QUERY_ORDER_LEDGER_DESCENDING: QueryOrder
QUERY_ORDER_COMMITTED_AT_ASCENDING: QueryOrder
QUERY_ORDER_COMMITTED_AT_DESCENDING: QueryOrder
QUERY_ORDER_OBJECT_ID_ASCENDING: QueryOrder

class CreateRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "object_type", "object_id", "schema_id", "canonical_content", "lifecycle_state", "availability_state", "retention_state", "validation_state", "observed_at", "asserted_at", "valid_from", "valid_until", "provenance", "integrity", "quality_signals", "expect_absent")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_ID_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_STATE_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    ASSERTED_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    EXPECT_ABSENT_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    object_type: str
    object_id: str
    schema_id: str
    canonical_content: bytes
    lifecycle_state: _common_pb2.LifecycleState
    availability_state: _common_pb2.AvailabilityState
    retention_state: _common_pb2.RetentionState
    validation_state: _common_pb2.ValidationState
    observed_at: _timestamp_pb2.Timestamp
    asserted_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_until: _timestamp_pb2.Timestamp
    provenance: _common_pb2.ProvenanceInput
    integrity: _common_pb2.Integrity
    quality_signals: _common_pb2.QualitySignals
    expect_absent: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., object_type: _Optional[str] = ..., object_id: _Optional[str] = ..., schema_id: _Optional[str] = ..., canonical_content: _Optional[bytes] = ..., lifecycle_state: _Optional[_Union[_common_pb2.LifecycleState, str]] = ..., availability_state: _Optional[_Union[_common_pb2.AvailabilityState, str]] = ..., retention_state: _Optional[_Union[_common_pb2.RetentionState, str]] = ..., validation_state: _Optional[_Union[_common_pb2.ValidationState, str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ..., integrity: _Optional[_Union[_common_pb2.Integrity, _Mapping]] = ..., quality_signals: _Optional[_Union[_common_pb2.QualitySignals, _Mapping]] = ..., expect_absent: _Optional[bool] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "object_id", "version_id", "allow_tombstone")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    ALLOW_TOMBSTONE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    object_id: str
    version_id: str
    allow_tombstone: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., object_id: _Optional[str] = ..., version_id: _Optional[str] = ..., allow_tombstone: _Optional[bool] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ("envelope", "content_state", "operation_id", "event_ids")
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_STATE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    envelope: _common_pb2.MemoryEnvelope
    content_state: ContentState
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, envelope: _Optional[_Union[_common_pb2.MemoryEnvelope, _Mapping]] = ..., content_state: _Optional[_Union[ContentState, str]] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "object_id", "expected_version_id", "update_mask", "canonical_content", "schema_id", "observed_at", "asserted_at", "valid_from", "valid_until", "provenance", "integrity", "quality_signals")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_ID_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    ASSERTED_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    object_id: str
    expected_version_id: str
    update_mask: _containers.RepeatedScalarFieldContainer[str]
    canonical_content: bytes
    schema_id: str
    observed_at: _timestamp_pb2.Timestamp
    asserted_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_until: _timestamp_pb2.Timestamp
    provenance: _common_pb2.ProvenanceInput
    integrity: _common_pb2.Integrity
    quality_signals: _common_pb2.QualitySignals
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., update_mask: _Optional[_Iterable[str]] = ..., canonical_content: _Optional[bytes] = ..., schema_id: _Optional[str] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ..., integrity: _Optional[_Union[_common_pb2.Integrity, _Mapping]] = ..., quality_signals: _Optional[_Union[_common_pb2.QualitySignals, _Mapping]] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class TransitionRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "object_id", "expected_version_id", "dimension", "target_state", "provenance")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    TARGET_STATE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    object_id: str
    expected_version_id: str
    dimension: Dimension
    target_state: str
    provenance: _common_pb2.ProvenanceInput
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., dimension: _Optional[_Union[Dimension, str]] = ..., target_state: _Optional[str] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ...) -> None: ...

class TransitionResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "object_id", "expected_version_id", "provenance")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    object_id: str
    expected_version_id: str
    provenance: _common_pb2.ProvenanceInput
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class Predicate(_message.Message):
    __slots__ = ("field", "op", "values")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    field: str
    op: ComparisonOperator
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, field: _Optional[str] = ..., op: _Optional[_Union[ComparisonOperator, str]] = ..., values: _Optional[_Iterable[str]] = ...) -> None: ...

class QueryFilters(_message.Message):
    __slots__ = ("lifecycle_state", "availability_state", "retention_state", "validation_state", "object_type", "provenance_id", "predicates")
    LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_STATE_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_ID_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    lifecycle_state: _containers.RepeatedScalarFieldContainer[_common_pb2.LifecycleState]
    availability_state: _containers.RepeatedScalarFieldContainer[_common_pb2.AvailabilityState]
    retention_state: _containers.RepeatedScalarFieldContainer[_common_pb2.RetentionState]
    validation_state: _containers.RepeatedScalarFieldContainer[_common_pb2.ValidationState]
    object_type: _containers.RepeatedScalarFieldContainer[str]
    provenance_id: _containers.RepeatedScalarFieldContainer[str]
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    def __init__(self, lifecycle_state: _Optional[_Iterable[_Union[_common_pb2.LifecycleState, str]]] = ..., availability_state: _Optional[_Iterable[_Union[_common_pb2.AvailabilityState, str]]] = ..., retention_state: _Optional[_Iterable[_Union[_common_pb2.RetentionState, str]]] = ..., validation_state: _Optional[_Iterable[_Union[_common_pb2.ValidationState, str]]] = ..., object_type: _Optional[_Iterable[str]] = ..., provenance_id: _Optional[_Iterable[str]] = ..., predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ...) -> None: ...

class QueryExpression(_message.Message):
    __slots__ = ("kind", "filters")
    KIND_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    kind: QueryKind
    filters: QueryFilters
    def __init__(self, kind: _Optional[_Union[QueryKind, str]] = ..., filters: _Optional[_Union[QueryFilters, _Mapping]] = ...) -> None: ...

class QueryRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "query", "order", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    query: QueryExpression
    order: QueryOrder
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., query: _Optional[_Union[QueryExpression, _Mapping]] = ..., order: _Optional[_Union[QueryOrder, str]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class QueryMetadata(_message.Message):
    __slots__ = ("ledger_sequence", "order", "tie_break")
    LEDGER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    TIE_BREAK_FIELD_NUMBER: _ClassVar[int]
    ledger_sequence: int
    order: QueryOrder
    tie_break: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ledger_sequence: _Optional[int] = ..., order: _Optional[_Union[QueryOrder, str]] = ..., tie_break: _Optional[_Iterable[str]] = ...) -> None: ...

class QueryResponse(_message.Message):
    __slots__ = ("results", "cursor", "applied_filters", "metadata", "operation_id", "event_ids")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FILTERS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_common_pb2.MemoryEnvelope]
    cursor: str
    applied_filters: QueryFilters
    metadata: QueryMetadata
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, results: _Optional[_Iterable[_Union[_common_pb2.MemoryEnvelope, _Mapping]]] = ..., cursor: _Optional[str] = ..., applied_filters: _Optional[_Union[QueryFilters, _Mapping]] = ..., metadata: _Optional[_Union[QueryMetadata, _Mapping]] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class InspectHistoryRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "object_id", "after_sequence", "to_sequence", "from_version", "to_version", "event_classes", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TO_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FROM_VERSION_FIELD_NUMBER: _ClassVar[int]
    TO_VERSION_FIELD_NUMBER: _ClassVar[int]
    EVENT_CLASSES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    object_id: str
    after_sequence: int
    to_sequence: int
    from_version: int
    to_version: int
    event_classes: _containers.RepeatedScalarFieldContainer[_ledger_pb2.EventType]
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., object_id: _Optional[str] = ..., after_sequence: _Optional[int] = ..., to_sequence: _Optional[int] = ..., from_version: _Optional[int] = ..., to_version: _Optional[int] = ..., event_classes: _Optional[_Iterable[_Union[_ledger_pb2.EventType, str]]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class HistoryEntry(_message.Message):
    __slots__ = ("ledger_sequence", "version", "event", "content_state")
    LEDGER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_STATE_FIELD_NUMBER: _ClassVar[int]
    ledger_sequence: int
    version: _common_pb2.MemoryEnvelope
    event: _ledger_pb2.LedgerEvent
    content_state: ContentState
    def __init__(self, ledger_sequence: _Optional[int] = ..., version: _Optional[_Union[_common_pb2.MemoryEnvelope, _Mapping]] = ..., event: _Optional[_Union[_ledger_pb2.LedgerEvent, _Mapping]] = ..., content_state: _Optional[_Union[ContentState, str]] = ...) -> None: ...

class InspectHistoryResponse(_message.Message):
    __slots__ = ("entries", "cursor", "operation_id", "event_ids")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[HistoryEntry]
    cursor: str
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, entries: _Optional[_Iterable[_Union[HistoryEntry, _Mapping]]] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...
