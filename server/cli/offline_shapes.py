"""Forms of JSON texts, learnt from texts that were read with care, so that the next ones of a form are read at once.

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. Events of one
type differ in ids, numbers and digests and in nothing else. A shape is a pattern of the whole text with every key, bracket
and comma of the one it was learnt from, in that order, and with a value of the same type at each place: so whatever was
established from keys, their order and types holds for every text that matches. A text that matches no shape is read
with care; a shape never refuses anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Path = tuple[str | int, ...]
Match = Callable[[str], re.Match[str] | None]
Made = TypeVar("Made")

# Within a text every character stands for itself: printable ASCII but the quote and the backslash.
TEXT = r"[ !#-\[\]-~]*+"
# As canonical JSON writes them, and far from every bound.
COUNT = r"(?:0|[1-9][0-9]{0,17}+)"
INTEGER = r"(?:0|-?[1-9][0-9]{0,17}+)"
_FRACTION = r"-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,17}+)?+(?:[eE][+-]?[0-9]{1,3}+)?+"
_DEPTH_MAX = 8
_LENGTH_MAX = 4096

_encode = json.JSONEncoder(ensure_ascii=False).encode


class _UnfitError(Exception):
    """A value is nested too deeply, or of no known type."""


@dataclass(frozen=True, slots=True)
class Place:
    """A text or a number that a match yields by its group; `again` is the pattern of the same once more."""

    group: int
    again: str


@dataclass
class Shapes(Generic[Made]):
    """Shapes of one sort of text, in groups by something that is known before the text is read (as an event's type).

    `wanted` are the places whose texts and numbers a match yields, `fixed` those whose value is part of the shape. Behind
    a text may stand what agrees with it: `suffix` gets the value and the wanted places that are there, and gives the
    pattern. `make` gets the pattern's matching, the places and the value; None from it means no shape.
    """

    wanted: frozenset[Path]
    fixed: frozenset[Path]
    suffix: Callable[[Any, Mapping[Path, Place]], str]
    make: Callable[[Match, Mapping[Path, Place], Any], Made | None]
    groups: dict[Hashable, list[Made]] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    # A pattern costs a few milliseconds, so a form must recur; and there is an end to learning.
    LEARNT_WHEN_SEEN = 4
    FORMS_MAX = 512

    def learn(self, name: Hashable, text: str, value: Any) -> None:
        """Takes note of a text that was read as `value` and found right."""
        if len(text) > _LENGTH_MAX or not text.isascii():
            return
        places: dict[Path, Place] = {}
        try:
            pattern = self._pattern(value, (), places)
        except _UnfitError:
            return
        seen = self._seen.get(pattern, 0) + 1
        if seen == 1 and len(self._seen) >= self.FORMS_MAX:
            return
        self._seen[pattern] = seen
        if seen == self.LEARNT_WHEN_SEEN:
            whole = re.compile(pattern + self.suffix(value, places))
            made = self.make(whole.fullmatch, places, value)
            if made is not None:
                self.groups.setdefault(name, []).append(made)

    def _pattern(self, value: Any, path: Path, places: dict[Path, Place]) -> str:
        kind = type(value)
        if path in self.fixed and kind in (str, int):
            return literal(_encode(value))
        if len(path) > _DEPTH_MAX:
            raise _UnfitError
        if kind is dict:
            items = (f"{literal(_encode(key))}:{self._pattern(value[key], (*path, key), places)}" for key in value)
            return rf"\{{{','.join(items)}\}}"
        if kind is list:
            return rf"\[{','.join(self._pattern(item, (*path, index), places) for index, item in enumerate(value))}\]"
        if kind is bool or value is None:
            return _encode(value)
        pattern = {str: TEXT, int: INTEGER, float: _FRACTION}.get(kind)
        if pattern is None:
            raise _UnfitError
        quote = '"' if kind is str else ""
        if path in self.wanted and kind is not float:
            group = len(places) + 1
            places[path] = Place(group, f"{quote}(?P=g{group}){quote}")
            pattern = f"(?P<g{group}>{pattern})"
        return f"{quote}{pattern}{quote}"


def literal(text: str) -> str:
    """Returns the pattern of a text."""
    return re.escape(text)
