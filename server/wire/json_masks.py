"""Masks over a JSON text: what JSON Pointers (RFC 6901) name is taken out, all else stays as it was written (P-9.3-02).

A member that a pointer names is left out. An element of an array becomes `null`, so that the indexes of those behind it
stay; so does the whole text for the empty pointer. Values that no pointer reaches keep their bytes, numbers of any size
included; of the objects and arrays on the way to a masked place, only the white space between their parts is dropped.
Pointers are all read against the text as it is given. The same text and pointers give the same bytes, always.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

MASKED: Final = "null"
"""What stands for a masked element of an array."""

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)*", re.DOTALL)
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_CONTAINERS: Final = {"{": "}", "[": "]"}
# Only where a value ends matters, so no number is ever made of its digits.
_ENDS: Final = json.JSONDecoder(parse_int=len, parse_float=len, strict=False)


def is_pointer(text: str) -> bool:
    """Returns whether the text is a JSON Pointer."""
    return _POINTER.fullmatch(text) is not None


def pointer_tokens(pointer: str) -> tuple[str, ...]:
    """Returns the reference tokens of a pointer, unescaped."""
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


@dataclass(slots=True)
class _Node:
    """A place on the way of pointers: those that end here, and the places below."""

    ending: list[str] = field(default_factory=list)
    below: dict[str, _Node] = field(default_factory=dict)

    def pointers(self) -> Iterable[str]:
        """Every pointer that ends here or below."""
        yield from self.ending
        for node in self.below.values():
            yield from node.pointers()


def mask_json(text: bytes, pointers: Collection[str]) -> tuple[bytes, frozenset[str]]:
    """Returns the masked text and those of the pointers that name a place in it; the very bytes when none does.

    `text` was accepted by `parse_json_text`, and `pointers` by `is_pointer`. A place inside a masked one counts where
    it is there.
    """
    if not pointers:
        return text, frozenset()
    root = _Node()
    for pointer in pointers:
        node = root
        for token in pointer_tokens(pointer):
            node = node.below.setdefault(token, _Node())
        node.ending.append(pointer)
    run = _Run(text.decode("utf-8"))
    masked, _ = run.value(run.past_space(0), root)
    if not run.matched:
        return text, frozenset()
    return (MASKED if masked is None else masked).encode(), frozenset(run.matched)


class _Run:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.matched: set[str] = set()

    def past_space(self, at: int) -> int:
        """Returns where the white space at a place ends."""
        found = _SPACE.match(self._text, at)
        assert found is not None
        return found.end()

    def value(self, at: int, node: _Node | None) -> tuple[str | None, int]:
        """Returns the value at a place as it is after masking (None: masked itself), and where it ends."""
        if node is None:
            _, end = _ENDS.raw_decode(self._text, at)
            return self._text[at:end], end
        self.matched.update(node.ending)
        opening = self._text[at]
        if not node.below or opening not in _CONTAINERS:
            _, end = _ENDS.raw_decode(self._text, at)
            return (None if node.ending else self._text[at:end]), end
        before = len(self.matched)
        written, end = self._object(at, node) if opening == "{" else self._array(at, node)
        if node.ending:
            return None, end
        # Nothing below is there: the bytes stay as they are.
        return (self._text[at:end] if len(self.matched) == before else written), end

    def _object(self, at: int, node: _Node) -> tuple[str, int]:
        members: list[str] = []
        at = self.past_space(at + 1)
        while self._text[at] != "}":
            start = at
            name, at = _ENDS.raw_decode(self._text, at)
            key = self._text[start:at]
            at = self.past_space(self.past_space(at) + 1)
            below = node.below.get(name)
            written, at = self.value(at, below)
            if written is not None:
                members.append(f"{key}:{written}")
            at = self._next(at)
        return "{" + ",".join(members) + "}", at + 1

    def _array(self, at: int, node: _Node) -> tuple[str, int]:
        elements: list[str] = []
        at = self.past_space(at + 1)
        while self._text[at] != "]":
            written, at = self.value(at, node.below.get(str(len(elements))))
            elements.append(MASKED if written is None else written)
            at = self._next(at)
        return "[" + ",".join(elements) + "]", at + 1

    def _next(self, at: int) -> int:
        """Returns where the next part of a container begins, or its end stands."""
        at = self.past_space(at)
        return self.past_space(at + 1) if self._text[at] == "," else at
