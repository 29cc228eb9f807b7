"""GrantDelegation: what a grant is made of, who may make one, and what is refused (P-15.4-*, P-18.2-01, -03)."""

from __future__ import annotations

import pytest

from remit.v1 import common_pb2, delegation_pb2, ledger_pb2
from server.wire.json_export import export_delegation
from tests.cluster import OTHER_TENANT, Cluster, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    GRANTOR,
    HOUR_SECONDS,
    at,
    denied,
    events_of,
    grant,
    grant_request,
    payload,
    permit,
    refusal,
    remove_rule,
    standing,
)
from tests.server.wire.shared_schemas import needs_shared, refusals

TWELVE = (
    "create",
    "read",
    "update",
    "transition",
    "relate",
    "query",
    "inspect_history",
    "redact",
    "delete",
    "promote",
    "subscribe",
    "unsubscribe",
)


@pytest.mark.req("P-15.4-02")
def test_a_grant_is_an_identified_version(workspace: Workspace) -> None:
    made = grant(workspace, "read")
    assert made.delegation_id.startswith("urn:uuid:")
    assert made.version_id.startswith("urn:uuid:")
    assert made.version_id != made.delegation_id
    assert made.sequence == 1
    assert made.scope_id == workspace.scope_id


@needs_shared
@pytest.mark.req("P-15.4-03")
def test_a_grant_has_every_field_of_the_draft(workspace: Workspace) -> None:
    restricted = grant(
        workspace,
        "read",
        "query",
        granted_object_types=["task", "claim"],
        granted_object_ids=["urn:x:1"],
        usage_limit=3,
    )
    for made in (grant(workspace, "read"), restricted):
        assert refusals("delegation.schema.json", export_delegation(made).draft) == []
    request = grant_request(workspace, "read", policy_basis="")
    assert refusal(workspace.owner.delegation.GrantDelegation, request).fields == ["policy_basis"]


@pytest.mark.req("P-15.4-04")
@pytest.mark.parametrize(
    ("operations", "field"),
    [
        ([], "granted_operations"),
        (["read", "read"], "granted_operations"),
        (["read", "obliterate_universe"], "granted_operations[1]"),
        (["Read"], "granted_operations[0]"),
        (["transition.lifecycle"], "granted_operations[0]"),
        (["delegate"], "granted_operations[0]"),
    ],
)
def test_operations_are_some_of_the_twelve(workspace: Workspace, operations: list[str], field: str) -> None:
    error = refusal(workspace.owner.delegation.GrantDelegation, grant_request(workspace, *operations))
    assert (error.reason, error.fields) == ("INVALID_REQUEST", [field])


@pytest.mark.req("P-15.4-04")
def test_all_twelve_can_be_granted(workspace: Workspace) -> None:
    assert set(grant(workspace, *TWELVE).granted_operations) == set(TWELVE)


@pytest.mark.req("P-15.4-05")
def test_optional_fields(workspace: Workspace) -> None:
    bare = grant(workspace, "read")
    assert bare.revocable is True
    assert not bare.HasField("usage_limit")
    assert not bare.HasField("granted_object_types")
    assert not bare.HasField("granted_object_ids")
    assert grant(workspace, "read", usage_limit=1, revocable=False).usage_limit == 1
    error = refusal(workspace.owner.delegation.GrantDelegation, grant_request(workspace, "read", usage_limit=0))
    assert (error.reason, error.fields) == ("INVALID_REQUEST", ["usage_limit"])


@pytest.mark.parametrize("name", ["granted_object_types", "granted_object_ids"])
def test_a_restriction_to_nothing_is_refused(workspace: Workspace, name: str) -> None:
    request = grant_request(workspace, "read", **{name: delegation_pb2.Restriction()})
    error = refusal(workspace.owner.delegation.GrantDelegation, request)
    assert (error.reason, error.fields) == ("INVALID_REQUEST", [f"{name}.values"])


def test_the_delegate_is_an_actor(workspace: Workspace) -> None:
    for delegate in ("role:owner", "urn:uuid:1"):
        request = grant_request(workspace, "read", delegate=delegate)
        error = refusal(workspace.owner.delegation.GrantDelegation, request)
        assert (error.reason, error.fields) == ("INVALID_REQUEST", ["delegated_actor.actor_id"])


def test_the_delegates_attestation_is_kept_and_its_window_judged(workspace: Workspace) -> None:
    attestation = {"did_ref": "did:example:1", "not_before": at(0), "not_after": at(5)}
    delegated = {"actor_id": DELEGATE, "actor_kind": "agent", "display_name": "D", "attestation": attestation}
    made = grant(workspace, "read", delegated_actor=delegated)
    assert made.delegated_actor == common_pb2.Actor(**delegated)
    attestation["not_after"] = at(-5)
    error = refusal(
        workspace.owner.delegation.GrantDelegation, grant_request(workspace, "read", delegated_actor=delegated)
    )
    assert error.reason == "POLICY_DENIED"


@pytest.mark.req("P-18.2-01")
def test_the_stored_grant_binds_what_was_asked(workspace: Workspace) -> None:
    start, end = at(-HOUR_SECONDS), at(HOUR_SECONDS)
    made = grant(
        workspace,
        "read",
        "update",
        granted_object_ids=["urn:x:1", "urn:x:2"],
        policy_basis="ticket 7",
        not_before=start,
        not_after=end,
    )
    stored = standing(workspace, made.delegation_id).delegation
    assert stored == made
    assert stored.granting_actor.actor_id == "actor:admin"
    assert stored.delegated_actor.actor_id == DELEGATE
    assert list(stored.granted_operations) == ["read", "update"]
    assert list(stored.granted_object_ids.values) == ["urn:x:1", "urn:x:2"]
    assert stored.policy_basis == "ticket 7"
    assert (stored.not_before, stored.not_after) == (start, end)
    assert stored.lifecycle_state == common_pb2.LIFECYCLE_STATE_ACTIVE


@pytest.mark.req("P-18.2-03")
def test_an_inverted_window_is_a_policy_refusal_and_equal_ends_are_not(workspace: Workspace) -> None:
    request = grant_request(workspace, "read", not_before=at(10), not_after=at(5))
    error = refusal(workspace.owner.delegation.GrantDelegation, request)
    assert error.reason == "POLICY_DENIED"
    assert [detail.value for detail in error.pamspec.details if detail.name == "field"] == ["not_before"]
    instant = at(5)
    made = grant(workspace, "read", not_before=instant, not_after=instant)
    assert made.not_before == made.not_after == instant


@pytest.mark.req("P-15.4-13")
def test_a_grantor_grants_what_it_holds(cluster: Cluster, workspace: Workspace) -> None:
    grantor = cluster.client(GRANTOR)
    workspace.allow(GRANTOR, "delegate", "read")
    workspace.allow(GRANTOR, "update", object_type="task")
    grant(workspace, "read", by=grantor)
    grant(workspace, "update", by=grantor, granted_object_types=["task"])
    for operations, fields in (
        (["read", "delete"], {}),
        (["update"], {}),
        (["update"], {"granted_object_types": ["task", "claim"]}),
        (["transition"], {}),
    ):
        request = grant_request(workspace, *operations, **fields)
        assert denied(grantor.delegation.GrantDelegation, request) == "NO_RULE"
    recorded = events_of(workspace, ledger_pb2.EVENT_TYPE_ACCESS_DENIED)
    assert [(event.actor.actor_id, payload(event)["denial_reason"]) for event in recorded] == [(GRANTOR, "NO_RULE")] * 4


@pytest.mark.req("P-15.4-13")
def test_transition_is_granted_by_who_holds_all_four_dimensions(cluster: Cluster, workspace: Workspace) -> None:
    grantor = cluster.client(GRANTOR)
    workspace.allow(GRANTOR, "delegate", *(f"transition.{name}" for name in ("lifecycle", "availability", "retention")))
    request = grant_request(workspace, "transition")
    assert denied(grantor.delegation.GrantDelegation, request) == "NO_RULE"
    workspace.allow(GRANTOR, "transition.validation")
    assert grantor.delegation.GrantDelegation(request).delegation.sequence == 1


@pytest.mark.req("P-15.4-13")
def test_granting_needs_delegate_and_no_deny_of_it(cluster: Cluster, workspace: Workspace) -> None:
    grantor = cluster.client(GRANTOR)
    workspace.allow(GRANTOR, "read")
    request = grant_request(workspace, "read")
    assert denied(grantor.delegation.GrantDelegation, request) == "NO_RULE"
    workspace.allow(GRANTOR, "delegate")
    grantor.delegation.GrantDelegation(request)
    workspace.deny(GRANTOR, "delegate", object_id="urn:x:secret")
    assert denied(grantor.delegation.GrantDelegation, request) == "EXPLICIT_DENY"
    grantor.delegation.GrantDelegation(grant_request(workspace, "read", granted_object_ids=["urn:x:plain"]))


@pytest.mark.req("P-7.5-05")
@pytest.mark.req("P-15.4-07")
def test_a_target_workspace_must_permit_it(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    foreign = Workspace(cluster, OTHER_TENANT)
    method = workspace.owner.delegation.GrantDelegation
    told = set()
    for scope_id in (target.scope_id, foreign.scope_id, "workspace:not-there"):
        error = refusal(method, grant_request(workspace, "read", target_scope_id=scope_id, operation_id="urn:x:op"))
        told.add((error.reason, error.message, error.pamspec.SerializeToString(deterministic=True)))
    assert len(told) == 1
    assert {reason for reason, _, _ in told} == {"POLICY_DENIED"}
    rule_id = permit(target, workspace)
    made = grant(workspace, "read", target_scope_id=target.scope_id)
    assert made.target_scope_id == target.scope_id
    remove_rule(target, rule_id)
    request = grant_request(workspace, "read", target_scope_id=target.scope_id)
    assert refusal(method, request).reason == "POLICY_DENIED"


@pytest.mark.req("P-15.4-13")
def test_across_workspaces_the_grantor_must_hold_it_in_the_target(cluster: Cluster, workspace: Workspace) -> None:
    grantor = cluster.client(GRANTOR)
    target = Workspace(cluster)
    permit(target, workspace)
    workspace.allow(GRANTOR, "delegate", "read")
    request = grant_request(workspace, "read", target_scope_id=target.scope_id)
    assert denied(grantor.delegation.GrantDelegation, request) == "NO_RULE"
    target.allow(GRANTOR, "read")
    assert grantor.delegation.GrantDelegation(request).delegation.target_scope_id == target.scope_id


def test_a_target_that_is_the_home_is_refused(workspace: Workspace) -> None:
    request = grant_request(workspace, "read", target_scope_id=workspace.scope_id)
    assert refusal(workspace.owner.delegation.GrantDelegation, request).fields == ["target_scope_id"]


def test_a_repeated_request_is_answered_once(cluster: Cluster, workspace: Workspace) -> None:
    grantor = cluster.client(GRANTOR)
    rules = workspace.allow(GRANTOR, "delegate", "read")
    request = grant_request(workspace, "read", idempotency_key="key-1")
    first = grantor.delegation.GrantDelegation(request)
    again = grantor.delegation.GrantDelegation(request)
    assert (again.delegation, again.event_id, again.replayed) == (first.delegation, first.event_id, True)
    assert again.operation_id == first.operation_id
    assert len(events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_GRANTED)) == 1
    request.granted_operations.append("query")
    workspace.allow(GRANTOR, "query")
    assert refusal(grantor.delegation.GrantDelegation, request).reason == "DUPLICATE_OPERATION"
    del request.granted_operations[1]
    remove_rule(workspace, rules[1])
    # A replay is authorized by the authority of now.
    assert denied(grantor.delegation.GrantDelegation, request) == "NO_RULE"
