"""Requests that tests of memory make again and again."""

from __future__ import annotations

import time
from typing import Any

from remit.v1 import common_pb2, delegation_pb2, memory_pb2
from tests.cluster import Client, Workspace

ACCEPT_ALL = {"lifecycle_state": [1, 2, 3, 4, 5, 6], "validation_state": [1, 2, 3, 4]}
"""Filters that let every object pass that is there to be read."""
CORROBORATED = common_pb2.VALIDATION_STATE_CORROBORATED


def query_page(workspace: Workspace, client: Client | None = None, **fields: Any) -> memory_pb2.QueryResponse:
    """One page; `filters`, `order`, `limit` [100], `cursor`, `delegation_id`."""
    filters = fields.pop("filters", {})
    fields.setdefault("limit", 100)
    request = memory_pb2.QueryRequest(
        scope_id=workspace.scope_id, query={"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": filters}, **fields
    )
    response: memory_pb2.QueryResponse = (client or workspace.owner).memory.Query(request)
    return response


def query_ids(workspace: Workspace, client: Client | None = None, **fields: Any) -> list[str]:
    """Object ids of all pages."""
    found: list[str] = []
    cursor = ""
    while True:
        page = query_page(workspace, client, cursor=cursor, **fields)
        found.extend(row.object_id for row in page.results)
        cursor = page.cursor
        if not cursor:
            return found


def history_page(
    workspace: Workspace, client: Client | None = None, **fields: Any
) -> memory_pb2.InspectHistoryResponse:
    """One page of a history."""
    request = memory_pb2.InspectHistoryRequest(scope_id=workspace.scope_id, **fields)
    response: memory_pb2.InspectHistoryResponse = (client or workspace.owner).memory.InspectHistory(request)
    return response


def history(workspace: Workspace, client: Client | None = None, **fields: Any) -> list[memory_pb2.HistoryEntry]:
    """All entries of a history."""
    found: list[memory_pb2.HistoryEntry] = []
    cursor = ""
    while True:
        page = history_page(workspace, client, cursor=cursor, **fields)
        found.extend(page.entries)
        cursor = page.cursor
        if not cursor:
            return found


def update(workspace: Workspace, object_id: str, version_id: str, client: Client | None = None, **fields: Any) -> Any:
    """Writes new content; returns the result."""
    if "update_mask" not in fields:
        fields.setdefault("canonical_content", b'{"statement":"changed"}')
    fields.setdefault("provenance", {"activity": "revised"})
    request = memory_pb2.UpdateRequest(
        scope_id=workspace.scope_id, object_id=object_id, expected_version_id=version_id, **fields
    )
    return (client or workspace.owner).memory.Update(request).result


def transition(
    workspace: Workspace,
    object_id: str,
    version_id: str,
    dimension: str,
    target: str,
    client: Client | None = None,
    **fields: Any,
) -> Any:
    """Moves a state; returns the result."""
    request = memory_pb2.TransitionRequest(
        scope_id=workspace.scope_id,
        object_id=object_id,
        expected_version_id=version_id,
        dimension=memory_pb2.Dimension.Value(f"DIMENSION_{dimension.upper()}"),
        target_state=target,
        policy_basis="test",
        **fields,
    )
    return (client or workspace.owner).memory.Transition(request).result


def delete(workspace: Workspace, object_id: str, version_id: str, client: Client | None = None, **fields: Any) -> Any:
    """Writes the tombstone; returns the result."""
    request = memory_pb2.DeleteRequest(
        scope_id=workspace.scope_id, object_id=object_id, expected_version_id=version_id, policy_basis="test", **fields
    )
    return (client or workspace.owner).memory.Delete(request).result


def grant(workspace: Workspace, delegate: str, *operations: str, client: Client | None = None, **fields: Any) -> str:
    """Grants operations for an hour; returns the grant's id."""
    now = int(time.time())
    request = delegation_pb2.GrantDelegationRequest(
        scope_id=workspace.scope_id,
        policy_basis="test",
        delegated_actor={"actor_id": delegate, "actor_kind": "agent"},
        granted_operations=operations,
        not_before={"seconds": now - 60},
        not_after={"seconds": now + 3600},
        **fields,
    )
    return str((client or workspace.owner).delegation.GrantDelegation(request).delegation.delegation_id)
