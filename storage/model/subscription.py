"""Durable subscriptions: their filter, their delivery and where they stand (PAMSPEC 10.8; Q33-Q37)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from storage.model.actor import ActorRef, parse_actor
from storage.model.canonical import JsonValue

BATCH_EVENTS_DEFAULT: Final = 100
BATCH_WAIT_MS_DEFAULT: Final = 0
KEEPALIVE_MS_DEFAULT: Final = 30_000
LAG_EVENTS_DEFAULT: Final = 10_000


class Backpressure(StrEnum):
    """What happens when the subscriber lags. Nothing is ever dropped (Q35)."""

    BLOCK = "block"
    CLOSE_ON_LAG = "close_on_lag"


@dataclass(frozen=True, slots=True)
class EventPredicate:
    """The field of an event, by its name on the wire, has one of the values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionFilter:
    """Which events match; all that is given must hold. `event_classes` are event types, None for all of them."""

    object_id: str | None = None
    object_type: str | None = None
    event_classes: tuple[str, ...] | None = None
    predicates: tuple[EventPredicate, ...] = ()

    def for_row(self) -> dict[str, JsonValue]:
        """Returns the filter as it is stored and digested; what is not given is left out."""
        value: dict[str, JsonValue] = {}
        if self.object_id is not None:
            value["object_id"] = self.object_id
        if self.object_type is not None:
            value["object_type"] = self.object_type
        if self.event_classes is not None:
            value["event_classes"] = list(self.event_classes)
        if self.predicates:
            value["predicates"] = [{"field": one.field, "values": list(one.values)} for one in self.predicates]
        return value

    @classmethod
    def of_row(cls, value: Mapping[str, Any]) -> Self:
        """Returns the filter that `for_row` wrote."""
        classes = value.get("event_classes")
        return cls(
            object_id=value.get("object_id"),
            object_type=value.get("object_type"),
            event_classes=None if classes is None else tuple(classes),
            predicates=tuple(EventPredicate(one["field"], tuple(one["values"])) for one in value.get("predicates", ())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How events are delivered. `keepalive_ms` 0: no sign of life; `lag_events_max` counts unacknowledged events."""

    batch_events_max: int = BATCH_EVENTS_DEFAULT
    batch_wait_ms: int = BATCH_WAIT_MS_DEFAULT
    keepalive_ms: int = KEEPALIVE_MS_DEFAULT
    backpressure: Backpressure = Backpressure.BLOCK
    lag_events_max: int = LAG_EVENTS_DEFAULT

    def for_row(self) -> dict[str, JsonValue]:
        """Returns the settings as they are stored."""
        return {
            "batch_events_max": self.batch_events_max,
            "batch_wait_ms": self.batch_wait_ms,
            "keepalive_ms": self.keepalive_ms,
            "backpressure": self.backpressure.value,
            "lag_events_max": self.lag_events_max,
        }

    @classmethod
    def of_row(cls, value: Mapping[str, Any]) -> Self:
        """Returns the settings that `for_row` wrote."""
        return cls(**{**value, "backpressure": Backpressure(value["backpressure"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A subscription as its row stands.

    `acknowledged_sequence` is the durable cursor; `withheld` are ranges after it, both ends included, that were passed
    without authority and never come (Q37). `stream_id` is the newest stream's, `reset_number` counts resets,
    `signal` is the workspace's at the last change that a stream must notice.
    """

    scope_id: str
    subscription_id: str
    actor: ActorRef
    delegation_id: str | None
    filter: SubscriptionFilter
    delivery: Delivery
    ledger_epoch: int
    start_sequence: int
    acknowledged_sequence: int
    delivered_sequence: int
    withheld: tuple[tuple[int, int], ...]
    stream_id: str | None
    reset_number: int
    signal: int
    close_reason: str | None

    @property
    def closed(self) -> bool:
        """It delivers nothing more."""
        return self.close_reason is not None


def actor_for_row(actor: ActorRef) -> dict[str, JsonValue]:
    """Returns the subscriber as its row keeps it, with its name and without its attestation."""
    value = actor.for_event()
    if actor.display_name is not None:
        value["display_name"] = actor.display_name
    return value


def actor_of_row(value: Mapping[str, Any]) -> ActorRef:
    """Returns the subscriber that `actor_for_row` wrote. Raises MalformedCanonical."""
    return parse_actor(dict(value))
