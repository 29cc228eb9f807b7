"""CreateWorkspace, GetWorkspace, ListWorkspaces (P-7.5-08, B15)."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from authz.permissions import OWNER_ACTIONS
from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2
from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Cluster, Workspace
from tests.server.operations.delegation.grants import denied, payload, refusal

ROOT = f"tenant:{TENANT}"


def create_request(new_scope_id: str | None = None, **fields: Any) -> admin_pb2.CreateWorkspaceRequest:
    """A new workspace."""
    values = {
        "scope_id": ROOT,
        "new_scope_id": new_scope_id or f"workspace:{uuid.uuid4().hex}",
        "scope_kind": "project",
    }
    return admin_pb2.CreateWorkspaceRequest(**(values | fields))


@pytest.mark.req("P-7.5-08")
def test_a_workspace_has_its_descriptor_and_nothing_else(cluster: Cluster, workspace: Workspace) -> None:
    admin = cluster.client(ADMIN)
    request = create_request(
        parent_scope_id=workspace.scope_id,
        policy={"require_purpose": True, "extension_types": {"values": ["com.example.note"]}},
    )
    created = admin.admin.CreateWorkspace(request)
    got = admin.admin.GetWorkspace(admin_pb2.GetWorkspaceRequest(scope_id=request.new_scope_id, purpose="look"))
    assert got.workspace == created.workspace
    assert {field.name for field, _ in got.workspace.ListFields()} == {
        "scope_id",
        "scope_kind",
        "parent_scope_id",
        "policy",
        "created_at",
    }
    assert (got.workspace.scope_kind, got.workspace.parent_scope_id) == ("project", workspace.scope_id)
    assert list(got.workspace.policy.extension_types.values) == ["com.example.note"]
    bare = admin.admin.CreateWorkspace(create_request()).workspace
    assert (bare.parent_scope_id, bare.policy.HasField("extension_types")) == ("", False)
    error = refusal(admin.admin.CreateWorkspace, create_request(scope_kind=""))
    assert (error.reason, error.fields) == ("INVALID_REQUEST", ["scope_kind"])
    # It demands the purpose from its first call on.
    bare_request = admin_pb2.GetWorkspaceRequest(scope_id=request.new_scope_id)
    assert refusal(admin.admin.GetWorkspace, bare_request).reason == "POLICY_DENIED"


def test_both_ledgers_tell_of_it(cluster: Cluster, workspace: Workspace) -> None:
    [first, *rest] = workspace.events()
    assert (first.sequence, rest) == (1, [])
    assert first.event_type == ledger_pb2.EVENT_TYPE_WORKSPACE_CREATED
    told = payload(first)
    assert {rule["action"] for rule in told["rules"]} == OWNER_ACTIONS
    assert {(rule["subject"], rule["effect"]) for rule in told["rules"]} == {("role:owner", "allow")}
    assert told["bindings"] == [{"actor_id": ADMIN, "role_id": "role:owner"}]
    admin = cluster.client(ADMIN)
    in_root = admin.ledger.ListEvents(
        ledger_pb2.ListEventsRequest(scope_id=ROOT, limit=1000, event_classes=[ledger_pb2.EVENT_TYPE_WORKSPACE_CREATED])
    )
    assert workspace.scope_id in {payload(event).get("created_scope_id") for event in in_root.events}


def test_what_is_refused(cluster: Cluster, workspace: Workspace) -> None:
    admin = cluster.client(ADMIN)
    for request, field in (
        (create_request(scope_id=workspace.scope_id), "scope_id"),
        (create_request("tenant:another"), "new_scope_id"),
        (create_request(workspace.scope_id), "new_scope_id"),
        (create_request(parent_scope_id="workspace:not-there"), "parent_scope_id"),
        (create_request(policy={"extension_types": {"values": ["claim"]}}), "policy.extension_types.values[0]"),
    ):
        error = refusal(admin.admin.CreateWorkspace, request)
        assert (error.reason, error.fields) == ("INVALID_REQUEST", [field])
    foreign = Workspace(cluster, OTHER_TENANT)
    assert refusal(admin.admin.CreateWorkspace, create_request(parent_scope_id=foreign.scope_id)).fields == [
        "parent_scope_id"
    ]
    # The same id in another tenant is another workspace.
    admin.admin.CreateWorkspace(create_request(foreign.scope_id))


def test_a_repeated_request_makes_one(cluster: Cluster) -> None:
    admin = cluster.client(ADMIN)
    request = create_request(idempotency_key=uuid.uuid4().hex)
    first = admin.admin.CreateWorkspace(request)
    again = admin.admin.CreateWorkspace(request)
    assert (again.workspace, list(again.event_ids), again.replayed) == (first.workspace, list(first.event_ids), True)
    request.scope_kind = "other"
    assert refusal(admin.admin.CreateWorkspace, request).reason == "DUPLICATE_OPERATION"


def test_only_who_administers_the_tenant_creates_and_lists(cluster: Cluster, workspace: Workspace) -> None:
    member = cluster.client("actor:member")
    workspace.allow("actor:member", "admin.workspace")
    assert refusal(member.admin.CreateWorkspace, create_request()).reason == "SCOPE_NOT_FOUND"
    listing = admin_pb2.ListWorkspacesRequest(scope_id=ROOT)
    assert refusal(member.admin.ListWorkspaces, listing).reason == "SCOPE_NOT_FOUND"
    listing.scope_id = workspace.scope_id
    error = refusal(member.admin.ListWorkspaces, listing)
    assert (error.reason, error.fields) == ("INVALID_REQUEST", ["scope_id"])


def test_listing_is_by_id_in_pages(cluster: Cluster) -> None:
    admin = cluster.client(ADMIN)
    made = {Workspace(cluster).scope_id for _ in range(5)}
    foreign = Workspace(cluster, OTHER_TENANT).scope_id
    found: list[str] = []
    cursor = ""
    while True:
        page = admin.admin.ListWorkspaces(admin_pb2.ListWorkspacesRequest(scope_id=ROOT, limit=3, cursor=cursor))
        found.extend(workspace.scope_id for workspace in page.workspaces)
        cursor = page.cursor
        if not cursor:
            break
    assert found == sorted(set(found))
    assert made | {ROOT} <= set(found)
    assert foreign not in found


@pytest.mark.case("B15")
def test_a_new_workspace_knows_its_creator_only(cluster: Cluster, workspace: Workspace) -> None:
    object_id = workspace.create().object_id
    for client in (cluster.client("actor:anybody"), cluster.client("actor:anybody", OTHER_TENANT)):
        request = admin_pb2.GetWorkspaceRequest(scope_id=workspace.scope_id)
        assert refusal(client.admin.GetWorkspace, request).reason == "SCOPE_NOT_FOUND"
    listing = workspace.owner.admin.ListPolicyRules(admin_pb2.ListPolicyRulesRequest(scope_id=workspace.scope_id))
    # Without the bootstrap rules nobody is allowed anything, not even the one who is still bound as owner.
    for rule in listing.rules:
        if rule.action != "admin.policy":
            workspace.owner.admin.RemovePolicyRule(
                admin_pb2.RemovePolicyRuleRequest(scope_id=workspace.scope_id, rule_id=rule.rule_id)
            )
    wanted = delegation_pb2.ExplainAccessRequest(scope_id=workspace.scope_id, operation="read", object_id=object_id)
    explained = workspace.owner.delegation.ExplainAccess(wanted)
    assert (explained.allowed, explained.denial_reason) == (False, "NO_RULE")
    asked = admin_pb2.GetWorkspaceRequest(scope_id=workspace.scope_id)
    assert denied(workspace.owner.admin.GetWorkspace, asked) == "NO_RULE"
