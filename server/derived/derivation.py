"""Registering what was derived: vectors that fit their space, and the events that tell (P-7.8-01 to P-7.8-08, P-14-16)."""

from __future__ import annotations

from collections.abc import Sequence

from authz.permissions import ANY, DERIVED_WRITE
from remit.v1 import memory_pb2
from server.authority import denials
from server.authority.refusals import Refused
from server.call import Call
from server.domain_errors import EmbeddingSpaceMismatch, InvalidRequest
from server.memory.versions import part_id
from storage.commands import ColdChange, EventRow, Outcome, Status
from storage.derivatives import Artifact, Source, StoredSpace, load_spaces, registered
from storage.model.derived_events import EmbeddingGenerated, LineageRegistered
from storage.model.embedding import EMBEDDING, EmbeddingSpace, vector_problem
from storage.model.identifiers import new_id
from storage.model.memory import PartKind, VersionCore


async def space_of(call: Call, embedding_space_id: str) -> StoredSpace:
    """Returns a space of the call's workspace; raises EmbeddingSpaceMismatch when it has none of that id."""
    spaces = await load_spaces(call.services.database, call.tenant_id, call.scope_id, [embedding_space_id])
    if embedding_space_id not in spaces:
        raise EmbeddingSpaceMismatch
    return spaces[embedding_space_id]


def check_vector(space: EmbeddingSpace, vector: Sequence[float], field: str) -> None:
    """Raises EmbeddingSpaceMismatch for a vector of another length, InvalidRequest for one that can't be compared."""
    if len(vector) != space.dimensions:
        raise EmbeddingSpaceMismatch
    problem = vector_problem(space, vector)
    if problem is not None:
        raise InvalidRequest(field, problem)


def registration(
    call: Call,
    artifact: Artifact,
    source: Source,
    embedding_space_id: str | None,
    vector: Sequence[float] | None,
    event_position: int,
) -> tuple[ColdChange, EventRow]:
    """Returns the change that registers an artifact, and its event, which is the command's `event_position`-th."""
    event: EmbeddingGenerated | LineageRegistered
    if vector is None:
        event = LineageRegistered(
            artifact_type=artifact.artifact_type,
            artifact_id=artifact.artifact_id,
            store_id=artifact.store_id,
            artifact_version=artifact.artifact_version or None,
        )
    else:
        assert embedding_space_id is not None
        event = EmbeddingGenerated(
            artifact_type=artifact.artifact_type,
            artifact_id=artifact.artifact_id,
            store_id=artifact.store_id,
            artifact_version=artifact.artifact_version or None,
            embedding_space_id=embedding_space_id,
        )
    change = registered(artifact, source, embedding_space_id, vector, event_position)
    return change, call.event(event, object_id=source.object_id, version_id=source.version_id)


def raise_taken(outcome: Outcome, field_prefix: str = "") -> None:
    """Raises what it means that an artifact is registered already, as of another object or in another space."""
    if outcome.status is not Status.EXISTS or "field" not in outcome.detail:
        return
    if outcome.detail["field"] == "embedding_space_id":
        raise EmbeddingSpaceMismatch
    raise InvalidRequest(f"{field_prefix}{outcome.detail['field']}", "is taken")


async def demand_may_derive(call: Call, request: memory_pb2.CreateRequest) -> None:
    """Raises Refused when vectors are to come with a new object and the caller has no right to register them by rule.

    Before anything of spaces and artifacts is told; a grant never conveys it. Raises StaleFacts.
    """
    if not request.derived_requests:
        return
    object_id = request.object_id or ANY
    verdict = call.view.enforcer.check(call.actor_id, DERIVED_WRITE, request.object_type, object_id)
    denied = denials.lacking(verdict, hides_object=True)
    refusal = Refused(denied, request.object_id or None)
    await call.demand_right(DERIVED_WRITE, request.object_type, object_id, refusal)


async def requested(
    call: Call, requests: Sequence[memory_pb2.DerivedRequest], core: VersionCore, first_event: int
) -> tuple[list[ColdChange], list[EventRow]]:
    """Returns the registrations that come with the first version of an object, in its transaction (P-10.1-02).

    Raises EmbeddingSpaceMismatch, InvalidRequest.
    """
    colds: list[ColdChange] = []
    events: list[EventRow] = []
    if not requests:
        return colds, events
    if any(not request.embedding_space_id for request in requests):
        raise EmbeddingSpaceMismatch
    wanted = sorted({request.embedding_space_id for request in requests})
    spaces = await load_spaces(call.services.database, call.tenant_id, call.scope_id, wanted)
    if len(spaces) < len(wanted):
        raise EmbeddingSpaceMismatch
    source = Source(
        object_id=core.object_id,
        object_type=core.object_type,
        version_id=core.version_id,
        sequence=core.sequence,
        content_id=part_id(core.parts, PartKind.CONTENT),
        is_new=True,
    )
    seen: set[str] = set()
    for index, request in enumerate(requests):
        place = f"derived_requests[{index}]"
        check_vector(spaces[request.embedding_space_id].space, request.vector, f"{place}.vector")
        artifact = Artifact(EMBEDDING, request.artifact_id or new_id())
        if artifact.artifact_id in seen:
            raise InvalidRequest(f"{place}.artifact_id", "is there twice")
        seen.add(artifact.artifact_id)
        change, event = registration(
            call, artifact, source, request.embedding_space_id, request.vector, first_event + index
        )
        colds.append(change)
        events.append(event)
    return colds, events
