"""Messages of any request class: sound in most fields, so that they come far, and bad in the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import strategies as st

from remit.v1 import access_pb2
from tests.contract.requests import filled, rules_of

Values = dict[str, Any]

# Stand for ids that are really there; see `settled`.
PLACES = ("$object", "$version", "$grant", "$rule", "$event")
_PATH = re.compile(r"([a-z_]+)(\[\d+\])?|#\d+")

_GOOD = {
    access_pb2.GRAMMAR_ID: [*PLACES, "urn:x:1", "actor:a", "a:b"],
    access_pb2.GRAMMAR_URI: ["https://a.example/b", "urn:x:1"],
    access_pb2.GRAMMAR_OBJECT_TYPE: ["claim", "task", "com.acme.x"],
    access_pb2.GRAMMAR_OBJECT_TYPE_OR_ANY: ["claim", "*"],
    access_pb2.GRAMMAR_ID_OR_ANY: ["$object", "*"],
    access_pb2.GRAMMAR_ACTOR_ID: ["actor:a", "actor:B"],
    access_pb2.GRAMMAR_ROLE_ID: ["role:a"],
    access_pb2.GRAMMAR_SUBJECT_ID: ["actor:a", "role:a"],
    access_pb2.GRAMMAR_LABEL: ["a", "read", "active", "archived", "transition", "lifecycle", "sequence", "object_id"],
}
_PREDICATE_FIELDS = ["object_id", "object_type", "schema_id", "actor_id", "sequence", "valid_from", "committed_at"]
_TEXTS = ["claim", "tool_result", "com.acme.x", "read", "query", "a", "1", "2026-01-02T03:04:05Z", "*"]
_BAD_TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "a\0",
            "a:b\n",
            "x" * 300,
            "é:b",
            "a:é",
            "\uff41:b",
            "x' OR 1=1--",
            "%s%(a)s",
            "{}",
            "\u202e",
            "a" * 9000,
        ]
    ),
    st.text(max_size=12).map(lambda text: text.encode("utf-8", "ignore").decode()),
)
_JSON = [b'{"statement":"x"}', b'{"outcome":"success","invocation_object_id":"a:b"}', b"[1,2.5,null]", b'"x"']
_BAD_BYTES = st.one_of(
    st.binary(max_size=40), st.sampled_from([b"", b'"\\ud800"', b"[" * 70, b"NaN", b'{"a":1,"a":2}'])
)
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_TIMES = st.builds(
    dict,
    seconds=st.one_of(st.integers(0, 2_000_000_000), st.integers(-(2**63), 2**63 - 1), st.integers(-62135596801, 0)),
    nanos=st.one_of(st.just(0), st.integers(0, 999_999_999), st.integers(-(2**31), 2**31 - 1)),
)


def _mostly(good: st.SearchStrategy[Any], bad: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 9).flatmap(lambda roll: bad if roll == 0 else good)


def _value(field: FieldDescriptor, grammar: int) -> st.SearchStrategy[Any]:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        if field.message_type.full_name == Timestamp.DESCRIPTOR.full_name:
            return _TIMES
        return _message(field.message_type, rules_of(field).grammar)
    if field.type == FieldDescriptor.TYPE_STRING:
        good = _PREDICATE_FIELDS if field.name == "field" else _GOOD.get(grammar, _TEXTS)
        return _mostly(st.sampled_from(good), _BAD_TEXTS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        good = _JSON if grammar == access_pb2.GRAMMAR_JSON else [bytes(32)]
        return _mostly(st.sampled_from(good), _BAD_BYTES)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_ENUM:
        numbers = [value.number for value in field.enum_type.values]
        return _mostly(st.sampled_from(numbers), st.sampled_from([max(numbers) + 1, 2**31 - 1, -(2**31)]))
    if field.cpp_type in _RANGES:
        low, high = _RANGES[field.cpp_type]
        return _mostly(st.integers(max(low, 0), 20), st.integers(low, high) | st.sampled_from([low, high, 2**31 - 1]))
    return _mostly(st.floats(0, 1), st.floats())


@cache
def _message(descriptor: Descriptor, inherited_grammar: int = 0) -> st.SearchStrategy[Values]:
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for field in descriptor.fields:
        rules = rules_of(field)
        oneof = field.containing_oneof
        if oneof is not None and len(oneof.fields) > 1:
            continue
        item = _value(field, rules.grammar or inherited_grammar)
        item = st.lists(item, min_size=rules.min_items, max_size=3) if field.is_repeated else item
        (required if rules.required else optional)[field.name] = item
    made = st.fixed_dictionaries(required, optional=optional)
    for oneof in descriptor.oneofs:
        if len(oneof.fields) > 1:
            choice = st.one_of(st.builds(_pair, st.just(field.name), _value(field, 0)) for field in oneof.fields)
            made = st.builds(_merged, made, choice)
    return made


def _pair(name: str, value: Any) -> Values:
    return {name: value}


def _merged(left: Values, right: Values) -> Values:
    return left | right


def requests(request_class: type[Message]) -> st.SearchStrategy[Values]:
    """Fields of a request, few of them other than `filled` has them, or all of them drawn."""
    drawn = _message(request_class.DESCRIPTOR)
    names = sorted(field.name for field in request_class.DESCRIPTOR.fields)
    few = st.builds(
        lambda values, kept: {name: value for name, value in values.items() if name in kept},
        drawn,
        st.sets(st.sampled_from(names), max_size=5),
    )
    return st.one_of(few, few, drawn)


def settled(request_class: type[Message], values: Values, places: Mapping[str, str], **fields: Any) -> Message:
    """The request of drawn fields, with real ids in the places that stand for them and some fields as given."""
    chosen = {
        oneof.name
        for oneof in request_class.DESCRIPTOR.oneofs
        if len(oneof.fields) > 1 and any(field.name in values for field in oneof.fields)
    }
    base = filled(request_class, **fields)
    for name in chosen:
        base.ClearField(base.WhichOneof(name))
    request = request_class(**_real(values, places))
    for field, _ in request.ListFields():
        base.ClearField(field.name)
    base.MergeFrom(request)
    # What crosses the wire is what a server reads.
    return request_class.FromString(base.SerializeToString())


def _real(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _real(item, places) for name, item in value.items()}
    if isinstance(value, list):
        return [_real(item, places) for item in value]
    return places.get(value, value) if isinstance(value, str) else value


def is_field_of(request_class: type[Message], path: str) -> bool:
    """Whether a path that a refusal names is one of a field of the request, or of what its content holds."""
    descriptor: Descriptor | None = request_class.DESCRIPTOR
    for part in path.split("."):
        match = _PATH.fullmatch(part)
        if match is None:
            return False
        if match[1] is None or descriptor is None:
            return part.startswith("#")
        field = descriptor.fields_by_name.get(match[1])
        if field is None:
            return False
        if field.name == "canonical_content":
            return True
        descriptor = field.message_type
    return True
