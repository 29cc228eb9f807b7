"""CreateWorkspace (P-3-01, P-7.5-08; authority.md, "Who is calling")."""

from __future__ import annotations

from authz.permissions import ROLE_OWNER
from remit.v1 import admin_pb2
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from server.domain_errors import InvalidRequest
from server.tenants import opening, owner_rules
from server.wire.policies import policy_from, workspace_message
from storage.commands import Status
from storage.model.administration_events import WorkspaceCreated
from storage.model.identifiers import TENANT_SCOPE_PREFIX, root_scope_id
from storage.model.policy import Binding
from storage.workspaces import load_heads


async def handle(call: Call, request: admin_pb2.CreateWorkspaceRequest) -> admin_pb2.CreateWorkspaceResponse:
    """Creates a workspace with the bootstrap rules of its owner, the caller.

    Its first event holds those rules; the tenant's root scope gets an event that names it. Raises InvalidRequest when
    the call is not addressed to the root scope, the id is reserved or taken, or the parent is not there.
    """
    earlier = call.replayed()
    if earlier is not None:
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
        return await _answer(call, str(earlier["scope_id"]), earlier["event_ids"], str(earlier["operation_id"]), True)
    if call.scope_id != root_scope_id(call.tenant_id):
        raise InvalidRequest("scope_id", "must be the tenant's root scope")
    scope_id = request.new_scope_id
    if scope_id.startswith(TENANT_SCOPE_PREFIX):
        raise InvalidRequest("new_scope_id", "is reserved for the root scopes of tenants")
    await _check_parent(call, request)
    policy = policy_from(request.policy, "policy")
    rules = owner_rules()
    created = WorkspaceCreated(
        scope_kind=request.scope_kind,
        parent_scope_id=request.parent_scope_id or None,
        policy=policy,
        rules=rules,
        bindings=(Binding(call.actor_id, ROLE_OWNER),),
        policy_revision=1,
    )
    told_to_root = WorkspaceCreated(
        scope_kind=request.scope_kind,
        parent_scope_id=request.parent_scope_id or None,
        policy=policy,
        policy_revision=call.view.enforcer.policy_revision,
        created_scope_id=scope_id,
    )
    events = [call.event(created, scope_id=scope_id), call.event(told_to_root)]
    event_ids = [event.event_id for event in events]
    outcome = await call.commit(
        Change(
            events=events,
            result={"scope_id": scope_id, "event_ids": event_ids},
            workspace=opening(
                scope_id,
                request.scope_kind,
                [call.actor_id],
                rules,
                parent_scope_id=request.parent_scope_id or None,
                policy=policy,
            ),
        )
    )
    if outcome.status is Status.SCOPE_EXISTS:
        raise InvalidRequest("new_scope_id", "is taken")
    if outcome.status is Status.REPLAYED:
        kept = outcome.detail
        return await _answer(call, str(kept["scope_id"]), kept["event_ids"], str(kept["operation_id"]), True)
    return await _answer(call, scope_id, event_ids, call.operation_id, False)


async def _check_parent(call: Call, request: admin_pb2.CreateWorkspaceRequest) -> None:
    parent = request.parent_scope_id
    if parent and await call.services.views.get(call.tenant_id, parent) is None:
        raise InvalidRequest("parent_scope_id", "is no workspace of the tenant")


async def _answer(
    call: Call, scope_id: str, event_ids: list[str], operation_id: str, replayed: bool
) -> admin_pb2.CreateWorkspaceResponse:
    view = await call.services.views.fresh(call.tenant_id, scope_id)
    if view is None:
        raise StaleFacts
    return admin_pb2.CreateWorkspaceResponse(
        workspace=workspace_message(view.workspace),
        event_ids=event_ids,
        replayed=replayed,
        operation_id=operation_id,
    )
