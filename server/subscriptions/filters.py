"""Filters of events: wire -> model, and whether an event matches (P-10.8-01, P-18.3-03)."""

from __future__ import annotations

import hashlib
from typing import Final, cast

from remit.v1 import ledger_pb2
from server.subscriptions.feed_page import FeedEntry
from server.wire.enum_numbers import EVENT_TYPE_NAMES, EVENT_TYPE_NUMBERS
from storage.model.canonical import canonical_json
from storage.model.subscription import EventPredicate, SubscriptionFilter

# The contract names fields by their names in the message.
_FIELDS: Final = {
    value.number: value.name.removeprefix("EVENT_FIELD_").lower()
    for value in ledger_pb2.EventField.DESCRIPTOR.values
    if value.number
}
_FIELD_NUMBERS: Final = {name: number for number, name in _FIELDS.items()}


def filter_from(message: ledger_pb2.SubscriptionFilter) -> SubscriptionFilter:
    """Returns the filter of a validated message."""
    classes = None
    if message.HasField("event_classes"):
        classes = tuple(EVENT_TYPE_NAMES[number] for number in message.event_classes.event_types)
    return SubscriptionFilter(
        object_id=message.object_id or None,
        object_type=message.object_type or None,
        event_classes=classes,
        predicates=tuple(EventPredicate(_FIELDS[one.field], tuple(one.values)) for one in message.predicates),
    )


def filter_message(wanted: SubscriptionFilter) -> ledger_pb2.SubscriptionFilter:
    """Returns the resolved filter."""
    message = ledger_pb2.SubscriptionFilter(object_id=wanted.object_id or "", object_type=wanted.object_type or "")
    if wanted.event_classes is not None:
        numbers = (EVENT_TYPE_NUMBERS[name] for name in wanted.event_classes)
        message.event_classes.event_types.extend(cast("ledger_pb2.EventType", number) for number in numbers)
    for one in wanted.predicates:
        number = cast("ledger_pb2.EventField", _FIELD_NUMBERS[one.field])
        message.predicates.add(field=number, values=one.values)
    return message


def filter_digest(wanted: SubscriptionFilter) -> str:
    """Returns the hex SHA-256 of the canonical filter, which stands for it in the ledger."""
    return hashlib.sha256(canonical_json(wanted.for_row())).hexdigest()


class Matcher:
    """Says which events a filter is about. It knows nothing of authority: that is judged beside it, and decides."""

    def __init__(self, wanted: SubscriptionFilter) -> None:
        self._object_id = wanted.object_id
        self._object_type = wanted.object_type
        self._classes = None if wanted.event_classes is None else frozenset(wanted.event_classes)
        self._predicates = [(one.field, frozenset(one.values)) for one in wanted.predicates]

    def matches(self, entry: FeedEntry) -> bool:
        """Returns whether all that the filter names holds. Raises IntegrityViolation."""
        if self._classes is not None and entry.event_type not in self._classes:
            return False
        if self._object_id is not None and not self._names_object(entry):
            return False
        if self._object_type is not None and all(kind != self._object_type for kind, _ in entry.objects):
            return False
        message = entry.message if self._predicates else None
        return all(self._value(message, field) in values for field, values in self._predicates)

    def _names_object(self, entry: FeedEntry) -> bool:
        named = entry.fed.linked.row.object_id == self._object_id
        return named or any(object_id == self._object_id for _, object_id in entry.objects)

    @staticmethod
    def _value(message: ledger_pb2.LedgerEvent | None, field: str) -> str:
        assert message is not None
        return message.actor.actor_id if field == "actor_id" else str(getattr(message, field))
