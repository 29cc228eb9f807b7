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
    QUERY_KIND_SEMANTIC: _ClassVar[QueryKind]
    QUERY_KIND_HYBRID: _ClassVar[QueryKind]
    QUERY_KIND_TEMPORAL: _ClassVar[QueryKind]

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

class TemporalBasis(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEMPORAL_BASIS_UNSPECIFIED: _ClassVar[TemporalBasis]
    TEMPORAL_BASIS_OBSERVED_AT: _ClassVar[TemporalBasis]
    TEMPORAL_BASIS_ASSERTED_AT: _ClassVar[TemporalBasis]
    TEMPORAL_BASIS_VALID_TIME: _ClassVar[TemporalBasis]
    TEMPORAL_BASIS_COMMITTED_AT: _ClassVar[TemporalBasis]
    TEMPORAL_BASIS_RECORDED_AT: _ClassVar[TemporalBasis]
    TEMPORAL_BASIS_SEQUENCE: _ClassVar[TemporalBasis]

class QueryResultKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUERY_RESULT_KIND_UNSPECIFIED: _ClassVar[QueryResultKind]
    QUERY_RESULT_KIND_OBJECTS: _ClassVar[QueryResultKind]
    QUERY_RESULT_KIND_VERSIONS: _ClassVar[QueryResultKind]
    QUERY_RESULT_KIND_RELATIONSHIPS: _ClassVar[QueryResultKind]

class SearchMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_MODE_UNSPECIFIED: _ClassVar[SearchMode]
    SEARCH_MODE_EXACT: _ClassVar[SearchMode]
    SEARCH_MODE_APPROXIMATE: _ClassVar[SearchMode]

class QueryOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUERY_ORDER_UNSPECIFIED: _ClassVar[QueryOrder]
    QUERY_ORDER_LEDGER_ASCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_LEDGER_DESCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_COMMITTED_AT_ASCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_COMMITTED_AT_DESCENDING: _ClassVar[QueryOrder]
    QUERY_ORDER_OBJECT_ID_ASCENDING: _ClassVar[QueryOrder]

class RedactionPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REDACTION_POLICY_UNSPECIFIED: _ClassVar[RedactionPolicy]
    REDACTION_POLICY_TOMBSTONE: _ClassVar[RedactionPolicy]
    REDACTION_POLICY_OMIT: _ClassVar[RedactionPolicy]

class RedactionMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REDACTION_MODE_UNSPECIFIED: _ClassVar[RedactionMode]
    REDACTION_MODE_SUPPRESS: _ClassVar[RedactionMode]
    REDACTION_MODE_ERASE: _ClassVar[RedactionMode]

class Directionality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIRECTIONALITY_UNSPECIFIED: _ClassVar[Directionality]
    DIRECTIONALITY_DIRECTED: _ClassVar[Directionality]
    DIRECTIONALITY_BIDIRECTIONAL: _ClassVar[Directionality]
    DIRECTIONALITY_UNDIRECTED: _ClassVar[Directionality]

class TraversalDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRAVERSAL_DIRECTION_UNSPECIFIED: _ClassVar[TraversalDirection]
    TRAVERSAL_DIRECTION_OUTGOING: _ClassVar[TraversalDirection]
    TRAVERSAL_DIRECTION_INCOMING: _ClassVar[TraversalDirection]
    TRAVERSAL_DIRECTION_ANY: _ClassVar[TraversalDirection]
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
QUERY_KIND_SEMANTIC: QueryKind
QUERY_KIND_HYBRID: QueryKind
QUERY_KIND_TEMPORAL: QueryKind
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
TEMPORAL_BASIS_UNSPECIFIED: TemporalBasis
TEMPORAL_BASIS_OBSERVED_AT: TemporalBasis
TEMPORAL_BASIS_ASSERTED_AT: TemporalBasis
TEMPORAL_BASIS_VALID_TIME: TemporalBasis
TEMPORAL_BASIS_COMMITTED_AT: TemporalBasis
TEMPORAL_BASIS_RECORDED_AT: TemporalBasis
TEMPORAL_BASIS_SEQUENCE: TemporalBasis
QUERY_RESULT_KIND_UNSPECIFIED: QueryResultKind
QUERY_RESULT_KIND_OBJECTS: QueryResultKind
QUERY_RESULT_KIND_VERSIONS: QueryResultKind
QUERY_RESULT_KIND_RELATIONSHIPS: QueryResultKind
SEARCH_MODE_UNSPECIFIED: SearchMode
SEARCH_MODE_EXACT: SearchMode
SEARCH_MODE_APPROXIMATE: SearchMode
QUERY_ORDER_UNSPECIFIED: QueryOrder
QUERY_ORDER_LEDGER_ASCENDING: QueryOrder
QUERY_ORDER_LEDGER_DESCENDING: QueryOrder
QUERY_ORDER_COMMITTED_AT_ASCENDING: QueryOrder
QUERY_ORDER_COMMITTED_AT_DESCENDING: QueryOrder
QUERY_ORDER_OBJECT_ID_ASCENDING: QueryOrder
REDACTION_POLICY_UNSPECIFIED: RedactionPolicy
REDACTION_POLICY_TOMBSTONE: RedactionPolicy
REDACTION_POLICY_OMIT: RedactionPolicy
REDACTION_MODE_UNSPECIFIED: RedactionMode
REDACTION_MODE_SUPPRESS: RedactionMode
REDACTION_MODE_ERASE: RedactionMode
DIRECTIONALITY_UNSPECIFIED: Directionality
DIRECTIONALITY_DIRECTED: Directionality
DIRECTIONALITY_BIDIRECTIONAL: Directionality
DIRECTIONALITY_UNDIRECTED: Directionality
TRAVERSAL_DIRECTION_UNSPECIFIED: TraversalDirection
TRAVERSAL_DIRECTION_OUTGOING: TraversalDirection
TRAVERSAL_DIRECTION_INCOMING: TraversalDirection
TRAVERSAL_DIRECTION_ANY: TraversalDirection

class CreateRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "evaluation_snapshot_id", "object_type", "object_id", "schema_id", "canonical_content", "lifecycle_state", "availability_state", "retention_state", "validation_state", "observed_at", "asserted_at", "valid_from", "valid_until", "provenance", "integrity", "quality_signals", "expect_absent", "derived_requests")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
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
    DERIVED_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    evaluation_snapshot_id: str
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
    derived_requests: _containers.RepeatedCompositeFieldContainer[DerivedRequest]
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., evaluation_snapshot_id: _Optional[str] = ..., object_type: _Optional[str] = ..., object_id: _Optional[str] = ..., schema_id: _Optional[str] = ..., canonical_content: _Optional[bytes] = ..., lifecycle_state: _Optional[_Union[_common_pb2.LifecycleState, str]] = ..., availability_state: _Optional[_Union[_common_pb2.AvailabilityState, str]] = ..., retention_state: _Optional[_Union[_common_pb2.RetentionState, str]] = ..., validation_state: _Optional[_Union[_common_pb2.ValidationState, str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ..., integrity: _Optional[_Union[_common_pb2.Integrity, _Mapping]] = ..., quality_signals: _Optional[_Union[_common_pb2.QualitySignals, _Mapping]] = ..., expect_absent: _Optional[bool] = ..., derived_requests: _Optional[_Iterable[_Union[DerivedRequest, _Mapping]]] = ...) -> None: ...

class DerivedRequest(_message.Message):
    __slots__ = ("embedding_space_id", "vector", "artifact_id")
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    embedding_space_id: str
    vector: _containers.RepeatedScalarFieldContainer[float]
    artifact_id: str
    def __init__(self, embedding_space_id: _Optional[str] = ..., vector: _Optional[_Iterable[float]] = ..., artifact_id: _Optional[str] = ...) -> None: ...

class CreateResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "snapshot_id", "object_id", "version_id", "allow_tombstone", "field_mask", "history_hint")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    ALLOW_TOMBSTONE_FIELD_NUMBER: _ClassVar[int]
    FIELD_MASK_FIELD_NUMBER: _ClassVar[int]
    HISTORY_HINT_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    object_id: str
    version_id: str
    allow_tombstone: bool
    field_mask: _containers.RepeatedScalarFieldContainer[str]
    history_hint: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ..., object_id: _Optional[str] = ..., version_id: _Optional[str] = ..., allow_tombstone: _Optional[bool] = ..., field_mask: _Optional[_Iterable[str]] = ..., history_hint: _Optional[bool] = ...) -> None: ...

class HistoryHint(_message.Message):
    __slots__ = ("version_count", "current_version_id")
    VERSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENT_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    version_count: int
    current_version_id: str
    def __init__(self, version_count: _Optional[int] = ..., current_version_id: _Optional[str] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ("envelope", "content_state", "operation_id", "event_ids", "relationship_refs", "more_relationship_refs", "history")
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_STATE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_REFS_FIELD_NUMBER: _ClassVar[int]
    MORE_RELATIONSHIP_REFS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    envelope: _common_pb2.MemoryEnvelope
    content_state: ContentState
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    relationship_refs: _containers.RepeatedScalarFieldContainer[str]
    more_relationship_refs: bool
    history: HistoryHint
    def __init__(self, envelope: _Optional[_Union[_common_pb2.MemoryEnvelope, _Mapping]] = ..., content_state: _Optional[_Union[ContentState, str]] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ..., relationship_refs: _Optional[_Iterable[str]] = ..., more_relationship_refs: _Optional[bool] = ..., history: _Optional[_Union[HistoryHint, _Mapping]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "evaluation_snapshot_id", "object_id", "expected_version_id", "update_mask", "canonical_content", "schema_id", "observed_at", "asserted_at", "valid_from", "valid_until", "provenance", "integrity", "quality_signals")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
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
    evaluation_snapshot_id: str
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
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., evaluation_snapshot_id: _Optional[str] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., update_mask: _Optional[_Iterable[str]] = ..., canonical_content: _Optional[bytes] = ..., schema_id: _Optional[str] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ..., integrity: _Optional[_Union[_common_pb2.Integrity, _Mapping]] = ..., quality_signals: _Optional[_Union[_common_pb2.QualitySignals, _Mapping]] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class TransitionRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "evaluation_snapshot_id", "object_id", "expected_version_id", "dimension", "target_state", "provenance")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
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
    evaluation_snapshot_id: str
    object_id: str
    expected_version_id: str
    dimension: Dimension
    target_state: str
    provenance: _common_pb2.ProvenanceInput
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., evaluation_snapshot_id: _Optional[str] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., dimension: _Optional[_Union[Dimension, str]] = ..., target_state: _Optional[str] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ...) -> None: ...

class TransitionResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "evaluation_snapshot_id", "object_id", "expected_version_id", "provenance")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
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
    evaluation_snapshot_id: str
    object_id: str
    expected_version_id: str
    provenance: _common_pb2.ProvenanceInput
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., evaluation_snapshot_id: _Optional[str] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("lifecycle_state", "availability_state", "retention_state", "validation_state", "object_type", "provenance_id", "predicates", "relationship_type", "related_object_id", "task_ref", "evidence_ref")
    LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_STATE_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_ID_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    RELATED_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_REF_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REF_FIELD_NUMBER: _ClassVar[int]
    lifecycle_state: _containers.RepeatedScalarFieldContainer[_common_pb2.LifecycleState]
    availability_state: _containers.RepeatedScalarFieldContainer[_common_pb2.AvailabilityState]
    retention_state: _containers.RepeatedScalarFieldContainer[_common_pb2.RetentionState]
    validation_state: _containers.RepeatedScalarFieldContainer[_common_pb2.ValidationState]
    object_type: _containers.RepeatedScalarFieldContainer[str]
    provenance_id: _containers.RepeatedScalarFieldContainer[str]
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    relationship_type: _containers.RepeatedScalarFieldContainer[str]
    related_object_id: str
    task_ref: str
    evidence_ref: str
    def __init__(self, lifecycle_state: _Optional[_Iterable[_Union[_common_pb2.LifecycleState, str]]] = ..., availability_state: _Optional[_Iterable[_Union[_common_pb2.AvailabilityState, str]]] = ..., retention_state: _Optional[_Iterable[_Union[_common_pb2.RetentionState, str]]] = ..., validation_state: _Optional[_Iterable[_Union[_common_pb2.ValidationState, str]]] = ..., object_type: _Optional[_Iterable[str]] = ..., provenance_id: _Optional[_Iterable[str]] = ..., predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ..., relationship_type: _Optional[_Iterable[str]] = ..., related_object_id: _Optional[str] = ..., task_ref: _Optional[str] = ..., evidence_ref: _Optional[str] = ...) -> None: ...

class QueryExpression(_message.Message):
    __slots__ = ("kind", "filters", "text", "temporal_basis", "time_from", "time_to", "sequence_from", "sequence_to")
    KIND_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_BASIS_FIELD_NUMBER: _ClassVar[int]
    TIME_FROM_FIELD_NUMBER: _ClassVar[int]
    TIME_TO_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FROM_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_TO_FIELD_NUMBER: _ClassVar[int]
    kind: QueryKind
    filters: QueryFilters
    text: str
    temporal_basis: TemporalBasis
    time_from: _timestamp_pb2.Timestamp
    time_to: _timestamp_pb2.Timestamp
    sequence_from: int
    sequence_to: int
    def __init__(self, kind: _Optional[_Union[QueryKind, str]] = ..., filters: _Optional[_Union[QueryFilters, _Mapping]] = ..., text: _Optional[str] = ..., temporal_basis: _Optional[_Union[TemporalBasis, str]] = ..., time_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., time_to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sequence_from: _Optional[int] = ..., sequence_to: _Optional[int] = ...) -> None: ...

class QueryRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "snapshot_id", "query", "order", "limit", "cursor", "result_kind", "embedding_space_id", "query_vector", "search_mode", "explain_ranking", "query_vector_space_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    RESULT_KIND_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    SEARCH_MODE_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_RANKING_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    query: QueryExpression
    order: QueryOrder
    limit: int
    cursor: str
    result_kind: QueryResultKind
    embedding_space_id: str
    query_vector: _containers.RepeatedScalarFieldContainer[float]
    search_mode: SearchMode
    explain_ranking: bool
    query_vector_space_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ..., query: _Optional[_Union[QueryExpression, _Mapping]] = ..., order: _Optional[_Union[QueryOrder, str]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ..., result_kind: _Optional[_Union[QueryResultKind, str]] = ..., embedding_space_id: _Optional[str] = ..., query_vector: _Optional[_Iterable[float]] = ..., search_mode: _Optional[_Union[SearchMode, str]] = ..., explain_ranking: _Optional[bool] = ..., query_vector_space_id: _Optional[str] = ...) -> None: ...

class Ranking(_message.Message):
    __slots__ = ("score", "vector_score", "lexical_score", "vector_rank", "lexical_rank", "rerank_score", "artifact_id", "explanation", "object_id")
    SCORE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_SCORE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_RANK_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_RANK_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    score: float
    vector_score: float
    lexical_score: float
    vector_rank: int
    lexical_rank: int
    rerank_score: float
    artifact_id: str
    explanation: str
    object_id: str
    def __init__(self, score: _Optional[float] = ..., vector_score: _Optional[float] = ..., lexical_score: _Optional[float] = ..., vector_rank: _Optional[int] = ..., lexical_rank: _Optional[int] = ..., rerank_score: _Optional[float] = ..., artifact_id: _Optional[str] = ..., explanation: _Optional[str] = ..., object_id: _Optional[str] = ...) -> None: ...

class QueryMetadata(_message.Message):
    __slots__ = ("ledger_sequence", "order", "tie_break", "snapshot_id", "ordering_profile", "embedding_space_id", "index_id", "index_sequence", "approximate", "distance_metric", "fusion_constant", "stale", "temporal_basis", "search_mode", "lexical_index_sequence")
    LEDGER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    TIE_BREAK_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    ORDERING_PROFILE_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    DISTANCE_METRIC_FIELD_NUMBER: _ClassVar[int]
    FUSION_CONSTANT_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_BASIS_FIELD_NUMBER: _ClassVar[int]
    SEARCH_MODE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_INDEX_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ledger_sequence: int
    order: QueryOrder
    tie_break: _containers.RepeatedScalarFieldContainer[str]
    snapshot_id: str
    ordering_profile: str
    embedding_space_id: str
    index_id: str
    index_sequence: int
    approximate: bool
    distance_metric: str
    fusion_constant: float
    stale: bool
    temporal_basis: TemporalBasis
    search_mode: SearchMode
    lexical_index_sequence: int
    def __init__(self, ledger_sequence: _Optional[int] = ..., order: _Optional[_Union[QueryOrder, str]] = ..., tie_break: _Optional[_Iterable[str]] = ..., snapshot_id: _Optional[str] = ..., ordering_profile: _Optional[str] = ..., embedding_space_id: _Optional[str] = ..., index_id: _Optional[str] = ..., index_sequence: _Optional[int] = ..., approximate: _Optional[bool] = ..., distance_metric: _Optional[str] = ..., fusion_constant: _Optional[float] = ..., stale: _Optional[bool] = ..., temporal_basis: _Optional[_Union[TemporalBasis, str]] = ..., search_mode: _Optional[_Union[SearchMode, str]] = ..., lexical_index_sequence: _Optional[int] = ...) -> None: ...

class QueryResponse(_message.Message):
    __slots__ = ("results", "cursor", "applied_filters", "metadata", "operation_id", "event_ids", "relationships", "rankings", "content_states")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FILTERS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIPS_FIELD_NUMBER: _ClassVar[int]
    RANKINGS_FIELD_NUMBER: _ClassVar[int]
    CONTENT_STATES_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_common_pb2.MemoryEnvelope]
    cursor: str
    applied_filters: QueryFilters
    metadata: QueryMetadata
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    relationships: _containers.RepeatedCompositeFieldContainer[RelationshipEnvelope]
    rankings: _containers.RepeatedCompositeFieldContainer[Ranking]
    content_states: _containers.RepeatedScalarFieldContainer[ContentState]
    def __init__(self, results: _Optional[_Iterable[_Union[_common_pb2.MemoryEnvelope, _Mapping]]] = ..., cursor: _Optional[str] = ..., applied_filters: _Optional[_Union[QueryFilters, _Mapping]] = ..., metadata: _Optional[_Union[QueryMetadata, _Mapping]] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ..., relationships: _Optional[_Iterable[_Union[RelationshipEnvelope, _Mapping]]] = ..., rankings: _Optional[_Iterable[_Union[Ranking, _Mapping]]] = ..., content_states: _Optional[_Iterable[_Union[ContentState, str]]] = ...) -> None: ...

class InspectHistoryRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "snapshot_id", "object_id", "after_sequence", "to_sequence", "from_version", "to_version", "event_classes", "limit", "cursor", "relationship_id", "redaction_policy")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TO_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FROM_VERSION_FIELD_NUMBER: _ClassVar[int]
    TO_VERSION_FIELD_NUMBER: _ClassVar[int]
    EVENT_CLASSES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_ID_FIELD_NUMBER: _ClassVar[int]
    REDACTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    object_id: str
    after_sequence: int
    to_sequence: int
    from_version: int
    to_version: int
    event_classes: _containers.RepeatedScalarFieldContainer[_ledger_pb2.EventType]
    limit: int
    cursor: str
    relationship_id: str
    redaction_policy: RedactionPolicy
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ..., object_id: _Optional[str] = ..., after_sequence: _Optional[int] = ..., to_sequence: _Optional[int] = ..., from_version: _Optional[int] = ..., to_version: _Optional[int] = ..., event_classes: _Optional[_Iterable[_Union[_ledger_pb2.EventType, str]]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ..., relationship_id: _Optional[str] = ..., redaction_policy: _Optional[_Union[RedactionPolicy, str]] = ...) -> None: ...

class HistoryEntry(_message.Message):
    __slots__ = ("ledger_sequence", "version", "event", "relationship", "content_state")
    LEDGER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_FIELD_NUMBER: _ClassVar[int]
    CONTENT_STATE_FIELD_NUMBER: _ClassVar[int]
    ledger_sequence: int
    version: _common_pb2.MemoryEnvelope
    event: _ledger_pb2.LedgerEvent
    relationship: RelationshipEnvelope
    content_state: ContentState
    def __init__(self, ledger_sequence: _Optional[int] = ..., version: _Optional[_Union[_common_pb2.MemoryEnvelope, _Mapping]] = ..., event: _Optional[_Union[_ledger_pb2.LedgerEvent, _Mapping]] = ..., relationship: _Optional[_Union[RelationshipEnvelope, _Mapping]] = ..., content_state: _Optional[_Union[ContentState, str]] = ...) -> None: ...

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

class RedactionTarget(_message.Message):
    __slots__ = ("json_pointers", "provenance_pointers", "whole")
    JSON_POINTERS_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_POINTERS_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    json_pointers: _containers.RepeatedScalarFieldContainer[str]
    provenance_pointers: _containers.RepeatedScalarFieldContainer[str]
    whole: bool
    def __init__(self, json_pointers: _Optional[_Iterable[str]] = ..., provenance_pointers: _Optional[_Iterable[str]] = ..., whole: _Optional[bool] = ...) -> None: ...

class RedactRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "evaluation_snapshot_id", "object_id", "expected_version_id", "target", "mode", "provenance")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    evaluation_snapshot_id: str
    object_id: str
    expected_version_id: str
    target: RedactionTarget
    mode: RedactionMode
    provenance: _common_pb2.ProvenanceInput
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., evaluation_snapshot_id: _Optional[str] = ..., object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., target: _Optional[_Union[RedactionTarget, _Mapping]] = ..., mode: _Optional[_Union[RedactionMode, str]] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ...) -> None: ...

class RedactResponse(_message.Message):
    __slots__ = ("result", "redacted_pointers", "redacted_provenance_pointers")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    REDACTED_POINTERS_FIELD_NUMBER: _ClassVar[int]
    REDACTED_PROVENANCE_POINTERS_FIELD_NUMBER: _ClassVar[int]
    result: _common_pb2.MutationResult
    redacted_pointers: _containers.RepeatedScalarFieldContainer[str]
    redacted_provenance_pointers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, result: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ..., redacted_pointers: _Optional[_Iterable[str]] = ..., redacted_provenance_pointers: _Optional[_Iterable[str]] = ...) -> None: ...

class PromoteRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "evaluation_snapshot_id", "source_object_id", "expected_version_id", "target_object_type", "target_canonical_content", "target_object_id", "target_schema_id", "target_lifecycle_state", "target_validation_state", "provenance", "quality_signals")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    TARGET_CANONICAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    TARGET_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_SCHEMA_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    TARGET_VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    evaluation_snapshot_id: str
    source_object_id: str
    expected_version_id: str
    target_object_type: str
    target_canonical_content: bytes
    target_object_id: str
    target_schema_id: str
    target_lifecycle_state: _common_pb2.LifecycleState
    target_validation_state: _common_pb2.ValidationState
    provenance: _common_pb2.ProvenanceInput
    quality_signals: _common_pb2.QualitySignals
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., evaluation_snapshot_id: _Optional[str] = ..., source_object_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., target_object_type: _Optional[str] = ..., target_canonical_content: _Optional[bytes] = ..., target_object_id: _Optional[str] = ..., target_schema_id: _Optional[str] = ..., target_lifecycle_state: _Optional[_Union[_common_pb2.LifecycleState, str]] = ..., target_validation_state: _Optional[_Union[_common_pb2.ValidationState, str]] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ..., quality_signals: _Optional[_Union[_common_pb2.QualitySignals, _Mapping]] = ...) -> None: ...

class PromoteResponse(_message.Message):
    __slots__ = ("target", "source", "relationship_id", "relationship_version_id")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    target: _common_pb2.MutationResult
    source: _common_pb2.MutationResult
    relationship_id: str
    relationship_version_id: str
    def __init__(self, target: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ..., source: _Optional[_Union[_common_pb2.MutationResult, _Mapping]] = ..., relationship_id: _Optional[str] = ..., relationship_version_id: _Optional[str] = ...) -> None: ...

class RelationshipEnvelope(_message.Message):
    __slots__ = ("spec_version", "relationship_id", "version_id", "scope_id", "relationship_type", "source_object_id", "target_object_id", "target_scope_id", "directionality", "canonical_content", "lifecycle_state", "availability_state", "retention_state", "validation_state", "observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at", "sequence", "actor", "provenance", "policy_basis", "integrity")
    SPEC_VERSION_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTIONALITY_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_STATE_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    ASSERTED_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_AT_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    spec_version: str
    relationship_id: str
    version_id: str
    scope_id: str
    relationship_type: str
    source_object_id: str
    target_object_id: str
    target_scope_id: str
    directionality: Directionality
    canonical_content: bytes
    lifecycle_state: _common_pb2.LifecycleState
    availability_state: _common_pb2.AvailabilityState
    retention_state: _common_pb2.RetentionState
    validation_state: _common_pb2.ValidationState
    observed_at: _timestamp_pb2.Timestamp
    asserted_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_until: _timestamp_pb2.Timestamp
    committed_at: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    sequence: int
    actor: _common_pb2.Actor
    provenance: _common_pb2.Provenance
    policy_basis: str
    integrity: _common_pb2.Integrity
    def __init__(self, spec_version: _Optional[str] = ..., relationship_id: _Optional[str] = ..., version_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., relationship_type: _Optional[str] = ..., source_object_id: _Optional[str] = ..., target_object_id: _Optional[str] = ..., target_scope_id: _Optional[str] = ..., directionality: _Optional[_Union[Directionality, str]] = ..., canonical_content: _Optional[bytes] = ..., lifecycle_state: _Optional[_Union[_common_pb2.LifecycleState, str]] = ..., availability_state: _Optional[_Union[_common_pb2.AvailabilityState, str]] = ..., retention_state: _Optional[_Union[_common_pb2.RetentionState, str]] = ..., validation_state: _Optional[_Union[_common_pb2.ValidationState, str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., committed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sequence: _Optional[int] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., provenance: _Optional[_Union[_common_pb2.Provenance, _Mapping]] = ..., policy_basis: _Optional[str] = ..., integrity: _Optional[_Union[_common_pb2.Integrity, _Mapping]] = ...) -> None: ...

class RelateRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "policy_basis", "evaluation_snapshot_id", "relationship_id", "expected_version_id", "source_object_id", "target_object_id", "target_scope_id", "relationship_type", "directionality", "canonical_content", "provenance", "integrity", "lifecycle_state", "availability_state", "retention_state", "validation_state", "observed_at", "asserted_at", "valid_from", "valid_until")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIRECTIONALITY_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_STATE_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_STATE_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_STATE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    ASSERTED_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    evaluation_snapshot_id: str
    relationship_id: str
    expected_version_id: str
    source_object_id: str
    target_object_id: str
    target_scope_id: str
    relationship_type: str
    directionality: Directionality
    canonical_content: bytes
    provenance: _common_pb2.ProvenanceInput
    integrity: _common_pb2.Integrity
    lifecycle_state: _common_pb2.LifecycleState
    availability_state: _common_pb2.AvailabilityState
    retention_state: _common_pb2.RetentionState
    validation_state: _common_pb2.ValidationState
    observed_at: _timestamp_pb2.Timestamp
    asserted_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_until: _timestamp_pb2.Timestamp
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., evaluation_snapshot_id: _Optional[str] = ..., relationship_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., source_object_id: _Optional[str] = ..., target_object_id: _Optional[str] = ..., target_scope_id: _Optional[str] = ..., relationship_type: _Optional[str] = ..., directionality: _Optional[_Union[Directionality, str]] = ..., canonical_content: _Optional[bytes] = ..., provenance: _Optional[_Union[_common_pb2.ProvenanceInput, _Mapping]] = ..., integrity: _Optional[_Union[_common_pb2.Integrity, _Mapping]] = ..., lifecycle_state: _Optional[_Union[_common_pb2.LifecycleState, str]] = ..., availability_state: _Optional[_Union[_common_pb2.AvailabilityState, str]] = ..., retention_state: _Optional[_Union[_common_pb2.RetentionState, str]] = ..., validation_state: _Optional[_Union[_common_pb2.ValidationState, str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RelateResponse(_message.Message):
    __slots__ = ("relationship", "event_ids", "replayed", "operation_id")
    RELATIONSHIP_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    relationship: RelationshipEnvelope
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, relationship: _Optional[_Union[RelationshipEnvelope, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ObjectRef(_message.Message):
    __slots__ = ("scope_id", "object_id", "object_type", "version_id", "availability_state")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_STATE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    object_id: str
    object_type: str
    version_id: str
    availability_state: _common_pb2.AvailabilityState
    def __init__(self, scope_id: _Optional[str] = ..., object_id: _Optional[str] = ..., object_type: _Optional[str] = ..., version_id: _Optional[str] = ..., availability_state: _Optional[_Union[_common_pb2.AvailabilityState, str]] = ...) -> None: ...

class TraverseRelationshipsRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "snapshot_id", "start_object_id", "relationship_types", "direction", "max_depth", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    START_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_TYPES_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    start_object_id: str
    relationship_types: _containers.RepeatedScalarFieldContainer[str]
    direction: TraversalDirection
    max_depth: int
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ..., start_object_id: _Optional[str] = ..., relationship_types: _Optional[_Iterable[str]] = ..., direction: _Optional[_Union[TraversalDirection, str]] = ..., max_depth: _Optional[int] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class TraversalStep(_message.Message):
    __slots__ = ("depth", "relationship", "object")
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    depth: int
    relationship: RelationshipEnvelope
    object: ObjectRef
    def __init__(self, depth: _Optional[int] = ..., relationship: _Optional[_Union[RelationshipEnvelope, _Mapping]] = ..., object: _Optional[_Union[ObjectRef, _Mapping]] = ...) -> None: ...

class TraverseRelationshipsResponse(_message.Message):
    __slots__ = ("steps", "cursor", "operation_id", "event_ids")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[TraversalStep]
    cursor: str
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, steps: _Optional[_Iterable[_Union[TraversalStep, _Mapping]]] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...
