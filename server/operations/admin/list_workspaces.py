"""ListWorkspaces (P-3-01)."""

from __future__ import annotations

from remit.v1 import admin_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import InvalidRequest
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.wire.policies import workspace_message
from storage.model.identifiers import root_scope_id
from storage.workspaces import list_workspaces, load_heads


async def handle(call: Call, request: admin_pb2.ListWorkspacesRequest) -> admin_pb2.ListWorkspacesResponse:
    """Returns a page of the tenant's workspaces by id, the root scope among them.

    Raises InvalidRequest when the call is not addressed to the root scope, or for a cursor of another listing.
    """
    if request.scope_id != root_scope_id(call.tenant_id):
        raise InvalidRequest("scope_id", "must be the tenant's root scope")
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    if heads is None:
        raise StaleFacts
    binding = cursor_binding(call, heads.epoch)
    place = last_place(call, binding)
    after = "" if place is None else str(place.last_key[0])
    size = call.page_size()
    workspaces = await list_workspaces(call.services.database, call.tenant_id, after, size + 1)
    call.confirm(heads)
    page = fitting(call, [workspace_message(workspace) for workspace in workspaces], size)
    return admin_pb2.ListWorkspacesResponse(
        workspaces=page,
        cursor=next_cursor(call, binding, [page[-1].scope_id]) if len(page) < len(workspaces) else "",
        operation_id=call.operation_id,
    )
