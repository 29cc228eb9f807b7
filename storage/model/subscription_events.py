"""Events of subscriptions (P-10.8-08; surface.md, section 5)."""

from dataclasses import dataclass
from typing import ClassVar

from storage.model.event_record import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionOpened(Event):
    """A subscription was opened; `filter_digest` is the hex SHA-256 of its canonical filter.

    `start_sequence` absent: it begins after this event.
    """

    TYPE: ClassVar[str] = "subscription_opened"

    subscription_id: str
    filter_digest: str
    start_sequence: int | None = None
    event_classes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionClosed(Event):
    """A subscription was closed; `closed_by` is `subscriber` or `service`."""

    TYPE: ClassVar[str] = "subscription_closed"

    subscription_id: str
    reason: str
    closed_by: str
    last_delivered_sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionReset(Event):
    """The cursor of a subscription was moved by its subscriber."""

    TYPE: ClassVar[str] = "subscription_reset"

    subscription_id: str
    from_sequence: int
    to_sequence: int
