"""Requests made from the contract: what is required is there, in its grammar, so that a new method needs nothing here."""

from __future__ import annotations

import time
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from remit.v1 import access_pb2

_BY_GRAMMAR = {
    access_pb2.GRAMMAR_ID: "urn:x:sample",
    access_pb2.GRAMMAR_URI: "https://sample.example/x",
    access_pb2.GRAMMAR_OBJECT_TYPE: "claim",
    access_pb2.GRAMMAR_OBJECT_TYPE_OR_ANY: "claim",
    access_pb2.GRAMMAR_ID_OR_ANY: "urn:x:sample",
    access_pb2.GRAMMAR_ACTOR_ID: "actor:sample",
    access_pb2.GRAMMAR_ROLE_ID: "role:sample",
    access_pb2.GRAMMAR_SUBJECT_ID: "actor:sample",
    access_pb2.GRAMMAR_LABEL: "sample",
}
# What the grammar alone does not tell: words that an operation knows.
_BY_NAME = {
    "action": "read",
    "actor_id": "actor:sample",
    "delegated_actor_id": "actor:sample",
    "object_type": "claim",
    "operation": "read",
    "granted_operations": "read",
    "target_state": "active",
    "field": "object_id",
}
_CONTENT = b'{"statement":"sample"}'
_HOUR_SECONDS = 3600


def rules_of(field: FieldDescriptor) -> access_pb2.FieldRules:
    """The declared rules of a field."""
    rules: access_pb2.FieldRules = field.GetOptions().Extensions[access_pb2.rules]
    return rules


def filled(request_class: type[Message], **fields: Any) -> Any:
    """A request with every required field, and of each choice the first; `fields` win, those it lacks are left out."""
    known = request_class.DESCRIPTOR.fields_by_name
    given = {name: value for name, value in fields.items() if name in known}
    return request_class(**(_values(request_class.DESCRIPTOR) | given))


def _values(descriptor: Descriptor) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in descriptor.fields:
        oneof = field.containing_oneof
        is_choice = oneof is not None and len(oneof.fields) > 1
        if rules_of(field).required or (is_choice and field.number == oneof.fields[0].number):
            value = _value(field)
            values[field.name] = [value] if field.is_repeated else value
    return values


def _value(field: FieldDescriptor) -> Any:
    rules = rules_of(field)
    if field.type == FieldDescriptor.TYPE_STRING:
        return _BY_NAME.get(field.name) or _BY_GRAMMAR.get(rules.grammar, "sample")
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _CONTENT if rules.grammar == access_pb2.GRAMMAR_JSON else bytes(32)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return next(value.number for value in field.enum_type.values if value.number != 0)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return True
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        return max(1, int(rules.minimum))
    if field.message_type.full_name == Timestamp.DESCRIPTOR.full_name:
        is_end = field.name in {"not_after", "valid_until"}
        return Timestamp(seconds=int(time.time()) + (_HOUR_SECONDS if is_end else -_HOUR_SECONDS))
    return _values(field.message_type)
