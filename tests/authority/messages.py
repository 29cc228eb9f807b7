"""The messages of a walk's steps, and what their answers come to."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from remit.v1 import admin_pb2, delegation_pb2, memory_pb2
from tests.authority.account import Account, Exercise
from tests.authority.oracle import OK, Answer, Call, Grant, Rule
from tests.cluster import Refusal

_NEVER = "urn:never:1"
_BASIS = "test policy"
_EVERY_STATE = {"lifecycle_state": [1, 2, 3, 4, 5, 6], "validation_state": [1, 2, 3, 4]}


def timestamp(at_us: int) -> Timestamp:
    """A time in microseconds since 1970."""
    return Timestamp(seconds=at_us // 1_000_000, nanos=at_us % 1_000_000 * 1000)


def exercise_message(account: Account, exercise: Exercise, key: str = "") -> tuple[str, Message]:
    """The method and request of an exercise; `key` makes a change repeatable."""
    call = exercise.call
    if exercise.is_check:
        check = check_of(call)
        return "delegation.CheckDelegation", delegation_pb2.CheckDelegationRequest(scope_id=call.scope_id, check=check)
    common: dict[str, Any] = {"scope_id": call.scope_id, "delegation_id": call.delegation_id or ""}
    version_id = account.versions.get((call.scope_id, call.object_id or ""), _NEVER)
    change = common | {
        "idempotency_key": key,
        "object_id": call.object_id,
        "expected_version_id": _NEVER if exercise.is_stale else version_id,
    }
    provenance = {"activity": "observed"}
    content = b'{"statement":"x"}'
    match call.action:
        case "create":
            del change["expected_version_id"]
            object_id = change.pop("object_id") or ""
            return "memory.Create", memory_pb2.CreateRequest(
                **change,
                object_id=object_id,
                object_type=call.object_type,
                canonical_content=content,
                provenance=provenance,
            )
        case "read":
            return "memory.Read", memory_pb2.ReadRequest(**common, object_id=call.object_id)
        case "query":
            query = {"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": _EVERY_STATE}
            return "memory.Query", memory_pb2.QueryRequest(**common, query=query, limit=1000)
        case "update":
            return "memory.Update", memory_pb2.UpdateRequest(**change, canonical_content=content, provenance=provenance)
        case "delete":
            return "memory.Delete", memory_pb2.DeleteRequest(**change, policy_basis=_BASIS)
        case _:
            state = account.next_state(call.scope_id, call.object_id or "")
            dimension = memory_pb2.DIMENSION_VALIDATION
            return "memory.Transition", memory_pb2.TransitionRequest(
                **change, dimension=dimension, target_state=state, policy_basis=_BASIS
            )


def check_of(call: Call) -> delegation_pb2.DelegationCheck:
    """A check of the grant that the call names, for the caller itself."""
    _, _, dimension = call.action.partition("transition.")
    return delegation_pb2.DelegationCheck(
        target_delegation_id=call.delegation_id,
        delegated_actor_id=call.actor,
        operation=call.operation,
        dimension=dimension,
        object_id=call.object_id or "",
        object_type=call.object_type or "",
    )


def explain_message(call: Call, asker: str) -> delegation_pb2.ExplainAccessRequest:
    """An explanation of the call, to the caller itself or to somebody else."""
    return delegation_pb2.ExplainAccessRequest(
        scope_id=call.scope_id,
        actor_id="" if asker == call.actor else call.actor,
        operation=call.action,
        object_id=call.object_id or "",
        object_type=call.object_type or "",
        target_delegation_id=call.delegation_id or "",
    )


def grant_message(wanted: Grant) -> delegation_pb2.GrantDelegationRequest:
    """The request for a grant."""
    request = delegation_pb2.GrantDelegationRequest(
        scope_id=wanted.home,
        delegated_actor={"actor_id": wanted.delegate, "actor_kind": "agent"},
        granted_operations=sorted(wanted.operations),
        target_scope_id=wanted.target or "",
        policy_basis=_BASIS,
        not_before=timestamp(wanted.not_before_us),
        not_after=timestamp(wanted.not_after_us),
        revocable=wanted.revocable,
        usage_limit=wanted.limit,
        parent_delegation_id=wanted.parent.delegation_id if wanted.parent else "",
        max_redelegations=wanted.depth,
    )
    if wanted.types is not None:
        request.granted_object_types.values.extend(sorted(wanted.types))
    if wanted.ids is not None:
        request.granted_object_ids.values.extend(sorted(wanted.ids))
    return request


def revoke_message(scope_id: str, delegation_id: str) -> delegation_pb2.RevokeDelegationRequest:
    """The revocation of a grant."""
    return delegation_pb2.RevokeDelegationRequest(
        scope_id=scope_id, target_delegation_id=delegation_id, policy_basis=_BASIS
    )


def rule_message(scope_id: str, rule: Rule) -> admin_pb2.AddPolicyRuleRequest:
    """The addition of a rule."""
    return admin_pb2.AddPolicyRuleRequest(
        scope_id=scope_id,
        rule={
            "subject": rule.subject,
            "action": rule.action,
            "object_type": rule.object_type,
            "object_id": rule.object_id,
            "effect": admin_pb2.EFFECT_ALLOW if rule.allows else admin_pb2.EFFECT_DENY,
        },
    )


def permit_message(scope_id: str, source_scope_id: str) -> admin_pb2.AddPolicyRuleRequest:
    """The addition of a cross-scope permit."""
    kind = admin_pb2.CROSS_SCOPE_KIND_DELEGATION
    return admin_pb2.AddPolicyRuleRequest(
        scope_id=scope_id, cross_scope_rule={"source_scope_id": source_scope_id, "kind": kind}
    )


def told(answer: Any) -> Answer:
    """What the service answered, as the oracle would say it."""
    if not isinstance(answer, Refusal):
        rows = None
        if isinstance(answer, memory_pb2.QueryResponse):
            rows = frozenset(row.object_id for row in answer.results)
        return Answer(OK, rows=rows)
    reasons = frozenset({answer.denial_reason}) if answer.denial_reason else frozenset()
    return Answer(answer.reason or answer.code.name, reasons)


def agree(expected: Answer, given: Answer) -> bool:
    """Whether the service's answer is the one expected; one of several reasons will do."""
    if (expected.code, expected.rows) != (given.code, given.rows):
        return False
    return given.reasons <= expected.reasons and bool(given.reasons) == bool(expected.reasons)
