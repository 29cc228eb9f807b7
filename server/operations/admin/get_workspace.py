"""GetWorkspace (P-7.5-08)."""

from __future__ import annotations

from remit.v1 import admin_pb2
from server.call import Call
from server.wire.policies import workspace_message
from storage.workspaces import load_heads


async def handle(call: Call, request: admin_pb2.GetWorkspaceRequest) -> admin_pb2.GetWorkspaceResponse:
    """Returns the addressed workspace: its descriptor never changes, the caller's right is confirmed as of now."""
    [heads] = await load_heads(call.services.database, call.tenant_id, [request.scope_id])
    call.confirm(heads)
    return admin_pb2.GetWorkspaceResponse(
        workspace=workspace_message(call.view.workspace), operation_id=call.operation_id
    )
