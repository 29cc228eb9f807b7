"""What a history of calls and the ledger it left must be to each other: linearizable, and nothing lost or doubled.

The ledger gives the order in which changes took place. The versions of an object are a register whose writes are
totally ordered and all different, so its history is linearizable exactly when no call that began after another had
ended stands before it. Nothing of the service's is imported. Every check yields what is wrong, as text.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.history.ledger_oracle import PRIMARY, RELATIONSHIP_PRIMARY, SHAPES, Event, Ledger

NEVER = 1 << 62
OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
READS = {"read", "read_version"}
# What is refused with OBJECT_DELETED was refused because of the object it names.
NAME_ONE_OBJECT = {"read", "update", "transition", "delete", "redact", "promote"}


@dataclass(frozen=True, slots=True)
class Call:
    """One operation, with all its attempts. Times are nanoseconds of one clock; `ended_ns` is NEVER when unknown.

    `version_id`: the version that a read gave, or that a refusal named as the current one. `content`: what was sent, or
    what a read gave. `versions` and `relationships`: all that an answer said it made, by id, with their versions.
    """

    kind: str
    operation_id: str
    object_id: str
    began_ns: int
    ended_ns: int
    outcome: str
    reason: str = ""
    expected_version_id: str = ""
    version_id: str = ""
    content: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    relationships: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind} {self.operation_id}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call stands in an order of changes; `is_change`: nothing else may stand there."""

    call: Call
    rank: int
    is_change: bool


class History:
    """The calls beside the ledger, and where everything is found."""

    def __init__(self, calls: Iterable[Call], ledger: Ledger) -> None:
        self.calls = list(calls)
        self.ledger = ledger
        self.operations = ledger.by_operation()
        self.chains = ledger.chains()
        self.callers = {call.operation_id: call for call in self.calls}
        self.previous: dict[str, str | None] = {}
        self.ranks: dict[str, int] = {}
        for version in ledger.versions:
            self.ranks[version.version_id] = version.sequence
            self.previous[version.version_id] = version.core.get("previous_version_id")
        last: dict[str, str] = {}
        for event in self.changes_of_relationships():
            name, version_id = event.body["relationship_id"], event.body["version_id"]
            self.ranks[version_id] = event.body["payload"]["relationship_sequence"]
            self.previous[version_id] = last.get(name)
            last[name] = version_id

    def changes_of_objects(self) -> Iterator[Event]:
        """The events that stand for versions of objects."""
        return (event for event in self.ledger.events if event.event_type in PRIMARY)

    def changes_of_relationships(self) -> Iterator[Event]:
        """The events that stand for versions of relationships."""
        return (event for event in self.ledger.events if event.event_type in RELATIONSHIP_PRIMARY)

    def made(self, operation_id: str) -> tuple[dict[str, str], dict[str, str]]:
        """The versions that an operation made, of objects and of relationships, each by the id of what it is of."""
        found = self.operations.get(operation_id, [])
        objects = {e.body["object_id"]: e.body["version_id"] for e in found if e.event_type in PRIMARY}
        linked = {
            e.body["relationship_id"]: e.body["version_id"] for e in found if e.event_type in RELATIONSHIP_PRIMARY
        }
        return objects, linked

    def check(self) -> Iterator[str]:
        """All that calls and ledger must be to each other, but for contents."""
        yield from self._effects()
        yield from self._askers()
        yield from self._order_of_ledger()
        yield from self._expectations()
        yield from self._registers()

    def _effects(self) -> Iterator[str]:
        """What was acknowledged is there exactly once and whole, what was refused is not there, the rest at most once."""
        for call in self.calls:
            if call.kind in READS:
                continue
            left = tuple(sorted(event.event_type for event in self.operations.get(call.operation_id, [])))
            is_whole = left in [tuple(sorted(shape)) for shape in SHAPES[call.kind]]
            if call.outcome == REFUSED and left:
                yield f"{call} was refused ({call.reason}) and left {left}"
            if call.outcome == OK and not is_whole:
                yield f"{call} was acknowledged and left {left}"
            if call.outcome == UNKNOWN and left and not is_whole:
                yield f"{call} is torn: {left}"
            if call.outcome == OK and self.made(call.operation_id) != (call.versions, call.relationships):
                yield f"{call} was told {call.versions} {call.relationships}, made {self.made(call.operation_id)}"

    def _askers(self) -> Iterator[str]:
        for event in (*self.changes_of_objects(), *self.changes_of_relationships()):
            if event.body["operation_id"] not in self.callers:
                yield f"event {event.sequence} ({event.event_type}) was asked for by nobody"

    def _order_of_ledger(self) -> Iterator[str]:
        """A change acknowledged before another was asked for stands before it in the ledger; none is split by others."""
        places = []
        for call in self.calls:
            found = self.operations.get(call.operation_id)
            if not found or call.kind in READS:
                continue
            if found[-1].sequence - found[0].sequence != len(found) - 1:
                yield f"{call} is split: {[event.sequence for event in found]}"
            places.append(Place(call, found[0].sequence, is_change=True))
        yield from out_of_order("the ledger", places)

    def _expectations(self) -> Iterator[str]:
        """A change was made to the very version that its caller named."""
        for call in self.calls:
            if not call.expected_version_id or call.kind in READS:
                continue
            objects, linked = self.made(call.operation_id)
            version_id = (linked if call.kind == "relate_update" else objects).get(call.object_id)
            if version_id is not None and self.previous.get(version_id) != call.expected_version_id:
                yield f"{call} named {call.expected_version_id} and followed {self.previous.get(version_id)}"

    def _registers(self) -> Iterator[str]:
        """Per object: changes, reads and refusals in an order that agrees with what had ended before what began."""
        places: defaultdict[str, list[Place]] = defaultdict(list)
        for key, events in (
            ("object_id", self.changes_of_objects()),
            ("relationship_id", self.changes_of_relationships()),
        ):
            for event in events:
                maker = self.callers.get(event.body["operation_id"])
                if maker is not None:
                    rank = self.ranks.get(event.body["version_id"], 0)
                    places[event.body[key]].append(Place(maker, rank, is_change=True))
        for call in self.calls:
            saw = self._saw(call)
            if saw is None:
                continue
            if isinstance(saw, str):
                yield f"{call} {saw}"
            else:
                places[call.object_id].append(Place(call, saw, is_change=False))
        for name, found in places.items():
            yield from out_of_order(name, found)

    def _saw(self, call: Call) -> int | str | None:
        """The version, by its number, that the call found current; text: what can't be; None: it does not say."""
        if call.kind == "read" and call.outcome == OK:
            return self.ranks.get(call.version_id, f"read the version {call.version_id}, which is not there")
        if call.reason == "VERSION_CONFLICT" and call.version_id:
            if call.version_id == call.expected_version_id:
                return "conflicts with the very version it named"
            return self.ranks.get(call.version_id, f"conflicts with the version {call.version_id}, which is not there")
        if call.reason == "OBJECT_DELETED" and call.kind in NAME_ONE_OBJECT:
            last = self.chains[call.object_id][-1]
            is_tombstone = last.core["availability_state"] == "deleted"
            return last.sequence if is_tombstone else f"was told of a tombstone of {call.object_id}, which has none"
        if call.reason == "OBJECT_NOT_FOUND" and call.kind in NAME_ONE_OBJECT:
            return 0
        return None


def out_of_order(name: str, places: list[Place]) -> Iterator[str]:
    """Names each call that stands before one that had ended when it began, or, for a change, at the same place."""
    ended: list[tuple[int, int, str]] = []
    highest, holder = -1, ""
    for place in sorted(places, key=lambda one: one.call.began_ns):
        while ended and ended[0][0] < place.call.began_ns:
            _, rank, told = heapq.heappop(ended)
            if rank > highest:
                highest, holder = rank, told
        if place.rank < highest or (place.is_change and place.rank == highest):
            yield f"{name}: {place.call} stands at {place.rank}, but began after {holder} had ended at {highest}"
        heapq.heappush(ended, (place.call.ended_ns, place.rank, str(place.call)))
