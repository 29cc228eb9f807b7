"""RevokeDelegation (PAMSPEC 18.2; P-18.2-06; authority.md, Versions; Q28, Q29)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from remit.v1 import delegation_pb2
from server.authority.granting import SealedVersion, made_by, stored_version
from server.authority.standings import FoundGrant, confirm_policy, demand_revocable
from server.call import Call, Change
from server.domain_errors import ObjectNotFound, PolicyDenied
from server.wire.delegations import delegation_message
from storage.commands import Status
from storage.delegations import find_revocation
from storage.model.events import DelegationRevoked
from storage.model.identifiers import new_id
from storage.model.states import LifecycleState


async def handle(
    call: Call, request: delegation_pb2.RevokeDelegationRequest
) -> delegation_pb2.RevokeDelegationResponse:
    """Ends a grant and, without touching them, all below it: in one transaction, ahead of what waits.

    For its grantor and holders of `delegation.revoke`. A second revocation changes nothing. Raises PolicyDenied for a
    grant that can't be revoked, Refused to others, ObjectNotFound to holders when there is no such grant here.
    """
    grant = await demand_revocable(call, request.target_delegation_id)
    earlier = call.replayed()
    if earlier is not None:
        return await _replay(call, earlier)
    if grant.facts.revoked:
        return await _revoked_before(call, grant)
    if not grant.facts.revocable:
        raise PolicyDenied("the grant was made irrevocable")
    now_us = await call.services.clock.now_us()
    version = replace(
        grant.version,
        version_id=new_id(),
        sequence=grant.version.sequence + 1,
        lifecycle_state=LifecycleState.ARCHIVED,
        committed_at_us=now_us,
        recorded_at_us=now_us,
        actor=call.actor_ref(),
        provenance=made_by(call, "revoked", now_us),
    )
    sealed = SealedVersion.of(call, version)
    revoked = DelegationRevoked(
        delegation_sequence=version.sequence,
        delegation_digest=sealed.digest,
        policy_basis=request.policy_basis,
        reason=request.reason or None,
    )
    event = call.event(revoked, version_id=version.version_id, delegation_id=version.delegation_id)
    outcome = await call.commit(
        Change(
            events=[event],
            result={
                "delegation_id": version.delegation_id,
                "version_id": version.version_id,
                "event_ids": [event.event_id],
            },
            colds=[sealed.revoke(grant.version.sequence)],
            urgent=True,
        )
    )
    if outcome.status is Status.REPLAYED:
        return await _replay(call, outcome.detail)
    return delegation_pb2.RevokeDelegationResponse(
        delegation=delegation_message(version), event_id=event.event_id, operation_id=call.operation_id
    )


async def _revoked_before(call: Call, grant: FoundGrant) -> delegation_pb2.RevokeDelegationResponse:
    await confirm_policy(call)
    database, delegation_id = call.services.database, grant.facts.delegation_id
    event_id = await find_revocation(database, call.tenant_id, call.scope_id, delegation_id)
    if event_id is None:
        raise ObjectNotFound
    return delegation_pb2.RevokeDelegationResponse(
        delegation=delegation_message(grant.version),
        event_id=event_id,
        replayed=True,
        operation_id=call.operation_id,
    )


async def _replay(call: Call, kept: Mapping[str, Any]) -> delegation_pb2.RevokeDelegationResponse:
    # It appends nothing, so the authority it was decided on is confirmed apart.
    await confirm_policy(call)
    version = await stored_version(call, call.scope_id, str(kept["delegation_id"]), str(kept["version_id"]))
    return delegation_pb2.RevokeDelegationResponse(
        delegation=delegation_message(version),
        event_id=str(kept["event_ids"][0]),
        replayed=True,
        operation_id=str(kept["operation_id"]),
    )
