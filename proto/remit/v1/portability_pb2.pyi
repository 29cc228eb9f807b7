from remit.v1 import access_pb2 as _access_pb2
from remit.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExportWorkspaceRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "snapshot_id", "include_derived", "include_ledger", "include_delegations")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_DERIVED_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_LEDGER_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_DELEGATIONS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    snapshot_id: str
    include_derived: bool
    include_ledger: bool
    include_delegations: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., snapshot_id: _Optional[str] = ..., include_derived: _Optional[bool] = ..., include_ledger: _Optional[bool] = ..., include_delegations: _Optional[bool] = ...) -> None: ...

class ExportHeader(_message.Message):
    __slots__ = ("format", "spec_version", "scope_id", "ledger_sequence", "ledger_chain_hash", "includes_derived", "includes_ledger", "includes_delegations", "snapshot_id", "tenant_id")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    SPEC_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    LEDGER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LEDGER_CHAIN_HASH_FIELD_NUMBER: _ClassVar[int]
    INCLUDES_DERIVED_FIELD_NUMBER: _ClassVar[int]
    INCLUDES_LEDGER_FIELD_NUMBER: _ClassVar[int]
    INCLUDES_DELEGATIONS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    format: str
    spec_version: str
    scope_id: str
    ledger_sequence: int
    ledger_chain_hash: bytes
    includes_derived: bool
    includes_ledger: bool
    includes_delegations: bool
    snapshot_id: str
    tenant_id: str
    def __init__(self, format: _Optional[str] = ..., spec_version: _Optional[str] = ..., scope_id: _Optional[str] = ..., ledger_sequence: _Optional[int] = ..., ledger_chain_hash: _Optional[bytes] = ..., includes_derived: _Optional[bool] = ..., includes_ledger: _Optional[bool] = ..., includes_delegations: _Optional[bool] = ..., snapshot_id: _Optional[str] = ..., tenant_id: _Optional[str] = ...) -> None: ...

class ExportRecord(_message.Message):
    __slots__ = ("kind", "record")
    KIND_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    kind: str
    record: bytes
    def __init__(self, kind: _Optional[str] = ..., record: _Optional[bytes] = ...) -> None: ...

class ExportTrailer(_message.Message):
    __slots__ = ("record_count", "digest", "memory_digest")
    RECORD_COUNT_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    MEMORY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    record_count: int
    digest: bytes
    memory_digest: bytes
    def __init__(self, record_count: _Optional[int] = ..., digest: _Optional[bytes] = ..., memory_digest: _Optional[bytes] = ...) -> None: ...

class ExportWorkspaceResponse(_message.Message):
    __slots__ = ("header", "record", "trailer", "operation_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    TRAILER_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    header: ExportHeader
    record: ExportRecord
    trailer: ExportTrailer
    operation_id: str
    def __init__(self, header: _Optional[_Union[ExportHeader, _Mapping]] = ..., record: _Optional[_Union[ExportRecord, _Mapping]] = ..., trailer: _Optional[_Union[ExportTrailer, _Mapping]] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ImportWorkspaceRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "policy_basis", "header", "records", "trailer", "remap", "dry_run")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    POLICY_BASIS_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    TRAILER_FIELD_NUMBER: _ClassVar[int]
    REMAP_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    policy_basis: str
    header: ExportHeader
    records: _containers.RepeatedCompositeFieldContainer[ExportRecord]
    trailer: ExportTrailer
    remap: bool
    dry_run: bool
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., policy_basis: _Optional[str] = ..., header: _Optional[_Union[ExportHeader, _Mapping]] = ..., records: _Optional[_Iterable[_Union[ExportRecord, _Mapping]]] = ..., trailer: _Optional[_Union[ExportTrailer, _Mapping]] = ..., remap: _Optional[bool] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class IdMapping(_message.Message):
    __slots__ = ("kind", "source_id", "id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    kind: str
    source_id: str
    id: str
    def __init__(self, kind: _Optional[str] = ..., source_id: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class RecordRefusal(_message.Message):
    __slots__ = ("record_number", "kind", "id", "reason")
    RECORD_NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    record_number: int
    kind: str
    id: str
    reason: str
    def __init__(self, record_number: _Optional[int] = ..., kind: _Optional[str] = ..., id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ImportWorkspaceResponse(_message.Message):
    __slots__ = ("objects", "versions", "relationships", "delegations", "foreign_events", "derived", "id_map", "refusals", "dry_run", "event_ids", "operation_id", "scope_id", "replayed", "import_id")
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIPS_FIELD_NUMBER: _ClassVar[int]
    DELEGATIONS_FIELD_NUMBER: _ClassVar[int]
    FOREIGN_EVENTS_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FIELD_NUMBER: _ClassVar[int]
    ID_MAP_FIELD_NUMBER: _ClassVar[int]
    REFUSALS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    IMPORT_ID_FIELD_NUMBER: _ClassVar[int]
    objects: int
    versions: int
    relationships: int
    delegations: int
    foreign_events: int
    derived: int
    id_map: _containers.RepeatedCompositeFieldContainer[IdMapping]
    refusals: _containers.RepeatedCompositeFieldContainer[RecordRefusal]
    dry_run: bool
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    operation_id: str
    scope_id: str
    replayed: bool
    import_id: str
    def __init__(self, objects: _Optional[int] = ..., versions: _Optional[int] = ..., relationships: _Optional[int] = ..., delegations: _Optional[int] = ..., foreign_events: _Optional[int] = ..., derived: _Optional[int] = ..., id_map: _Optional[_Iterable[_Union[IdMapping, _Mapping]]] = ..., refusals: _Optional[_Iterable[_Union[RecordRefusal, _Mapping]]] = ..., dry_run: _Optional[bool] = ..., event_ids: _Optional[_Iterable[str]] = ..., operation_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., replayed: _Optional[bool] = ..., import_id: _Optional[str] = ...) -> None: ...
