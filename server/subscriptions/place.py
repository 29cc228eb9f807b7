"""How far a stream has come: what is sent, what is acknowledged, and what was passed without authority (Q33, Q37)."""

from __future__ import annotations

from bisect import insort
from collections import deque

from storage.model.subscription import Subscription


class Place:
    """Where one stream of a subscription stands, and what of it must outlive the stream.

    `position` is how far the ledger was read, `sent_sequence` the last event this stream sent (0: none).
    """

    def __init__(self, subscription: Subscription, *, counts: bool) -> None:
        self._counts = counts
        self.reset(subscription)

    def reset(self, subscription: Subscription) -> None:
        """Goes to where the row says: after what was acknowledged, past what was withheld."""
        self.position = subscription.acknowledged_sequence
        self.acknowledged_sequence = subscription.acknowledged_sequence
        self.delivered_sequence = subscription.delivered_sequence
        self.sent_sequence = 0
        self.reset_number = subscription.reset_number
        self._withheld = [list(bounds) for bounds in subscription.withheld]
        self._unacknowledged: deque[int] = deque()

    @property
    def unacknowledged_count(self) -> int:
        """Events sent and not acknowledged, where they are counted."""
        return len(self._unacknowledged)

    def is_withheld(self, sequence: int) -> bool:
        """Returns whether an event was passed without authority before: it never comes (Q37)."""
        if not self._withheld or sequence > self._withheld[-1][1]:
            return False
        return any(first <= sequence <= last for first, last in self._withheld)

    def withhold(self, sequence: int) -> None:
        """Notes that an event is passed without authority."""
        if not self._withheld or self._withheld[-1][1] < min(sequence, self.sent_sequence):
            self._withheld.append([sequence, sequence])
        elif sequence > self._withheld[-1][1]:
            # Nothing was sent in between: the longer range holds nothing that could have to come again.
            self._withheld[-1][1] = sequence
        elif not self.is_withheld(sequence):
            insort(self._withheld, [sequence, sequence])

    def sent(self, sequence: int) -> None:
        """Notes that an event is sent; in order with what is withheld."""
        self.sent_sequence = sequence
        self.delivered_sequence = max(self.delivered_sequence, sequence)
        if self._counts:
            self._unacknowledged.append(sequence)

    def acknowledge(self, sequence: int) -> None:
        """Notes that everything up to a sequence was received."""
        self.acknowledged_sequence = max(self.acknowledged_sequence, sequence)
        while self._unacknowledged and self._unacknowledged[0] <= sequence:
            self._unacknowledged.popleft()
        self._withheld = [bounds for bounds in self._withheld if bounds[1] > self.acknowledged_sequence]

    def durable(self, passed_sequence: int) -> tuple[int, int, list[int]]:
        """Returns the cursor, the last event delivered and the bounds of what is withheld after the cursor.

        `passed_sequence` is how far everything was either sent or passed. Where nothing waits to be acknowledged, the
        cursor goes there by itself.
        """
        if self.sent_sequence > self.acknowledged_sequence:
            bounds = [bound for pair in self._withheld for bound in pair if pair[1] > self.acknowledged_sequence]
            return self.acknowledged_sequence, self.delivered_sequence, bounds
        cursor = max(self.acknowledged_sequence, passed_sequence)
        return cursor, self.delivered_sequence, [b for pair in self._withheld for b in pair if pair[1] > cursor]
