"""GetSnapshot (PAMSPEC 18.11; P-14-17, P-18.11-01)."""

from __future__ import annotations

from remit.v1 import snapshot_pb2
from server.call import Call
from server.snapshots.reading import shown, snapshot_of
from server.wire.snapshots import snapshot_message


async def handle(call: Call, request: snapshot_pb2.GetSnapshotRequest) -> snapshot_pb2.GetSnapshotResponse:
    """Returns a sealed snapshot's descriptor, less the members that the caller may not see. Raises SnapshotNotFound."""
    snapshot = await shown(call, await snapshot_of(call, request.snapshot_id))
    return snapshot_pb2.GetSnapshotResponse(snapshot=snapshot_message(snapshot), operation_id=call.operation_id)
