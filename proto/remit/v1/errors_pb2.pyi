from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PamspecError(_message.Message):
    __slots__ = ("code", "message", "retryable", "operation_id", "details", "policy_rule_id", "correlation_id", "object_id", "current_version_id", "expected_version_id", "remediation_hint")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULE_ID_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENT_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_ID_FIELD_NUMBER: _ClassVar[int]
    REMEDIATION_HINT_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    retryable: bool
    operation_id: str
    details: _containers.RepeatedCompositeFieldContainer[ErrorDetail]
    policy_rule_id: str
    correlation_id: str
    object_id: str
    current_version_id: str
    expected_version_id: str
    remediation_hint: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., retryable: _Optional[bool] = ..., operation_id: _Optional[str] = ..., details: _Optional[_Iterable[_Union[ErrorDetail, _Mapping]]] = ..., policy_rule_id: _Optional[str] = ..., correlation_id: _Optional[str] = ..., object_id: _Optional[str] = ..., current_version_id: _Optional[str] = ..., expected_version_id: _Optional[str] = ..., remediation_hint: _Optional[str] = ...) -> None: ...

class ErrorDetail(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
