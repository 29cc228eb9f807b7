import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remit.v1 import access_pb2 as _access_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LifecycleState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIFECYCLE_STATE_UNSPECIFIED: _ClassVar[LifecycleState]
    LIFECYCLE_STATE_SCRATCH: _ClassVar[LifecycleState]
    LIFECYCLE_STATE_CANDIDATE: _ClassVar[LifecycleState]
    LIFECYCLE_STATE_ACTIVE: _ClassVar[LifecycleState]
    LIFECYCLE_STATE_SUPERSEDED: _ClassVar[LifecycleState]
    LIFECYCLE_STATE_DEPRECATED: _ClassVar[LifecycleState]
    LIFECYCLE_STATE_ARCHIVED: _ClassVar[LifecycleState]

class AvailabilityState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AVAILABILITY_STATE_UNSPECIFIED: _ClassVar[AvailabilityState]
    AVAILABILITY_STATE_AVAILABLE: _ClassVar[AvailabilityState]
    AVAILABILITY_STATE_PARTIALLY_REDACTED: _ClassVar[AvailabilityState]
    AVAILABILITY_STATE_REDACTED: _ClassVar[AvailabilityState]
    AVAILABILITY_STATE_DELETED: _ClassVar[AvailabilityState]

class RetentionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETENTION_STATE_UNSPECIFIED: _ClassVar[RetentionState]
    RETENTION_STATE_RETAINED: _ClassVar[RetentionState]
    RETENTION_STATE_EXPIRED: _ClassVar[RetentionState]
    RETENTION_STATE_PENDING_DELETION: _ClassVar[RetentionState]
    RETENTION_STATE_LEGAL_HOLD: _ClassVar[RetentionState]

class ValidationState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VALIDATION_STATE_UNSPECIFIED: _ClassVar[ValidationState]
    VALIDATION_STATE_UNVERIFIED: _ClassVar[ValidationState]
    VALIDATION_STATE_CORROBORATED: _ClassVar[ValidationState]
    VALIDATION_STATE_DISPUTED: _ClassVar[ValidationState]
    VALIDATION_STATE_REJECTED: _ClassVar[ValidationState]
LIFECYCLE_STATE_UNSPECIFIED: LifecycleState
LIFECYCLE_STATE_SCRATCH: LifecycleState
LIFECYCLE_STATE_CANDIDATE: LifecycleState
LIFECYCLE_STATE_ACTIVE: LifecycleState
LIFECYCLE_STATE_SUPERSEDED: LifecycleState
LIFECYCLE_STATE_DEPRECATED: LifecycleState
LIFECYCLE_STATE_ARCHIVED: LifecycleState
AVAILABILITY_STATE_UNSPECIFIED: AvailabilityState
AVAILABILITY_STATE_AVAILABLE: AvailabilityState
AVAILABILITY_STATE_PARTIALLY_REDACTED: AvailabilityState
AVAILABILITY_STATE_REDACTED: AvailabilityState
AVAILABILITY_STATE_DELETED: AvailabilityState
RETENTION_STATE_UNSPECIFIED: RetentionState
RETENTION_STATE_RETAINED: RetentionState
RETENTION_STATE_EXPIRED: RetentionState
RETENTION_STATE_PENDING_DELETION: RetentionState
RETENTION_STATE_LEGAL_HOLD: RetentionState
VALIDATION_STATE_UNSPECIFIED: ValidationState
VALIDATION_STATE_UNVERIFIED: ValidationState
VALIDATION_STATE_CORROBORATED: ValidationState
VALIDATION_STATE_DISPUTED: ValidationState
VALIDATION_STATE_REJECTED: ValidationState

class Attestation(_message.Message):
    __slots__ = ("agent_manifest_ref", "manifest_digest", "manifest_digest_algorithm", "attestation_authority", "attestation_method", "signature", "signature_algorithm", "issued_at", "not_before", "not_after", "capabilities_declared", "did_ref")
    AGENT_MANIFEST_REF_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_DIGEST_ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    ATTESTATION_AUTHORITY_FIELD_NUMBER: _ClassVar[int]
    ATTESTATION_METHOD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    ISSUED_AT_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    NOT_AFTER_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_DECLARED_FIELD_NUMBER: _ClassVar[int]
    DID_REF_FIELD_NUMBER: _ClassVar[int]
    agent_manifest_ref: str
    manifest_digest: str
    manifest_digest_algorithm: str
    attestation_authority: str
    attestation_method: str
    signature: str
    signature_algorithm: str
    issued_at: _timestamp_pb2.Timestamp
    not_before: _timestamp_pb2.Timestamp
    not_after: _timestamp_pb2.Timestamp
    capabilities_declared: _containers.RepeatedScalarFieldContainer[str]
    did_ref: str
    def __init__(self, agent_manifest_ref: _Optional[str] = ..., manifest_digest: _Optional[str] = ..., manifest_digest_algorithm: _Optional[str] = ..., attestation_authority: _Optional[str] = ..., attestation_method: _Optional[str] = ..., signature: _Optional[str] = ..., signature_algorithm: _Optional[str] = ..., issued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., not_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., capabilities_declared: _Optional[_Iterable[str]] = ..., did_ref: _Optional[str] = ...) -> None: ...

class Actor(_message.Message):
    __slots__ = ("actor_id", "actor_kind", "display_name", "on_behalf_of_actor_id", "delegation_id", "attestation")
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_KIND_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTESTATION_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    actor_kind: str
    display_name: str
    on_behalf_of_actor_id: str
    delegation_id: str
    attestation: Attestation
    def __init__(self, actor_id: _Optional[str] = ..., actor_kind: _Optional[str] = ..., display_name: _Optional[str] = ..., on_behalf_of_actor_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., attestation: _Optional[_Union[Attestation, _Mapping]] = ...) -> None: ...

class ProvenanceInput(_message.Message):
    __slots__ = ("activity", "source_ref", "evidence_refs", "observed_at", "transformation_parent", "source_confidence", "integrity_ref", "actor")
    ACTIVITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REF_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMATION_PARENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_REF_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    activity: str
    source_ref: str
    evidence_refs: _containers.RepeatedScalarFieldContainer[str]
    observed_at: _timestamp_pb2.Timestamp
    transformation_parent: str
    source_confidence: float
    integrity_ref: str
    actor: Actor
    def __init__(self, activity: _Optional[str] = ..., source_ref: _Optional[str] = ..., evidence_refs: _Optional[_Iterable[str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., transformation_parent: _Optional[str] = ..., source_confidence: _Optional[float] = ..., integrity_ref: _Optional[str] = ..., actor: _Optional[_Union[Actor, _Mapping]] = ...) -> None: ...

class Provenance(_message.Message):
    __slots__ = ("provenance_id", "source_ref", "actor", "activity", "evidence_refs", "observed_at", "recorded_at", "transformation_parent", "source_confidence", "integrity_ref", "evaluation_run_id")
    PROVENANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REF_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTIVITY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMATION_PARENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_REF_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    provenance_id: str
    source_ref: str
    actor: Actor
    activity: str
    evidence_refs: _containers.RepeatedScalarFieldContainer[str]
    observed_at: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    transformation_parent: str
    source_confidence: float
    integrity_ref: str
    evaluation_run_id: str
    def __init__(self, provenance_id: _Optional[str] = ..., source_ref: _Optional[str] = ..., actor: _Optional[_Union[Actor, _Mapping]] = ..., activity: _Optional[str] = ..., evidence_refs: _Optional[_Iterable[str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., transformation_parent: _Optional[str] = ..., source_confidence: _Optional[float] = ..., integrity_ref: _Optional[str] = ..., evaluation_run_id: _Optional[str] = ...) -> None: ...

class Integrity(_message.Message):
    __slots__ = ("digest", "algorithm", "canonicalization_profile", "signature", "ledger_ref")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    CANONICALIZATION_PROFILE_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    LEDGER_REF_FIELD_NUMBER: _ClassVar[int]
    digest: str
    algorithm: str
    canonicalization_profile: str
    signature: str
    ledger_ref: str
    def __init__(self, digest: _Optional[str] = ..., algorithm: _Optional[str] = ..., canonicalization_profile: _Optional[str] = ..., signature: _Optional[str] = ..., ledger_ref: _Optional[str] = ...) -> None: ...

class QualitySignals(_message.Message):
    __slots__ = ("assessed_confidence", "contradiction_score", "staleness_score", "evidence_strength", "source_diversity", "last_verified_at", "last_verified_by_actor_id", "verification_method_id", "assessed_at", "assessed_by_actor_id")
    ASSESSED_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_SCORE_FIELD_NUMBER: _ClassVar[int]
    STALENESS_SCORE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_STRENGTH_FIELD_NUMBER: _ClassVar[int]
    SOURCE_DIVERSITY_FIELD_NUMBER: _ClassVar[int]
    LAST_VERIFIED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_VERIFIED_BY_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    VERIFICATION_METHOD_ID_FIELD_NUMBER: _ClassVar[int]
    ASSESSED_AT_FIELD_NUMBER: _ClassVar[int]
    ASSESSED_BY_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    assessed_confidence: float
    contradiction_score: float
    staleness_score: float
    evidence_strength: float
    source_diversity: float
    last_verified_at: _timestamp_pb2.Timestamp
    last_verified_by_actor_id: str
    verification_method_id: str
    assessed_at: _timestamp_pb2.Timestamp
    assessed_by_actor_id: str
    def __init__(self, assessed_confidence: _Optional[float] = ..., contradiction_score: _Optional[float] = ..., staleness_score: _Optional[float] = ..., evidence_strength: _Optional[float] = ..., source_diversity: _Optional[float] = ..., last_verified_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_verified_by_actor_id: _Optional[str] = ..., verification_method_id: _Optional[str] = ..., assessed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., assessed_by_actor_id: _Optional[str] = ...) -> None: ...

class MemoryEnvelope(_message.Message):
    __slots__ = ("spec_version", "object_id", "version_id", "scope_id", "object_type", "schema_id", "canonical_content", "lifecycle_state", "availability_state", "retention_state", "validation_state", "observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at", "sequence", "actor", "provenance", "integrity", "quality_signals")
    SPEC_VERSION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
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
    COMMITTED_AT_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    INTEGRITY_FIELD_NUMBER: _ClassVar[int]
    QUALITY_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    spec_version: str
    object_id: str
    version_id: str
    scope_id: str
    object_type: str
    schema_id: str
    canonical_content: bytes
    lifecycle_state: LifecycleState
    availability_state: AvailabilityState
    retention_state: RetentionState
    validation_state: ValidationState
    observed_at: _timestamp_pb2.Timestamp
    asserted_at: _timestamp_pb2.Timestamp
    valid_from: _timestamp_pb2.Timestamp
    valid_until: _timestamp_pb2.Timestamp
    committed_at: _timestamp_pb2.Timestamp
    recorded_at: _timestamp_pb2.Timestamp
    sequence: int
    actor: Actor
    provenance: Provenance
    integrity: Integrity
    quality_signals: QualitySignals
    def __init__(self, spec_version: _Optional[str] = ..., object_id: _Optional[str] = ..., version_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., object_type: _Optional[str] = ..., schema_id: _Optional[str] = ..., canonical_content: _Optional[bytes] = ..., lifecycle_state: _Optional[_Union[LifecycleState, str]] = ..., availability_state: _Optional[_Union[AvailabilityState, str]] = ..., retention_state: _Optional[_Union[RetentionState, str]] = ..., validation_state: _Optional[_Union[ValidationState, str]] = ..., observed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asserted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., committed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sequence: _Optional[int] = ..., actor: _Optional[_Union[Actor, _Mapping]] = ..., provenance: _Optional[_Union[Provenance, _Mapping]] = ..., integrity: _Optional[_Union[Integrity, _Mapping]] = ..., quality_signals: _Optional[_Union[QualitySignals, _Mapping]] = ...) -> None: ...

class MutationResult(_message.Message):
    __slots__ = ("object_id", "version_id", "sequence", "scope_id", "envelope", "event_ids", "replayed", "evidence_pending", "propagation_job_id", "operation_id")
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_PENDING_FIELD_NUMBER: _ClassVar[int]
    PROPAGATION_JOB_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    object_id: str
    version_id: str
    sequence: int
    scope_id: str
    envelope: MemoryEnvelope
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    evidence_pending: bool
    propagation_job_id: str
    operation_id: str
    def __init__(self, object_id: _Optional[str] = ..., version_id: _Optional[str] = ..., sequence: _Optional[int] = ..., scope_id: _Optional[str] = ..., envelope: _Optional[_Union[MemoryEnvelope, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., evidence_pending: _Optional[bool] = ..., propagation_job_id: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...
