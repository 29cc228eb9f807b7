"""The steps of a call that exercises a grant: the rules 1-6 of authority.md, Delegated authority.

Each yields one step per grant of the chain, root first. Rules 3, 5 and 6 are judged as far as they go without the type
an object is stored with; what is left of them is the last step, `stored_type` (decision.py tells why).
"""

from collections.abc import Iterator
from typing import Final

from authz.delegation import Chain, GrantFacts
from authz.own_steps import STORED_TYPE, chosen_type
from authz.permissions import ANY, conveyed_action
from authz.policy import CROSS_SCOPE_DELEGATION, Enforcer
from authz.reach import Extent, TypeReach
from authz.reasons import CoarseReason, ExactReason
from authz.request import Absence, AccessRequest, Outcome, Step, Touched, failed

GRANT: Final = "grant"
SCOPE: Final = "scope"
DELEGATE: Final = "delegate"
REVOCATION: Final = "revocation"
WINDOW: Final = "window"
OPERATION: Final = "operation"
OBJECT_IDS: Final = "object_ids"
OBJECT_TYPES: Final = "object_types"
USES: Final = "uses"
GRANTOR: Final = "grantor"
DENY: Final = "deny"

NO_DENY: Final[frozenset[str]] = frozenset()


def chain_steps(
    request: AccessRequest, enforcer: Enforcer, chain: Chain, now_us: int, ignore_uses: bool
) -> Iterator[Step]:
    """Yields the steps of exercising the last grant of the chain. An empty chain is a grant that is not there."""
    if not chain:
        yield failed(GRANT, ExactReason.DELEGATION_UNKNOWN)
        return
    yield from standing_steps(request.scope_id, request.actor_id, enforcer, chain, now_us)
    action = conveyed_action(request.action, request.operation)
    yield from _operation_steps(request, chain, action)
    yield from _object_steps(request, chain)
    if not ignore_uses:
        yield from use_steps(chain)
    if action is not None:
        yield from _policy_steps(request, enforcer, chain, action)
        for touched in request.touched:
            if not touched.type_is_chosen:
                yield _stored_type(enforcer, chain, action, touched)


def standing_steps(scope_id: str, actor_id: str, enforcer: Enforcer, chain: Chain, now_us: int) -> Iterator[Step]:
    """Yields rules 1 and 2: the chain holds together, is effective in this workspace, for this actor, and now."""
    parent: GrantFacts | None = None
    for grant in chain:
        yield _step(GRANT, grant, None if _follows(grant, parent) else ExactReason.CHAIN_BROKEN)
        parent = grant
    leaf = chain[-1]
    yield _scope(scope_id, enforcer, leaf)
    yield _step(DELEGATE, leaf, None if leaf.delegate_id == actor_id else ExactReason.DELEGATE_MISMATCH)
    for grant in chain:
        yield _step(REVOCATION, grant, ExactReason.REVOKED if grant.revoked else None)
        yield _step(WINDOW, grant, _window(grant, now_us))


def use_steps(chain: Chain) -> Iterator[Step]:
    """Yields rule 4: uses remain, here and in every ancestor."""
    for grant in chain:
        spent = grant.usage_limit is not None and grant.uses >= grant.usage_limit
        yield _step(USES, grant, ExactReason.USAGE_LIMIT_EXHAUSTED if spent else None)


def _step(
    name: str,
    grant: GrantFacts,
    exact: ExactReason | None,
    rule_id: str | None = None,
    exact_rule_id: str | None = None,
) -> Step:
    if exact is None:
        return Step(name, Outcome.PASSED, None, None, rule_id, exact_rule_id, grant.delegation_id, grant.version_id)
    return failed(
        name,
        exact,
        rule_id=rule_id,
        exact_rule_id=exact_rule_id,
        delegation_id=grant.delegation_id,
        version_id=grant.version_id,
    )


def _follows(grant: GrantFacts, parent: GrantFacts | None) -> bool:
    if parent is None:
        return grant.parent_id is None
    return (
        grant.parent_id == parent.delegation_id
        and grant.grantor_id == parent.delegate_id
        and grant.home_scope_id == parent.home_scope_id
        and grant.target_scope_id == parent.target_scope_id
    )


def _scope(scope_id: str, enforcer: Enforcer, leaf: GrantFacts) -> Step:
    if leaf.effective_scope_id != scope_id:
        return _step(SCOPE, leaf, ExactReason.SCOPE_MISMATCH)
    if leaf.home_scope_id == scope_id:
        return _step(SCOPE, leaf, None)
    rule_id = enforcer.cross_scope_rule(leaf.home_scope_id, CROSS_SCOPE_DELEGATION)
    exact = None if rule_id is not None else ExactReason.CROSS_SCOPE_RULE_MISSING
    return _step(SCOPE, leaf, exact, exact_rule_id=rule_id)


def _window(grant: GrantFacts, now_us: int) -> ExactReason | None:
    if now_us < grant.not_before_us:
        return ExactReason.NOT_YET_VALID
    return ExactReason.EXPIRED if now_us > grant.not_after_us else None


def _operation_steps(request: AccessRequest, chain: Chain, action: str | None) -> Iterator[Step]:
    for grant in chain:
        exact = None
        if action is None:
            exact = ExactReason.NOT_DELEGABLE
        elif request.operation not in grant.operations:
            exact = ExactReason.OPERATION_NOT_GRANTED
        yield _step(OPERATION, grant, exact)


def _object_steps(request: AccessRequest, chain: Chain) -> Iterator[Step]:
    """Rule 3 for ids, and for types where the request chooses them. Lists fail closed on what touches nothing."""
    about_everything = not request.touched and not request.row_filtered
    for grant in chain:
        if grant.object_ids is not None:
            outside = about_everything or any(one.object_id not in grant.object_ids for one in request.touched)
            yield _step(OBJECT_IDS, grant, ExactReason.OBJECT_NOT_GRANTED if outside else None)
        if grant.object_types is not None:
            outside = about_everything or any(
                chosen_type(one) not in grant.object_types for one in request.touched if one.type_is_chosen
            )
            yield _step(OBJECT_TYPES, grant, ExactReason.OBJECT_TYPE_NOT_GRANTED if outside else None)


def _policy_steps(request: AccessRequest, enforcer: Enforcer, chain: Chain, action: str) -> Iterator[Step]:
    """Rules 5 and 6, as far as they go without stored types: the root grantor holds it, no delegate is denied it."""
    root = chain[0]
    holds, rule_id = _grantor_holds(request, enforcer, root.grantor_id, action)
    yield _step(GRANTOR, root, None if holds else ExactReason.GRANTOR_LOST_AUTHORITY, exact_rule_id=rule_id)
    leaf = chain[-1]
    for grant in chain:
        denied_by = _denied_by(request, enforcer, grant.delegate_id, action)
        if denied_by is None:
            yield _step(DENY, grant, None)
        elif grant is leaf:
            yield _step(DENY, grant, ExactReason.EXPLICIT_DENY, rule_id=denied_by)
        else:
            # The rule is about somebody else: it is the ledger's to know.
            yield _step(DENY, grant, ExactReason.ANCESTOR_DENIED, exact_rule_id=denied_by)


def _grantor_holds(request: AccessRequest, enforcer: Enforcer, grantor_id: str, action: str) -> tuple[bool, str | None]:
    rule_id = None
    if request.row_filtered:
        if enforcer.reach(grantor_id, action).empty:
            return False, enforcer.denies(grantor_id, action, ANY, ANY)
    elif not request.touched:
        verdict = enforcer.check(grantor_id, action, ANY, ANY)
        return verdict.allowed, verdict.rule_id
    for touched in request.touched:
        if touched.type_is_chosen:
            verdict = enforcer.check(grantor_id, action, chosen_type(touched), touched.object_id or ANY)
            holds, rule_id = verdict.allowed, verdict.rule_id
        else:
            reach = enforcer.type_reach(grantor_id, action, touched.object_id or ANY)
            holds, rule_id = reach.extent is not Extent.NONE, reach.deny_rule_id or reach.allow_rule_id
        if not holds:
            return False, rule_id
    return True, rule_id


def _denied_by(request: AccessRequest, enforcer: Enforcer, delegate_id: str, action: str) -> str | None:
    """Returns the rule that denies the delegate, whatever the stored types are, or None."""
    # A grant of one action may be what reaches another (conveyed_action): a deny of either stands.
    actions = (action,) if action == request.action else (action, request.action)
    for one in actions:
        if not request.touched or request.row_filtered:
            rule_id = enforcer.denies(delegate_id, one, ANY, ANY)
            if rule_id is not None:
                return rule_id
        for touched in request.touched:
            if touched.type_is_chosen:
                rule_id = enforcer.denies(delegate_id, one, chosen_type(touched), touched.object_id or ANY)
            else:
                rule_id = enforcer.type_reach(delegate_id, one, touched.object_id or ANY).deny_rule_id
            if rule_id is not None:
                return rule_id
    return None


def _stored_type(enforcer: Enforcer, chain: Chain, action: str, touched: Touched) -> Step:
    """What is left of rules 3, 5 and 6 once the stored type is known.

    The coarse reason depends on the chain, the rules and the ids only, never on the type or on whether there is one.
    """
    object_id, object_type = touched.object_id or ANY, touched.object_type
    root = enforcer.type_reach(chain[0].grantor_id, action, object_id)
    delegates = [enforcer.type_reach(grant.delegate_id, action, object_id) for grant in chain]
    limits = [grant.object_types for grant in chain if grant.object_types is not None]
    if not limits and root.extent is Extent.ALL and all(reach.denied == NO_DENY for reach in delegates):
        return Step(STORED_TYPE, Outcome.PASSED)
    if limits:
        coarse = CoarseReason.OBJECT_TYPE_NOT_GRANTED
    elif root.extent is not Extent.ALL:
        coarse = CoarseReason.DELEGATION_NOT_EFFECTIVE
    else:
        coarse = CoarseReason.EXPLICIT_DENY
    if isinstance(object_type, Absence):
        return failed(STORED_TYPE, ExactReason.OBJECT_ABSENT, coarse=coarse, delegation_id=chain[-1].delegation_id)
    if object_type is None:
        if _some_type_is_left(limits, root, delegates):
            return Step(STORED_TYPE, Outcome.UNDECIDED)
        exact = ExactReason.OBJECT_TYPE_NOT_GRANTED if limits else ExactReason.GRANTOR_LOST_AUTHORITY
        return failed(STORED_TYPE, exact, coarse=coarse, delegation_id=chain[-1].delegation_id)
    return _known_type(enforcer, chain, action, object_id, object_type, coarse)


def _some_type_is_left(limits: list[frozenset[str]], root: TypeReach, delegates: list[TypeReach]) -> bool:
    """Returns whether an object of any type could be within; True when the types left are not listed anywhere."""
    listed = limits if root.allowed is None else [*limits, root.allowed]
    if not listed:
        return True
    left = frozenset.intersection(*listed)
    return any(not root.denies(kind) and not any(reach.denies(kind) for reach in delegates) for kind in left)


def _known_type(
    enforcer: Enforcer,
    chain: Chain,
    action: str,
    object_id: str,
    object_type: str,
    coarse: CoarseReason,
) -> Step:
    """Judges a known stored type; the exact reason names the hop and rule, the coarse one is given."""
    exact, rule_id, at = None, None, chain[-1]
    outside = next((g for g in chain if g.object_types is not None and object_type not in g.object_types), None)
    grantor = enforcer.check(chain[0].grantor_id, action, object_type, object_id)
    if outside is not None:
        exact, at = ExactReason.OBJECT_TYPE_NOT_GRANTED, outside
    elif not grantor.allowed:
        exact, rule_id, at = ExactReason.GRANTOR_LOST_AUTHORITY, grantor.rule_id, chain[0]
    else:
        for grant in chain:
            rule_id = enforcer.denies(grant.delegate_id, action, object_type, object_id)
            if rule_id is not None:
                exact = ExactReason.EXPLICIT_DENY if grant is chain[-1] else ExactReason.ANCESTOR_DENIED
                at = grant
                break
    if exact is None:
        return Step(STORED_TYPE, Outcome.PASSED)
    return failed(
        STORED_TYPE,
        exact,
        coarse=coarse,
        exact_rule_id=rule_id,
        delegation_id=at.delegation_id,
        version_id=at.version_id,
    )
