import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from remit.v1 import access_pb2 as _access_pb2
from remit.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_TYPE_UNSPECIFIED: _ClassVar[EventType]
    EVENT_TYPE_OBJECT_CREATED: _ClassVar[EventType]
    EVENT_TYPE_OBJECT_UPDATED: _ClassVar[EventType]
    EVENT_TYPE_LIFECYCLE_TRANSITIONED: _ClassVar[EventType]
    EVENT_TYPE_AVAILABILITY_TRANSITIONED: _ClassVar[EventType]
    EVENT_TYPE_RETENTION_TRANSITIONED: _ClassVar[EventType]
    EVENT_TYPE_VALIDATION_TRANSITIONED: _ClassVar[EventType]
    EVENT_TYPE_PROVENANCE_UPDATED: _ClassVar[EventType]
    EVENT_TYPE_ACCESS_DENIED: _ClassVar[EventType]
    EVENT_TYPE_OBJECT_REDACTED: _ClassVar[EventType]
    EVENT_TYPE_OBJECT_DELETED: _ClassVar[EventType]
    EVENT_TYPE_TOOL_INVOKED: _ClassVar[EventType]
    EVENT_TYPE_TOOL_COMPLETED: _ClassVar[EventType]
    EVENT_TYPE_DELEGATION_GRANTED: _ClassVar[EventType]
    EVENT_TYPE_DELEGATION_REVOKED: _ClassVar[EventType]
    EVENT_TYPE_DELEGATION_EXERCISED: _ClassVar[EventType]
    EVENT_TYPE_TENANT_CREATED: _ClassVar[EventType]
    EVENT_TYPE_WORKSPACE_CREATED: _ClassVar[EventType]
    EVENT_TYPE_POLICY_RULE_ADDED: _ClassVar[EventType]
    EVENT_TYPE_POLICY_RULE_REMOVED: _ClassVar[EventType]
    EVENT_TYPE_ROLE_BOUND: _ClassVar[EventType]
    EVENT_TYPE_ROLE_UNBOUND: _ClassVar[EventType]
    EVENT_TYPE_INTEGRITY_VIOLATION: _ClassVar[EventType]
    EVENT_TYPE_PROPAGATION_JOB_OPENED: _ClassVar[EventType]
    EVENT_TYPE_PROPAGATION_JOB_CLOSED: _ClassVar[EventType]
    EVENT_TYPE_RELATIONSHIP_CREATED: _ClassVar[EventType]
    EVENT_TYPE_RELATIONSHIP_UPDATED: _ClassVar[EventType]
    EVENT_TYPE_EMBEDDING_GENERATED: _ClassVar[EventType]
    EVENT_TYPE_INDEX_REBUILT: _ClassVar[EventType]
    EVENT_TYPE_WORKING_MEMORY_PROMOTED: _ClassVar[EventType]
    EVENT_TYPE_SUBSCRIPTION_OPENED: _ClassVar[EventType]
    EVENT_TYPE_SUBSCRIPTION_CLOSED: _ClassVar[EventType]
    EVENT_TYPE_SUBSCRIPTION_RESET: _ClassVar[EventType]
    EVENT_TYPE_SNAPSHOT_SEALED: _ClassVar[EventType]
    EVENT_TYPE_WORKSPACE_EXPORTED: _ClassVar[EventType]
    EVENT_TYPE_WORKSPACE_IMPORTED: _ClassVar[EventType]
    EVENT_TYPE_OBJECT_READ: _ClassVar[EventType]
    EVENT_TYPE_LINEAGE_REGISTERED: _ClassVar[EventType]
    EVENT_TYPE_DERIVATIVE_REMOVED: _ClassVar[EventType]
    EVENT_TYPE_EMBEDDING_SPACE_REGISTERED: _ClassVar[EventType]

class EventField(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_FIELD_UNSPECIFIED: _ClassVar[EventField]
    EVENT_FIELD_ACTOR_ID: _ClassVar[EventField]
    EVENT_FIELD_OPERATION_ID: _ClassVar[EventField]
    EVENT_FIELD_CORRELATION_ID: _ClassVar[EventField]
    EVENT_FIELD_DELEGATION_ID: _ClassVar[EventField]
    EVENT_FIELD_RELATIONSHIP_ID: _ClassVar[EventField]
    EVENT_FIELD_VERSION_ID: _ClassVar[EventField]

class Backpressure(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BACKPRESSURE_UNSPECIFIED: _ClassVar[Backpressure]
    BACKPRESSURE_BLOCK: _ClassVar[Backpressure]
    BACKPRESSURE_CLOSE_ON_LAG: _ClassVar[Backpressure]
    BACKPRESSURE_DROP_OLDEST: _ClassVar[Backpressure]
EVENT_TYPE_UNSPECIFIED: EventType
EVENT_TYPE_OBJECT_CREATED: EventType
EVENT_TYPE_OBJECT_UPDATED: EventType
EVENT_TYPE_LIFECYCLE_TRANSITIONED: EventType
EVENT_TYPE_AVAILABILITY_TRANSITIONED: EventType
EVENT_TYPE_RETENTION_TRANSITIONED: EventType
EVENT_TYPE_VALIDATION_TRANSITIONED: EventType
EVENT_TYPE_PROVENANCE_UPDATED: EventType
EVENT_TYPE_ACCESS_DENIED: EventType
EVENT_TYPE_OBJECT_REDACTED: EventType
EVENT_TYPE_OBJECT_DELETED: EventType
EVENT_TYPE_TOOL_INVOKED: EventType
EVENT_TYPE_TOOL_COMPLETED: EventType
EVENT_TYPE_DELEGATION_GRANTED: EventType
EVENT_TYPE_DELEGATION_REVOKED: EventType
EVENT_TYPE_DELEGATION_EXERCISED: EventType
EVENT_TYPE_TENANT_CREATED: EventType
EVENT_TYPE_WORKSPACE_CREATED: EventType
EVENT_TYPE_POLICY_RULE_ADDED: EventType
EVENT_TYPE_POLICY_RULE_REMOVED: EventType
EVENT_TYPE_ROLE_BOUND: EventType
EVENT_TYPE_ROLE_UNBOUND: EventType
EVENT_TYPE_INTEGRITY_VIOLATION: EventType
EVENT_TYPE_PROPAGATION_JOB_OPENED: EventType
EVENT_TYPE_PROPAGATION_JOB_CLOSED: EventType
EVENT_TYPE_RELATIONSHIP_CREATED: EventType
EVENT_TYPE_RELATIONSHIP_UPDATED: EventType
EVENT_TYPE_EMBEDDING_GENERATED: EventType
EVENT_TYPE_INDEX_REBUILT: EventType
EVENT_TYPE_WORKING_MEMORY_PROMOTED: EventType
EVENT_TYPE_SUBSCRIPTION_OPENED: EventType
EVENT_TYPE_SUBSCRIPTION_CLOSED: EventType
EVENT_TYPE_SUBSCRIPTION_RESET: EventType
EVENT_TYPE_SNAPSHOT_SEALED: EventType
EVENT_TYPE_WORKSPACE_EXPORTED: EventType
EVENT_TYPE_WORKSPACE_IMPORTED: EventType
EVENT_TYPE_OBJECT_READ: EventType
EVENT_TYPE_LINEAGE_REGISTERED: EventType
EVENT_TYPE_DERIVATIVE_REMOVED: EventType
EVENT_TYPE_EMBEDDING_SPACE_REGISTERED: EventType
EVENT_FIELD_UNSPECIFIED: EventField
EVENT_FIELD_ACTOR_ID: EventField
EVENT_FIELD_OPERATION_ID: EventField
EVENT_FIELD_CORRELATION_ID: EventField
EVENT_FIELD_DELEGATION_ID: EventField
EVENT_FIELD_RELATIONSHIP_ID: EventField
EVENT_FIELD_VERSION_ID: EventField
BACKPRESSURE_UNSPECIFIED: Backpressure
BACKPRESSURE_BLOCK: Backpressure
BACKPRESSURE_CLOSE_ON_LAG: Backpressure
BACKPRESSURE_DROP_OLDEST: Backpressure

class LedgerEvent(_message.Message):
    __slots__ = ("event_id", "operation_id", "scope_id", "event_type", "recorded_at", "sequence", "actor", "object_id", "version_id", "delegation_id", "payload_json", "use_number", "previous_hash", "chain_hash", "correlation_id", "relationship_id", "purpose", "evaluation_run_id")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    USE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    CHAIN_HASH_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    operation_id: str
    scope_id: str
    event_type: EventType
    recorded_at: _timestamp_pb2.Timestamp
    sequence: int
    actor: _common_pb2.Actor
    object_id: str
    version_id: str
    delegation_id: str
    payload_json: str
    use_number: int
    previous_hash: bytes
    chain_hash: bytes
    correlation_id: str
    relationship_id: str
    purpose: str
    evaluation_run_id: str
    def __init__(self, event_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., event_type: _Optional[_Union[EventType, str]] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sequence: _Optional[int] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., object_id: _Optional[str] = ..., version_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., payload_json: _Optional[str] = ..., use_number: _Optional[int] = ..., previous_hash: _Optional[bytes] = ..., chain_hash: _Optional[bytes] = ..., correlation_id: _Optional[str] = ..., relationship_id: _Optional[str] = ..., purpose: _Optional[str] = ..., evaluation_run_id: _Optional[str] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "delegation_id", "purpose", "correlation_id", "actor", "after_sequence", "to_sequence", "event_classes", "object_id", "actor_id", "filter_delegation_id", "filter_operation_id", "limit", "cursor")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TO_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_CLASSES_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    after_sequence: int
    to_sequence: int
    event_classes: _containers.RepeatedScalarFieldContainer[EventType]
    object_id: str
    actor_id: str
    filter_delegation_id: str
    filter_operation_id: str
    limit: int
    cursor: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., after_sequence: _Optional[int] = ..., to_sequence: _Optional[int] = ..., event_classes: _Optional[_Iterable[_Union[EventType, str]]] = ..., object_id: _Optional[str] = ..., actor_id: _Optional[str] = ..., filter_delegation_id: _Optional[str] = ..., filter_operation_id: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("events", "head_sequence", "cursor", "operation_id", "event_ids")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEAD_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LedgerEvent]
    head_sequence: int
    cursor: str
    operation_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, events: _Optional[_Iterable[_Union[LedgerEvent, _Mapping]]] = ..., head_sequence: _Optional[int] = ..., cursor: _Optional[str] = ..., operation_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetEventRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "event_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    event_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., event_id: _Optional[str] = ...) -> None: ...

class GetEventResponse(_message.Message):
    __slots__ = ("event", "operation_id", "body")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    event: LedgerEvent
    operation_id: str
    body: bytes
    def __init__(self, event: _Optional[_Union[LedgerEvent, _Mapping]] = ..., operation_id: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class KnownPlace(_message.Message):
    __slots__ = ("sequence", "chain_hash")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CHAIN_HASH_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    chain_hash: bytes
    def __init__(self, sequence: _Optional[int] = ..., chain_hash: _Optional[bytes] = ...) -> None: ...

class VerifyLedgerRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "known")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    known: KnownPlace
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., known: _Optional[_Union[KnownPlace, _Mapping]] = ...) -> None: ...

class LedgerFinding(_message.Message):
    __slots__ = ("sequence", "kind", "place")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    kind: str
    place: str
    def __init__(self, sequence: _Optional[int] = ..., kind: _Optional[str] = ..., place: _Optional[str] = ...) -> None: ...

class VerifyLedgerResponse(_message.Message):
    __slots__ = ("ok", "findings", "head_sequence", "head_hash", "count", "operation_id")
    OK_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    HEAD_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    HEAD_HASH_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    ok: bool
    findings: _containers.RepeatedCompositeFieldContainer[LedgerFinding]
    head_sequence: int
    head_hash: bytes
    count: int
    operation_id: str
    def __init__(self, ok: _Optional[bool] = ..., findings: _Optional[_Iterable[_Union[LedgerFinding, _Mapping]]] = ..., head_sequence: _Optional[int] = ..., head_hash: _Optional[bytes] = ..., count: _Optional[int] = ..., operation_id: _Optional[str] = ...) -> None: ...

class EventClasses(_message.Message):
    __slots__ = ("event_types",)
    EVENT_TYPES_FIELD_NUMBER: _ClassVar[int]
    event_types: _containers.RepeatedScalarFieldContainer[EventType]
    def __init__(self, event_types: _Optional[_Iterable[_Union[EventType, str]]] = ...) -> None: ...

class EventPredicate(_message.Message):
    __slots__ = ("field", "values")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    field: EventField
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, field: _Optional[_Union[EventField, str]] = ..., values: _Optional[_Iterable[str]] = ...) -> None: ...

class SubscriptionFilter(_message.Message):
    __slots__ = ("object_id", "object_type", "event_classes", "predicates")
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EVENT_CLASSES_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    object_id: str
    object_type: str
    event_classes: EventClasses
    predicates: _containers.RepeatedCompositeFieldContainer[EventPredicate]
    def __init__(self, object_id: _Optional[str] = ..., object_type: _Optional[str] = ..., event_classes: _Optional[_Union[EventClasses, _Mapping]] = ..., predicates: _Optional[_Iterable[_Union[EventPredicate, _Mapping]]] = ...) -> None: ...

class Delivery(_message.Message):
    __slots__ = ("batching_max_events", "batching_max_wait_ms", "keepalive_interval_ms", "backpressure", "lag_max_events")
    BATCHING_MAX_EVENTS_FIELD_NUMBER: _ClassVar[int]
    BATCHING_MAX_WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    KEEPALIVE_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    BACKPRESSURE_FIELD_NUMBER: _ClassVar[int]
    LAG_MAX_EVENTS_FIELD_NUMBER: _ClassVar[int]
    batching_max_events: int
    batching_max_wait_ms: int
    keepalive_interval_ms: int
    backpressure: Backpressure
    lag_max_events: int
    def __init__(self, batching_max_events: _Optional[int] = ..., batching_max_wait_ms: _Optional[int] = ..., keepalive_interval_ms: _Optional[int] = ..., backpressure: _Optional[_Union[Backpressure, str]] = ..., lag_max_events: _Optional[int] = ...) -> None: ...

class Subscription(_message.Message):
    __slots__ = ("subscription_id", "scope_id", "actor", "filter", "start_sequence", "delivery", "channel_ref", "acknowledged_sequence", "closed", "close_reason", "delegation_id")
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    START_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_REF_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    CLOSE_REASON_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    subscription_id: str
    scope_id: str
    actor: _common_pb2.Actor
    filter: SubscriptionFilter
    start_sequence: int
    delivery: Delivery
    channel_ref: str
    acknowledged_sequence: int
    closed: bool
    close_reason: str
    delegation_id: str
    def __init__(self, subscription_id: _Optional[str] = ..., scope_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., filter: _Optional[_Union[SubscriptionFilter, _Mapping]] = ..., start_sequence: _Optional[int] = ..., delivery: _Optional[_Union[Delivery, _Mapping]] = ..., channel_ref: _Optional[str] = ..., acknowledged_sequence: _Optional[int] = ..., closed: _Optional[bool] = ..., close_reason: _Optional[str] = ..., delegation_id: _Optional[str] = ...) -> None: ...

class SubscribeRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "filter", "after_sequence", "delivery", "subscription_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    filter: SubscriptionFilter
    after_sequence: int
    delivery: Delivery
    subscription_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., filter: _Optional[_Union[SubscriptionFilter, _Mapping]] = ..., after_sequence: _Optional[int] = ..., delivery: _Optional[_Union[Delivery, _Mapping]] = ..., subscription_id: _Optional[str] = ...) -> None: ...

class SubscribeResponse(_message.Message):
    __slots__ = ("subscription", "event_ids", "replayed", "operation_id")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    subscription: Subscription
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, subscription: _Optional[_Union[Subscription, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class PollSubscriptionRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "subscription_id", "max_events", "wait_ms")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_EVENTS_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    subscription_id: str
    max_events: int
    wait_ms: int
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., subscription_id: _Optional[str] = ..., max_events: _Optional[int] = ..., wait_ms: _Optional[int] = ...) -> None: ...

class PollSubscriptionResponse(_message.Message):
    __slots__ = ("events", "cursor", "closed", "close_reason", "last_delivered_sequence", "operation_id")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    CLOSE_REASON_FIELD_NUMBER: _ClassVar[int]
    LAST_DELIVERED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LedgerEvent]
    cursor: int
    closed: bool
    close_reason: str
    last_delivered_sequence: int
    operation_id: str
    def __init__(self, events: _Optional[_Iterable[_Union[LedgerEvent, _Mapping]]] = ..., cursor: _Optional[int] = ..., closed: _Optional[bool] = ..., close_reason: _Optional[str] = ..., last_delivered_sequence: _Optional[int] = ..., operation_id: _Optional[str] = ...) -> None: ...

class StreamSubscriptionRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "subscription_id")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    subscription_id: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., subscription_id: _Optional[str] = ...) -> None: ...

class EventBatch(_message.Message):
    __slots__ = ("events", "cursor")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LedgerEvent]
    cursor: int
    def __init__(self, events: _Optional[_Iterable[_Union[LedgerEvent, _Mapping]]] = ..., cursor: _Optional[int] = ...) -> None: ...

class Keepalive(_message.Message):
    __slots__ = ("cursor",)
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    cursor: int
    def __init__(self, cursor: _Optional[int] = ...) -> None: ...

class SubscriptionClosed(_message.Message):
    __slots__ = ("close_reason", "last_delivered_sequence", "resumable")
    CLOSE_REASON_FIELD_NUMBER: _ClassVar[int]
    LAST_DELIVERED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESUMABLE_FIELD_NUMBER: _ClassVar[int]
    close_reason: str
    last_delivered_sequence: int
    resumable: bool
    def __init__(self, close_reason: _Optional[str] = ..., last_delivered_sequence: _Optional[int] = ..., resumable: _Optional[bool] = ...) -> None: ...

class StreamSubscriptionResponse(_message.Message):
    __slots__ = ("batch", "keepalive", "closed", "operation_id")
    BATCH_FIELD_NUMBER: _ClassVar[int]
    KEEPALIVE_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    batch: EventBatch
    keepalive: Keepalive
    closed: SubscriptionClosed
    operation_id: str
    def __init__(self, batch: _Optional[_Union[EventBatch, _Mapping]] = ..., keepalive: _Optional[_Union[Keepalive, _Mapping]] = ..., closed: _Optional[_Union[SubscriptionClosed, _Mapping]] = ..., operation_id: _Optional[str] = ...) -> None: ...

class AcknowledgeSubscriptionRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "purpose", "correlation_id", "actor", "subscription_id", "sequence")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    subscription_id: str
    sequence: int
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., subscription_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class AcknowledgeSubscriptionResponse(_message.Message):
    __slots__ = ("acknowledged_sequence", "operation_id")
    ACKNOWLEDGED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    acknowledged_sequence: int
    operation_id: str
    def __init__(self, acknowledged_sequence: _Optional[int] = ..., operation_id: _Optional[str] = ...) -> None: ...

class ResetSubscriptionRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "purpose", "correlation_id", "actor", "subscription_id", "after_sequence")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    subscription_id: str
    after_sequence: int
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., subscription_id: _Optional[str] = ..., after_sequence: _Optional[int] = ...) -> None: ...

class ResetSubscriptionResponse(_message.Message):
    __slots__ = ("subscription", "event_ids", "replayed", "operation_id")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    subscription: Subscription
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, subscription: _Optional[_Union[Subscription, _Mapping]] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...

class UnsubscribeRequest(_message.Message):
    __slots__ = ("scope_id", "operation_id", "idempotency_key", "delegation_id", "purpose", "correlation_id", "actor", "subscription_id", "reason")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    operation_id: str
    idempotency_key: str
    delegation_id: str
    purpose: str
    correlation_id: str
    actor: _common_pb2.Actor
    subscription_id: str
    reason: str
    def __init__(self, scope_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., delegation_id: _Optional[str] = ..., purpose: _Optional[str] = ..., correlation_id: _Optional[str] = ..., actor: _Optional[_Union[_common_pb2.Actor, _Mapping]] = ..., subscription_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class UnsubscribeResponse(_message.Message):
    __slots__ = ("subscription", "last_delivered_sequence", "event_ids", "replayed", "operation_id")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LAST_DELIVERED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    subscription: Subscription
    last_delivered_sequence: int
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    replayed: bool
    operation_id: str
    def __init__(self, subscription: _Optional[_Union[Subscription, _Mapping]] = ..., last_delivered_sequence: _Optional[int] = ..., event_ids: _Optional[_Iterable[str]] = ..., replayed: _Optional[bool] = ..., operation_id: _Optional[str] = ...) -> None: ...
