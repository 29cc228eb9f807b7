"""Grants as facts, what a sub-grant may be, and what a grantor must hold (authority.md, Delegated authority).

A chain is a tuple of grants from the root grant to the one that is exercised. Times are microseconds since 1970 UTC.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from authz.permissions import ANY, DELEGATE, actions_of
from authz.policy import Enforcer
from authz.reach import EVERYTHING, NOTHING, Pair, Reach

REDELEGATIONS_MAX: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantFacts:
    """The current version of one grant.

    `object_types` and `object_ids` are None when unrestricted; `usage_limit` is None when unlimited; `uses` is the
    counter; the window's ends are both inclusive; `max_redelegations` is the levels of sub-grants it allows, 0..8.
    """

    delegation_id: str
    version_id: str
    sequence: int
    home_scope_id: str
    grantor_id: str
    delegate_id: str
    operations: frozenset[str]
    not_before_us: int
    not_after_us: int
    target_scope_id: str | None = None
    object_types: frozenset[str] | None = None
    object_ids: frozenset[str] | None = None
    revoked: bool = False
    revocable: bool = True
    usage_limit: int | None = None
    uses: int = 0
    parent_id: str | None = None
    max_redelegations: int = 0

    @property
    def effective_scope_id(self) -> str:
        """The workspace in which it can be exercised: the one it targets, else its home, never both."""
        return self.target_scope_id or self.home_scope_id

    @property
    def remaining_uses(self) -> int | None:
        """Its own uses left, never below 0; None when unlimited."""
        return None if self.usage_limit is None else max(0, self.usage_limit - self.uses)


Chain = tuple[GrantFacts, ...]


@dataclass(frozen=True, slots=True)
class MissingAuthority:
    """What a grantor does not hold: the first (action, type, id) found. `rule_id` is the deny that takes it, if any."""

    operation: str
    action: str
    object_type: str
    object_id: str
    rule_id: str | None


def chain_remaining_uses(chain: Iterable[GrantFacts]) -> int | None:
    """Returns the uses left here and in every ancestor; None when nothing in the chain counts."""
    return min((left for grant in chain if (left := grant.remaining_uses) is not None), default=None)


def narrowing_violation(child: GrantFacts, parent: GrantFacts, parent_chain_remaining_uses: int | None) -> str | None:
    """Returns the field of `child` by which it would be more than its parent, or None (P-15.4-13, Q27).

    A restriction the child leaves out is wider than one the parent has. So is an absent usage limit below a chain that
    counts: each use would be taken from the ancestors all the same, but the child would read as unlimited, and it would
    outgrow them the day an ancestor's limit is lifted.
    """
    checks = (
        ("scope_id", child.home_scope_id == parent.home_scope_id),
        ("target_scope_id", child.effective_scope_id == parent.effective_scope_id),
        ("parent_delegation_id", child.parent_id == parent.delegation_id),
        ("granting_actor", child.grantor_id == parent.delegate_id),
        ("max_redelegations", 0 <= child.max_redelegations < parent.max_redelegations <= REDELEGATIONS_MAX),
        ("granted_operations", child.operations <= parent.operations),
        ("granted_object_types", _within(child.object_types, parent.object_types)),
        ("granted_object_ids", _within(child.object_ids, parent.object_ids)),
        ("not_before", child.not_before_us >= parent.not_before_us),
        ("not_after", child.not_after_us <= parent.not_after_us),
        ("usage_limit", _counts_within(child.usage_limit, parent_chain_remaining_uses)),
    )
    return next((field for field, holds in checks if not holds), None)


def grant_authority(
    enforcer: Enforcer,
    grantor_id: str,
    operations: Iterable[str],
    object_types: frozenset[str] | None,
    object_ids: frozenset[str] | None,
) -> MissingAuthority | None:
    """Returns what the grantor lacks to grant the operations, or None when it holds all (authority.md, Grant).

    `enforcer` is that of the workspace in which the grant would be effective. An operation nobody knows is missing.
    The right to grant at all, `delegate`, is asked apart (`missing_over`).
    """
    for operation in sorted(operations):
        actions = actions_of(operation)
        if not actions:
            return MissingAuthority(operation, operation, ANY, ANY, None)
        for action in sorted(actions):
            missing = missing_over(enforcer, grantor_id, action, object_types, object_ids, operation)
            if missing is not None:
                return missing
    return None


def missing_over(
    enforcer: Enforcer,
    actor_id: str,
    action: str,
    object_types: frozenset[str] | None,
    object_ids: frozenset[str] | None,
    operation: str | None = None,
) -> MissingAuthority | None:
    """Returns a (type, id) of the restriction on which the actor may not do the action, or None.

    No restriction means it must hold on `*`. The same as asking `Enforcer.check` of every pair, but the work is bounded
    by the rules and the lists, not by types times ids.
    """
    types = sorted(object_types) if object_types is not None else [ANY]
    ids = sorted(object_ids) if object_ids is not None else [ANY]
    reach = enforcer.reach(actor_id, action)
    missing = _not_allowed(reach, types, ids) or _denied(reach, types, ids)
    if missing is None:
        return None
    verdict = enforcer.check(actor_id, action, *missing)
    return MissingAuthority(operation or action, action, *missing, verdict.rule_id)


def _not_allowed(reach: Reach, types: list[str], ids: list[str]) -> Pair | None:
    ids_left = [object_id for object_id in ids if (ANY, object_id) not in reach.allow]
    for object_type in types:
        if EVERYTHING in reach.allow or (object_type, ANY) in reach.allow:
            continue
        for object_id in ids_left:
            if (object_type, object_id) not in reach.allow:
                return (object_type, object_id)
    return None


def _denied(reach: Reach, types: list[str], ids: list[str]) -> Pair | None:
    type_set, id_set = frozenset(types), frozenset(ids)
    hit = min(
        (
            (kind, object_id)
            for kind, object_id in reach.deny
            if (kind == ANY or kind in type_set) and (object_id == ANY or object_id in id_set)
        ),
        default=None,
    )
    if hit is None:
        return None
    return (types[0] if hit[0] == ANY else hit[0], ids[0] if hit[1] == ANY else hit[1])


def denied_delegating(
    enforcer: Enforcer, actor_id: str, object_types: frozenset[str] | None, object_ids: frozenset[str] | None
) -> bool:
    """Returns whether an explicit deny of `delegate` touches the restriction (authority.md, Sub-delegation).

    Fail closed: a deny on one object refuses a sub-grant that includes the object.
    """
    return any(
        (kind == ANY or object_types is None or kind in object_types)
        and (object_id == ANY or object_ids is None or object_id in object_ids)
        for kind, object_id in enforcer.reach(actor_id, DELEGATE).deny
    )


def restriction_reaches(grant: GrantFacts) -> tuple[Reach, ...]:
    """Returns the grant's restrictions as filters: a row must be within each."""
    reaches: list[Reach] = []
    if grant.object_types is not None:
        reaches.append(Reach(frozenset((kind, ANY) for kind in grant.object_types), NOTHING.deny))
    if grant.object_ids is not None:
        reaches.append(Reach(frozenset((ANY, object_id) for object_id in grant.object_ids), NOTHING.deny))
    return tuple(reaches)


def _within(child: frozenset[str] | None, parent: frozenset[str] | None) -> bool:
    return parent is None or (child is not None and child <= parent)


def _counts_within(limit: int | None, remaining: int | None) -> bool:
    return remaining is None or (limit is not None and limit <= remaining)
