"""AddPolicyRule (P-7.5-05, P-7.5-09, P-14-02, X-07)."""

from __future__ import annotations

from dataclasses import replace

from authz.permissions import ALL_ACTIONS, ANY
from remit.v1 import admin_pb2
from server.authority.policy_changes import Changed, PolicyChange, change_policy, earlier_change
from server.call import Call
from server.domain_errors import InvalidRequest
from server.wire.policies import cross_scope_kind_of, effect_of, permit_message, rule_message
from storage.commands import ColdChange
from storage.model.administration_events import PolicyRuleAdded
from storage.model.identifiers import new_id
from storage.model.policy import CrossScopeRule, Effect, Rule


async def handle(call: Call, request: admin_pb2.AddPolicyRuleRequest) -> admin_pb2.AddPolicyRuleResponse:
    """Adds a rule or a cross-scope permit; the same one again returns the standing one and changes nothing.

    Raises InvalidRequest for an action that is none, and for a permit of the workspace for itself.
    """
    addition = _addition(call, request)
    earlier = await earlier_change(call)
    if earlier is not None:
        return _answer(addition, earlier)

    async def prepare(revision: int) -> PolicyChange:
        operation = "rule_add" if isinstance(addition, Rule) else "cross_scope_rule_add"
        event = PolicyRuleAdded(rule=addition, policy_revision=revision)
        denies = isinstance(addition, Rule) and addition.effect is Effect.DENY
        return PolicyChange(ColdChange(operation, addition.for_event()), event, restricts=denies)

    return _answer(addition, await change_policy(call, prepare, {"rule_id": addition.rule_id}))


def _addition(call: Call, request: admin_pb2.AddPolicyRuleRequest) -> Rule | CrossScopeRule:
    if request.HasField("rule"):
        given = request.rule
        if given.action != ANY and given.action not in ALL_ACTIONS:
            raise InvalidRequest("rule.action", "is no action, nor *")
        return Rule(new_id(), given.subject, given.action, given.object_type, given.object_id, effect_of(given.effect))
    if request.HasField("cross_scope_rule"):
        permit = request.cross_scope_rule
        if permit.source_scope_id == call.scope_id:
            raise InvalidRequest("cross_scope_rule.source_scope_id", "must be another workspace")
        return CrossScopeRule(new_id(), permit.source_scope_id, cross_scope_kind_of(permit.kind))
    raise InvalidRequest("rule", "is required, or cross_scope_rule")


def _answer(addition: Rule | CrossScopeRule, changed: Changed) -> admin_pb2.AddPolicyRuleResponse:
    # An unchanged policy names the rule that stands, a replay the rule that was added then.
    standing = replace(addition, rule_id=str(changed.outcome.detail.get("rule_id", addition.rule_id)))
    response = admin_pb2.AddPolicyRuleResponse(
        policy_revision=changed.policy_revision,
        event_id=changed.event_id,
        replayed=changed.replayed,
        operation_id=changed.operation_id,
    )
    if isinstance(standing, Rule):
        response.rule.CopyFrom(rule_message(standing))
    else:
        response.cross_scope_rule.CopyFrom(permit_message(standing))
    return response
