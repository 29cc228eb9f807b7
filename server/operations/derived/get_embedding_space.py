"""GetEmbeddingSpace (PAMSPEC 7.8; P-7.8-05)."""

from __future__ import annotations

from remit.v1 import derived_pb2
from server.call import Call
from server.domain_errors import ObjectNotFound
from server.wire.embeddings import space_message
from storage.derivatives import count_vectors, load_spaces
from storage.workspaces import load_heads


async def handle(call: Call, request: derived_pb2.GetEmbeddingSpaceRequest) -> derived_pb2.GetEmbeddingSpaceResponse:
    """Returns a space with the number of its vectors of live objects. Raises ObjectNotFound."""
    database, space_id = call.services.database, request.embedding_space_id
    found = await load_spaces(database, call.tenant_id, call.scope_id, [space_id])
    count = await count_vectors(database, call.tenant_id, call.scope_id, space_id) if found else 0
    [heads] = await load_heads(database, call.tenant_id, [call.scope_id])
    call.confirm(heads)
    if not found:
        raise ObjectNotFound
    return derived_pb2.GetEmbeddingSpaceResponse(
        embedding_space=space_message(found[space_id].space), operation_id=call.operation_id, vector_count=count
    )
