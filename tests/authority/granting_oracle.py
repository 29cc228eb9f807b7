"""What may be granted and who may revoke, by the rules of authority alone: the oracle's other half."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.authority.oracle import (
    ANY,
    EXHAUSTED,
    EXPLICIT_DENY,
    NO_RULE,
    NOT_EFFECTIVE,
    OK,
    Answer,
    Call,
    Grant,
    Oracle,
    Rule,
    Workspace,
    denied,
)

DIMENSIONS = ("lifecycle", "availability", "retention", "validation")


def judge_grant(oracle: Oracle, caller: str, wanted: Grant) -> Answer:
    """The answer to a request for a grant."""
    home = oracle.workspaces[wanted.home]
    if not home.is_member(caller):
        return Answer("SCOPE_NOT_FOUND")
    refusal = _below(oracle, home, caller, wanted) if wanted.parent else _on_own(oracle, home, caller, wanted)
    if refusal is not None:
        return refusal
    if wanted.not_before_us > wanted.not_after_us or (wanted.parent and not _narrows(wanted, wanted.parent)):
        return Answer("POLICY_DENIED")
    return Answer(OK)


def _on_own(oracle: Oracle, home: Workspace, caller: str, wanted: Grant) -> Answer | None:
    reasons = _lacks(home.rules_of(caller, "delegate"), wanted.types, wanted.ids)
    if reasons:
        return denied(*reasons)
    if _denied_to_delegate(home, caller, wanted):
        return denied(EXPLICIT_DENY)
    place = oracle.workspaces.get(wanted.place)
    if place is None or (wanted.target and wanted.home not in place.permits.values()):
        return Answer("POLICY_DENIED")
    if _denied_to_delegate(place, caller, wanted):
        return denied(EXPLICIT_DENY)
    actions = [action for operation in wanted.operations for action in actions_of(operation)]
    lacking = {r for one in actions for r in _lacks(place.rules_of(caller, one), wanted.types, wanted.ids)}
    return denied(*lacking) if lacking else None


def _below(oracle: Oracle, home: Workspace, caller: str, wanted: Grant) -> Answer | None:
    """The parent must be effective for the caller, who needs nothing else but not to be denied delegating."""
    parent = wanted.parent
    assert parent is not None
    place = oracle.workspaces[parent.place]
    if parent.home != home.scope_id or not oracle.stands(parent, caller, parent.place):
        return denied(NOT_EFFECTIVE)
    if parent.remaining is not None and parent.remaining <= 0:
        return denied(EXHAUSTED)
    # What is passed on is what the parent has of it; the rest is a widening.
    types, ids = _both(wanted.types, parent.types), _both(wanted.ids, parent.ids)
    nothing = frozenset() in (types, ids)
    for operation in frozenset() if nothing else wanted.operations & parent.operations:
        for action in actions_of(operation):
            if _lacks(place.rules_of(parent.chain[0].grantor, action), types, ids):
                return denied(NOT_EFFECTIVE)
    if _denied_to_delegate(home, caller, wanted) or _denied_to_delegate(place, caller, wanted):
        return denied(EXPLICIT_DENY)
    return None


def judge_revocation(oracle: Oracle, scope_id: str, caller: str, delegation_id: str) -> Answer:
    """The answer to a revocation addressed to a workspace."""
    place, grant = oracle.workspaces[scope_id], oracle.grants.get(delegation_id)
    if not place.is_member(caller):
        return Answer("SCOPE_NOT_FOUND")
    grant = grant if grant is not None and grant.home == scope_id else None
    if not place.holds_everywhere(caller, "delegation.revoke"):
        if grant is None or grant.grantor != caller:
            return denied(*oracle.judge(Call(scope_id, caller, "delegation.revoke", "")))
    elif grant is None:
        return Answer("OBJECT_NOT_FOUND")
    return Answer(OK if grant.revoked or grant.revocable else "POLICY_DENIED")


def actions_of(operation: str) -> Iterator[str]:
    """The actions that an operation conveys."""
    yield from (f"transition.{one}" for one in DIMENSIONS) if operation == "transition" else (operation,)


def _lacks(rules: Iterable[Rule], types: frozenset[str] | None, ids: frozenset[str] | None) -> frozenset[str]:
    """Why the rules do not give each type and id of the restrictions, `*` where there are none; nothing when they do."""
    rules, reasons = list(rules), set()
    for pair in ((kind, object_id) for kind in types or {ANY} for object_id in ids or {ANY}):
        covering = [rule for rule in rules if rule.covers(*pair)]
        if not covering:
            reasons.add(NO_RULE)
        elif not all(rule.allows for rule in covering):
            reasons.add(EXPLICIT_DENY)
    return frozenset(reasons)


def _denied_to_delegate(place: Workspace, caller: str, wanted: Grant) -> bool:
    rules = place.rules_of(caller, "delegate")
    return any(not rule.allows and rule.touches(wanted.types, wanted.ids) for rule in rules)


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _narrows(wanted: Grant, parent: Grant) -> bool:
    left = parent.remaining
    return (
        wanted.place == parent.place
        and wanted.depth < parent.depth
        and wanted.operations <= parent.operations
        and (parent.types is None or (wanted.types is not None and wanted.types <= parent.types))
        and (parent.ids is None or (wanted.ids is not None and wanted.ids <= parent.ids))
        and parent.not_before_us <= wanted.not_before_us
        and wanted.not_after_us <= parent.not_after_us
        and (left is None or (wanted.limit is not None and wanted.limit <= left))
    )
