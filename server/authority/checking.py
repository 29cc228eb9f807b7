"""Checks of grants: what a check asks, who may ask it, and the evaluator's answers (authority.md, Check).

They are answered by the one function that decides calls, so a check and the call it is about never disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from authz.decision import ABSENT, AccessRequest, Allowed, Decision, Denied, NeedsType, Touched, decide
from authz.delegation import Chain
from authz.permissions import (
    ANY,
    CREATE,
    DELEGATION_CHECK,
    INSPECT_HISTORY,
    PAMSPEC_OPERATIONS,
    QUERY,
    SUBSCRIBE,
    TRANSITION,
    TRANSITION_ACTIONS,
)
from remit.v1 import delegation_pb2
from server.authority import denials
from server.authority.refusals import Refused
from server.authority.standings import FoundGrant
from server.call import Call, operation_of
from server.domain_errors import InvalidRequest
from storage.object_types import load_object_types

# Without an object they are about rows, which the authority filters.
_OF_ROWS: Final = frozenset({QUERY, INSPECT_HISTORY, SUBSCRIBE})


def asked_by(call: Call, check: delegation_pb2.DelegationCheck, path: str) -> AccessRequest:
    """Returns what a check asks of the evaluator. Raises InvalidRequest, naming the field below `path`."""
    operation, dimension = check.operation, check.dimension
    if operation not in PAMSPEC_OPERATIONS:
        raise InvalidRequest(f"{path}.operation", "is none of the operations that can be granted")
    action = operation
    if operation == TRANSITION:
        if dimension not in TRANSITION_ACTIONS:
            raise InvalidRequest(f"{path}.dimension", "must be a dimension of states")
        action = TRANSITION_ACTIONS[dimension]
    elif dimension:
        raise InvalidRequest(f"{path}.dimension", "belongs to transition only")
    return access_request(call, check.delegated_actor_id, action, check.object_id, check.object_type)


def access_request(call: Call, actor_id: str, action: str, object_id: str, object_type: str) -> AccessRequest:
    """Returns the request of an action on an object, on one that is to be made, or on rows, in the addressed workspace.

    A type is taken from the request only where there is no stored one; '' stands for what is not named.
    """
    operation = operation_of(action)
    row_filtered = operation in _OF_ROWS and not object_id
    touched: tuple[Touched, ...] = ()
    if action == CREATE:
        touched = (Touched(object_id or None, object_type or None, new=True),)
    elif object_id:
        touched = (Touched(object_id),)
    elif object_type and not row_filtered:
        touched = (Touched(None, object_type),)
    return AccessRequest(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        actor_id=actor_id,
        action=action,
        operation=operation,
        touched=touched,
        row_filtered=row_filtered,
    )


def demand_may_ask(
    call: Call, check: delegation_pb2.DelegationCheck, grant: FoundGrant | None, *, dry_run: bool, holds: bool
) -> None:
    """Raises Refused unless the caller asks about itself, holds `delegation.check`, or asks dry about its own grant.

    `holds` is whether the caller holds that right. Who asks about itself learns what the call would tell it.
    """
    if holds or check.delegated_actor_id == call.actor_id:
        return
    if not dry_run or grant is None or grant.facts.grantor_id != call.actor_id:
        verdict = call.view.enforcer.check(call.actor_id, DELEGATION_CHECK, ANY, ANY)
        raise Refused(denials.lacking(verdict, hides_object=True), check.object_id or None)


def may_check(call: Call) -> bool:
    """Returns whether the caller holds `delegation.check` here."""
    return call.holds(DELEGATION_CHECK)


async def decide_all(call: Call, asked: Sequence[tuple[AccessRequest, Chain | None, int]]) -> list[Allowed | Denied]:
    """Returns the decision on each (request, chain, clock), in order; types are loaded once, where they decide."""
    decisions = [_decide(call, *one) for one in asked]
    unknown = {
        object_id for decision in decisions if isinstance(decision, NeedsType) for object_id in decision.object_ids
    }
    types = await load_object_types(call.services.database, call.tenant_id, call.scope_id, unknown) if unknown else {}
    settled: list[Allowed | Denied] = []
    for (request, chain, now_us), decision in zip(asked, decisions, strict=True):
        if isinstance(decision, NeedsType):
            decision = _decide(call, with_types(request, types), chain, now_us)
        assert not isinstance(decision, NeedsType), "every type is known now"
        settled.append(decision)
    return settled


def with_types(request: AccessRequest, types: Mapping[str, str]) -> AccessRequest:
    """Returns the request with the stored type of each object, ABSENT where there is none."""
    touched = tuple(
        one if one.type_is_chosen or one.object_id is None else Touched(one.object_id, types.get(one.object_id, ABSENT))
        for one in request.touched
    )
    return AccessRequest(
        tenant_id=request.tenant_id,
        scope_id=request.scope_id,
        actor_id=request.actor_id,
        action=request.action,
        operation=request.operation,
        touched=touched,
        row_filtered=request.row_filtered,
    )


def _decide(call: Call, request: AccessRequest, chain: Chain | None, now_us: int) -> Decision:
    return decide(request, call.view.enforcer, chain, now_us)
