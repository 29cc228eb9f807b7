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

class DeterministicClock(_message.Message):
    __slots__ = ("clock_ref", "start_at", "tick_ms")
    CLOCK_REF_FIELD_NUMBER: _ClassVar[int]
    START_AT_FIELD_NUMBER: _ClassVar[int]
    TICK_MS_FIELD_NUMBER: _ClassVar[int]
    clock_ref: str
    start_at: _timestamp_pb2.Timestamp
    tick_ms: int
    def __init__(self, clock_ref: _Optional[str] = ..., start_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tick_ms: _Optional[int] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ("snapshot_id", "scope_id", "sealed", "created_at", "created_by_actor_id", "ledger_sequence_high_watermark", "included_object_ids", "included_embedding_space_ids", "deterministic_clock", "deterministic_rng_seed", "evaluation_run_id", "digest", "digest_algorithm", "canonicalization_profile")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    SEALED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    LEDGER_SEQUENCE_HIGH_WATERMARK_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_OBJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_EMBEDDING_SPACE_IDS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_CLOCK_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_RNG_SEED_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    DIGEST_ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    CANONICALIZATION_PROFILE_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    scope_id: str
    sealed: bool
    created_at: _timestamp_pb2.Timestamp
    created_by_actor_id: str
    ledger_sequence_high_watermark: int
    included_object_ids: _containers.RepeatedScalarFieldContainer[str]
    included_embedding_space_ids: _containers.RepeatedScalarFieldContainer[str]
    deterministic_clock: DeterministicClock
    deterministic_rng_seed: int
    evaluation_run_id: str
    digest: str
    digest_algorithm: str
    canonicalization_profile: str
    def __init__(self, snapshot_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., sealed: _Optional[bool] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_by_actor_id: _Optional[str] = ..., ledger_sequence_high_watermark: _Optional[int] = ..., included_object_ids: _Optional[_Iterable[str]] = ..., included_embedding_space_ids: _Optional[_Iterable[str]] = ..., deterministic_clock: _Optional[_Union[DeterministicClock, _Mapping]] = ..., deterministic_rng_seed: _Optional[int] = ..., evaluation_run_id: _Optional[str] = ..., digest: _Optional[str] = ..., digest_algorithm: _Optional[str] = ..., canonicalization_profile: _Optional[str] = ...) -> None: ...

class SealSnapshotRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "snapshot_id", "included_object_ids", "included_embedding_space_ids", "deterministic_clock", "deterministic_rng_seed", "evaluation_run_id", "sealed")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_OBJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_EMBEDDING_SPACE_IDS_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_CLOCK_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_RNG_SEED_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEALED_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    included_object_ids: _containers.RepeatedScalarFieldContainer[str]
    included_embedding_space_ids: _containers.RepeatedScalarFieldContainer[str]
    deterministic_clock: DeterministicClock
    deterministic_rng_seed: int
    evaluation_run_id: str
    sealed: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ..., included_object_ids: _Optional[_Iterable[str]] = ..., included_embedding_space_ids: _Optional[_Iterable[str]] = ..., deterministic_clock: _Optional[_Union[DeterministicClock, _Mapping]] = ..., deterministic_rng_seed: _Optional[int] = ..., evaluation_run_id: _Optional[str] = ..., sealed: _Optional[bool] = ...) -> None: ...

class SealSnapshotResponse(_message.Message):
    __slots__ = ("snapshot", "event_ids", "replayed", "operation_id")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    snapshot: Snapshot
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, snapshot: _Optional[_Union[Snapshot, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class GetSnapshotRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "snapshot_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ...) -> None: ...

class GetSnapshotResponse(_message.Message):
    __slots__ = ("snapshot", "operation_id")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    snapshot: Snapshot
    operation_id: str
    def __init__(self, snapshot: _Optional[_Union[Snapshot, _Mapping]] = ..., operation_id: _Optional[str] = ...) -> None: ...

class CompareSnapshotsRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "left_snapshot_id", "right_snapshot_id", "object_ids", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    LEFT_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    RIGHT_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    left_snapshot_id: str
    right_snapshot_id: str
    object_ids: _containers.RepeatedScalarFieldContainer[str]
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., left_snapshot_id: _Optional[str] = ..., right_snapshot_id: _Optional[str] = ..., object_ids: _Optional[_Iterable[str]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class SnapshotMember(_message.Message):
    __slots__ = ("object_id", "object_type", "version_id", "sequence")
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    object_id: str
    object_type: str
    version_id: str
    sequence: int
    def __init__(self, object_id: _Optional[str] = ..., object_type: _Optional[str] = ..., version_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class VersionDelta(_message.Message):
    __slots__ = ("object_id", "left_version_id", "left_sequence", "right_version_id", "right_sequence")
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    LEFT_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    LEFT_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RIGHT_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    RIGHT_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    object_id: str
    left_version_id: str
    left_sequence: int
    right_version_id: str
    right_sequence: int
    def __init__(self, object_id: _Optional[str] = ..., left_version_id: _Optional[str] = ..., left_sequence: _Optional[int] = ..., right_version_id: _Optional[str] = ..., right_sequence: _Optional[int] = ...) -> None: ...

class StateDelta(_message.Message):
    __slots__ = ("object_id", "dimension", "left_state", "right_state")
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    LEFT_STATE_FIELD_NUMBER: _ClassVar[int]
    RIGHT_STATE_FIELD_NUMBER: _ClassVar[int]
    object_id: str
    dimension: str
    left_state: str
    right_state: str
    def __init__(self, object_id: _Optional[str] = ..., dimension: _Optional[str] = ..., left_state: _Optional[str] = ..., right_state: _Optional[str] = ...) -> None: ...

class CompareSnapshotsResponse(_message.Message):
    __slots__ = ("added", "removed", "version_deltas", "state_deltas", "cursor", "operation_id", "event_ids")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    VERSION_DELTAS_FIELD_NUMBER: _ClassVar[int]
    STATE_DELTAS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedCompositeFieldContainer[SnapshotMember]
    removed: _containers.RepeatedCompositeFieldContainer[SnapshotMember]
    version_deltas: _containers.RepeatedCompositeFieldContainer[VersionDelta]
    state_deltas: _containers.RepeatedCompositeFieldContainer[StateDelta]
    cursor: str
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, added: _Optional[_Iterable[_Union[SnapshotMember, _Mapping]]] = ..., removed: _Optional[_Iterable[_Union[SnapshotMember, _Mapping]]] = ..., version_deltas: _Optional[_Iterable[_Union[VersionDelta, _Mapping]]] = ..., state_deltas: _Optional[_Iterable[_Union[StateDelta, _Mapping]]] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...
