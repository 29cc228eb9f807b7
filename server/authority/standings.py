"""How grants stand: their chains loaded and authenticated, judged where each is effective (authority.md, Versions)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from authz.delegation import GrantFacts, chain_remaining_uses
from authz.permissions import ANY, DELEGATION_REVOKE
from authz.policy import Enforcer
from authz.reasons import ExactReason
from authz.standing import ineffective_reason
from remit.v1 import delegation_pb2
from server.authority import denials
from server.authority.grants import Exercise, exercise_of, grant_version
from server.authority.refusals import Refused, StaleFacts
from server.call import Call
from server.domain_errors import ObjectNotFound
from server.wire.delegations import delegation_message
from storage.delegations import GrantChain, load_chains
from storage.model.delegation import DelegationVersion
from storage.workspaces import load_heads


@dataclass(frozen=True, slots=True)
class FoundGrant:
    """A grant at its current version, and the chain that ends with it as the evaluator judges it."""

    version: DelegationVersion
    exercise: Exercise

    @property
    def facts(self) -> GrantFacts:
        """The grant itself."""
        return self.exercise.leaf

    @property
    def remaining_uses(self) -> int | None:
        """The uses left here and in every ancestor, None when nothing counts."""
        return chain_remaining_uses(self.exercise.grants)


def _found(call: Call, chain: GrantChain) -> FoundGrant:
    keys = call.services.keys
    return FoundGrant(grant_version(keys, call.tenant_id, chain.grants[-1]), exercise_of(keys, call.tenant_id, chain))


async def find_grant(call: Call, delegation_id: str) -> FoundGrant | None:
    """Returns a grant that lives in the addressed workspace or targets it, else None. Raises IntegrityViolation."""
    chain = await call.services.chains.get(call.tenant_id, (call.scope_id, delegation_id))
    return None if chain is None else _found(call, chain)


async def find_grants(call: Call, delegation_ids: Sequence[str]) -> list[FoundGrant | None]:
    """Returns the same of many grants, in order, as one statement saw them. Raises IntegrityViolation."""
    keys = [(call.scope_id, delegation_id) for delegation_id in delegation_ids]
    chains = await load_chains(call.services.database, call.tenant_id, keys)
    return [None if chain is None else _found(call, chain) for chain in chains]


def demand_visible(call: Call, grant: FoundGrant | None, delegation_id: str, *, right: str, party: bool) -> FoundGrant:
    """Returns the grant to who may deal with it: a party to it, as the caller judged, or a holder of the right.

    To others an absent grant is one that is not theirs: Refused, the same either way. Raises ObjectNotFound to holders.
    """
    if call.holds(right):
        if grant is None:
            raise ObjectNotFound
        return grant
    if grant is None or not party:
        verdict = call.view.enforcer.check(call.actor_id, right, ANY, ANY)
        raise Refused(denials.lacking(verdict, hides_object=True), delegation_id)
    return grant


async def demand_revocable(call: Call, delegation_id: str) -> FoundGrant:
    """Returns a grant that lives here, to its grantor and holders of `delegation.revoke`; raises Refused to others.

    Raises ObjectNotFound to holders when there is none.
    """
    grant = await find_grant(call, delegation_id)
    if grant is not None and grant.facts.home_scope_id != call.scope_id:
        grant = None
    party = grant is not None and grant.facts.grantor_id == call.actor_id
    return demand_visible(call, grant, delegation_id, right=DELEGATION_REVOKE, party=party)


async def confirm_policy(call: Call) -> None:
    """Raises StaleFacts unless the policy decided on stands now: for answers that append nothing, either way."""
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    if heads is None or heads.policy_revision != call.view.enforcer.policy_revision:
        raise StaleFacts


async def enforcers_of(call: Call, scope_ids: Collection[str]) -> dict[str, Enforcer]:
    """Returns the enforcer of each workspace at the policy that stands now. Raises StaleFacts for the addressed one."""
    wanted = sorted({call.scope_id, *scope_ids})
    enforcers: dict[str, Enforcer] = {}
    found = await load_heads(call.services.database, call.tenant_id, wanted)
    for scope_id, heads in zip(wanted, found, strict=True):
        view = call.view if scope_id == call.scope_id else await call.services.views.get(call.tenant_id, scope_id)
        if heads is None or view is None:
            raise StaleFacts
        if (heads.policy_revision, heads.epoch) != (view.enforcer.policy_revision, view.heads.epoch):
            if scope_id == call.scope_id:
                raise StaleFacts
            view = await call.services.views.fresh(call.tenant_id, scope_id)
            if view is None:
                raise StaleFacts
        enforcers[scope_id] = view.enforcer
    return enforcers


async def reasons_of(call: Call, grants: Sequence[FoundGrant]) -> list[ExactReason | None]:
    """Returns for each grant why it is not effective now, None when it is."""
    enforcers = await enforcers_of(call, {grant.facts.effective_scope_id for grant in grants})
    return [
        ineffective_reason(enforcers[grant.facts.effective_scope_id], grant.exercise.grants, grant.exercise.now_us)
        for grant in grants
    ]


def standing_message(
    grant: FoundGrant, reason: ExactReason | None, version: DelegationVersion | None = None
) -> delegation_pb2.DelegationStanding:
    """Returns how the grant stands, with a version of it (the current one unless given)."""
    return delegation_pb2.DelegationStanding(
        delegation=delegation_message(version or grant.version),
        effective=reason is None,
        ineffective_reason="" if reason is None else reason.value,
        uses=grant.facts.uses,
        remaining_uses=grant.remaining_uses,
    )
