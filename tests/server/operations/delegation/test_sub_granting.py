"""Sub-grants: who may pass a grant on, and that each only narrows (P-15.4-13, B13; authority.md, Sub-delegation)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster import Cluster, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    HOUR_SECONDS,
    STRANGER,
    at,
    denied,
    grant,
    grant_request,
    refusal,
    remove_rule,
    standing,
    sub_request,
)


@pytest.mark.req("P-15.4-13")
def test_a_delegate_passes_on_no_more_than_it_has(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    parent = grant(
        workspace,
        "read",
        "update",
        granted_object_types=["task", "claim"],
        granted_object_ids=["urn:x:1", "urn:x:2"],
        usage_limit=5,
        max_redelegations=2,
    )
    narrow: dict[str, Any] = {
        "granted_object_types": ["task"],
        "granted_object_ids": ["urn:x:1"],
        "usage_limit": 5,
        "max_redelegations": 1,
    }
    child = delegate.delegation.GrantDelegation(sub_request(workspace, parent, "read", **narrow)).delegation
    assert child.parent_delegation_id == parent.delegation_id
    assert child.granting_actor.actor_id == DELEGATE
    wider: dict[str, dict[str, Any]] = {
        "granted_operations": {"operations": ["read", "delete"]},
        "granted_object_types": {"granted_object_types": ["task", "decision"]},
        "granted_object_ids": {"granted_object_ids": None},
        "not_before": {"not_before": at(-2 * HOUR_SECONDS)},
        "not_after": {"not_after": at(2 * HOUR_SECONDS)},
        "usage_limit": {"usage_limit": 6},
        "max_redelegations": {"max_redelegations": 2},
    }
    for field, change in wider.items():
        operations = change.pop("operations", ["read"])
        request = sub_request(workspace, parent, *operations, **(narrow | change))
        if field == "granted_operations":
            # What the root grantor holds and the parent lacks.
            assert "delete" not in parent.granted_operations
        error = refusal(delegate.delegation.GrantDelegation, request)
        assert error.reason == "POLICY_DENIED"
        assert [detail.value for detail in error.pamspec.details if detail.name == "field"] == [field]
    assert standing(workspace, parent.delegation_id).uses == 0


@pytest.mark.req("P-15.4-13")
@pytest.mark.parametrize("name", ["granted_object_types", "granted_object_ids", "usage_limit"])
def test_leaving_a_limit_out_is_wider(cluster: Cluster, workspace: Workspace, name: str) -> None:
    limits: dict[str, Any] = {
        "granted_object_types": ["task"],
        "granted_object_ids": ["urn:x:1"],
        "usage_limit": 5,
    }
    parent = grant(workspace, "read", max_redelegations=1, **limits)
    request = sub_request(workspace, parent, "read", **{key: value for key, value in limits.items() if key != name})
    error = refusal(cluster.client(DELEGATE).delegation.GrantDelegation, request)
    assert error.reason == "POLICY_DENIED"
    assert [detail.value for detail in error.pamspec.details if detail.name == "field"] == [name]


def test_sub_grants_are_off_unless_the_grant_says_so(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    parent = grant(workspace, "read")
    error = refusal(delegate.delegation.GrantDelegation, sub_request(workspace, parent, "read"))
    assert error.reason == "POLICY_DENIED"
    assert [detail.value for detail in error.pamspec.details if detail.name == "field"] == ["max_redelegations"]


def test_only_the_effective_parents_delegate_makes_a_sub_grant(cluster: Cluster, workspace: Workspace) -> None:
    delegate, stranger = cluster.client(DELEGATE), cluster.client(STRANGER)
    workspace.allow(STRANGER, "delegate", "read")
    parent = grant(workspace, "read", max_redelegations=1)
    request = sub_request(workspace, parent, "read")
    assert denied(stranger.delegation.GrantDelegation, request) == "DELEGATION_NOT_EFFECTIVE"
    unknown = sub_request(workspace, parent, "read")
    unknown.parent_delegation_id = "urn:uuid:0197-unknown"
    assert denied(delegate.delegation.GrantDelegation, unknown) == "DELEGATION_NOT_EFFECTIVE"
    [rule_id] = workspace.deny(DELEGATE, "delegate")
    assert denied(delegate.delegation.GrantDelegation, request) == "EXPLICIT_DENY"
    remove_rule(workspace, rule_id)
    delegate.delegation.GrantDelegation(request)


@pytest.mark.case("B13")
def test_a_chain_ends_at_the_cap(cluster: Cluster, workspace: Workspace) -> None:
    error = refusal(workspace.owner.delegation.GrantDelegation, grant_request(workspace, "read", max_redelegations=9))
    assert (error.reason, error.fields) == ("INVALID_REQUEST", ["max_redelegations"])
    parent = grant(workspace, "read", delegate="actor:level0", max_redelegations=8)
    for level in range(1, 9):
        by = cluster.client(f"actor:level{level - 1}")
        request = sub_request(workspace, parent, "read", delegate=f"actor:level{level}", max_redelegations=8 - level)
        parent = by.delegation.GrantDelegation(request).delegation
    last = cluster.client("actor:level8")
    error = refusal(last.delegation.GrantDelegation, sub_request(workspace, parent, "read"))
    assert error.reason == "POLICY_DENIED"
