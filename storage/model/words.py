"""Words of content as the lexical index knows them: folded, counted, and hashed under a workspace's key (memory.md).

A word is a run of Unicode letters, digits and marks of a text, NFKC-normalized and case-folded; the texts of a JSON
value are its strings and numbers, not its keys. Only keyed hashes of words are ever stored.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from unicodedata import category, normalize

TOKEN_BYTES: Final = 16
WORDS_MAX: Final = 5_000
"""Distinct words of one object that are indexed; those that come after are not found."""
_ASCII_WORD: Final = re.compile(r"[a-z0-9_]+")


def words_of(text: str) -> list[str]:
    """Returns the words of a text, in order."""
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    # Marks belong to the word: without them the words of many scripts fall apart.
    spaced = "".join(char if char.isalnum() or char == "_" or category(char)[0] == "M" else " " for char in folded)
    return spaced.split()


def counted_words(value: Any) -> Counter[str]:
    """Returns how often each word stands in a JSON value, the first WORDS_MAX distinct ones."""
    counted: Counter[str] = Counter()
    for text in _texts(value):
        for word in words_of(text):
            if word in counted or len(counted) < WORDS_MAX:
                counted[word] += 1
    return counted


def token_of(lexical_key: bytes, word: str) -> bytes:
    """Returns the keyed hash of a word, TOKEN_BYTES long."""
    return hmac.digest(lexical_key, word.encode("utf-8", "surrogatepass"), "sha256")[:TOKEN_BYTES]


def _texts(value: Any) -> Iterator[str]:
    # A stack instead of recursion: content nests as deep as the limit says.
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield repr(item)
