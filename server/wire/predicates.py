"""Conditions of a query, wire -> storage (memory.proto, Predicate; P-11-01). Nothing is ever ignored or widened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from remit.v1 import memory_pb2
from server.domain_errors import InvalidRequest
from storage.model.times import from_datetime, to_datetime
from storage.selection import FIELDS, FieldCondition, FieldKind, FieldValue, Operator

_OPERATORS: Final = {
    number: Operator[name.removeprefix("COMPARISON_OPERATOR_")]
    for name, number in memory_pb2.ComparisonOperator.items()
    if number
}
_PRESENCE: Final = frozenset({Operator.PRESENT, Operator.ABSENT})
_LISTS: Final = frozenset({Operator.IN, Operator.NOT_IN})
_ORDERING: Final = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE})
_UNFIT: Final = {
    FieldKind.TEXT: _ORDERING,
    FieldKind.HASH: _ORDERING | {Operator.NE, Operator.NOT_IN},
    FieldKind.NUMBER: frozenset(),
    FieldKind.TIME: frozenset(),
}

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
_INT64_MAX: Final = 2**63 - 1
_RFC_3339: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt](?P<time>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d+))?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):(?P<minutes>[0-5]\d))",
    re.ASCII,
)


def conditions_from(
    predicates: Sequence[memory_pb2.Predicate],
    lookup: Callable[[str], bytes],
    fields: Mapping[str, FieldKind] = FIELDS,
) -> tuple[FieldCondition, ...]:
    """Returns the conditions of validated predicates on `fields`; `lookup` gives the keyed hash of an integrity digest.

    Raises InvalidRequest naming the field of the predicate, its operator or its value.
    """
    return tuple(
        _condition(predicate, f"query.filters.predicates[{index}]", lookup, fields)
        for index, predicate in enumerate(predicates)
    )


def _condition(
    predicate: memory_pb2.Predicate, place: str, lookup: Callable[[str], bytes], fields: Mapping[str, FieldKind]
) -> FieldCondition:
    kind = fields.get(predicate.field)
    if kind is None:
        raise InvalidRequest(f"{place}.field", "is not a field that queries know")
    operator = _OPERATORS[predicate.op]
    if operator in _UNFIT[kind]:
        raise InvalidRequest(f"{place}.op", "does not apply to this field")
    count = len(predicate.values)
    if operator in _PRESENCE and count:
        raise InvalidRequest(f"{place}.values", "must be empty with this operator")
    if operator in _LISTS and not count:
        raise InvalidRequest(f"{place}.values", "must not be empty with this operator")
    if operator not in _PRESENCE | _LISTS and count != 1:
        raise InvalidRequest(f"{place}.values", "must be exactly one with this operator")
    values = tuple(
        _value(kind, text, f"{place}.values[{index}]", lookup) for index, text in enumerate(predicate.values)
    )
    return FieldCondition(predicate.field, operator, values)


def _value(kind: FieldKind, text: str, place: str, lookup: Callable[[str], bytes]) -> FieldValue:
    match kind:
        case FieldKind.TEXT:
            return text
        case FieldKind.HASH:
            return lookup(text)
        case FieldKind.NUMBER:
            if _INTEGER.fullmatch(text) is None or abs(int(text)) > _INT64_MAX:
                raise InvalidRequest(place, "must be a whole number in decimal")
            return int(text)
        case FieldKind.TIME:
            time_us = time_from(text)
            if time_us is None:
                raise InvalidRequest(place, "must be a time of RFC 3339 with a zone, of the years 1 to 9999")
            return time_us


def time_from(text: str) -> int | None:
    """Returns an RFC 3339 time in microseconds since 1970 UTC, what is finer cut off; None when it is none.

    A leap second is none, since no clock here shows one; so is an instant outside the years 1 to 9999 in UTC.
    """
    found = _RFC_3339.fullmatch(text)
    if found is None:
        return None
    try:
        stamp = datetime.fromisoformat(f"{found['date']}T{found['time']}").replace(tzinfo=UTC)
        time_us = from_datetime(stamp) + int((found["fraction"] or "0")[:6].ljust(6, "0"))
        if found["sign"]:
            offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
            offset_us = offset // timedelta(microseconds=1)
            time_us -= offset_us if found["sign"] == "+" else -offset_us
        to_datetime(time_us)
    except (ValueError, OverflowError):
        return None
    return time_us
