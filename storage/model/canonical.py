"""Canonical JSON in the sense of RFC 8785, for what is hashed: version cores, grants and event bodies.

Made once and stored as bytes; nothing is ever re-serialised to check a digest (ledger.md, Shape). Object keys are
ASCII, for which ordering by code point equals RFC 8785's ordering by UTF-16 unit. Integers are written exactly: a
client's time claim after the year 2255 exceeds 2**53 microseconds, where RFC 8785 would have rounded it to a double;
all other values are written as RFC 8785 demands.
"""

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

JsonValue = str | int | float | bool | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None

_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
)


class MalformedCanonical(ValueError):
    """Stored canonical bytes do not have the shape this version of the service writes."""


def canonical_json(value: JsonValue) -> bytes:
    """Returns the canonical bytes of a value without floats.

    Raises UnicodeEncodeError (a ValueError) on a lone surrogate. Floats go through `canonical_json_with_floats`.
    """
    return _ENCODER.encode(value).encode()


def canonical_json_with_floats(value: JsonValue) -> bytes:
    """Returns the canonical bytes of a value that may hold floats; slower than `canonical_json`.

    Raises ValueError on NaN, infinities and lone surrogates.
    """
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts).encode()


def _write(value: JsonValue, parts: list[str]) -> None:
    if isinstance(value, float):
        parts.append(number_text(value))
    elif isinstance(value, Mapping):
        parts.append("{")
        for index, key in enumerate(sorted(value)):
            parts.append(("," if index else "") + _ENCODER.encode(key) + ":")
            _write(value[key], parts)
        parts.append("}")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        parts.append("[")
        for index, item in enumerate(value):
            if index:
                parts.append(",")
            _write(item, parts)
        parts.append("]")
    else:
        parts.append(_ENCODER.encode(value))


def number_text(value: float) -> str:
    """Returns a double as ECMAScript writes it (RFC 8785, 3.2.2.3). Raises ValueError on NaN and infinities."""
    if not math.isfinite(value):
        raise ValueError("a canonical number is finite")
    if value == 0:
        return "0"
    sign, digit_tuple, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    untrimmed = "".join(map(str, digit_tuple))
    point = len(untrimmed) + exponent  # value = 0.digits * 10**point
    digits = untrimmed.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        text = digits + "0" * (point - count)
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
        text = f"{mantissa}e{point - 1:+d}"
    return f"-{text}" if sign else text


class Fields:
    """Typed access to a parsed JSON object; every miss raises MalformedCanonical naming the key, never the value."""

    __slots__ = ("_values", "_what")

    def __init__(self, values: object, what: str, known: frozenset[str] | None = None) -> None:
        """Wraps `values`. With `known`, a key outside it is refused: an unknown field must not be dropped silently."""
        if not isinstance(values, dict):
            raise MalformedCanonical(f"{what} is not an object")
        if known is not None and not known.issuperset(values):
            raise MalformedCanonical(f"{what} holds unknown keys {sorted(set(values) - known)}")
        self._values: dict[str, object] = values
        self._what = what

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def _miss(self, key: str) -> MalformedCanonical:
        return MalformedCanonical(f"{self._what} holds no valid {key}")

    def optional_text(self, key: str) -> str | None:
        """Returns the string, None when absent."""
        value = self._values.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._miss(key)

    def text(self, key: str) -> str:
        """Returns the string."""
        value = self._values.get(key)
        if isinstance(value, str):
            return value
        raise self._miss(key)

    def optional_integer(self, key: str) -> int | None:
        """Returns the integer, None when absent."""
        value = self._values.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self._miss(key)

    def integer(self, key: str) -> int:
        """Returns the integer."""
        value = self.optional_integer(key)
        if value is None:
            raise self._miss(key)
        return value

    def optional_number(self, key: str) -> float | None:
        """Returns the number as a float (canonical JSON writes 1.0 as 1), None when absent."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise self._miss(key)

    def flag(self, key: str) -> bool:
        """Returns the boolean."""
        value = self._values.get(key)
        if isinstance(value, bool):
            return value
        raise self._miss(key)

    def optional_texts(self, key: str) -> tuple[str, ...] | None:
        """Returns the list of strings as a tuple, None when absent."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._miss(key)
        return tuple(value)

    def raw(self, key: str) -> object:
        """Returns the value whatever it is, None when absent."""
        return self._values.get(key)

    def keys(self) -> frozenset[str]:
        """Returns the keys present."""
        return frozenset(self._values)


class Shape:
    """The keys of a stored JSON object with the types their values have, judged in one pass.

    For what is read at every call; where a miss must be told from a null, or a value decides how to read on, `Fields`
    serves.
    """

    __slots__ = ("_required", "_types", "_what")

    def __init__(
        self, what: str, required: Mapping[str, tuple[type, ...]], optional: Mapping[str, tuple[type, ...]]
    ) -> None:
        """`what` names the object in errors. A type is met exactly: True is no integer."""
        self._what = what
        self._required = frozenset(required)
        self._types = {**required, **optional}

    def read(self, value: object) -> dict[str, Any]:
        """Returns the object itself; raises MalformedCanonical for a key that is missing, unknown or of another type."""
        if type(value) is not dict:
            raise MalformedCanonical(f"{self._what} is not an object")
        types_of = self._types.get
        for key, item in value.items():
            if type(item) not in types_of(key, ()):
                problem = "no valid" if key in self._types else "unknown key"
                raise MalformedCanonical(f"{self._what} holds {problem} {key}")
        if not value.keys() >= self._required:
            raise MalformedCanonical(f"{self._what} holds no valid {min(self._required - value.keys())}")
        return value

    def parse(self, data: bytes) -> dict[str, Any]:
        """Returns the object in canonical bytes; raises as `read`, and when they are not JSON."""
        return self.read(_json(data, self._what))


def parse_object(data: bytes, what: str, known: frozenset[str] | None = None) -> Fields:
    """Returns the JSON object in `data`. Raises MalformedCanonical when it is not one."""
    return Fields(_json(data, what), what, known)


def _json(data: bytes, what: str) -> object:
    try:
        value: object = json.loads(data.decode())
    except ValueError as error:
        raise MalformedCanonical(f"{what} is not JSON") from error
    return value
