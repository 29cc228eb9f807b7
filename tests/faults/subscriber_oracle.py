"""What a subscriber may have been given, told from what it did and from the ledger as it stands at the end.

Nothing of the service's is imported. A step whose outcome nobody knows leaves several places where the cursor may be.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One step of a subscriber: `poll`, `open`, `received`, `acknowledge` or `reset`.

    `known` says whether an answer came; `events` are the sequences given, `sequence` is what was acknowledged or reset
    to, and `most` how many events a poll may take.
    """

    kind: str
    known: bool = True
    events: tuple[int, ...] = ()
    sequence: int = 0
    most: int = 0


@dataclass
class Oracle:
    """Where the cursor, and the stream that is open, may be. `deliverable` are all sequences that had to come, in order."""

    deliverable: Sequence[int]
    cursors: set[int]
    streams: set[int] = field(default_factory=set)

    def take(self, step: Step) -> None:
        """Holds a step to what was possible; fails where it was not."""
        getattr(self, f"_{step.kind}")(step)

    def _following(self, place: int, count: int) -> tuple[int, ...]:
        first = bisect_right(self.deliverable, place)
        return tuple(self.deliverable[first : first + count])

    def _from(self, places: set[int], events: tuple[int, ...]) -> set[int]:
        possible = {place for place in places if self._following(place, len(events)) == events}
        assert possible, f"{events} can't follow any of {sorted(places)} in {list(self.deliverable)}"
        return possible

    def _poll(self, step: Step) -> None:
        if not step.known:
            for place in list(self.cursors):
                self.cursors.update(self._following(place, step.most))
        elif step.events:
            # Those that were given are given once: the cursor is behind them.
            self._from(self.cursors, step.events)
            self.cursors = {step.events[-1]}

    def _open(self, step: Step) -> None:
        self.streams = set(self.cursors)

    def _received(self, step: Step) -> None:
        if step.events:
            self._from(self.streams, step.events)
            self.streams = {step.events[-1]}

    def _acknowledge(self, step: Step) -> None:
        moved = {max(place, step.sequence) for place in self.cursors}
        self.cursors = moved if step.known else self.cursors | moved

    def _reset(self, step: Step) -> None:
        self.cursors = {step.sequence} if step.known else self.cursors | {step.sequence}
