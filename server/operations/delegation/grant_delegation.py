"""GrantDelegation (P-15.4-02 to -07, -13; P-18.2-01, -03; authority.md, Grant and Sub-delegation)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from authz.decision import Denied
from authz.delegation import (
    Chain,
    GrantFacts,
    MissingAuthority,
    chain_remaining_uses,
    denied_delegating,
    grant_authority,
    missing_over,
    narrowing_violation,
)
from authz.permissions import ANY, DELEGATE
from authz.policy import Enforcer
from authz.reasons import COARSE_OF, ExactReason
from authz.standing import decide_redelegation
from remit.v1 import delegation_pb2
from server.authority.granting import SealedVersion, facts_of, stored_version, wanted_version
from server.authority.refusals import Refused, StaleFacts
from server.authority.standings import confirm_policy, find_grant
from server.call import Call, Change
from server.domain_errors import PolicyDenied
from server.wire.delegations import delegation_message
from storage.commands import AlsoGuard, ChainGuard, Status
from storage.model.delegation import DelegationVersion
from storage.model.events import DelegationGranted


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a grant stands on: the enforcer of where it will be effective, and the grants above it, root first."""

    effective: Enforcer
    chain: Chain = ()


async def handle(call: Call, request: delegation_pb2.GrantDelegationRequest) -> delegation_pb2.GrantDelegationResponse:
    """Grants operations on the caller's own authority, or narrows a grant of which it is the delegate.

    Takes no use. Raises Refused when the caller lacks what it grants; PolicyDenied, naming the field, for an inverted
    window, a target workspace that does not permit it (one that is not there is such a one), and for what is wider than
    the parent.
    """
    wanted = wanted_version(call, request, await call.services.clock.now_us())
    basis = await (_on_own_authority if wanted.parent_delegation_id is None else _below_parent)(call, wanted)
    earlier = call.replayed()
    if earlier is not None:
        return await _replay(call, earlier)
    if wanted.not_before_us > wanted.not_after_us:
        raise PolicyDenied("the window ends before it begins", field="not_before")
    _demand_narrower(wanted, basis.chain)
    sealed = SealedVersion.of(call, wanted)
    event = call.event(_granted(sealed), version_id=wanted.version_id, delegation_id=wanted.delegation_id)
    guarded = tuple((grant.delegation_id, grant.sequence) for grant in basis.chain)
    crosses = basis.effective.scope_id != call.scope_id
    outcome = await call.commit(
        Change(
            events=[event],
            result={
                "delegation_id": wanted.delegation_id,
                "version_id": wanted.version_id,
                "event_ids": [event.event_id],
            },
            colds=[sealed.grant(basis.chain)],
            chain=ChainGuard(call.scope_id, guarded, take_use=False) if guarded else None,
            also=AlsoGuard(basis.effective.scope_id, basis.effective.restrict_revision) if crosses else None,
        )
    )
    if outcome.status is Status.REPLAYED:
        return await _replay(call, outcome.detail)
    return delegation_pb2.GrantDelegationResponse(
        delegation=delegation_message(wanted), event_id=event.event_id, operation_id=call.operation_id
    )


async def _on_own_authority(call: Call, wanted: DelegationVersion) -> _Basis:
    """The caller needs `delegate` here, and every granted operation where the grant will be effective."""
    facts = facts_of(wanted)
    missing = missing_over(call.view.enforcer, call.actor_id, DELEGATE, facts.object_types, facts.object_ids)
    if missing is not None:
        raise Refused(_lacking(missing, told=True))
    # Before the target is looked up: who may not delegate here learns nothing of what other workspaces permit.
    _demand_not_denied(call.view.enforcer, call.actor_id, facts)
    effective = call.view.enforcer
    if wanted.target_scope_id is not None:
        effective = await _target(call, wanted.target_scope_id)
        _demand_not_denied(effective, call.actor_id, facts)
    missing = grant_authority(effective, call.actor_id, facts.operations, facts.object_types, facts.object_ids)
    if missing is not None:
        raise Refused(_lacking(missing, told=effective is call.view.enforcer))
    return _Basis(effective)


def _demand_not_denied(enforcer: Enforcer, actor_id: str, facts: GrantFacts) -> None:
    if denied_delegating(enforcer, actor_id, facts.object_types, facts.object_ids):
        exact, rule_id = ExactReason.EXPLICIT_DENY, enforcer.denies(actor_id, DELEGATE, ANY, ANY)
        raise Refused(Denied(COARSE_OF[exact], exact, exact_rule_id=rule_id))


async def _below_parent(call: Call, wanted: DelegationVersion) -> _Basis:
    """The caller must be the delegate of an effective parent that lives here, and needs no right of its own."""
    assert wanted.parent_delegation_id is not None
    parent = await find_grant(call, wanted.parent_delegation_id)
    chain = () if parent is None else parent.exercise.grants
    effective = call.view.enforcer
    if parent is not None and parent.facts.home_scope_id == call.scope_id != parent.facts.effective_scope_id:
        effective = await _enforcer_now(call, parent.facts.effective_scope_id)
    facts = facts_of(wanted)
    decision = decide_redelegation(
        actor_id=call.actor_id,
        operations=facts.operations,
        object_types=facts.object_types,
        object_ids=facts.object_ids,
        home=call.view.enforcer,
        effective=effective,
        # A replay is judged by the authority of now, but for the uses (authority.md, The second check).
        chain=chain if call.replay is None else tuple(replace(grant, uses=0) for grant in chain),
        now_us=0 if parent is None else parent.exercise.now_us,
    )
    if isinstance(decision, Denied):
        raise Refused(decision)
    return _Basis(effective, chain)


async def _target(call: Call, target_scope_id: str) -> Enforcer:
    view = await call.services.views.fresh(call.tenant_id, target_scope_id)
    if view is None or not view.enforcer.permits_cross_scope(call.scope_id):
        raise PolicyDenied("the target workspace has no rule that permits it", field="target_scope_id")
    return view.enforcer


async def _enforcer_now(call: Call, scope_id: str) -> Enforcer:
    # Fresh, because a refusal by the rules there is recorded and guarded here only.
    view = await call.services.views.fresh(call.tenant_id, scope_id)
    if view is None:
        raise StaleFacts
    return view.enforcer


def _lacking(missing: MissingAuthority, *, told: bool) -> Denied:
    """Returns the denial of what the grantor does not hold; `told` unless the rule is another workspace's."""
    exact = ExactReason.NO_RULE if missing.rule_id is None else ExactReason.EXPLICIT_DENY
    return Denied(COARSE_OF[exact], exact, missing.rule_id if told else None, exact_rule_id=missing.rule_id)


def _demand_narrower(wanted: DelegationVersion, chain: Chain) -> None:
    if chain:
        field = narrowing_violation(facts_of(wanted), chain[-1], chain_remaining_uses(chain))
        if field is not None:
            raise PolicyDenied("a sub-grant can only narrow the grant above it", field=field)


def _granted(sealed: SealedVersion) -> DelegationGranted:
    version = sealed.version
    return DelegationGranted(
        delegation_sequence=version.sequence,
        delegation_digest=sealed.digest,
        granting_actor_id=version.granting_actor.actor_id,
        delegated_actor_id=version.delegated_actor.actor_id,
        granted_operations=version.granted_operations,
        granted_object_types=version.granted_object_types,
        granted_object_ids=version.granted_object_ids,
        target_scope_id=version.target_scope_id,
        policy_basis=version.policy_basis,
        not_before_us=version.not_before_us,
        not_after_us=version.not_after_us,
        revocable=version.revocable,
        usage_limit=version.usage_limit,
        parent_delegation_id=version.parent_delegation_id,
        max_redelegations=version.max_redelegations,
    )


async def _replay(call: Call, kept: Mapping[str, Any]) -> delegation_pb2.GrantDelegationResponse:
    # It appends nothing, so the authority it was decided on is confirmed apart.
    await confirm_policy(call)
    version = await stored_version(call, call.scope_id, str(kept["delegation_id"]), str(kept["version_id"]))
    return delegation_pb2.GrantDelegationResponse(
        delegation=delegation_message(version),
        event_id=str(kept["event_ids"][0]),
        replayed=True,
        operation_id=str(kept["operation_id"]),
    )
