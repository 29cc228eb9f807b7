"""GetDelegation and ListDelegations: who sees which grants, filters, pages."""

from __future__ import annotations

from typing import Any

from remit.v1 import delegation_pb2
from tests.cluster import Client, Cluster, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    GRANTOR,
    SECOND,
    STRANGER,
    at,
    denied,
    grant,
    permit,
    refusal,
    revoke,
    standing,
)


def request(workspace: Workspace, **filters: Any) -> delegation_pb2.ListDelegationsRequest:
    """A listing."""
    return delegation_pb2.ListDelegationsRequest(scope_id=workspace.scope_id, **filters)


def listed(workspace: Workspace, client: Client | None = None, **filters: Any) -> list[str]:
    """The ids of all pages."""
    found: list[str] = []
    cursor = ""
    while True:
        page = (client or workspace.owner).delegation.ListDelegations(request(workspace, cursor=cursor, **filters))
        found.extend(row.delegation.delegation_id for row in page.delegations)
        cursor = page.cursor
        if not cursor:
            return found


def test_parties_see_their_own_and_auditors_all(cluster: Cluster, workspace: Workspace) -> None:
    grantor, delegate, stranger = (cluster.client(actor) for actor in (GRANTOR, DELEGATE, STRANGER))
    workspace.allow(GRANTOR, "delegate", "read")
    workspace.allow(STRANGER, "read")
    to_delegate = grant(workspace, "read", by=grantor).delegation_id
    to_second = grant(workspace, "read", by=grantor, delegate=SECOND).delegation_id
    by_owner = grant(workspace, "read").delegation_id
    assert listed(workspace) == [to_delegate, to_second, by_owner]
    assert listed(workspace, grantor) == [to_delegate, to_second]
    assert listed(workspace, delegate) == [to_delegate, by_owner]
    assert listed(workspace, stranger) == []
    assert standing(workspace, to_delegate, delegate).effective
    for delegation_id in (to_delegate, "urn:uuid:unknown"):
        wanted = delegation_pb2.GetDelegationRequest(scope_id=workspace.scope_id, target_delegation_id=delegation_id)
        assert denied(stranger.delegation.GetDelegation, wanted) == "NO_RULE"
    workspace.allow(STRANGER, "delegation.read")
    assert listed(workspace, stranger) == [to_delegate, to_second, by_owner]
    assert refusal(stranger.delegation.GetDelegation, wanted).reason == "OBJECT_NOT_FOUND"


def test_filters(cluster: Cluster, workspace: Workspace) -> None:
    task = workspace.create(object_type="task").object_id
    workspace.allow(GRANTOR, "delegate", "read")
    grantor = cluster.client(GRANTOR)
    plain = grant(workspace, "read", by=grantor).delegation_id
    listing_ids = grant(workspace, "read", granted_object_ids=[task, "urn:x:1"]).delegation_id
    of_tasks = grant(workspace, "read", granted_object_types=["task"]).delegation_id
    of_claims = grant(workspace, "read", granted_object_types=["claim"], delegate=SECOND).delegation_id
    future = grant(workspace, "read", not_before=at(60)).delegation_id
    gone = grant(workspace, "read").delegation_id
    revoke(workspace, gone)
    everything = [plain, listing_ids, of_tasks, of_claims, future, gone]
    assert listed(workspace) == everything
    assert listed(workspace, effective_only=True) == everything[:4]
    assert listed(workspace, granting_actor_id=GRANTOR) == [plain]
    assert listed(workspace, delegated_actor_id=SECOND) == [of_claims]
    assert listed(workspace, object_id=task, effective_only=True) == [plain, listing_ids, of_tasks]
    assert listed(workspace, object_id="urn:x:other", effective_only=True) == [plain, of_tasks, of_claims]
    # Who may not read the object learns neither its type nor that it is there.
    second = cluster.client(SECOND)
    for object_id in (task, "urn:x:other"):
        assert listed(workspace, second, object_id=object_id) == [of_claims]


def test_pages_hold_each_grant_once(workspace: Workspace) -> None:
    made = [grant(workspace, "read", usage_limit=number + 1).delegation_id for number in range(9)]
    for number in (0, 1, 2, 5):
        revoke(workspace, made[number])
    assert listed(workspace, limit=2) == made
    effective = [made[number] for number in (3, 4, 6, 7, 8)]
    for limit in (1, 2, 5, 6):
        assert listed(workspace, limit=limit, effective_only=True) == effective
    first = workspace.owner.delegation.ListDelegations(request(workspace, limit=2))
    changed = request(workspace, limit=2, cursor=first.cursor, effective_only=True)
    assert refusal(workspace.owner.delegation.ListDelegations, changed).fields == ["cursor"]
    for limit in (0, 1001):
        assert refusal(workspace.owner.delegation.ListDelegations, request(workspace, limit=limit)).fields == ["limit"]


def test_pages_end_at_their_bytes(workspace: Workspace) -> None:
    ids = [f"urn:x:{number:04}-{'y' * 240}" for number in range(1000)]
    made = [grant(workspace, "read", granted_object_ids=ids).delegation_id for _ in range(14)]
    page = workspace.owner.delegation.ListDelegations(request(workspace, limit=1000))
    assert 0 < len(page.delegations) < 14
    assert page.ByteSize() < 3_200_000
    assert listed(workspace, limit=1000) == made


def test_the_target_sees_what_reaches_into_it(cluster: Cluster, workspace: Workspace) -> None:
    target = Workspace(cluster)
    permit(target, workspace)
    made = grant(workspace, "read", target_scope_id=target.scope_id)
    assert listed(target) == listed(workspace) == [made.delegation_id]
    assert standing(target, made.delegation_id).effective
    assert listed(target, cluster.client(DELEGATE)) == [made.delegation_id]
    again = delegation_pb2.RevokeDelegationRequest(
        scope_id=target.scope_id, target_delegation_id=made.delegation_id, policy_basis="x"
    )
    # It is revoked where it lives.
    assert refusal(target.owner.delegation.RevokeDelegation, again).reason == "OBJECT_NOT_FOUND"
    revoke(workspace, made.delegation_id)
    assert standing(target, made.delegation_id).ineffective_reason == "REVOKED"
