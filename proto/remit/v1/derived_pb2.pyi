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

class EmbeddingSpace(_message.Message):
    __slots__ = ("embedding_space_id", "provider", "model", "model_revision", "dimensions", "distance_metric", "normalization", "preprocessing_profile", "embedding_kind", "canonicalization_rules", "created_at", "created_by")
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_REVISION_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    DISTANCE_METRIC_FIELD_NUMBER: _ClassVar[int]
    NORMALIZATION_FIELD_NUMBER: _ClassVar[int]
    PREPROCESSING_PROFILE_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_KIND_FIELD_NUMBER: _ClassVar[int]
    CANONICALIZATION_RULES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    embedding_space_id: str
    provider: str
    model: str
    model_revision: str
    dimensions: int
    distance_metric: str
    normalization: str
    preprocessing_profile: str
    embedding_kind: str
    canonicalization_rules: str
    created_at: _timestamp_pb2.Timestamp
    created_by: _common_pb2.Actor
    def __init__(self, embedding_space_id: _Optional[str] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., model_revision: _Optional[str] = ..., dimensions: _Optional[int] = ..., distance_metric: _Optional[str] = ..., normalization: _Optional[str] = ..., preprocessing_profile: _Optional[str] = ..., embedding_kind: _Optional[str] = ..., canonicalization_rules: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_by: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ...) -> None: ...

class RegisterEmbeddingSpaceRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "embedding_space")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SPACE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    embedding_space: EmbeddingSpace
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., embedding_space: _Optional[_Union[EmbeddingSpace, _Mapping]] = ...) -> None: ...

class RegisterEmbeddingSpaceResponse(_message.Message):
    __slots__ = ("embedding_space", "event_ids", "replayed", "operation_id")
    EMBEDDING_SPACE_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    embedding_space: EmbeddingSpace
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, embedding_space: _Optional[_Union[EmbeddingSpace, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class GetEmbeddingSpaceRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "embedding_space_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    embedding_space_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., embedding_space_id: _Optional[str] = ...) -> None: ...

class GetEmbeddingSpaceResponse(_message.Message):
    __slots__ = ("embedding_space", "operation_id", "vector_count")
    EMBEDDING_SPACE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    embedding_space: EmbeddingSpace
    operation_id: str
    vector_count: int
    def __init__(self, embedding_space: _Optional[_Union[EmbeddingSpace, _Mapping]] = ..., operation_id: _Optional[str] = ..., vector_count: _Optional[int] = ...) -> None: ...

class LineageRow(_message.Message):
    __slots__ = ("source_object_id", "source_version_id", "source_sequence", "artifact_type", "artifact_id", "store_id", "artifact_version", "embedding_space_id", "registered_at", "current")
    SOURCE_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    STORE_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_VERSION_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    source_object_id: str
    source_version_id: str
    source_sequence: int
    artifact_type: str
    artifact_id: str
    store_id: str
    artifact_version: str
    embedding_space_id: str
    registered_at: _timestamp_pb2.Timestamp
    current: bool
    def __init__(self, source_object_id: _Optional[str] = ..., source_version_id: _Optional[str] = ..., source_sequence: _Optional[int] = ..., artifact_type: _Optional[str] = ..., artifact_id: _Optional[str] = ..., store_id: _Optional[str] = ..., artifact_version: _Optional[str] = ..., embedding_space_id: _Optional[str] = ..., registered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., current: _Optional[bool] = ...) -> None: ...

class RegisterDerivativeRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "source_object_id", "source_version_id", "artifact_type", "artifact_id", "store_id", "artifact_version", "embedding_space_id", "vector")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SOURCE_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    STORE_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_VERSION_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SPACE_ID_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    source_object_id: str
    source_version_id: str
    artifact_type: str
    artifact_id: str
    store_id: str
    artifact_version: str
    embedding_space_id: str
    vector: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., source_object_id: _Optional[str] = ..., source_version_id: _Optional[str] = ..., artifact_type: _Optional[str] = ..., artifact_id: _Optional[str] = ..., store_id: _Optional[str] = ..., artifact_version: _Optional[str] = ..., embedding_space_id: _Optional[str] = ..., vector: _Optional[_Iterable[float]] = ...) -> None: ...

class RegisterDerivativeResponse(_message.Message):
    __slots__ = ("lineage", "event_ids", "replayed", "operation_id")
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    lineage: LineageRow
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, lineage: _Optional[_Union[LineageRow, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class RemoveDerivativeRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "artifact_type", "artifact_id", "store_id", "artifact_version")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    STORE_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_VERSION_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    artifact_type: str
    artifact_id: str
    store_id: str
    artifact_version: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., artifact_type: _Optional[str] = ..., artifact_id: _Optional[str] = ..., store_id: _Optional[str] = ..., artifact_version: _Optional[str] = ...) -> None: ...

class RemoveDerivativeResponse(_message.Message):
    __slots__ = ("removed", "event_ids", "replayed", "operation_id")
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    removed: bool
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, removed: _Optional[bool] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ListLineageRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "source_object_id", "source_version_id", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SOURCE_OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    source_object_id: str
    source_version_id: str
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., source_object_id: _Optional[str] = ..., source_version_id: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListLineageResponse(_message.Message):
    __slots__ = ("rows", "cursor", "operation_id")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[LineageRow]
    cursor: str
    operation_id: str
    def __init__(self, rows: _Optional[_Iterable[_Union[LineageRow, _Mapping]]] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ...) -> None: ...

class RecordIndexRebuildRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "index_id", "indexed_sequence")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    INDEX_ID_FIELD_NUMBER: _ClassVar[int]
    INDEXED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    index_id: str
    indexed_sequence: int
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., index_id: _Optional[str] = ..., indexed_sequence: _Optional[int] = ...) -> None: ...

class RecordIndexRebuildResponse(_message.Message):
    __slots__ = ("indexed_sequence", "event_ids", "replayed", "operation_id")
    INDEXED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    indexed_sequence: int
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, indexed_sequence: _Optional[int] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...
