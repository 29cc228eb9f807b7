"""RegisterEmbeddingSpace (PAMSPEC 7.8; P-7.8-05, P-7.8-06)."""

from __future__ import annotations

from remit.v1 import derived_pb2
from server.call import Call, Change
from server.domain_errors import InvalidRequest, ObjectNotFound
from server.wire.embeddings import space_from, space_message
from storage.commands import Status
from storage.derivatives import load_spaces, space_registered
from storage.model.derived_events import EmbeddingSpaceRegistered
from storage.workspaces import load_heads


async def handle(
    call: Call, request: derived_pb2.RegisterEmbeddingSpaceRequest
) -> derived_pb2.RegisterEmbeddingSpaceResponse:
    """Registers a space; the same descriptor again returns the standing one and changes nothing.

    Raises InvalidRequest for a metric that can't be compared, and naming the first field that differs from the space
    that has the id already.
    """
    space = space_from(request.embedding_space, call.actor_ref())
    earlier = call.replayed()
    if earlier is not None:
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
        return await _answer(call, space.embedding_space_id, earlier["event_ids"], str(earlier["operation_id"]), True)
    event = call.event(
        EmbeddingSpaceRegistered(
            embedding_space_id=space.embedding_space_id,
            dimensions=space.dimensions,
            distance_metric=space.distance_metric.value,
        )
    )
    change = Change(events=[event], result={"event_ids": [event.event_id]}, colds=[space_registered(space)])
    outcome = await call.commit(change)
    match outcome.status:
        case Status.EXISTS:
            raise InvalidRequest(f"embedding_space.{outcome.detail['field']}", "differs from the space registered")
        case Status.REPLAYED:
            kept = outcome.detail
            return await _answer(call, space.embedding_space_id, kept["event_ids"], str(kept["operation_id"]), True)
        case Status.UNCHANGED:
            return await _answer(call, space.embedding_space_id, [], call.operation_id, False)
        case _:
            return await _answer(call, space.embedding_space_id, [event.event_id], call.operation_id, False)


async def _answer(
    call: Call, embedding_space_id: str, event_ids: list[str], operation_id: str, replayed: bool
) -> derived_pb2.RegisterEmbeddingSpaceResponse:
    found = await load_spaces(call.services.database, call.tenant_id, call.scope_id, [embedding_space_id])
    if embedding_space_id not in found:
        raise ObjectNotFound
    return derived_pb2.RegisterEmbeddingSpaceResponse(
        embedding_space=space_message(found[embedding_space_id].space),
        event_ids=event_ids,
        replayed=replayed,
        operation_id=operation_id,
    )
