"""RevokeDelegation and PreviewRevocation: at once, once, by whom, and with all below (P-18.2-06, B13)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from remit.v1 import common_pb2, delegation_pb2, ledger_pb2
from tests.cluster import Cluster, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    GRANTOR,
    SECOND,
    STRANGER,
    check_request,
    denied,
    events_of,
    grant,
    read_request,
    refusal,
    revoke,
    standing,
    sub_request,
)


@pytest.mark.req("P-18.2-06")
def test_a_revocation_holds_on_another_replica_at_once(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    delegate = replicas.client(DELEGATE, server=1)
    made = grant(workspace, "read")
    check = check_request(workspace, made.delegation_id)
    delegate.delegation.CheckDelegation(check)
    revoked = revoke(workspace, made.delegation_id).delegation
    assert denied(delegate.delegation.CheckDelegation, check) == "DELEGATION_NOT_EFFECTIVE"
    assert (revoked.sequence, revoked.lifecycle_state) == (2, common_pb2.LIFECYCLE_STATE_ARCHIVED)
    assert revoked.version_id != made.version_id


def test_versions_stay_readable(workspace: Workspace) -> None:
    made = grant(workspace, "read")
    revoke(workspace, made.delegation_id)
    request = delegation_pb2.GetDelegationRequest(
        scope_id=workspace.scope_id, target_delegation_id=made.delegation_id, version_id=made.version_id
    )
    old = workspace.owner.delegation.GetDelegation(request).standing
    assert old.delegation == made
    assert (old.effective, old.ineffective_reason) == (False, "REVOKED")
    request.version_id = "urn:uuid:no-such-version"
    assert refusal(workspace.owner.delegation.GetDelegation, request).reason == "OBJECT_NOT_FOUND"


def test_revoking_twice_changes_nothing(workspace: Workspace) -> None:
    made = grant(workspace, "read")
    first = revoke(workspace, made.delegation_id, idempotency_key="one")
    for again in (
        revoke(workspace, made.delegation_id, idempotency_key="one"),
        revoke(workspace, made.delegation_id, idempotency_key="two"),
        revoke(workspace, made.delegation_id),
    ):
        assert (again.delegation, again.event_id, again.replayed) == (first.delegation, first.event_id, True)
    assert len(events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_REVOKED)) == 1


def test_parallel_revocations_are_one(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    made = grant(workspace, "read")
    owners = [replicas.client("actor:admin", server=number % 3) for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda owner: revoke(workspace, made.delegation_id, owner), owners))
    assert [answer.replayed for answer in answers].count(False) == 1
    assert len({answer.event_id for answer in answers}) == 1
    assert len(events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_REVOKED)) == 1


def test_an_irrevocable_grant_ends_otherwise(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    object_id = workspace.create().object_id
    made = grant(workspace, "read", revocable=False, usage_limit=1)
    request = delegation_pb2.RevokeDelegationRequest(
        scope_id=workspace.scope_id, target_delegation_id=made.delegation_id, policy_basis="x"
    )
    assert refusal(workspace.owner.delegation.RevokeDelegation, request).reason == "POLICY_DENIED"
    read = read_request(workspace, object_id, made.delegation_id)
    delegate.memory.Read(read)
    assert denied(delegate.memory.Read, read) == "USAGE_LIMIT_EXHAUSTED"


def test_who_may_revoke(cluster: Cluster, workspace: Workspace) -> None:
    grantor, delegate, stranger = (cluster.client(actor) for actor in (GRANTOR, DELEGATE, STRANGER))
    workspace.allow(GRANTOR, "delegate", "read")
    workspace.allow(STRANGER, "read")
    made = grant(workspace, "read", by=grantor)
    unknown = delegation_pb2.RevokeDelegationRequest(
        scope_id=workspace.scope_id, target_delegation_id="urn:uuid:unknown", policy_basis="x"
    )
    known = delegation_pb2.RevokeDelegationRequest(
        scope_id=workspace.scope_id, target_delegation_id=made.delegation_id, policy_basis="x"
    )
    for client in (delegate, stranger):
        assert denied(client.delegation.RevokeDelegation, known) == "NO_RULE"
        assert denied(client.delegation.RevokeDelegation, unknown) == "NO_RULE"
    assert refusal(workspace.owner.delegation.RevokeDelegation, unknown).reason == "OBJECT_NOT_FOUND"
    grantor.delegation.RevokeDelegation(known)
    other = grant(workspace, "read", by=grantor)
    workspace.allow(STRANGER, "delegation.revoke")
    revoke(workspace, other.delegation_id, stranger)


def preview(workspace: Workspace, delegation_id: str, **fields: object) -> delegation_pb2.PreviewRevocationRequest:
    """A preview of a revocation."""
    return delegation_pb2.PreviewRevocationRequest(
        scope_id=workspace.scope_id, target_delegation_id=delegation_id, **fields
    )


def test_a_preview_tells_what_would_end(cluster: Cluster, workspace: Workspace) -> None:
    delegate, stranger = cluster.client(DELEGATE), cluster.client(STRANGER)
    workspace.allow(STRANGER, "read")
    root = grant(workspace, "read", max_redelegations=2, usage_limit=9)
    children = [
        delegate.delegation.GrantDelegation(
            sub_request(workspace, root, "read", max_redelegations=1, usage_limit=number + 1)
        ).delegation
        for number in range(3)
    ]
    second = cluster.client(SECOND)
    below = sub_request(workspace, children[0], "read", delegate="actor:third", usage_limit=1)
    grandchild = second.delegation.GrantDelegation(below).delegation
    revoke(workspace, children[2].delegation_id, delegate)
    method = workspace.owner.delegation.PreviewRevocation
    whole = method(preview(workspace, root.delegation_id))
    assert whole.total == 5
    assert [effect.depth for effect in whole.effects] == [0, 1, 1, 1, 2]
    told = {effect.delegation_id: effect for effect in whole.effects}
    assert told[root.delegation_id].remaining_uses == 9
    assert [told[child.delegation_id].effective for child in children] == [True, True, False]
    assert told[grandchild.delegation_id].delegated_actor_id == "actor:third"
    paged: list[str] = []
    cursor = ""
    while True:
        page = method(preview(workspace, root.delegation_id, limit=2, cursor=cursor))
        paged.extend(effect.delegation_id for effect in page.effects)
        cursor = page.cursor
        if not cursor:
            break
    assert paged == [effect.delegation_id for effect in whole.effects]
    one = delegate.delegation.PreviewRevocation(preview(workspace, children[0].delegation_id))
    assert [effect.depth for effect in one.effects] == [0, 1]
    for client in (stranger, delegate):
        assert denied(client.delegation.PreviewRevocation, preview(workspace, root.delegation_id)) == "NO_RULE"
    assert standing(workspace, root.delegation_id).uses == 0


@pytest.mark.case("B13")
def test_revoking_a_wide_tree_touches_none_of_it(cluster: Cluster, workspace: Workspace) -> None:
    delegate, second = cluster.client(DELEGATE), cluster.client(SECOND)
    object_id = workspace.create().object_id
    root = grant(workspace, "read", max_redelegations=1)
    child = delegate.delegation.GrantDelegation(sub_request(workspace, root, "read")).delegation
    read = read_request(workspace, object_id, child.delegation_id)
    second.memory.Read(read)
    # 10,000 children are copies of a real one, made behind the service's back: only their number matters here.
    with cluster.superuser() as connection:
        connection.execute(
            """
            insert into remit.delegations
            select d.tenant_id, d.scope_id, d.delegation_id || '-' || n, d.version_id, d.sequence, d.grantor_id,
                   d.delegate_id, d.target_scope_id, d.parent_delegation_id,
                   array[d.chain[1], d.delegation_id || '-' || n], d.not_before, d.not_after, d.revoked, d.usage_limit,
                   d.uses, d.granted_sequence
              from remit.delegations d, generate_series(1, 10000) n where d.delegation_id = %s
            """,
            (child.delegation_id,),
        )

        def written() -> list[tuple[str, int]]:
            """The transactions that last wrote the children, each with how many of them."""
            return sorted(
                connection.execute(
                    "select xmin::text, count(*) from remit.delegations where parent_delegation_id = %s group by 1",
                    (root.delegation_id,),
                ).fetchall()
            )

        before = written()
        assert sum(count for _, count in before) == 10_001
        revoke(workspace, root.delegation_id)
        assert written() == before
    assert denied(second.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"
    assert standing(workspace, child.delegation_id).ineffective_reason == "REVOKED"
    assert len(events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_REVOKED)) == 1
