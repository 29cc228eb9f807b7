"""RegisterDerivative (PAMSPEC 7.8; P-7.8-01, P-7.8-02, P-7.8-08; A-G004-03 to A-G004-05)."""

from __future__ import annotations

from collections.abc import Sequence

from remit.v1 import derived_pb2
from server.call import Call, Change
from server.derived.derivation import check_vector, raise_taken, registration, space_of
from server.domain_errors import EmbeddingSpaceMismatch, InvalidRequest, ObjectRedacted
from server.memory.retrieval import Loaded, demand_open, load
from server.wire.embeddings import lineage_message
from storage.commands import Status
from storage.derivatives import Artifact, Source, load_artifact
from storage.model.embedding import EMBEDDING


async def handle(call: Call, request: derived_pb2.RegisterDerivativeRequest) -> derived_pb2.RegisterDerivativeResponse:
    """Registers an artifact of a version, with its vector when this service keeps it; no version is made.

    A vector registered again is generated again: it replaces the one before. An artifact without a vector that stands
    already changes nothing. Raises ObjectNotFound for a version that is none, ObjectDeleted, ObjectRedacted,
    RetentionRestriction, EmbeddingSpaceMismatch for a vector without a space, of an unknown one, of another length, or
    an artifact of another space, InvalidRequest for an artifact of another object.
    """
    artifact = Artifact(request.artifact_type, request.artifact_id, request.store_id, request.artifact_version)
    loaded = await load(call, request.source_object_id, request.source_version_id)
    earlier = call.replayed()
    if earlier is not None:
        return await _answer(call, request, artifact, earlier["event_ids"], str(earlier["operation_id"]), True)
    _demand_live(loaded, request.source_object_id)
    vector = await _checked_vector(call, request)
    source = Source(
        object_id=request.source_object_id,
        object_type=loaded.version.object_type,
        version_id=request.source_version_id,
        sequence=loaded.version.sequence,
        content_id=loaded.version.content_id,
    )
    change, event = registration(call, artifact, source, request.embedding_space_id or None, vector, 1)
    outcome = await call.commit(Change(events=[event], result={"event_ids": [event.event_id]}, colds=[change]))
    raise_taken(outcome)
    if outcome.status is Status.REPLAYED:
        kept = outcome.detail
        return await _answer(call, request, artifact, kept["event_ids"], str(kept["operation_id"]), True)
    event_ids = [event.event_id] if outcome.status is Status.ACCEPTED else []
    return await _answer(call, request, artifact, event_ids, call.operation_id, False)


def _demand_live(loaded: Loaded, object_id: str) -> None:
    demand_open(loaded.standing, object_id)
    if loaded.standing.availability_state != "available" and loaded.version.sequence != loaded.standing.sequence:
        # What was redacted since may be in a vector of the version before.
        raise ObjectRedacted(object_id)


async def _checked_vector(call: Call, request: derived_pb2.RegisterDerivativeRequest) -> Sequence[float] | None:
    if not request.embedding_space_id:
        if request.vector or request.artifact_type == EMBEDDING:
            raise EmbeddingSpaceMismatch
        return None
    space = (await space_of(call, request.embedding_space_id)).space
    if not request.vector:
        if not request.store_id:
            raise InvalidRequest("vector", "is required of an embedding that this service keeps")
        return None
    if request.store_id:
        raise InvalidRequest("store_id", "must be empty where this service keeps the vector")
    check_vector(space, request.vector, "vector")
    return request.vector


async def _answer(
    call: Call,
    request: derived_pb2.RegisterDerivativeRequest,
    artifact: Artifact,
    event_ids: Sequence[str],
    operation_id: str,
    replayed: bool,
) -> derived_pb2.RegisterDerivativeResponse:
    heads, rows = await load_artifact(call.services.database, call.tenant_id, call.scope_id, artifact)
    call.confirm(heads)
    source = (request.source_object_id, request.source_version_id)
    lineage = next((lineage_message(row) for row in rows if (row.object_id, row.version_id) == source), None)
    return derived_pb2.RegisterDerivativeResponse(
        lineage=lineage, event_ids=event_ids, replayed=replayed, operation_id=operation_id
    )
