"""A JSON object of the draft, read strictly: every miss says which field breaks which rule (PAMSPEC 8; P-8.1-01).

The draft's schemas are closed, so a key that they do not define is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from server.wire.content_schemas import is_date_time
from server.wire.grammars import is_uri
from server.wire.refusal import FieldRefused
from storage.model.identifiers import is_id
from storage.model.times import from_datetime

State = TypeVar("State", bound=StrEnum)

_FIRST_US: Final = from_datetime(datetime.min.replace(tzinfo=UTC))
_LAST_US: Final = from_datetime(datetime.max.replace(tzinfo=UTC))
_NUMBER_MAX: Final = 2**63 - 1
_TEXT_BYTES_MAX: Final = 8192


def time_of(text: str) -> int:
    """Returns an RFC 3339 date-time in microseconds since 1970 UTC, cut off there; raises FieldRefused."""
    try:
        found = from_datetime(datetime.fromisoformat(text.upper())) if is_date_time(text) else None
    except (ValueError, OverflowError):
        found = None
    # A zone may move a time out of the years that there are.
    if found is not None and _FIRST_US <= found <= _LAST_US:
        return found
    raise FieldRefused("must be an RFC 3339 date-time with a zone")


class DraftObject:
    """Typed access to the members of a JSON object. Getters return None for a member that is absent."""

    __slots__ = ("_values",)

    def __init__(self, value: object, required: Collection[str], optional: Collection[str]) -> None:
        if not isinstance(value, dict):
            raise FieldRefused("must be a JSON object")
        for key in required:
            if key not in value:
                raise FieldRefused("is required", key)
        if not value.keys() <= {*required, *optional}:
            raise FieldRefused("has a key that the draft does not define")
        self._values: dict[str, Any] = value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def raw(self, key: str) -> Any:
        """Returns the value as it is."""
        return self._values.get(key)

    def text(self, key: str, *, empty: bool = True) -> str | None:
        """Returns a string, which may be empty unless said otherwise."""
        value = self._values.get(key)
        if value is None and key not in self._values:
            return None
        if not isinstance(value, str):
            raise FieldRefused("must be a string", key)
        if not value and not empty:
            raise FieldRefused("must not be empty", key)
        if len(value) > _TEXT_BYTES_MAX and len(value.encode()) > _TEXT_BYTES_MAX:
            raise FieldRefused(f"must be at most {_TEXT_BYTES_MAX} bytes", key)
        return value

    def id(self, key: str) -> str | None:
        """Returns an id."""
        value = self.text(key)
        if value is not None and not is_id(value):
            raise FieldRefused("must be an id, scheme:opaque, of at most 256 bytes", key)
        return value

    def uri(self, key: str) -> str | None:
        """Returns an absolute URI."""
        value = self.text(key)
        if value is not None and not is_uri(value):
            raise FieldRefused("must be an absolute URI", key)
        return value

    def time_us(self, key: str) -> int | None:
        """Returns a date-time in microseconds."""
        value = self.text(key)
        try:
            return None if value is None else time_of(value)
        except FieldRefused as refusal:
            raise refusal.within(key) from None

    def count(self, key: str, least: int = 1) -> int | None:
        """Returns an integer of at least `least` that the database can hold."""
        value = self._values.get(key)
        if value is None and key not in self._values:
            return None
        if isinstance(value, float) and value.is_integer() and abs(value) <= _NUMBER_MAX:
            value = int(value)  # JSON has one kind of number
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _NUMBER_MAX:
            raise FieldRefused(f"must be an integer of at least {least}", key)
        return value

    def fraction(self, key: str) -> float | None:
        """Returns a number between 0 and 1."""
        value = self._values.get(key)
        if value is None and key not in self._values:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            raise FieldRefused("must be a number between 0 and 1", key)
        return float(value)

    def flag(self, key: str) -> bool | None:
        """Returns true or false."""
        value = self._values.get(key)
        if key in self._values and not isinstance(value, bool):
            raise FieldRefused("must be true or false", key)
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Returns a list of strings."""
        value = self._values.get(key)
        if value is None and key not in self._values:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FieldRefused("must be a list of strings", key)
        return tuple(value)

    def ids(self, key: str) -> tuple[str, ...] | None:
        """Returns a list of ids."""
        values = self.texts(key)
        if values is not None and not all(map(is_id, values)):
            raise FieldRefused("must be a list of ids", key)
        return values

    def one_of(self, key: str, words: type[State]) -> State:
        """Returns the word of an enumeration; the member is required."""
        try:
            return words(self._values[key])
        except ValueError:
            raise FieldRefused(f"must be one of {', '.join(words)}", key) from None
