"""Records of a workspace's export: their kinds and order, their bytes, and what their digests cover.

A record is one JSON object of the draft with its keys in order and its content exactly as it was sent; what the draft has
no place for follows in a side record of the same thing (P-8.2-05; Q04 to Q06). Local to a deployment, and so in no
record of memory: ledger sequences, tenants and keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from server.wire.json_text import read_json_text
from storage.model.canonical import canonical_json_with_floats

if TYPE_CHECKING:
    from server.wire.json_export import ExportedRecord

FORMAT: Final = "remit-export/1"

MEMORY_OBJECT: Final = "memory_object"
RELATIONSHIP: Final = "relationship"
EMBEDDING_SPACE: Final = "embedding_space"
VECTOR: Final = "vector"
DELEGATION: Final = "delegation"
LEDGER: Final = "ledger"
EVENT: Final = "event"
SIDE: Final = "_side"
LEDGER_ID: Final = "ledger_id"
HISTORY: Final = "history."
"""Before the kind of a record that came with an import and is history here: it is passed on as it came."""

MEMORY_KINDS: Final = frozenset(
    {
        *(MEMORY_OBJECT, MEMORY_OBJECT + SIDE, RELATIONSHIP, RELATIONSHIP + SIDE),
        *(EMBEDDING_SPACE, EMBEDDING_SPACE + SIDE, VECTOR),
    }
)
"""What becomes memory of the workspace that imports it; the other kinds become history."""

KIND_ORDER: Final = (
    MEMORY_OBJECT,
    RELATIONSHIP,
    EMBEDDING_SPACE,
    VECTOR,
    HISTORY + DELEGATION,
    DELEGATION,
    HISTORY + LEDGER,
    LEDGER,
)
"""The order of an export; versions stand by id and number, events by sequence, and each side record behind its own."""

_SCOPE_KEY: Final = "scope_id"
_CONTENT_KEY: Final = "canonical_content"
_SPACES: Final = " \t\r\n"
_LENGTH_BYTES: Final = 4
# Finds where values end. Their numbers are left as text: an integer of content may be longer than Python reads.
_PLACES: Final = json.JSONDecoder(parse_int=str, parse_float=str)


def members_of(text: str) -> dict[str, str]:
    """Returns the members of a JSON object, each value as its own text. `text` must be a valid JSON object."""
    members: dict[str, str] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _PLACES.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _PLACES.raw_decode(text, start)
        members[key] = text[start:end]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACES:
        at += 1
    return at


def value_bytes(value: Mapping[str, Any]) -> bytes:
    """Returns a record without content as canonical JSON (RFC 8785)."""
    return canonical_json_with_floats(value)


def draft_bytes(record: ExportedRecord) -> bytes:
    """Returns the draft part of a record: canonical but for its content, whose text stands as it was sent, on one line."""
    assert record.draft is not None
    draft = dict(record.draft)
    content = draft.pop(_CONTENT_KEY, None)
    members = {key: canonical_json_with_floats(value).decode() for key, value in draft.items()}
    if record.content_text is not None:
        members[_CONTENT_KEY] = record.content_text
    elif _CONTENT_KEY in record.draft:
        members[_CONTENT_KEY] = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return _object_text(members).encode()


def _object_text(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}:{members[key]}" for key in sorted(members)) + "}"


class ExportDigest:
    """Digests of an export under way, in the order of its records.

    `whole` is over all records exactly as they are; `memory` over the records of memory without their `scope_id`, so that
    it is equal again once they were imported into another workspace and exported from there.
    """

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._memory = hashlib.sha256()
        self.count = 0

    def take(self, kind: str, record: bytes) -> None:
        """Takes the next record, a valid JSON object."""
        self.count += 1
        _feed(self._whole, kind, record)
        if kind in MEMORY_KINDS:
            _feed(self._memory, kind, _without_scope(record))

    @property
    def whole(self) -> bytes:
        """The 32 bytes of ExportTrailer.digest."""
        return self._whole.digest()

    @property
    def memory(self) -> bytes:
        """The 32 bytes of ExportTrailer.memory_digest."""
        return self._memory.digest()


def _feed(digest: Any, kind: str, record: bytes) -> None:
    for part in (kind.encode(), record):
        digest.update(len(part).to_bytes(_LENGTH_BYTES, "big"))
        digest.update(part)


def _without_scope(record: bytes) -> bytes:
    members = members_of(record.decode())
    members.pop(_SCOPE_KEY, None)
    return _object_text(members).encode()


def parsed(record: bytes) -> dict[str, Any]:
    """Returns the value of a record that was accepted before."""
    value = read_json_text(record)
    assert isinstance(value, dict)
    return value


def chainless_ledger(scope_id: str) -> bytes:
    """Returns the record before the entries of a workspace's ledger that came without a chain."""
    return value_bytes({"kind": LEDGER, "scope_id": scope_id})
