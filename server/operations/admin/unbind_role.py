"""UnbindRole (P-7.5-09, X-07)."""

from __future__ import annotations

from remit.v1 import admin_pb2
from server.authority.policy_changes import Changed, PolicyChange, change_policy, earlier_change
from server.call import Call
from server.domain_errors import PolicyDenied
from storage.commands import ColdChange, Status
from storage.model.administration_events import RoleUnbound


async def handle(call: Call, request: admin_pb2.UnbindRoleRequest) -> admin_pb2.UnbindRoleResponse:
    """Unbinds an actor from a role; one that is not bound changes nothing.

    Raises PolicyDenied for the last owner: a workspace that nobody owns can't be administered again.
    """
    earlier = await earlier_change(call)
    if earlier is not None:
        return _answer(earlier)

    async def prepare(revision: int) -> PolicyChange:
        binding = {"actor_id": request.actor_id, "role_id": request.role_id}
        return PolicyChange(
            ColdChange("role_unbind", binding), RoleUnbound(**binding, policy_revision=revision), restricts=True
        )

    changed = await change_policy(call, prepare, {})
    if changed.outcome.status is Status.LAST_OWNER:
        raise PolicyDenied("the last owner of a workspace can't be unbound", field="actor_id")
    return _answer(changed)


def _answer(changed: Changed) -> admin_pb2.UnbindRoleResponse:
    return admin_pb2.UnbindRoleResponse(
        policy_revision=changed.policy_revision,
        event_id=changed.event_id,
        replayed=changed.replayed,
        operation_id=changed.operation_id,
    )
