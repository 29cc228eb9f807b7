from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AccessLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_LEVEL_UNSPECIFIED: _ClassVar[AccessLevel]
    ACCESS_LEVEL_PUBLIC: _ClassVar[AccessLevel]
    ACCESS_LEVEL_AUTHENTICATED: _ClassVar[AccessLevel]
    ACCESS_LEVEL_AUTHORIZED: _ClassVar[AccessLevel]

class Grammar(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRAMMAR_UNSPECIFIED: _ClassVar[Grammar]
    GRAMMAR_ID: _ClassVar[Grammar]
    GRAMMAR_URI: _ClassVar[Grammar]
    GRAMMAR_OBJECT_TYPE: _ClassVar[Grammar]
    GRAMMAR_OBJECT_TYPE_OR_ANY: _ClassVar[Grammar]
    GRAMMAR_ID_OR_ANY: _ClassVar[Grammar]
    GRAMMAR_ACTOR_ID: _ClassVar[Grammar]
    GRAMMAR_ROLE_ID: _ClassVar[Grammar]
    GRAMMAR_SUBJECT_ID: _ClassVar[Grammar]
    GRAMMAR_LABEL: _ClassVar[Grammar]
    GRAMMAR_JSON: _ClassVar[Grammar]
ACCESS_LEVEL_UNSPECIFIED: AccessLevel
ACCESS_LEVEL_PUBLIC: AccessLevel
ACCESS_LEVEL_AUTHENTICATED: AccessLevel
ACCESS_LEVEL_AUTHORIZED: AccessLevel
GRAMMAR_UNSPECIFIED: Grammar
GRAMMAR_ID: Grammar
GRAMMAR_URI: Grammar
GRAMMAR_OBJECT_TYPE: Grammar
GRAMMAR_OBJECT_TYPE_OR_ANY: Grammar
GRAMMAR_ID_OR_ANY: Grammar
GRAMMAR_ACTOR_ID: Grammar
GRAMMAR_ROLE_ID: Grammar
GRAMMAR_SUBJECT_ID: Grammar
GRAMMAR_LABEL: Grammar
GRAMMAR_JSON: Grammar
ACCESS_FIELD_NUMBER: _ClassVar[int]
access: _descriptor.FieldDescriptor
RULES_FIELD_NUMBER: _ClassVar[int]
rules: _descriptor.FieldDescriptor

class Access(_message.Message):
    __slots__ = ("level", "action", "pamspec_operation", "object_id_fields", "object_type_fields", "scope_fields", "mutating", "decided_by_operation")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PAMSPEC_OPERATION_FIELD_NUMBER: _ClassVar[int]
    OBJECT_ID_FIELDS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_TYPE_FIELDS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELDS_FIELD_NUMBER: _ClassVar[int]
    MUTATING_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_OPERATION_FIELD_NUMBER: _ClassVar[int]
    level: AccessLevel
    action: str
    pamspec_operation: str
    object_id_fields: _containers.RepeatedScalarFieldContainer[str]
    object_type_fields: _containers.RepeatedScalarFieldContainer[str]
    scope_fields: _containers.RepeatedScalarFieldContainer[str]
    mutating: bool
    decided_by_operation: bool
    def __init__(self, level: _Optional[_Union[AccessLevel, str]] = ..., action: _Optional[str] = ..., pamspec_operation: _Optional[str] = ..., object_id_fields: _Optional[_Iterable[str]] = ..., object_type_fields: _Optional[_Iterable[str]] = ..., scope_fields: _Optional[_Iterable[str]] = ..., mutating: _Optional[bool] = ..., decided_by_operation: _Optional[bool] = ...) -> None: ...

class FieldRules(_message.Message):
    __slots__ = ("required", "grammar", "max_bytes", "min_items", "max_items", "unique", "minimum", "maximum", "object")
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    GRAMMAR_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    MIN_ITEMS_FIELD_NUMBER: _ClassVar[int]
    MAX_ITEMS_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    required: bool
    grammar: Grammar
    max_bytes: int
    min_items: int
    max_items: int
    unique: bool
    minimum: float
    maximum: float
    object: bool
    def __init__(self, required: _Optional[bool] = ..., grammar: _Optional[_Union[Grammar, str]] = ..., max_bytes: _Optional[int] = ..., min_items: _Optional[int] = ..., max_items: _Optional[int] = ..., unique: _Optional[bool] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., object: _Optional[bool] = ...) -> None: ...
