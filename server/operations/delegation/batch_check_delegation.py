"""BatchCheckDelegation (P-18.2-02; authority.md, Check)."""

from __future__ import annotations

from authz.decision import Allowed, Denied
from remit.v1 import delegation_pb2
from server.authority.checking import asked_by, decide_all, demand_may_ask, may_check
from server.authority.standings import confirm_policy, find_grants
from server.call import Call


async def handle(
    call: Call, request: delegation_pb2.BatchCheckDelegationRequest
) -> delegation_pb2.BatchCheckDelegationResponse:
    """Returns a verdict on each check, in order, without taking uses or recording anything.

    Every check must be one the caller may ask dry (see CheckDelegation): else Refused, for the whole batch.
    """
    # The same question asked twice is one question; the chains of all grants are one read.
    indexes: dict[bytes, int] = {}
    distinct: list[delegation_pb2.DelegationCheck] = []
    order: list[int] = []
    asked = []
    for index, check in enumerate(request.checks):
        key = check.SerializeToString(deterministic=True)
        if key not in indexes:
            indexes[key] = len(distinct)
            distinct.append(check)
            asked.append(asked_by(call, check, f"checks[{index}]"))
        order.append(indexes[key])
    delegation_ids = list({check.target_delegation_id: None for check in distinct})
    grants = dict(zip(delegation_ids, await find_grants(call, delegation_ids), strict=True))
    holds = may_check(call)
    facts = []
    for check, one in zip(distinct, asked, strict=True):
        grant = grants[check.target_delegation_id]
        demand_may_ask(call, check, grant, dry_run=True, holds=holds)
        facts.append((one, (), 0) if grant is None else (one, grant.exercise.grants, grant.exercise.now_us))
    decisions = await decide_all(call, facts)
    await confirm_policy(call)
    verdicts = [_verdict(decision) for decision in decisions]
    return delegation_pb2.BatchCheckDelegationResponse(
        verdicts=[verdicts[index] for index in order], operation_id=call.operation_id
    )


def _verdict(decision: Allowed | Denied) -> delegation_pb2.DelegationVerdict:
    if isinstance(decision, Denied):
        return delegation_pb2.DelegationVerdict(denial_reason=decision.coarse.value)
    return delegation_pb2.DelegationVerdict(allowed=True, remaining_uses=decision.remaining_uses)
