"""One JSON text, judged strictly: what content must be (memory.md, Objects and versions; Q03; P-8.1-08).

The bytes are stored as they were sent; the parsed value serves to judge them and for nothing else. A text is refused
for duplicate keys at any depth, NaN and infinities, lone surrogates, NUL, excessive depth and excessive size.
"""

import json
import re
from enum import StrEnum
from typing import Final, NoReturn

from server.wire.limits import Limits

JsonValue = str | int | float | bool | list["JsonValue"] | dict[str, "JsonValue"] | None


class JsonProblem(StrEnum):
    """What is wrong with a JSON text; the value completes a sentence that begins with the field's name."""

    TOO_LARGE = "is larger than the limit"
    NOT_UTF8 = "is not valid UTF-8"
    NOT_JSON = "is not exactly one JSON value"
    TOO_DEEP = "nests deeper than the limit"
    DUPLICATE_KEY = "has an object with a duplicate key"
    NOT_A_NUMBER = "holds NaN or an infinity"
    LONE_SURROGATE = "holds a lone surrogate"
    NUL = "holds a NUL character"


class JsonTextRefused(ValueError):
    """The bytes are not an acceptable JSON text; `problem` says why."""

    def __init__(self, problem: JsonProblem) -> None:
        super().__init__(problem.value)
        self.problem = problem


def parse_json_text(data: bytes, limits: Limits) -> JsonValue:
    """Returns the value of a JSON text; raises JsonTextRefused for anything else, never RecursionError.

    Integers come exact up to 1,000 digits; beyond that as 10**1000 with their sign, since reading more would cost
    quadratic time and the bytes are what is kept. Numbers with a fraction or an exponent come as doubles, an infinity
    where the text exceeds them.
    """
    if len(data) > limits.content_bytes_max:
        raise JsonTextRefused(JsonProblem.TOO_LARGE)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonTextRefused(_undecodable(data, error.start)) from None
    if "\0" in text:
        raise JsonTextRefused(JsonProblem.NUL)
    if _is_too_deep(data, limits.json_depth_max):
        raise JsonTextRefused(JsonProblem.TOO_DEEP)
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError:
        raise JsonTextRefused(JsonProblem.NOT_JSON) from None
    if "\\u" in text:
        _refuse_escapes(text)
    return value


def read_json_text(data: bytes) -> JsonValue:
    """Returns the value of a text that `parse_json_text` has accepted before, without judging it again."""
    value: JsonValue = _DECODER.decode(data.decode("utf-8"))
    return value


def _undecodable(data: bytes, start: int) -> JsonProblem:
    # A surrogate encoded by itself (CESU-8) is ED A0..BF xx; Python reports it at the ED.
    is_surrogate = data[start] == 0xED and start + 1 < len(data) and 0xA0 <= data[start + 1] <= 0xBF
    return JsonProblem.LONE_SURROGATE if is_surrogate else JsonProblem.NOT_UTF8


# A string that does not end takes the rest with it: no search starts anew inside, which would cost quadratic time.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)).difference(b"[]{}"))
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


def _is_too_deep(data: bytes, depth_max: int) -> bool:
    """Returns whether a parser would come deeper than `depth_max` before it finished or found an error.

    Judged before parsing, so that the parser's own recursion never comes near the interpreter's limit. Most texts hold
    too few brackets to be deep; of the others, strings are cut out, whose brackets do not nest.
    """
    if data.count(b"[") + data.count(b"{") <= depth_max:
        return False
    depth = 0
    for step in memoryview(_STRING.sub(b"", data).translate(_STEPS, _NO_BRACKETS)).cast("b"):
        depth += step
        if depth > depth_max:
            return True
    return False


# The escapes of a text in order. A pair is taken as one, so that what is left as a surrogate is a lone one, and an
# escaped backslash is taken whole, so that what follows it is no escape.
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<nul>u0000)|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def _refuse_escapes(text: str) -> None:
    """Raises for an escaped NUL or lone surrogate in a text that parsed: there, a backslash stands in strings only."""
    for escape in _ESCAPE.finditer(text):
        if escape.lastgroup is not None:
            raise JsonTextRefused(JsonProblem.NUL if escape.lastgroup == "nul" else JsonProblem.LONE_SURROGATE)


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise JsonTextRefused(JsonProblem.DUPLICATE_KEY)
    return value


_DIGITS_MAX: Final = 1000
_SATURATED: Final = 10**_DIGITS_MAX


def _integer(digits: str) -> int:
    if len(digits) <= _DIGITS_MAX:
        return int(digits)
    return -_SATURATED if digits[0] == "-" else _SATURATED


def _refuse_constant(_: str) -> NoReturn:
    raise JsonTextRefused(JsonProblem.NOT_A_NUMBER)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_integer, parse_constant=_refuse_constant)
