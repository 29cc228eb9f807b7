"""How a grant stands apart from any one call: whether it is effective, and whether it may be narrowed further."""

from authz.chain_steps import DENY, GRANT, GRANTOR, standing_steps, use_steps
from authz.decision import Allowed, Denied, denial
from authz.delegation import (
    Chain,
    GrantFacts,
    MissingAuthority,
    chain_remaining_uses,
    denied_delegating,
    grant_authority,
)
from authz.permissions import ANY, DELEGATE, actions_of
from authz.policy import Enforcer
from authz.reasons import ExactReason
from authz.request import AccessRequest, Outcome, Step, failed


def ineffective_reason(enforcer: Enforcer, chain: Chain, now_us: int) -> ExactReason | None:
    """Returns why the last grant of the chain is not effective now for its delegate, or None when it is.

    `enforcer` is that of the workspace where the grant is effective. It stands as long as one granted operation does: a
    grantor that lost some operations has lost those, and each exercise is judged by its own.
    """
    if not chain:
        return ExactReason.DELEGATION_UNKNOWN
    leaf = chain[-1]
    for step in standing_steps(leaf.effective_scope_id, leaf.delegate_id, enforcer, chain, now_us):
        if step.outcome is Outcome.FAILED:
            return step.exact
    for step in use_steps(chain):
        if step.outcome is Outcome.FAILED:
            return step.exact
    held = [
        operation
        for operation in leaf.operations
        if grant_authority(enforcer, chain[0].grantor_id, [operation], leaf.object_types, leaf.object_ids) is None
    ]
    if not held:
        return ExactReason.GRANTOR_LOST_AUTHORITY
    if all(_denied_everywhere(enforcer, chain, operation) for operation in held):
        return ExactReason.EXPLICIT_DENY
    return None


def decide_redelegation(
    *,
    actor_id: str,
    operations: frozenset[str],
    object_types: frozenset[str] | None,
    object_ids: frozenset[str] | None,
    home: Enforcer,
    effective: Enforcer,
    chain: Chain,
    now_us: int,
) -> Allowed | Denied:
    """Returns whether the actor may grant this below the last grant of the chain (authority.md, Sub-delegation).

    The parent must be effective and the actor its delegate; the root grantor must still hold what is passed on; an
    explicit deny of `delegate` refuses it; no other right is needed and no use is taken. `home` is the enforcer of the
    parent's home workspace, to which the call is addressed; `effective` that of where the parent is exercised. Whether
    the child only narrows, and whether sub-grants are allowed at all, is asked apart (`narrowing_violation`): that is
    `policy_denied` and names the field.
    """
    request = AccessRequest(
        tenant_id=home.tenant_id, scope_id=home.scope_id, actor_id=actor_id, action=DELEGATE, operation=None
    )
    if not chain or chain[-1].home_scope_id != home.scope_id:
        return denial(request, home, failed(GRANT, ExactReason.DELEGATION_UNKNOWN))
    for step in standing_steps(effective.scope_id, actor_id, effective, chain, now_us):
        if step.outcome is Outcome.FAILED:
            return denial(request, home, step)
    for step in use_steps(chain):
        if step.outcome is Outcome.FAILED:
            return denial(request, home, step)
    missing = _lost_of_what_is_passed_on(effective, chain, operations, object_types, object_ids)
    if missing is not None:
        return denial(request, home, _failed(GRANTOR, ExactReason.GRANTOR_LOST_AUTHORITY, chain[0], missing.rule_id))
    for enforcer in (home, effective):
        if denied_delegating(enforcer, actor_id, object_types, object_ids):
            rule_id = enforcer.denies(actor_id, DELEGATE, ANY, ANY)
            return denial(request, home, _failed(DENY, ExactReason.EXPLICIT_DENY, chain[-1], rule_id))
    return Allowed(None, (), chain_remaining_uses(chain))


def _lost_of_what_is_passed_on(
    effective: Enforcer,
    chain: Chain,
    operations: frozenset[str],
    object_types: frozenset[str] | None,
    object_ids: frozenset[str] | None,
) -> MissingAuthority | None:
    """Only what the parent has can be passed on; whatever is asked beyond it is a widening, not a lost authority."""
    parent = chain[-1]
    types, ids = _common(object_types, parent.object_types), _common(object_ids, parent.object_ids)
    if frozenset() in (types, ids):
        return None
    return grant_authority(effective, chain[0].grantor_id, operations & parent.operations, types, ids)


def _common(asked: frozenset[str] | None, had: frozenset[str] | None) -> frozenset[str] | None:
    if asked is None or had is None:
        return had if asked is None else asked
    return asked & had


def _failed(name: str, exact: ExactReason, grant: GrantFacts, exact_rule_id: str | None) -> Step:
    return failed(
        name, exact, exact_rule_id=exact_rule_id, delegation_id=grant.delegation_id, version_id=grant.version_id
    )


def _denied_everywhere(enforcer: Enforcer, chain: Chain, operation: str) -> bool:
    return all(
        any(enforcer.denies(grant.delegate_id, action, ANY, ANY) is not None for grant in chain)
        for action in actions_of(operation)
    )
