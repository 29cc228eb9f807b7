"""Whatever arrives, validation answers with nothing or with a typed refusal that names a field."""

import re
from functools import cache
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.access import declared_access
from server.domain_errors import InvalidObject, InvalidRequest
from server.wire.validation import compile_validator

REQUESTS = sorted({item.request_class for item in declared_access().values()}, key=lambda item: item.__name__)
VALIDATORS = {item: compile_validator(item) for item in REQUESTS}
PATH = re.compile(r"(?:[a-z_]+(?:\[\d+\])?\.)*(?:[a-z_]+(?:\[\d+\])?|#\d+)")

RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a:b", "claim", "read", "*", "actor:a", "role:a", "com.acme.x", "https://a/b", "a\0", "x" * 300]
    ),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "ignore").decode()),
)


def value_of(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return messages(field.message_type)
    if field.type == FieldDescriptor.TYPE_STRING:
        return TEXTS
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.one_of(st.binary(max_size=20), st.sampled_from([b"{}", b'{"a":[1,2]}', b'"\\ud800"']))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_ENUM:
        return st.integers(0, len(field.enum_type.values) + 1)
    if field.cpp_type in RANGES:
        low, high = RANGES[field.cpp_type]
        return st.one_of(st.integers(max(low, -2), 2), st.integers(low, high))
    return st.floats()


@cache
def messages(descriptor: Descriptor) -> st.SearchStrategy[dict[str, Any]]:
    optional: dict[str, st.SearchStrategy[Any]] = {}
    seen_oneofs: set[str] = set()
    for field in descriptor.fields:
        oneof = field.containing_oneof
        if oneof is not None and len(oneof.fields) > 1:
            if oneof.name in seen_oneofs:
                continue
            seen_oneofs.add(oneof.name)
        item = value_of(field)
        optional[field.name] = st.lists(item, max_size=3) if field.is_repeated else item
    return st.fixed_dictionaries({}, optional=optional)


def judge(message: Message) -> None:
    refused: InvalidRequest | InvalidObject | None = None
    try:
        VALIDATORS[type(message)](message)
    except (InvalidRequest, InvalidObject) as error:
        refused = error
    assert refused is None or (PATH.fullmatch(refused.field) and refused.problem)


@pytest.mark.parametrize("request_class", REQUESTS, ids=lambda item: item.__name__)
@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_generated_messages_pass_or_are_refused_by_field(request_class: type[Message], data: st.DataObject) -> None:
    message = request_class(**data.draw(messages(request_class.DESCRIPTOR)))
    # What a server judges came over the wire.
    judge(request_class.FromString(message.SerializeToString()))


@pytest.mark.parametrize("request_class", REQUESTS, ids=lambda item: item.__name__)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_raw_bytes_pass_or_are_refused_by_field(request_class: type[Message], data: st.DataObject) -> None:
    message = request_class(**data.draw(messages(request_class.DESCRIPTOR)))
    raw = bytearray(message.SerializeToString())
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 255)), max_size=6)):
        raw[place % (len(raw) + 1) : place % (len(raw) + 1) + 1] = bytes([byte])
    try:
        parsed = request_class.FromString(bytes(raw))
    except DecodeError:
        return
    judge(parsed)
