"""Random JSON documents, the places in them, and a plain removal of places from a parsed value."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from server.wire.json_text import JsonValue

Place = tuple[str, ...]
_KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3)
_LEAVES: Any = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
)


def documents(leaves: int = 12) -> st.SearchStrategy[JsonValue]:
    """Documents of some depth."""
    return st.recursive(
        _LEAVES,
        lambda below: st.lists(below, max_size=4) | st.dictionaries(_KEYS, below, max_size=4),
        max_leaves=leaves,
    )


def places_of(document: JsonValue, here: Place = ()) -> list[Place]:
    """Every place in a document, itself first."""
    found = [here]
    if isinstance(document, dict):
        for key, value in document.items():
            found += places_of(value, (*here, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            found += places_of(value, (*here, str(index)))
    return found


def pointer_of(place: Place) -> str:
    """The JSON Pointer of a place."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in place)


_GONE = object()


def without(document: JsonValue, places: list[Place]) -> JsonValue:
    """The document without these places: members left out, elements of arrays null."""
    marked: Any = copy.deepcopy(document)
    for place in places:
        if not place:
            return None
        holder: Any = marked
        for token in place[:-1]:
            holder = (
                holder[int(token)] if isinstance(holder, list) else holder[token] if isinstance(holder, dict) else _GONE
            )
        if isinstance(holder, list):
            holder[int(place[-1])] = None
        elif isinstance(holder, dict):
            holder[place[-1]] = _GONE
    cleaned: JsonValue = _cleaned(marked)
    return cleaned


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cleaned(item) for key, item in value.items() if item is not _GONE}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value
