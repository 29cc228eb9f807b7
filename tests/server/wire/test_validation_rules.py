"""Rules hold on every request of the contract, and rules that could not be enforced are refused at start."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import Default, DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from remit.v1 import access_pb2
from server.access import declared_access
from server.domain_errors import InvalidObject, InvalidRequest
from server.wire.validation import MisplacedRule, Validator, compile_validator, rules_of

REQUESTS = sorted({item.request_class for item in declared_access().values()}, key=lambda item: item.__name__)
VALIDATORS = {item: compile_validator(item) for item in REQUESTS}


def judge(message: Message) -> None:
    VALIDATORS[type(message)](message)


def refused(message: Message) -> tuple[str, str, type[Exception]]:
    with pytest.raises((InvalidRequest, InvalidObject)) as caught:
        judge(message)
    return caught.value.field, caught.value.problem, type(caught.value)


# A canary that breaks every grammar.
SECRET = "SECRET-c4n4ry secret\0"


def every_string_field(descriptor: Descriptor) -> Iterator[FieldDescriptor]:
    for field in descriptor.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            yield field


def fill_required(message: Message) -> None:
    """Gives every required field that is absent a value that passes, all levels down."""
    for field in message.DESCRIPTOR.fields:
        if not rules_of(field).required or field in [present for present, _ in message.ListFields()]:
            continue
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            inner = getattr(message, field.name)
            inner = inner.add() if field.is_repeated else inner
            inner.SetInParent()
            fill_required(inner)
        elif field.type == FieldDescriptor.TYPE_STRING:
            texts = {access_pb2.GRAMMAR_ROLE_ID: "role:a", access_pb2.GRAMMAR_LABEL: "read"}
            text = texts.get(rules_of(field).grammar, "actor:a")
            if field.is_repeated:
                getattr(message, field.name).append(text)
            else:
                setattr(message, field.name, text)
        else:
            setattr(message, field.name, b"1" if field.type == FieldDescriptor.TYPE_BYTES else 1)


def with_text(request_class: type[Message], field: FieldDescriptor, text: str) -> Message:
    """A request that is sound but for one string field."""
    message = request_class()
    if field.is_repeated:
        getattr(message, field.name).append(text)
    else:
        setattr(message, field.name, text)
    fill_required(message)
    return message


@pytest.mark.parametrize("request_class", REQUESTS, ids=lambda item: item.__name__)
def test_a_request_with_its_required_fields_alone_passes(request_class: type[Message]) -> None:
    message = request_class()
    fill_required(message)
    judge(message)


@pytest.mark.parametrize("request_class", REQUESTS, ids=lambda item: item.__name__)
def test_no_refusal_echoes_the_value(request_class: type[Message]) -> None:
    for field in every_string_field(request_class.DESCRIPTOR):
        path, problem, _ = refused(with_text(request_class, field, SECRET))
        assert path.split("[")[0] == field.name
        assert "c4n4ry" not in problem + path


@pytest.mark.parametrize("request_class", REQUESTS, ids=lambda item: item.__name__)
def test_no_text_of_a_request_is_unbounded(request_class: type[Message]) -> None:
    for field in every_string_field(request_class.DESCRIPTOR):
        path, _, _ = refused(with_text(request_class, field, "actor:" + "b" * 8192))
        assert path.split("[")[0] == field.name


def compile_made(**options: Any) -> tuple[Validator, Any]:
    """The validator of a message with one field `probe` of the given shape and rules, and the message's class."""
    pool = DescriptorPool()
    for name in ("google/protobuf/descriptor.proto", "remit/v1/access.proto"):
        file = descriptor_pb2.FileDescriptorProto()
        Default().FindFileByName(name).CopyToProto(file)
        pool.Add(file)
    made = descriptor_pb2.FileDescriptorProto(name="made.proto", package="made", syntax="proto3")
    made.dependency.append("remit/v1/access.proto")
    message = made.message_type.add(name="Probe")
    rules = options.pop("rules", {})
    field = message.field.add(name="probe", number=1, **{"label": 1, **options})
    field.options.Extensions[access_pb2.rules].CopyFrom(access_pb2.FieldRules(**rules))
    pool.Add(made)
    made_class = GetMessageClass(pool.FindMessageTypeByName("made.Probe"))
    return compile_validator(made_class), made_class


STRING, DOUBLE, BYTES, INT32, MESSAGE, BOOL = 9, 1, 12, 5, 11, 8


@pytest.mark.parametrize(
    "options",
    [
        {"type": INT32, "rules": {"grammar": access_pb2.GRAMMAR_ID}},
        {"type": STRING, "rules": {"grammar": access_pb2.GRAMMAR_JSON}},
        {"type": BYTES, "rules": {"grammar": access_pb2.GRAMMAR_ID}},
        {"type": BOOL, "rules": {"max_bytes": 3}},
        {"type": STRING, "rules": {"max_items": 3}},
        {"type": STRING, "rules": {"maximum": 3}},
        {"type": INT32, "rules": {"minimum": 1}},
        {"type": MESSAGE, "label": 3, "type_name": ".made.Probe", "rules": {"unique": True}},
    ],
)
def test_rules_that_cannot_be_enforced_are_refused_at_start(options: dict[str, Any]) -> None:
    with pytest.raises(MisplacedRule, match=r"made\.Probe\.probe"):
        compile_made(**options)


def test_a_message_may_contain_itself() -> None:
    validate, made_class = compile_made(type=MESSAGE, type_name=".made.Probe")
    deep = made_class()
    innermost = deep
    for _ in range(20):
        innermost = innermost.probe
    innermost.SetInParent()
    validate(deep)
    innermost.MergeFromString(b"\x98\x06\x01")
    with pytest.raises(InvalidRequest) as caught:
        validate(deep)
    assert caught.value.field == "probe." * 20 + "#99"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("rules", [{}, {"minimum": 0}, {"maximum": 0}])
def test_a_number_is_finite_whatever_its_rules(value: float, rules: dict[str, Any]) -> None:
    validate, made_class = compile_made(type=DOUBLE, rules=rules)
    with pytest.raises(InvalidRequest):
        validate(made_class(probe=value))


def test_bounds_belong_to_the_range() -> None:
    validate, made_class = compile_made(type=INT32, rules={"minimum": -5, "maximum": 5})
    validate(made_class(probe=-5))
    validate(made_class(probe=5))
    with pytest.raises(InvalidRequest, match="between -5 and 5"):
        validate(made_class(probe=6))
