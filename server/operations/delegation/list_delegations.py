"""ListDelegations (P-15.4-14)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from authz.permissions import DELEGATION_READ, READ
from authz.reasons import ExactReason
from remit.v1 import delegation_pb2
from server.authority.standings import FoundGrant, find_grants, reasons_of, standing_message
from server.call import Call
from server.paging import cursor_binding, fitting, last_place, next_cursor
from storage.delegations import GrantFilter, list_grants
from storage.object_types import load_object_types

# How many grants one call looks at for a page of those that pass; where few do, a page is short and has a cursor.
_LOOKED_AT_MAX: Final = 5_000
_CHUNK_MIN: Final = 100
_CHUNK_MAX: Final = 1_000

_Place = tuple[int, str]


@dataclass(slots=True)
class _Scan:
    """Where the scan stands: rows that pass with the place of each, and whether it has come to the end."""

    after: _Place
    rows: list[delegation_pb2.DelegationStanding]
    places: list[_Place]
    ended: bool = False


@dataclass(frozen=True, slots=True)
class _Passing:
    """Which grants pass. `object_type` is None where the caller may not know what the object is."""

    effective_only: bool
    object_id: str | None
    object_type: str | None

    def admits(self, grant: FoundGrant, reason: ExactReason | None) -> bool:
        facts = grant.facts
        if self.effective_only and reason is not None:
            return False
        if self.object_id is not None and facts.object_ids is not None and self.object_id not in facts.object_ids:
            return False
        return self.object_type is None or facts.object_types is None or self.object_type in facts.object_types


async def handle(call: Call, request: delegation_pb2.ListDelegationsRequest) -> delegation_pb2.ListDelegationsResponse:
    """Returns a page of the grants that live here or target this workspace, oldest first, each as it stands.

    Holders of `delegation.read` see all, others those of which they are delegate or grantor. Takes no use. Raises
    InvalidRequest for a cursor of another listing.
    """
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    scan = _Scan((0, "") if place is None else (int(str(place.last_key[0])), str(place.last_key[1])), [], [])
    wanted = GrantFilter(
        scope_id=call.scope_id,
        grantor_id=request.granting_actor_id or None,
        delegate_id=request.delegated_actor_id or None,
        party_id=None if call.holds(DELEGATION_READ) else call.actor_id,
    )
    passing = await _passing(call, request)
    size = call.page_size()
    looked_at = 0
    while len(scan.rows) <= size and looked_at < _LOOKED_AT_MAX and not scan.ended:
        looked_at += await _look_on(call, wanted, passing, scan, size + 1 - len(scan.rows))
    page = fitting(call, scan.rows, size)
    cursor = ""
    if len(page) < len(scan.rows):
        cursor = next_cursor(call, binding, scan.places[len(page) - 1])
    elif not scan.ended:
        cursor = next_cursor(call, binding, scan.after)
    return delegation_pb2.ListDelegationsResponse(delegations=page, cursor=cursor, operation_id=call.operation_id)


async def _passing(call: Call, request: delegation_pb2.ListDelegationsRequest) -> _Passing:
    object_id = request.object_id or None
    object_type = None
    if object_id is not None:
        types = await load_object_types(call.services.database, call.tenant_id, call.scope_id, [object_id])
        stored = types.get(object_id)
        # The listing must not tell the type, or the presence, of what the caller may not read.
        if stored is not None and call.holds(READ, stored, object_id):
            object_type = stored
    return _Passing(request.effective_only, object_id, object_type)


async def _look_on(call: Call, wanted: GrantFilter, passing: _Passing, scan: _Scan, missing: int) -> int:
    """Looks at the next grants, adds those that pass, and returns how many it looked at."""
    chunk = min(max(missing, _CHUNK_MIN), _CHUNK_MAX)
    stored = await list_grants(call.services.database, call.tenant_id, replace(wanted, after=scan.after), chunk)
    scan.ended = len(stored) < chunk
    found = await find_grants(call, [grant.delegation_id for grant in stored])
    places = {grant.delegation_id: (grant.granted_sequence, grant.delegation_id) for grant in stored}
    grants = [grant for grant in found if grant is not None]
    for grant, reason in zip(grants, await reasons_of(call, grants), strict=True):
        if passing.admits(grant, reason):
            scan.rows.append(standing_message(grant, reason))
            scan.places.append(places[grant.facts.delegation_id])
    if stored:
        scan.after = (stored[-1].granted_sequence, stored[-1].delegation_id)
    return len(stored)
