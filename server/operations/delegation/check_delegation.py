"""CheckDelegation (P-18.2-02, -04, -05, -07; authority.md, Check; Q23, Q25, Q45)."""

from __future__ import annotations

from authz.decision import Denied
from remit.v1 import delegation_pb2
from server.authority.checking import asked_by, decide_all, demand_may_ask, may_check
from server.authority.refusals import Refused
from server.authority.standings import FoundGrant, confirm_policy, find_grant
from server.call import Call, Change
from server.domain_errors import AccessDenied
from server.wire.delegations import delegation_message, restriction_message
from storage.model.events import ExerciseMode


async def handle(call: Call, request: delegation_pb2.CheckDelegationRequest) -> delegation_pb2.CheckDelegationResponse:
    """Judges a grant by the same evaluator as the call it would be exercised in; takes a use unless it is a dry run.

    A use is recorded as an exercise in mode `check`. For the delegate, holders of `delegation.check` and, dry, the
    grantor. Raises Refused for a negative verdict; of a dry run AccessDenied, which is an answer and not recorded.
    """
    check = request.check
    asked = asked_by(call, check, "check")
    grant = await find_grant(call, check.target_delegation_id)
    demand_may_ask(call, check, grant, dry_run=request.dry_run, holds=may_check(call))
    chain, now_us = ((), 0) if grant is None else (grant.exercise.grants, grant.exercise.now_us)
    [decision] = await decide_all(call, [(asked, chain, now_us)])
    if request.dry_run:
        await confirm_policy(call)
        if isinstance(decision, Denied):
            raise AccessDenied(decision.coarse.value, decision.rule_id)
        assert grant is not None
        return _answer(call, grant, grant.remaining_uses)
    if grant is not None:
        call.exercise = grant.exercise
    if isinstance(decision, Denied):
        raise Refused(decision, check.object_id or None)
    assert grant is not None
    outcome = await call.commit(
        Change(
            events=[],
            exercise_mode=ExerciseMode.CHECK,
            exercised_object_id=check.object_id or None,
            exercised_operation=check.operation,
        )
    )
    left = outcome.detail.get("remaining_uses")
    return _answer(call, grant, None if left is None else int(left))


def _answer(call: Call, grant: FoundGrant, remaining_uses: int | None) -> delegation_pb2.CheckDelegationResponse:
    return delegation_pb2.CheckDelegationResponse(
        delegation=delegation_message(grant.version),
        remaining_uses=remaining_uses,
        object_types=restriction_message(grant.version.granted_object_types),
        object_ids=restriction_message(grant.version.granted_object_ids),
        event_id=next(iter(call.exercise_event_ids), ""),
        operation_id=call.operation_id,
    )
