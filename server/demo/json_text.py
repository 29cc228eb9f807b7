"""Reading JSON as strictly as the service does, and knowing on which line a thing stands."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final, NoReturn

DEPTH_MAX: Final = 64
BYTES_MAX: Final = 1 << 20
_SPACE: Final = " \t\r\n"


class UnreadableJson(ValueError):
    """The text is not the JSON that was expected. `offset` is the place of the problem in the text."""

    def __init__(self, problem: str, offset: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


def _no_constant(name: str) -> NoReturn:
    raise UnreadableJson(f"holds {name}, which is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableJson(f"holds the number {text[:40]}, which is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > 1000:
        raise UnreadableJson("holds a number of more than 1000 digits")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise UnreadableJson(f"holds the key {key!r} twice")
        made[key] = value
    return made


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
)


def value_of(text: str) -> Any:
    """Returns the one JSON value that `text` is. Raises UnreadableJson."""
    start = _skip(text, 0)
    value, end = _value(text, start)
    end = _skip(text, end)
    if end != len(text):
        raise UnreadableJson("goes on after the end of its JSON value", end)
    return value


def entries_of(text: str) -> Iterator[tuple[str, Any, int]]:
    """Yields key, value and offset of each entry of the JSON object that `text` is. Raises UnreadableJson."""
    at = _expect(text, 0, "{", "is not a JSON object")
    seen: set[str] = set()
    if text[at : at + 1] == "}":
        at += 1
    else:
        while True:
            if text[at : at + 1] != '"':
                raise UnreadableJson("has no key where one is expected", at)
            key, after_key = _value(text, at)
            if key in seen:
                raise UnreadableJson(f"holds the key {key!r} twice", at)
            seen.add(key)
            value_at = _expect(text, after_key, ":", "has no `:` after a key")
            value, after_value = _value(text, value_at)
            yield key, value, at
            after_value = _skip(text, after_value)
            if text[after_value : after_value + 1] == "}":
                at = after_value + 1
                break
            at = _expect(text, after_value, ",", "has neither `,` nor `}` after a value")
    at = _skip(text, at)
    if at != len(text):
        raise UnreadableJson("goes on after the end of its JSON object", at)


def content_of(value: Any) -> bytes:
    """Returns `value` as canonical content. Raises UnreadableJson when the service would not take it."""
    try:
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise UnreadableJson("holds half a surrogate pair, which is no character") from None
    except RecursionError:
        raise _too_deep() from None
    if b"\\u0000" in data.replace(b"\\\\", b""):
        raise UnreadableJson("holds a NUL character")
    if len(data) > BYTES_MAX:
        raise UnreadableJson(f"is larger than {BYTES_MAX} bytes")
    if _deeper(value, DEPTH_MAX):
        raise _too_deep()
    return data


def _deeper(value: Any, levels: int) -> bool:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if children is None:
        return False
    return levels == 0 or any(_deeper(child, levels - 1) for child in children)


def _too_deep() -> UnreadableJson:
    return UnreadableJson(f"is nested deeper than {DEPTH_MAX} levels")


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise UnreadableJson(f"is no JSON: {error.msg}", error.pos) from None
    except UnreadableJson as error:
        raise UnreadableJson(error.problem, at) from None
    except RecursionError:
        raise UnreadableJson(_too_deep().problem, at) from None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _expect(text: str, at: int, char: str, problem: str) -> int:
    """Returns the offset behind `char` and the space around it."""
    at = _skip(text, at)
    if text[at : at + 1] != char:
        raise UnreadableJson(problem, at)
    return _skip(text, at + 1)
