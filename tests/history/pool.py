"""What the clients of a history share: the objects they meet at, and how far they are."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field

OBJECTS_MAX = 24


@dataclass(eq=False)
class Known:
    """What clients were told of an object or a relationship. `versions`: newest last; `ends` of a relationship."""

    name: str
    object_type: str = ""
    versions: list[str] = field(default_factory=list)
    validation: int = 0
    ends: tuple[str, str] = ("", "")


class Pool:
    """The objects and relationships of one workspace that clients change; old ones drop out."""

    def __init__(self, scope_id: str) -> None:
        self.scope_id = scope_id
        self._objects: dict[str, Known] = {}
        self._relationships: dict[str, Known] = {}
        self._lock = threading.Lock()

    def pick(self, draw: random.Random, object_type: str = "") -> Known | None:
        """Returns one of the objects of the type, or of any; None when there is none."""
        with self._lock:
            found = [one for one in self._objects.values() if object_type in ("", one.object_type)]
        return draw.choice(found) if found else None

    def pick_relationship(self, draw: random.Random) -> Known | None:
        """Returns one of the relationships; None when there is none."""
        with self._lock:
            found = list(self._relationships.values())
        return draw.choice(found) if found else None

    def learn(self, known: Known, version_id: str, validation: int = 0) -> None:
        """An object was made, or got a version."""
        with self._lock:
            known.versions.append(version_id)
            known.validation = validation or known.validation
            if len(known.versions) == 1:
                _put(self._objects, known)

    def learn_relationship(self, known: Known, version_id: str) -> None:
        """A relationship was made, or got a version."""
        with self._lock:
            known.versions.append(version_id)
            if len(known.versions) == 1:
                _put(self._relationships, known)

    def forget(self, name: str) -> None:
        """An object is gone. It is still asked for now and then, as what is gone."""
        with self._lock:
            self._objects.pop(name, None)


def _put(kept: dict[str, Known], known: Known) -> None:
    kept[known.name] = known
    while len(kept) > OBJECTS_MAX:
        kept.pop(next(iter(kept)))


class Progress:
    """How many operations are done, and whether it is over."""

    def __init__(self) -> None:
        self.done = 0
        self.is_over = threading.Event()
        self._changed = threading.Condition()

    def count(self) -> None:
        """One more is done."""
        with self._changed:
            self.done += 1
            self._changed.notify_all()

    def end(self) -> None:
        """Nobody goes on."""
        with self._changed:
            self.is_over.set()
            self._changed.notify_all()

    def wait_until(self, done: int, seconds: float) -> bool:
        """Returns when so many are done, or it is over; False when neither came to pass in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self.done >= done or self.is_over.is_set(), seconds)
