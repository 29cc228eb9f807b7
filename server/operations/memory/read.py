"""Read (PAMSPEC 10.2; P-10.2-01 to P-10.2-05)."""

from __future__ import annotations

from authz.permissions import INSPECT_HISTORY, REVIEW
from remit.v1 import memory_pb2
from server.call import Call
from server.mutations import readable
from server.retrieval import Loaded, demand_open, held_at, open_rows
from server.snapshots import load_in
from server.wire.envelopes import write_envelope


async def handle(call: Call, request: memory_pb2.ReadRequest) -> memory_pb2.ReadResponse:
    """Returns a version of an object.

    Raises ObjectNotFound, ObjectDeleted, ObjectRedacted, RetentionRestriction. With `allow_tombstone` and the right to
    inspect history a removed object is a content-free envelope instead (Q18).
    """
    loaded = await load_in(call, request.snapshot_id, request.object_id, request.version_id or None)
    given = _given(call, request, loaded)
    [(core, plaintexts)] = await open_rows(call, [(loaded.version, given)], loaded.heads)
    await call.exercise_read(loaded.heads, request.object_id)
    state = memory_pb2.CONTENT_STATE_PRESENT if given else memory_pb2.CONTENT_STATE_WITHHELD
    response = memory_pb2.ReadResponse(
        content_state=state, operation_id=call.operation_id, event_ids=call.exercise_event_ids
    )
    write_envelope(response.envelope, core, readable(call, core, plaintexts))
    return response


def _given(call: Call, request: memory_pb2.ReadRequest, loaded: Loaded) -> bool:
    verdict = loaded.standing.verdict
    if verdict == "open":
        return True
    object_type, object_id = loaded.standing.object_type, request.object_id
    if verdict == "retention_restricted" and held_at(call, loaded.heads, REVIEW, object_type, object_id):
        return True
    may_see_tombstone = request.allow_tombstone and held_at(call, loaded.heads, INSPECT_HISTORY, object_type, object_id)
    if not may_see_tombstone:
        demand_open(loaded.standing, object_id)
    return False
