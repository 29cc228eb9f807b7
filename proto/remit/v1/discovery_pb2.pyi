from remit.v1 import access_pb2 as _access_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetManifestRequest(_message.Message):
    __slots__ = ("operation_id", "correlation_id")
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    operation_id: str
    correlation_id: str
    def __init__(self, operation_id: _Optional[str] = ..., correlation_id: _Optional[str] = ...) -> None: ...

class Profile(_message.Message):
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class StateMove(_message.Message):
    __slots__ = ("dimension", "from_state", "to_state", "required_action")
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    FROM_STATE_FIELD_NUMBER: _ClassVar[int]
    TO_STATE_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_ACTION_FIELD_NUMBER: _ClassVar[int]
    dimension: str
    from_state: str
    to_state: str
    required_action: str
    def __init__(self, dimension: _Optional[str] = ..., from_state: _Optional[str] = ..., to_state: _Optional[str] = ..., required_action: _Optional[str] = ...) -> None: ...

class DimensionStates(_message.Message):
    __slots__ = ("dimension", "states")
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    dimension: str
    states: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, dimension: _Optional[str] = ..., states: _Optional[_Iterable[str]] = ...) -> None: ...

class VisibleScope(_message.Message):
    __slots__ = ("scope_id", "actions")
    SCOPE_ID_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    scope_id: str
    actions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, scope_id: _Optional[str] = ..., actions: _Optional[_Iterable[str]] = ...) -> None: ...

class GetManifestResponse(_message.Message):
    __slots__ = ("spec_version", "binding", "binding_version", "service_version", "profiles", "operations", "available_operations", "states", "moves", "tie_break", "authorization_model", "object_types", "scopes", "operation_id")
    SPEC_VERSION_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    BINDING_VERSION_FIELD_NUMBER: _ClassVar[int]
    SERVICE_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    TIE_BREAK_FIELD_NUMBER: _ClassVar[int]
    AUTHORIZATION_MODEL_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPES_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    spec_version: str
    binding: str
    binding_version: str
    service_version: str
    profiles: _containers.RepeatedCompositeFieldContainer[Profile]
    operations: _containers.RepeatedScalarFieldContainer[str]
    available_operations: _containers.RepeatedScalarFieldContainer[str]
    states: _containers.RepeatedCompositeFieldContainer[DimensionStates]
    moves: _containers.RepeatedCompositeFieldContainer[StateMove]
    tie_break: _containers.RepeatedScalarFieldContainer[str]
    authorization_model: str
    object_types: _containers.RepeatedScalarFieldContainer[str]
    scopes: _containers.RepeatedCompositeFieldContainer[VisibleScope]
    operation_id: str
    def __init__(self, spec_version: _Optional[str] = ..., binding: _Optional[str] = ..., binding_version: _Optional[str] = ..., service_version: _Optional[str] = ..., profiles: _Optional[_Iterable[_Union[Profile, _Mapping]]] = ..., operations: _Optional[_Iterable[str]] = ..., available_operations: _Optional[_Iterable[str]] = ..., states: _Optional[_Iterable[_Union[DimensionStates, _Mapping]]] = ..., moves: _Optional[_Iterable[_Union[StateMove, _Mapping]]] = ..., tie_break: _Optional[_Iterable[str]] = ..., authorization_model: _Optional[str] = ..., object_types: _Optional[_Iterable[str]] = ..., scopes: _Optional[_Iterable[_Union[VisibleScope, _Mapping]]] = ..., operation_id: _Optional[str] = ...) -> None: ...
