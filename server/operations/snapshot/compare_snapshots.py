"""CompareSnapshots (PAMSPEC 18.11; P-18.11-06)."""

from __future__ import annotations

from typing import Final

from remit.v1 import snapshot_pb2
from server.authority.row_authority import authority_over_rows, confirmed
from server.call import Call
from server.memory.authenticity import core_alone
from server.paging import cursor_binding, last_place, next_cursor
from server.snapshots.reading import snapshot_of
from storage.model.memory import VersionCore
from storage.model.snapshot import Snapshot
from storage.model.states import Dimension
from storage.redactions import StoredCore
from storage.snapshot_comparison import Difference, Held, Side, list_differences

_DELETED: Final = "deleted"


async def handle(call: Call, request: snapshot_pb2.CompareSnapshotsRequest) -> snapshot_pb2.CompareSnapshotsResponse:
    """Returns one page of what differs, by object id, of the objects whose history the caller may inspect.

    An object that is a tombstone in a snapshot is not there. Versions and states are told, never content. Raises
    SnapshotNotFound, InvalidRequest.
    """
    authority = authority_over_rows(call)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    left = await snapshot_of(call, request.left_snapshot_id)
    right = await snapshot_of(call, request.right_snapshot_id)
    page = await list_differences(
        call.services.database,
        call.tenant_id,
        call.scope_id,
        _side(left),
        _side(right),
        object_ids=request.object_ids,
        authority=authority,
        after="" if place is None else str(place.last_key[0]),
        limit=call.page_size(),
    )
    heads = confirmed(call, page.heads, limited=bool(authority))
    response = snapshot_pb2.CompareSnapshotsResponse(operation_id=call.operation_id)
    for difference in page.differences:
        _add(call, response, difference)
    if page.more:
        response.cursor = next_cursor(call, binding, (page.differences[-1].object_id,))
    await call.exercise_read(heads)
    response.event_ids.extend(call.exercise_event_ids)
    return response


def _side(snapshot: Snapshot) -> Side:
    return Side(snapshot.high_watermark, snapshot.included_object_ids)


def _add(call: Call, response: snapshot_pb2.CompareSnapshotsResponse, difference: Difference) -> None:
    left, right = _there(call, difference, difference.left), _there(call, difference, difference.right)
    if left is None and right is not None:
        response.added.append(_member(right))
    elif left is not None and right is None:
        response.removed.append(_member(left))
    elif left is not None and right is not None:
        response.version_deltas.add(
            object_id=left.object_id,
            left_version_id=left.version_id,
            left_sequence=left.sequence,
            right_version_id=right.version_id,
            right_sequence=right.sequence,
        )
        for dimension in Dimension:
            states = str(getattr(left, dimension.column)), str(getattr(right, dimension.column))
            if states[0] != states[1]:
                response.state_deltas.add(
                    object_id=left.object_id, dimension=dimension.value, left_state=states[0], right_state=states[1]
                )


def _there(call: Call, difference: Difference, held: Held | None) -> VersionCore | None:
    """Returns the authenticated version that a snapshot has of the object, None when it has none or a tombstone."""
    if held is None:
        return None
    stored = StoredCore(difference.object_id, held.sequence, held.version_id, held.core, held.mac, held.mac_key_id)
    core = core_alone(call, stored)
    return None if str(core.availability_state) == _DELETED else core


def _member(core: VersionCore) -> snapshot_pb2.SnapshotMember:
    return snapshot_pb2.SnapshotMember(
        object_id=core.object_id, object_type=core.object_type, version_id=core.version_id, sequence=core.sequence
    )
