"""Events of subscriptions (P-10.8-08; surface.md, section 5)."""

from dataclasses import dataclass
from typing import ClassVar

from storage.model.event_record import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionOpened(Event):
    """A subscription was opened; `filter_digest` is the hex SHA-256 of its canonical filter."""

    TYPE: ClassVar[str] = "subscription_opened"

    subscription_id: str
    start_sequence: int
    filter_digest: str
    event_classes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionClosed(Event):
    """A subscription was closed, by its subscriber or by the service."""

    TYPE: ClassVar[str] = "subscription_closed"

    subscription_id: str
    reason: str
    last_delivered_sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionReset(Event):
    """The cursor of a subscription was moved by its subscriber."""

    TYPE: ClassVar[str] = "subscription_reset"

    subscription_id: str
    from_sequence: int
    to_sequence: int
