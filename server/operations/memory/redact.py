"""Redact (PAMSPEC 10.9; P-10.9-01 to P-10.9-03; Q16, Q17)."""

from __future__ import annotations

from remit.v1 import common_pb2, memory_pb2
from server.call import Call
from server.domain_errors import InvalidRequest
from server.memory.mutations import answer, replay_of
from server.memory.redacting import redact_object, target_of
from server.memory.redactions import is_provenance_pointer, redaction_of
from server.memory.retrieval import load
from server.wire.json_masks import is_pointer
from storage.model.redaction import Redaction


async def handle(call: Call, request: memory_pb2.RedactRequest) -> memory_pb2.RedactResponse:
    """Withholds parts of an object, or all of it, in every version: until it is restored, or for good.

    Raises InvalidRequest for a pointer that is none or names nothing in the current version, ObjectDeleted,
    VersionConflict, LegalHold, RetentionRestriction, InvalidStateTransition.
    """
    earlier = call.replayed()
    if earlier is None:
        loaded = await load(call, request.object_id)
        # Only to who may redact the object is anything told of the target.
        _demand_pointers(request)
        redacted = await redact_object(call, request, target_of(request), loaded)
        if redacted.replayed is None:
            result = answer(call, redacted.core, redacted.plaintexts, redacted.events, redacted.job_id)
            return _response(call, request, result, redacted.redaction, redacted.core.object_type)
        earlier = redacted.replayed
    result = await replay_of(call, earlier)
    return _response(call, request, result, await redaction_of(call, request.object_id), result.envelope.object_type)


def _demand_pointers(request: memory_pb2.RedactRequest) -> None:
    for index, pointer in enumerate(request.target.json_pointers):
        if not is_pointer(pointer):
            raise InvalidRequest(f"target.json_pointers[{index}]", "is no JSON Pointer")
    for index, pointer in enumerate(request.target.provenance_pointers):
        if not is_provenance_pointer(pointer):
            problem = "names no optional field of provenance"
            raise InvalidRequest(f"target.provenance_pointers[{index}]", problem)


def _response(
    call: Call,
    request: memory_pb2.RedactRequest,
    result: common_pb2.MutationResult,
    redaction: Redaction | None,
    object_type: str,
) -> memory_pb2.RedactResponse:
    """Lists what is redacted: all of it to who may read the object, to others what they named themselves."""
    pointers, provenance_pointers = request.target.json_pointers, request.target.provenance_pointers
    if redaction is not None and call.may_read(request.object_id, object_type):
        return memory_pb2.RedactResponse(
            result=result,
            redacted_pointers=sorted(redaction.content_pointers),
            redacted_provenance_pointers=sorted(redaction.provenance_pointers),
        )
    return memory_pb2.RedactResponse(
        result=result,
        redacted_pointers=sorted(pointers),
        redacted_provenance_pointers=sorted(provenance_pointers),
    )
