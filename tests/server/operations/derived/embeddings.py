"""Spaces, vectors and queries by meaning, as tests of derived state ask for them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from remit.v1 import derived_pb2, memory_pb2
from tests.cluster import Client, Workspace
from tests.server.operations.memory.requests import ACCEPT_ALL

DESCRIPTOR: dict[str, Any] = {
    "provider": "example",
    "model": "small",
    "model_revision": "3",
    "dimensions": 2,
    "distance_metric": "cosine",
    "normalization": "none",
    "preprocessing_profile": "as it is",
    "embedding_kind": "dense",
    "canonicalization_rules": "utf-8 text",
}


def register_space(workspace: Workspace, space_id: str = "space:a", client: Client | None = None, **fields: Any) -> Any:
    """Registers a space; returns the response."""
    space = derived_pb2.EmbeddingSpace(embedding_space_id=space_id, **(DESCRIPTOR | fields))
    request = derived_pb2.RegisterEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space=space)
    return (client or workspace.owner).derived.RegisterEmbeddingSpace(request)


def register(
    workspace: Workspace,
    made: Any,
    vector: Sequence[float] = (),
    space_id: str = "space:a",
    client: Client | None = None,
    **fields: Any,
) -> Any:
    """Registers an artifact of a version, the vector of it for instance; returns the response."""
    values: dict[str, Any] = {
        "source_object_id": made.object_id,
        "source_version_id": made.version_id,
        "artifact_type": "embedding",
        "artifact_id": f"artifact:{uuid.uuid4().hex}",
        "embedding_space_id": space_id,
        "vector": vector,
    }
    request = derived_pb2.RegisterDerivativeRequest(scope_id=workspace.scope_id, **(values | fields))
    return (client or workspace.owner).derived.RegisterDerivative(request)


def remove(workspace: Workspace, artifact_id: str, client: Client | None = None, **fields: Any) -> Any:
    """Removes an artifact; returns the response."""
    values = {"artifact_type": "embedding", "artifact_id": artifact_id} | fields
    request = derived_pb2.RemoveDerivativeRequest(scope_id=workspace.scope_id, **values)
    return (client or workspace.owner).derived.RemoveDerivative(request)


def lineage(workspace: Workspace, object_id: str, client: Client | None = None, **fields: Any) -> Any:
    """Returns a page of what was derived of an object."""
    request = derived_pb2.ListLineageRequest(scope_id=workspace.scope_id, source_object_id=object_id, **fields)
    return (client or workspace.owner).derived.ListLineage(request)


def rebuild(workspace: Workspace, index_id: str, client: Client | None = None, **fields: Any) -> Any:
    """Rebuilds an index, or records that it was rebuilt; returns the response."""
    request = derived_pb2.RecordIndexRebuildRequest(scope_id=workspace.scope_id, index_id=index_id, **fields)
    return (client or workspace.owner).derived.RecordIndexRebuild(request)


def nearest(
    workspace: Workspace,
    vector: Sequence[float] = (1.0, 0.0),
    space_id: str = "space:a",
    client: Client | None = None,
    *,
    text: str = "",
    kind: str = "SEMANTIC",
    filters: Any = ACCEPT_ALL,
    **fields: Any,
) -> Any:
    """Returns a page of a query by meaning; all states unless filters say otherwise."""
    values: dict[str, Any] = {"embedding_space_id": space_id, "query_vector": vector, "limit": 100} | fields
    request = memory_pb2.QueryRequest(
        scope_id=workspace.scope_id,
        query={"kind": f"QUERY_KIND_{kind}", "filters": filters, "text": text},
        **values,
    )
    return (client or workspace.owner).memory.Query(request)


def hybrid(workspace: Workspace, text: str, vector: Sequence[float] = (1.0, 0.0), **fields: Any) -> Any:
    """Returns a page of a query by meaning and words."""
    return nearest(workspace, vector, text=text, kind="HYBRID", **fields)


def ids(page: Any) -> list[str]:
    """The objects of a page, in order."""
    return [row.object_id for row in page.results]
