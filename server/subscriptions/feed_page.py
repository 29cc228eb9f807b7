"""Events as subscribers share them: read once, checked once, and made into a message once (ledger.md, Reading)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from remit.v1 import ledger_pb2
from server.events.sound import sound_event
from storage.ledger_feed import FedEvent
from storage.objects import Heads

_CLOSED: Final = "subscription_closed"
# A promotion is told as what it relates: its target and its source.
_RELATIONSHIP_EVENTS: Final = frozenset({"relationship_created", "relationship_updated", "working_memory_promoted"})

Objects = tuple[tuple[str, str], ...]
"""Stored type and id of each object."""


class FeedEntry:
    """One event. `objects` are the stored types and ids of what it is about, empty when it is about no object here."""

    __slots__ = ("_message", "_scope_id", "fed", "objects")

    def __init__(self, scope_id: str, fed: FedEvent, objects: Objects) -> None:
        self._scope_id = scope_id
        self._message: ledger_pb2.LedgerEvent | None = None
        self.fed = fed
        self.objects = objects

    @property
    def sequence(self) -> int:
        """Its place in the ledger."""
        return self.fed.linked.row.sequence

    @property
    def event_type(self) -> str:
        """Its type, as the ledger spells it."""
        return self.fed.linked.row.event_type

    @property
    def message(self) -> ledger_pb2.LedgerEvent:
        """The event as it is given. Raises IntegrityViolation when its row is not what was hashed."""
        if self._message is None:
            self._message = sound_event(self._scope_id, self.fed.linked)
        return self._message

    @property
    def payload(self) -> dict[str, Any]:
        """The event's payload. Raises IntegrityViolation."""
        return dict(json.loads(self.message.payload_json))

    def closes(self, subscription_id: str) -> bool:
        """Returns whether it is the end of a subscription: nothing after it is delivered (P-18.3-05)."""
        return self.event_type == _CLOSED and self.payload.get("subscription_id") == subscription_id


@dataclass(frozen=True, slots=True)
class Page:
    """Consecutive entries after a sequence, and the head that the same statement saw."""

    after_sequence: int
    entries: Sequence[FeedEntry]
    heads: Heads

    @property
    def last_sequence(self) -> int:
        """The place of its last entry, or where it begins when there is none."""
        return self.entries[-1].sequence if self.entries else self.after_sequence

    def after(self, sequence: int) -> Sequence[FeedEntry]:
        """Returns the entries after a sequence within the page: they have no gaps."""
        return self.entries[sequence - self.after_sequence :]


def is_of_relationship(fed: FedEvent) -> bool:
    """Returns whether an event is about a relationship, and so about the objects at its ends."""
    return fed.linked.row.event_type in _RELATIONSHIP_EVENTS


def related_object_ids(fed: FedEvent) -> tuple[str, ...]:
    """Returns the objects at the ends of a relationship's event; none when an end is in another workspace."""
    body = json.loads(fed.linked.row.body)
    payload = body["payload"]
    if payload.get("target_scope_id", body["scope_id"]) != body["scope_id"]:
        return ()
    return payload["source_object_id"], payload["target_object_id"]


def objects_of(fed: FedEvent, ends: Mapping[int, tuple[str, ...]], types: Mapping[str, str]) -> Objects:
    """Returns the stored types and ids of what an event is about; none unless all of it is known to be here."""
    row = fed.linked.row
    if row.sequence in ends:
        found = ends[row.sequence]
        return tuple((types[one], one) for one in found) if all(one in types for one in found) else ()
    if row.object_id is None or fed.object_type is None:
        return ()
    return ((fed.object_type, row.object_id),)
