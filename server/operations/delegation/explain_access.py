"""ExplainAccess (P-15.3-01, P-14-02; authority.md, Explain)."""

from __future__ import annotations

from authz.decision import Allowed, Denied, NeedsType
from authz.delegation import Chain
from authz.explain import ExplainedStep, explain
from authz.permissions import ALL_ACTIONS, ANY, AUTHORITY_EXPLAIN, TRANSITION
from authz.request import AccessRequest
from remit.v1 import delegation_pb2
from server.authority import denials
from server.authority.checking import access_request, with_types
from server.authority.refusals import Refused
from server.authority.standings import confirm_policy, find_grant
from server.call import Call
from server.domain_errors import InvalidRequest
from storage.object_types import load_object_types


async def handle(call: Call, request: delegation_pb2.ExplainAccessRequest) -> delegation_pb2.ExplainAccessResponse:
    """Returns the decision on an action and each of its steps; changes nothing.

    For holders of `authority.explain`, exactly; for others about themselves only, as a denial would tell it. Raises
    Refused to those who ask about somebody else, InvalidRequest for an action that is none.
    """
    actor_id = request.actor_id or call.actor_id
    exact = call.holds(AUTHORITY_EXPLAIN)
    if not exact and actor_id != call.actor_id:
        raise Refused(denials.lacking(call.view.enforcer.check(call.actor_id, AUTHORITY_EXPLAIN, ANY, ANY)))
    asked = _asked(call, request, actor_id)
    chain, now_us = await _chain(call, request, actor_id, exact)
    explanation = explain(asked, call.view.enforcer, chain, now_us, exact=exact)
    if request.object_id and (exact or isinstance(explanation.decision, NeedsType)):
        types = await load_object_types(call.services.database, call.tenant_id, call.scope_id, [request.object_id])
        explanation = explain(with_types(asked, types), call.view.enforcer, chain, now_us, exact=exact)
    await confirm_policy(call)
    decision = explanation.decision
    return delegation_pb2.ExplainAccessResponse(
        allowed=isinstance(decision, Allowed),
        denial_reason=decision.coarse.value if isinstance(decision, Denied) else "",
        steps=[_step(step) for step in explanation.steps],
        policy_revision=call.view.enforcer.policy_revision,
        operation_id=call.operation_id,
    )


def _asked(call: Call, request: delegation_pb2.ExplainAccessRequest, actor_id: str) -> AccessRequest:
    action = request.operation
    if action == TRANSITION:
        raise InvalidRequest("operation", "must name the dimension, as in transition.lifecycle")
    if action not in ALL_ACTIONS:
        raise InvalidRequest("operation", "is no action")
    return access_request(call, actor_id, action, request.object_id, request.object_type)


async def _chain(
    call: Call, request: delegation_pb2.ExplainAccessRequest, actor_id: str, exact: bool
) -> tuple[Chain | None, int]:
    """Returns the chain of the grant to exercise, None when none is named, empty when it is not there to be told of."""
    if not request.target_delegation_id:
        return None, 0
    grant = await find_grant(call, request.target_delegation_id)
    # A grant of others must look as one that is not there, however many steps it would have.
    if grant is None or (not exact and grant.facts.delegate_id != actor_id):
        return (), 0
    return grant.exercise.grants, grant.exercise.now_us


def _step(step: ExplainedStep) -> delegation_pb2.AccessStep:
    return delegation_pb2.AccessStep(
        step=step.step,
        passed=bool(step.passed),
        reason=step.reason or "",
        policy_rule_id=step.rule_id or "",
        delegation_id=step.delegation_id or "",
        delegation_version_id=step.version_id or "",
    )
