"""Delete (PAMSPEC 10.11; P-10.11-01 to P-10.11-03)."""

from __future__ import annotations

from remit.v1 import memory_pb2
from server.call import Call
from server.memory.mutations import answer, replay_of
from server.memory.removal import delete_object
from server.memory.retrieval import load


async def handle(call: Call, request: memory_pb2.DeleteRequest) -> memory_pb2.DeleteResponse:
    """Writes the final tombstone: content is hidden at once; its keys are destroyed when the propagation job closes.

    Raises VersionConflict, ObjectDeleted (also on a second Delete), LegalHold.
    """
    earlier = call.replayed()
    if earlier is not None:
        return memory_pb2.DeleteResponse(result=await replay_of(call, earlier))
    loaded = await load(call, request.object_id)
    removed = await delete_object(call, request, loaded)
    if removed.replayed is not None:
        return memory_pb2.DeleteResponse(result=await replay_of(call, removed.replayed))
    return memory_pb2.DeleteResponse(
        result=answer(call, removed.core, removed.plaintexts, removed.events, removed.job_id)
    )
