"""Validation of requests, compiled once per message from the rules in the .proto files (access.proto, FieldRules).

This is the one place where a request's sizes, grammars and numbers are judged, for every RPC. What needs more than one
field (exactly one of two, an inverted window) is left to the operations.
"""

from collections.abc import Callable
from typing import Any, Final, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.unknown_fields import UnknownFieldSet

from remit.v1 import access_pb2
from server.domain_errors import InvalidObject, InvalidRequest
from server.wire.field_checks import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    Check,
    bytes_check,
    enum_check,
    list_check,
    number_check,
    string_check,
    timestamp_check,
    unknown_field,
)
from server.wire.grammars import STRING_GRAMMARS
from server.wire.limits import Limits
from server.wire.refusal import FieldRefused

Validator = Callable[[Message], None]

DEFAULT_LIMITS: Final = Limits()
_TIMESTAMP: Final = Timestamp.DESCRIPTOR.full_name


class MisplacedRule(TypeError):
    """A field's rules cannot be enforced on a field of its type; found when validators are compiled, at start."""

    def __init__(self, field: FieldDescriptor, problem: str) -> None:
        super().__init__(f"{field.full_name}: {problem}")


def compile_validator(message_class: type[Message], limits: Limits = DEFAULT_LIMITS) -> Validator:
    """Returns a function that judges one message of the class by the rules of its fields, all levels down.

    The function returns None, or raises InvalidRequest or InvalidObject with the dotted path of the first bad field
    (`checks[3].operation`; a field that the definition does not know is `#` and its number). Beyond the declared rules:
    strings hold no NUL and at most `text_bytes_max` bytes, lists at most `list_items_max` items, enums only numbers
    that they name, doubles no NaN or infinity, timestamps the years 1 to 9999.

    Raises MisplacedRule when a rule stands on a field that it cannot apply to.
    """
    judge = _Compiler(limits).message_check(cast("Descriptor", message_class.DESCRIPTOR))

    def validate(message: Message) -> None:
        try:
            judge(message)
        except FieldRefused as refused:
            error = InvalidObject if refused.of_object else InvalidRequest
            raise error(refused.path, refused.problem) from None

    return validate


class _Compiler:
    """Makes checks of messages, each message type once per inherited grammar."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._checks: dict[tuple[str, int], Check] = {}

    def message_check(self, descriptor: Descriptor, inherited_grammar: int = 0) -> Check:
        """Returns the check of a message; strings without a grammar of their own take the inherited one."""
        key = (descriptor.full_name, inherited_grammar)
        if key not in self._checks:
            # A message that contains itself finds this entry, which looks the finished check up when it runs.
            self._checks[key] = lambda value: self._checks[key](value)
            self._checks[key] = self._compile(descriptor, inherited_grammar)
        return self._checks[key]

    def _compile(self, descriptor: Descriptor, inherited_grammar: int) -> Check:
        checks: dict[int, Check] = {}
        required: dict[int, tuple[str, bool]] = {}
        for field in descriptor.fields:
            rules = rules_of(field)
            check = self._field_check(field, rules, inherited_grammar)
            if check is not None:
                checks[field.number] = check
            if rules.required:
                required[field.number] = (field.name, rules.object)
        required_numbers = frozenset(required)
        check_of = checks.get

        def judge(message: Message) -> None:
            unknown = UnknownFieldSet(message)
            if len(unknown):
                raise unknown_field(unknown)
            present = message.ListFields()
            if required_numbers and not required_numbers.issubset([field.number for field, _ in present]):
                missing = required_numbers.difference(field.number for field, _ in present)
                name, of_object = required[min(missing)]
                raise FieldRefused("is required", name, of_object)
            try:
                for field, value in present:
                    check = check_of(field.number)
                    if check is not None:
                        check(value)
            except FieldRefused as refused:
                raise refused.within(field.name) from None

        return judge

    def _field_check(
        self, field: FieldDescriptor, rules: access_pb2.FieldRules, inherited_grammar: int
    ) -> Check | None:
        refuse_misplaced_rules(field, rules)
        item_check = self._item_check(field, rules, inherited_grammar)
        if not field.is_repeated:
            return item_check
        items_max = rules.max_items or self._limits.list_items_max
        return list_check(item_check, rules.min_items, items_max, rules.unique, rules.object)

    def _item_check(self, field: FieldDescriptor, rules: access_pb2.FieldRules, inherited_grammar: int) -> Check | None:
        limits = self._limits
        # An item of a list, and a value with presence, can be there and yet be empty.
        may_be_empty = not (rules.required or field.is_repeated)
        if field.type == FieldDescriptor.TYPE_STRING:
            grammar = rules.grammar or inherited_grammar
            return string_check(grammar, rules.max_bytes or limits.text_bytes_max, may_be_empty, rules.object)
        if field.type == FieldDescriptor.TYPE_BYTES:
            bytes_max = rules.max_bytes or limits.content_bytes_max
            return bytes_check(rules.grammar, bytes_max, may_be_empty, rules.object, limits)
        if field.type == FieldDescriptor.TYPE_ENUM:
            return enum_check(cast("EnumDescriptor", field.enum_type), may_be_empty, rules.object)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            message_type = cast("Descriptor", field.message_type)
            if message_type.full_name == _TIMESTAMP:
                return timestamp_check(rules.object)
            return self.message_check(message_type, rules.grammar)
        if field.type in INTEGER_TYPES or field.type in FLOAT_TYPES:
            minimum = rules.minimum if rules.HasField("minimum") else None
            maximum = rules.maximum if rules.HasField("maximum") else None
            return number_check(minimum, maximum, field.type in FLOAT_TYPES, rules.object)
        return None


def rules_of(field: FieldDescriptor) -> access_pb2.FieldRules:
    """Returns the rules declared on a field, empty ones where none are."""
    # The generated stub types an extension as a plain field, which the stub of Extensions does not take.
    extension = cast("Any", access_pb2.rules)
    return cast("access_pb2.FieldRules", field.GetOptions().Extensions[extension])


def refuse_misplaced_rules(field: FieldDescriptor, rules: access_pb2.FieldRules) -> None:
    """Raises MisplacedRule for a rule that the field's type gives no meaning, so that none is thought enforced."""
    is_text = field.type == FieldDescriptor.TYPE_STRING
    is_bytes = field.type == FieldDescriptor.TYPE_BYTES
    is_number = field.type in INTEGER_TYPES or field.type in FLOAT_TYPES
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        raise MisplacedRule(field, "a map has no order, so no request holds one")
    if field.type == FieldDescriptor.TYPE_GROUP:
        raise MisplacedRule(field, "a group is not supported")
    if rules.grammar:
        if rules.grammar == access_pb2.GRAMMAR_JSON:
            fits = is_bytes
        else:
            fits = (is_text or is_message) and rules.grammar in STRING_GRAMMARS
        if not fits:
            raise MisplacedRule(field, "its grammar is not one of its type")
    if rules.max_bytes and not (is_text or is_bytes):
        raise MisplacedRule(field, "max_bytes is a rule of strings and bytes")
    if (rules.min_items or rules.max_items or rules.unique) and not field.is_repeated:
        raise MisplacedRule(field, "a rule of lists stands on a single value")
    if rules.unique and is_message:
        raise MisplacedRule(field, "messages are not compared")
    if not is_number and (rules.HasField("minimum") or rules.HasField("maximum")):
        raise MisplacedRule(field, "a bound is a rule of numbers")
    if rules.minimum > 0 and not field.has_presence and not rules.required and not field.is_repeated:
        raise MisplacedRule(field, "an absent number reads as 0, which its minimum refuses")
