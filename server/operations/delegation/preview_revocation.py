"""PreviewRevocation (P-15.4-14; authority.md, Explain)."""

from __future__ import annotations

from authz.reasons import ExactReason
from remit.v1 import delegation_pb2
from server.authority.standings import FoundGrant, demand_revocable, find_grants, reasons_of
from server.call import Call
from server.paging import cursor_binding, fitting, last_place, next_cursor
from storage.delegations import list_below


async def handle(
    call: Call, request: delegation_pb2.PreviewRevocationRequest
) -> delegation_pb2.PreviewRevocationResponse:
    """Returns a page of the grants that a revocation would end, the nearest first, the grant itself at depth 0.

    For whoever may revoke it; changes nothing. Raises Refused, ObjectNotFound, InvalidRequest as a revocation and a
    listing do.
    """
    root = await demand_revocable(call, request.target_delegation_id)
    depth_of_root = len(root.exercise.grants)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    after = (0, "") if place is None else (int(str(place.last_key[0])), str(place.last_key[1]))
    size = call.page_size()
    total, _, below = await list_below(
        call.services.database, call.tenant_id, call.scope_id, root.facts.delegation_id, after, size + 1
    )
    found = await find_grants(call, [stored.delegation_id for stored in below])
    grants = [grant for grant in found if grant is not None]
    reasons = await reasons_of(call, grants)
    effects = [_effect(grant, reason, depth_of_root) for grant, reason in zip(grants, reasons, strict=True)]
    page = fitting(call, effects, size)
    cursor = ""
    if len(page) < len(effects):
        last = page[-1]
        cursor = next_cursor(call, binding, [last.depth + depth_of_root, last.delegation_id])
    return delegation_pb2.PreviewRevocationResponse(
        effects=page, total=total, cursor=cursor, operation_id=call.operation_id
    )


def _effect(grant: FoundGrant, reason: ExactReason | None, depth_of_root: int) -> delegation_pb2.RevocationEffect:
    return delegation_pb2.RevocationEffect(
        delegation_id=grant.facts.delegation_id,
        delegated_actor_id=grant.facts.delegate_id,
        depth=len(grant.exercise.grants) - depth_of_root,
        remaining_uses=grant.facts.remaining_uses,
        effective=reason is None,
    )
