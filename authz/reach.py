"""What an authority covers: which types of one object, and which (type, id) pairs of a whole workspace.

`Reach` is for filters that run inside SQL; `TypeReach` is for decisions that come before an object is loaded, so that
they cannot depend on whether it exists (authority.md, Denials).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from authz.permissions import ANY

Pair = tuple[str, str]
EVERYTHING: Final[Pair] = (ANY, ANY)


def covers(pairs: frozenset[Pair], object_type: str, object_id: str) -> bool:
    """Returns whether a pair names the type or `*`, and the id or `*`. A requested `*` is met by `*` only."""
    return (
        (object_type, object_id) in pairs
        or (object_type, ANY) in pairs
        or (ANY, object_id) in pairs
        or EVERYTHING in pairs
    )


def widest(pairs: Iterable[Pair]) -> frozenset[Pair]:
    """Returns the pairs without those that another pair includes, so that filters made of them stay short."""
    kept = frozenset(pairs)
    if EVERYTHING in kept:
        return frozenset({EVERYTHING})
    return frozenset(
        (kind, object_id)
        for kind, object_id in kept
        if (kind == ANY or (ANY, object_id) not in kept) and (object_id == ANY or (kind, ANY) not in kept)
    )


@dataclass(frozen=True, slots=True)
class Reach:
    """A row is within when an allow pair matches it and no deny pair does; a pair is (type or `*`, id or `*`)."""

    allow: frozenset[Pair]
    deny: frozenset[Pair]

    @property
    def empty(self) -> bool:
        """No row can be within."""
        return all(covers(self.deny, *pair) for pair in self.allow)

    @property
    def unlimited(self) -> bool:
        """Every row is within; no filter is needed."""
        return EVERYTHING in self.allow and not self.deny

    def admits(self, object_type: str, object_id: str) -> bool:
        """Returns whether the row is within."""
        return covers(self.allow, object_type, object_id) and not covers(self.deny, object_type, object_id)


NOTHING: Final = Reach(frozenset(), frozenset())


class Extent(Enum):
    """How far a `TypeReach` goes."""

    ALL = "all"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TypeReach:
    """For which types an actor may do an action on one object id.

    `allowed` and `denied` are sets of types, None meaning every type. `allow_rule_id` and `deny_rule_id` are the rules
    that settle it for every type at once; None where only single types are settled.
    """

    extent: Extent
    allowed: frozenset[str] | None
    denied: frozenset[str] | None
    allow_rule_id: str | None
    deny_rule_id: str | None

    @classmethod
    def of(
        cls,
        allowed: frozenset[str] | None,
        denied: frozenset[str] | None,
        allow_rule_id: str | None = None,
        deny_rule_id: str | None = None,
    ) -> "TypeReach":
        """Returns the reach of these sets with its extent worked out."""
        if denied is None or (allowed is not None and allowed <= denied):
            extent = Extent.NONE
        elif allowed is None and not denied:
            extent = Extent.ALL
        else:
            extent = Extent.SOME
        return cls(extent, allowed, denied, allow_rule_id, deny_rule_id)

    def denies(self, object_type: str) -> bool:
        """Returns whether a deny names the type."""
        return self.denied is None or object_type in self.denied

    def admits(self, object_type: str) -> bool:
        """Returns whether the action is allowed on an object of the type."""
        return (self.allowed is None or object_type in self.allowed) and not self.denies(object_type)


NO_TYPE: Final = TypeReach.of(frozenset(), frozenset())
