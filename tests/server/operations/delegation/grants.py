"""Requests of grants, checks and exercises, and what a refused call says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2, memory_pb2
from tests.cluster import Client, Refusal, Workspace

GRANTOR = "actor:grantor"
DELEGATE = "actor:delegate"
SECOND = "actor:second"
STRANGER = "actor:stranger"
HOUR_SECONDS = 3600


def at(seconds_from_now: float) -> Timestamp:
    """A time so many seconds from now, to the microsecond."""
    microseconds = time.time_ns() // 1000 + round(seconds_from_now * 1_000_000)
    return Timestamp(seconds=microseconds // 1_000_000, nanos=microseconds % 1_000_000 * 1000)


def grant_request(
    workspace: Workspace, *operations: str, delegate: str = DELEGATE, **fields: Any
) -> delegation_pb2.GrantDelegationRequest:
    """A grant for two hours around now, unless the fields say otherwise."""
    values: dict[str, Any] = {
        "delegated_actor": {"actor_id": delegate, "actor_kind": "agent"},
        "granted_operations": list(operations),
        "policy_basis": "test policy",
        "not_before": at(-HOUR_SECONDS),
        "not_after": at(HOUR_SECONDS),
    } | fields
    for name in ("granted_object_types", "granted_object_ids"):
        if isinstance(values.get(name), list):
            values[name] = delegation_pb2.Restriction(values=values[name])
    return delegation_pb2.GrantDelegationRequest(scope_id=workspace.scope_id, **values)


def grant(workspace: Workspace, *operations: str, by: Client | None = None, **fields: Any) -> delegation_pb2.Delegation:
    """Grants, by the owner unless by another; returns the grant."""
    request = grant_request(workspace, *operations, **fields)
    return (by or workspace.owner).delegation.GrantDelegation(request).delegation


def sub_request(
    workspace: Workspace, parent: delegation_pb2.Delegation, *operations: str, **fields: Any
) -> delegation_pb2.GrantDelegationRequest:
    """A grant to a second delegate below the parent, in the parent's window."""
    values = {"delegate": SECOND, "not_before": parent.not_before, "not_after": parent.not_after} | fields
    return grant_request(workspace, *operations, parent_delegation_id=parent.delegation_id, **values)


def permit(workspace: Workspace, source: Workspace) -> str:
    """Lets grants made in another workspace reach this one; returns the rule's id."""
    permitted = admin_pb2.NewCrossScopeRule(source_scope_id=source.scope_id, kind=admin_pb2.CROSS_SCOPE_KIND_DELEGATION)
    request = admin_pb2.AddPolicyRuleRequest(scope_id=workspace.scope_id, cross_scope_rule=permitted)
    return str(workspace.owner.admin.AddPolicyRule(request).cross_scope_rule.rule_id)


def remove_rule(workspace: Workspace, rule_id: str) -> None:
    """Removes a rule or a permit."""
    request = admin_pb2.RemovePolicyRuleRequest(scope_id=workspace.scope_id, rule_id=rule_id)
    workspace.owner.admin.RemovePolicyRule(request)


def revoke(workspace: Workspace, delegation_id: str, by: Client | None = None, **fields: Any) -> Any:
    """Revokes; returns the response."""
    request = delegation_pb2.RevokeDelegationRequest(
        scope_id=workspace.scope_id, target_delegation_id=delegation_id, policy_basis="test policy", **fields
    )
    return (by or workspace.owner).delegation.RevokeDelegation(request)


def check_request(
    workspace: Workspace,
    delegation_id: str,
    operation: str = "read",
    *,
    actor_id: str = DELEGATE,
    dry_run: bool = False,
    **fields: Any,
) -> delegation_pb2.CheckDelegationRequest:
    """A check of the delegate's grant."""
    check = delegation_pb2.DelegationCheck(
        target_delegation_id=delegation_id, delegated_actor_id=actor_id, operation=operation, **fields
    )
    return delegation_pb2.CheckDelegationRequest(scope_id=workspace.scope_id, check=check, dry_run=dry_run)


def standing(workspace: Workspace, delegation_id: str, by: Client | None = None) -> delegation_pb2.DelegationStanding:
    """How a grant stands."""
    request = delegation_pb2.GetDelegationRequest(scope_id=workspace.scope_id, target_delegation_id=delegation_id)
    return (by or workspace.owner).delegation.GetDelegation(request).standing


def read_request(workspace: Workspace, object_id: str, delegation_id: str = "") -> memory_pb2.ReadRequest:
    """A read, by grant where one is named."""
    return memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id=object_id, delegation_id=delegation_id)


def refusal(method: Callable[[Any], Any], request: Message) -> Refusal:
    """What a call is refused with."""
    with pytest.raises(Refusal) as caught:
        method(request)
    return caught.value


def denied(method: Callable[[Any], Any], request: Message) -> str:
    """The coarse reason for which a call is denied."""
    error = refusal(method, request)
    assert error.reason == "ACCESS_DENIED", error
    return error.denial_reason


def events_of(workspace: Workspace, *event_types: int, delegation_id: str = "") -> list[ledger_pb2.LedgerEvent]:
    """The workspace's events of some types, oldest first, of one grant where it is named."""
    return [
        event
        for event in workspace.events()
        if event.event_type in event_types and delegation_id in ("", event.delegation_id)
    ]


def payload(event: ledger_pb2.LedgerEvent) -> dict[str, Any]:
    """An event's payload."""
    return dict(json.loads(event.payload_json))
