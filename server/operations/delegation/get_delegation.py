"""GetDelegation (P-15.4-14, P-8.4-01)."""

from __future__ import annotations

from authz.permissions import DELEGATION_READ
from remit.v1 import delegation_pb2
from server.authority.granting import stored_version
from server.authority.standings import demand_visible, find_grant, reasons_of, standing_message
from server.call import Call


async def handle(call: Call, request: delegation_pb2.GetDelegationRequest) -> delegation_pb2.GetDelegationResponse:
    """Returns a version of a grant, and how the grant stands now; takes no use.

    For its delegate, its grantor and holders of `delegation.read`; Refused to others. Raises ObjectNotFound to holders
    when there is no such grant, and to all of them when it has no such version.
    """
    grant = await find_grant(call, request.target_delegation_id)
    party = grant is not None and call.actor_id in (grant.facts.delegate_id, grant.facts.grantor_id)
    grant = demand_visible(call, grant, request.target_delegation_id, right=DELEGATION_READ, party=party)
    version = grant.version
    if request.version_id not in ("", version.version_id):
        home_scope_id, delegation_id = grant.facts.home_scope_id, grant.facts.delegation_id
        version = await stored_version(call, home_scope_id, delegation_id, request.version_id)
    [reason] = await reasons_of(call, [grant])
    return delegation_pb2.GetDelegationResponse(
        standing=standing_message(grant, reason, version), operation_id=call.operation_id
    )
