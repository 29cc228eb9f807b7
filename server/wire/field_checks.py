"""Checks of single values, made once per field from its rules; each raises FieldRefused without the value."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.unknown_fields import UnknownFieldSet

from remit.v1 import access_pb2
from server.wire.grammars import STRING_GRAMMARS
from server.wire.json_text import JsonTextRefused, parse_json_text
from server.wire.limits import Limits
from server.wire.refusal import FieldRefused

# Values come from protobuf's own containers, whose type depends on the field.
Check = Callable[[Any], None]

SECONDS_MIN: Final = -62_135_596_800
"""0001-01-01T00:00:00Z."""
SECONDS_MAX: Final = 253_402_300_799
"""9999-12-31T23:59:59Z."""
_NANOS_MAX: Final = 999_999_999

INTEGER_TYPES: Final = frozenset(
    {
        FieldDescriptor.TYPE_INT32,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT32,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_FIXED32,
        FieldDescriptor.TYPE_FIXED64,
        FieldDescriptor.TYPE_SFIXED32,
        FieldDescriptor.TYPE_SFIXED64,
    }
)
FLOAT_TYPES: Final = frozenset({FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE})


def string_check(grammar: int, bytes_max: int, may_be_empty: bool, of_object: bool) -> Check:
    """Returns the check of one string: size in UTF-8, no NUL, and its grammar where it has one.

    Protobuf has refused strings that are not UTF-8 before, so none holds a surrogate.
    """
    if grammar == access_pb2.GRAMMAR_UNSPECIFIED:
        return _text_check(bytes_max, may_be_empty, of_object)
    rule = STRING_GRAMMARS[grammar]
    accepts = rule.accepts

    def check(value: str) -> None:
        # Every grammar is ASCII, so the length is the size.
        if len(value) > bytes_max:
            raise FieldRefused(f"is longer than {bytes_max} bytes", of_object=of_object)
        if not accepts(value) and (value or not may_be_empty):
            raise FieldRefused(rule.problem, of_object=of_object)

    return check


def _text_check(bytes_max: int, may_be_empty: bool, of_object: bool) -> Check:
    def check(value: str) -> None:
        if len(value) > bytes_max or (not value.isascii() and len(value.encode()) > bytes_max):
            raise FieldRefused(f"is longer than {bytes_max} bytes", of_object=of_object)
        if "\0" in value:
            raise FieldRefused("holds a NUL character", of_object=of_object)
        if not value and not may_be_empty:
            raise FieldRefused("must not be empty", of_object=of_object)

    return check


def bytes_check(grammar: int, bytes_max: int, may_be_empty: bool, of_object: bool, limits: Limits) -> Check:
    """Returns the check of one bytes value: its size, and that it is a JSON text where its grammar says so."""
    is_json = grammar == access_pb2.GRAMMAR_JSON

    def check(value: bytes) -> None:
        if len(value) > bytes_max:
            raise FieldRefused(f"is longer than {bytes_max} bytes", of_object=of_object)
        if is_json:
            try:
                parse_json_text(value, limits)
            except JsonTextRefused as refused:
                raise FieldRefused(refused.problem.value, of_object=of_object) from None
        elif not value and not may_be_empty:
            raise FieldRefused("must not be empty", of_object=of_object)

    return check


def enum_check(enum: EnumDescriptor, zero_allowed: bool, of_object: bool) -> Check:
    """Returns the check of one enum value: a number that the enum names; 0 only where it has a meaning."""
    known = frozenset(value.number for value in enum.values if zero_allowed or value.number != 0)

    def check(value: int) -> None:
        if value not in known:
            raise FieldRefused("must be a value of its enum", of_object=of_object)

    return check


def number_check(minimum: float | None, maximum: float | None, is_float: bool, of_object: bool) -> Check | None:
    """Returns the check of one number: finite and within its bounds, both inclusive; None when nothing can be wrong."""
    if minimum is None and maximum is None:
        return _finite_check(of_object) if is_float else None
    least = -math.inf if minimum is None else minimum
    most = math.inf if maximum is None else maximum
    problem = _bounds_in_words(minimum, maximum)

    def check(value: float) -> None:
        # NaN compares false with everything; an infinity can pass where a bound is open.
        if not least <= value <= most or value in (math.inf, -math.inf):
            raise FieldRefused(problem, of_object=of_object)

    return check


def _finite_check(of_object: bool) -> Check:
    def check(value: float) -> None:
        if not math.isfinite(value):
            raise FieldRefused("must be a finite number", of_object=of_object)

    return check


def _bounds_in_words(minimum: float | None, maximum: float | None) -> str:
    if maximum is None:
        return f"must be at least {minimum:.17g}"
    if minimum is None:
        return f"must be at most {maximum:.17g}"
    return f"must be between {minimum:.17g} and {maximum:.17g}"


def timestamp_check(of_object: bool) -> Check:
    """Returns the check of a Timestamp: years 1 to 9999, nanoseconds 0 to 999,999,999, nothing unknown in it."""

    def check(value: Timestamp) -> None:
        if not SECONDS_MIN <= value.seconds <= SECONDS_MAX or not 0 <= value.nanos <= _NANOS_MAX:
            raise FieldRefused("must be a time of the years 1 to 9999", of_object=of_object)
        unknown = UnknownFieldSet(value)
        if len(unknown):
            raise unknown_field(unknown)

    return check


def unknown_field(unknown: UnknownFieldSet) -> FieldRefused:
    """Returns the refusal of a message that holds a field its definition does not know, named by its number."""
    return FieldRefused("is not a field of this message", path=f"#{unknown[0].field_number}")


def list_check(item_check: Check | None, items_min: int, items_max: int, unique: bool, of_object: bool) -> Check:
    """Returns the check of a list that is not empty: its size, that its items differ where asked, and each item."""

    def check(values: Sequence[Any]) -> None:
        if len(values) > items_max:
            raise FieldRefused(f"has more than {items_max} items", of_object=of_object)
        if len(values) < items_min:
            raise FieldRefused(f"has fewer than {items_min} items", of_object=of_object)
        if item_check is not None:
            index = 0
            try:
                for index, value in enumerate(values):  # noqa: B007 (the handler names the item by it)
                    item_check(value)
            except FieldRefused as refused:
                raise refused.within(f"[{index}]") from None
        if unique and len(set(values)) != len(values):
            raise FieldRefused("has an item twice", of_object=of_object)

    return check
