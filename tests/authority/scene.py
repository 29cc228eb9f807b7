"""A workspace of a test's own, and what happens in it: rules, grants, exercises and what the ledger says of them."""

from __future__ import annotations

import json
import uuid
from typing import Any

from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2, memory_pb2
from tests.authority.account import entry_of
from tests.authority.fleet import Fleet, settled
from tests.authority.messages import permit_message, revoke_message, rule_message, timestamp
from tests.authority.oracle import Rule
from tests.cluster import ADMIN, TENANT

HOUR_US = 3_600_000_000
DELEGATE = "actor:delegate"
MIDDLE = "actor:middle"
GRANTOR = "actor:grantor"


class Scene:
    """A new workspace, owned by ADMIN. `server` arguments choose the process."""

    def __init__(self, fleet: Fleet, tenant_id: str = TENANT, scope_id: str | None = None) -> None:
        self.fleet = fleet
        self.tenant_id = tenant_id
        self.scope_id = scope_id or f"workspace:{uuid.uuid4().hex}"
        request = admin_pb2.CreateWorkspaceRequest(
            scope_id=f"tenant:{tenant_id}", new_scope_id=self.scope_id, scope_kind="workspace"
        )
        self.call("admin.CreateWorkspace", request)

    def call(self, method: str, request: Any, actor: str = ADMIN, server: int = 0) -> Any:
        """The response; raises Refusal."""
        return self.fleet.call(method, request, actor, server, self.tenant_id)

    def start(self, method: str, request: Any, actor: str = ADMIN, server: int = 0) -> Any:
        """The call under way."""
        return self.fleet.start(method, request, actor, server, self.tenant_id)

    # Policy

    def add_rule(
        self, subject: str, action: str, *, allows: bool = True, object_type: str = "*", server: int = 0
    ) -> str:
        """Adds a rule; returns its id."""
        message = rule_message(self.scope_id, Rule(subject, action, object_type, allows=allows))
        return str(self.call("admin.AddPolicyRule", message, server=server).rule.rule_id)

    def removal(self, rule_id: str) -> admin_pb2.RemovePolicyRuleRequest:
        """The request that removes a rule or permit."""
        return admin_pb2.RemovePolicyRuleRequest(scope_id=self.scope_id, rule_id=rule_id)

    def remove_rule(self, rule_id: str, server: int = 0) -> None:
        """Removes a rule."""
        self.call("admin.RemovePolicyRule", self.removal(rule_id), server=server)

    def bind(self, actor: str, role: str, server: int = 0) -> None:
        """Binds an actor to a role."""
        request = admin_pb2.BindRoleRequest(scope_id=self.scope_id, actor_id=actor, role_id=role)
        self.call("admin.BindRole", request, server=server)

    def unbinding(self, actor: str, role: str) -> admin_pb2.UnbindRoleRequest:
        """The request that unbinds an actor from a role."""
        return admin_pb2.UnbindRoleRequest(scope_id=self.scope_id, actor_id=actor, role_id=role)

    def unbind(self, actor: str, role: str, server: int = 0) -> None:
        """Unbinds an actor from a role."""
        self.call("admin.UnbindRole", self.unbinding(actor, role), server=server)

    def permit(self, source: Scene) -> str:
        """Lets grants of another workspace reach into this one; returns the permit's id."""
        message = permit_message(self.scope_id, source.scope_id)
        return str(self.call("admin.AddPolicyRule", message).cross_scope_rule.rule_id)

    # Grants

    def grant_message(self, *operations: str, to: str = DELEGATE, **fields: Any) -> Any:
        """A request for a grant of two hours around now, unless the fields say otherwise."""
        now_us = self.fleet.clock_us()
        values: dict[str, Any] = {
            "not_before": timestamp(now_us - HOUR_US),
            "not_after": timestamp(now_us + HOUR_US),
        } | fields
        return delegation_pb2.GrantDelegationRequest(
            scope_id=self.scope_id,
            delegated_actor={"actor_id": to, "actor_kind": "agent"},
            granted_operations=list(operations),
            policy_basis="test policy",
            **values,
        )

    def grant(self, *operations: str, by: str = ADMIN, server: int = 0, **fields: Any) -> str:
        """Grants; returns the grant's id."""
        message = self.grant_message(*operations, **fields)
        return str(self.call("delegation.GrantDelegation", message, by, server).delegation.delegation_id)

    def below(self, parent_id: str, **fields: Any) -> dict[str, Any]:
        """The fields of a grant below another, with the same window."""
        parent = self.standing(parent_id).delegation
        window = {"not_before": parent.not_before, "not_after": parent.not_after}
        return window | {"parent_delegation_id": parent_id} | fields

    def revoking(self, delegation_id: str, server: int = 0) -> Any:
        """A revocation under way."""
        return self.start("delegation.RevokeDelegation", revoke_message(self.scope_id, delegation_id), server=server)

    def revoke(self, delegation_id: str, server: int = 0, by: str = ADMIN) -> None:
        """Revokes; raises Refusal."""
        self.call("delegation.RevokeDelegation", revoke_message(self.scope_id, delegation_id), by, server)

    def standing(self, delegation_id: str, server: int = 0) -> delegation_pb2.DelegationStanding:
        """How a grant stands."""
        request = delegation_pb2.GetDelegationRequest(scope_id=self.scope_id, target_delegation_id=delegation_id)
        response: delegation_pb2.GetDelegationResponse = self.call("delegation.GetDelegation", request, server=server)
        return response.standing

    # Exercises

    def create(self, object_type: str = "claim", **fields: Any) -> Any:
        """Creates an object as its owner; returns the result."""
        return self.call("memory.Create", self.creation(object_type=object_type, **fields)).result

    def creation(self, **fields: Any) -> memory_pb2.CreateRequest:
        """The request that creates an object."""
        content = b'{"statement":"x"}'
        return memory_pb2.CreateRequest(
            scope_id=self.scope_id, canonical_content=content, provenance={"activity": "observed"}, **fields
        )

    def reading(self, object_id: str, delegation_id: str = "", actor: str = DELEGATE, server: int = 0) -> Any:
        """A read under way."""
        request = memory_pb2.ReadRequest(scope_id=self.scope_id, object_id=object_id, delegation_id=delegation_id)
        return self.start("memory.Read", request, actor, server)

    def read(self, object_id: str, delegation_id: str = "", actor: str = DELEGATE, server: int = 0) -> Any:
        """The response to a read, or its Refusal."""
        return settled(self.reading(object_id, delegation_id, actor, server))

    def checking(self, delegation_id: str, operation: str = "read", server: int = 0, **fields: Any) -> Any:
        """A metered check by the delegate, under way."""
        check = {"target_delegation_id": delegation_id, "delegated_actor_id": DELEGATE, "operation": operation}
        request = delegation_pb2.CheckDelegationRequest(scope_id=self.scope_id, check=check | fields)
        return self.start("delegation.CheckDelegation", request, DELEGATE, server)

    def check(self, delegation_id: str, operation: str = "read", server: int = 0, **fields: Any) -> Any:
        """The response to a metered check by the delegate, or its Refusal."""
        return settled(self.checking(delegation_id, operation, server, **fields))

    # The ledger

    def events(self, *event_types: str, server: int = 0) -> list[ledger_pb2.LedgerEvent]:
        """The events of some types, oldest first."""
        found = self.fleet.events(self.scope_id, 0, self.tenant_id, server)
        return [event for event in found if entry_of(event).event_type in event_types]

    def denials(self, key: str = "denial_reason") -> list[str]:
        """One field of every denial, oldest first."""
        return [json.loads(event.payload_json)[key] for event in self.events("access_denied")]

    def verify(self) -> None:
        """The ledger is whole."""
        verified = self.call("ledger.VerifyLedger", ledger_pb2.VerifyLedgerRequest(scope_id=self.scope_id))
        assert verified.ok, verified.findings


def exercises_after_revocation(events: list[ledger_pb2.LedgerEvent]) -> list[ledger_pb2.LedgerEvent]:
    """The exercises that stand after a revocation of the grant or of one above it, in the ledger of their home."""
    ended: set[str] = set()
    found = []
    for event in events:
        entry = entry_of(event)
        if entry.event_type == "delegation_revoked":
            ended |= entry.about
        elif entry.event_type == "delegation_exercised" and ended & set(json.loads(event.payload_json)["chain"]):
            found.append(event)
    return found
