"""RemovePolicyRule (P-7.5-09, X-07)."""

from __future__ import annotations

from remit.v1 import admin_pb2
from server.authority.policy_changes import Changed, PolicyChange, change_policy, earlier_change
from server.call import Call
from storage.commands import ColdChange
from storage.model.administration_events import PolicyRuleRemoved
from storage.policy_rules import find_rule
from storage.workspaces import load_heads


async def handle(call: Call, request: admin_pb2.RemovePolicyRuleRequest) -> admin_pb2.RemovePolicyRuleResponse:
    """Removes the one rule or cross-scope permit of that id; when there is none, nothing changes."""
    earlier = await earlier_change(call)
    if earlier is not None:
        return _answer(earlier)
    rule = await find_rule(call.services.database, call.tenant_id, call.scope_id, request.rule_id)
    if rule is None:
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        call.confirm(heads)
        return admin_pb2.RemovePolicyRuleResponse(
            policy_revision=0 if heads is None else heads.policy_revision,
            replayed=True,
            operation_id=call.operation_id,
        )

    async def prepare(revision: int) -> PolicyChange:
        removed = PolicyRuleRemoved(rule=rule, policy_revision=revision)
        return PolicyChange(ColdChange("rule_remove", {"rule_id": rule.rule_id}), removed, restricts=True)

    return _answer(await change_policy(call, prepare, {"rule_id": rule.rule_id}))


def _answer(changed: Changed) -> admin_pb2.RemovePolicyRuleResponse:
    return admin_pb2.RemovePolicyRuleResponse(
        policy_revision=changed.policy_revision,
        event_id=changed.event_id,
        replayed=changed.replayed,
        operation_id=changed.operation_id,
    )
