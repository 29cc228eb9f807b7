"""BindRole (P-7.5-09, X-07)."""

from __future__ import annotations

from remit.v1 import admin_pb2
from server.authority.policy_changes import Changed, PolicyChange, change_policy, earlier_change
from server.call import Call
from server.wire.policies import binding_message
from storage.commands import ColdChange
from storage.model.administration_events import RoleBound
from storage.model.policy import Binding
from storage.policy_rules import has_deny


async def handle(call: Call, request: admin_pb2.BindRoleRequest) -> admin_pb2.BindRoleResponse:
    """Binds an actor to a role; one that is bound already changes nothing.

    A role with a deny takes something away from whoever is bound to it.
    """
    binding = Binding(request.actor_id, request.role_id)
    earlier = await earlier_change(call)
    if earlier is not None:
        return _answer(binding, earlier)

    async def prepare(revision: int) -> PolicyChange:
        bound = RoleBound(actor_id=binding.actor_id, role_id=binding.role_id, policy_revision=revision)
        denies = await has_deny(call.services.database, call.tenant_id, call.scope_id, binding.role_id)
        return PolicyChange(ColdChange("role_bind", binding.for_event()), bound, restricts=denies)

    return _answer(binding, await change_policy(call, prepare, {}))


def _answer(binding: Binding, changed: Changed) -> admin_pb2.BindRoleResponse:
    return admin_pb2.BindRoleResponse(
        binding=binding_message(binding),
        policy_revision=changed.policy_revision,
        event_id=changed.event_id,
        replayed=changed.replayed,
        operation_id=changed.operation_id,
    )
