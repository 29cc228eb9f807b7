"""What makes a grant effective or not: window, uses, revocation, the grantor's authority (P-15.4-06 to -15)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from remit.v1 import admin_pb2, common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    GRANTOR,
    SECOND,
    at,
    check_request,
    denied,
    events_of,
    grant,
    payload,
    permit,
    read_request,
    refusal,
    remove_rule,
    revoke,
    standing,
    sub_request,
)


@pytest.mark.req("P-15.4-06")
def test_types_are_enforced_by_what_is_stored(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    task, claim = workspace.create(object_type="task").object_id, workspace.create().object_id
    tasks = grant(workspace, "read", granted_object_types=["task"]).delegation_id
    assert delegate.memory.Read(read_request(workspace, task, tasks)).envelope.object_id == task
    for object_id in (claim, "urn:x:not-there"):
        request = read_request(workspace, object_id, tasks)
        assert denied(delegate.memory.Read, request) == "OBJECT_TYPE_NOT_GRANTED"
    everything = grant(workspace, "read").delegation_id
    for object_id in (task, claim):
        delegate.memory.Read(read_request(workspace, object_id, everything))


@pytest.mark.req("P-15.4-08")
def test_what_is_written_by_grant_names_it(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    made = grant(workspace, "create")
    result = workspace.create(delegate, delegation_id=made.delegation_id)
    assert result.envelope.actor.actor_id == DELEGATE
    assert result.envelope.actor.delegation_id == made.delegation_id
    assert result.envelope.actor.on_behalf_of_actor_id == "actor:admin"
    assert result.envelope.provenance.actor.delegation_id == made.delegation_id


@pytest.mark.req("P-15.4-09")
def test_grant_exercise_and_revocation_are_events_in_order(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    object_id = workspace.create().object_id
    made = grant(workspace, "read")
    delegate.memory.Read(read_request(workspace, object_id, made.delegation_id))
    revoked = revoke(workspace, made.delegation_id, reason="done")
    events = [event for event in workspace.events() if event.delegation_id == made.delegation_id]
    assert [event.event_type for event in events] == [
        ledger_pb2.EVENT_TYPE_DELEGATION_GRANTED,
        ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED,
        ledger_pb2.EVENT_TYPE_DELEGATION_REVOKED,
    ]
    assert [event.version_id for event in events] == [made.version_id, "", revoked.delegation.version_id]
    assert revoked.event_id == events[2].event_id
    assert (events[1].use_number, payload(events[1])["mode"]) == (1, "rpc")


@pytest.mark.req("P-15.4-10")
@pytest.mark.req("P-18.2-04")
def test_outside_its_window_a_grant_is_not_effective(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    object_id = workspace.create().object_id
    made = grant(workspace, "read")
    future = grant(workspace, "read", not_before=at(600)).delegation_id
    read = read_request(workspace, object_id, made.delegation_id)
    delegate.memory.Read(read)
    end = datetime.fromtimestamp(made.not_after.seconds, UTC) + timedelta(microseconds=made.not_after.nanos // 1000)
    try:
        cluster.set_clock((end + timedelta(microseconds=1)).isoformat())
        assert denied(delegate.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"
        assert denied(delegate.delegation.CheckDelegation, check_request(workspace, made.delegation_id)) == (
            "DELEGATION_NOT_EFFECTIVE"
        )
        stands = standing(workspace, made.delegation_id)
        assert stands.delegation.lifecycle_state == common_pb2.LIFECYCLE_STATE_ACTIVE
        assert (stands.effective, stands.ineffective_reason) == (False, "EXPIRED")
        # The ends are part of the window.
        cluster.set_clock(end.isoformat())
        delegate.memory.Read(read)
    finally:
        cluster.set_clock(None)
    assert denied(delegate.delegation.CheckDelegation, check_request(workspace, future)) == "DELEGATION_NOT_EFFECTIVE"
    assert standing(workspace, future).ineffective_reason == "NOT_YET_VALID"


@pytest.mark.req("P-15.4-11")
@pytest.mark.req("X-05")
def test_parallel_calls_over_replicas_share_one_limit(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    object_id = workspace.create().object_id
    limited = grant(workspace, "read", usage_limit=10).delegation_id
    clients = [replicas.client(DELEGATE, server=number % 2) for number in range(10)]

    def read(number: int) -> str:
        try:
            clients[number % 10].memory.Read(read_request(workspace, object_id, limited))
        except Refusal as error:
            return error.denial_reason
        return "read"

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(read, range(50)))
    assert answers.count("read") == 10
    assert answers.count("USAGE_LIMIT_EXHAUSTED") == 40
    exercised = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED, delegation_id=limited)
    assert sorted(event.use_number for event in exercised) == list(range(1, 11))
    stands = standing(workspace, limited)
    assert (stands.uses, stands.remaining_uses, stands.ineffective_reason) == (10, 0, "USAGE_LIMIT_EXHAUSTED")


@pytest.mark.req("P-15.4-11")
def test_the_third_of_two_uses_is_denied(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    object_id = workspace.create().object_id
    limited = grant(workspace, "read", usage_limit=2).delegation_id
    read = read_request(workspace, object_id, limited)
    delegate.memory.Read(read)
    delegate.memory.Read(read)
    assert denied(delegate.memory.Read, read) == "USAGE_LIMIT_EXHAUSTED"


@pytest.mark.req("P-15.4-12")
@pytest.mark.case("B03")
def test_a_grant_lives_as_long_as_its_grantors_authority(cluster: Cluster, workspace: Workspace) -> None:
    grantor, delegate, second = (cluster.client(actor) for actor in (GRANTOR, DELEGATE, SECOND))
    object_id = workspace.create().object_id
    workspace.allow("role:reader", "delegate", "read")
    binding = {"scope_id": workspace.scope_id, "actor_id": GRANTOR, "role_id": "role:reader"}
    workspace.owner.admin.BindRole(admin_pb2.BindRoleRequest(**binding))
    child = grant(workspace, "read", by=grantor, max_redelegations=1)
    request = sub_request(
        workspace,
        child,
        "read",
    )
    grandchild = delegate.delegation.GrantDelegation(request).delegation
    reads = [
        (delegate, read_request(workspace, object_id, child.delegation_id)),
        (second, read_request(workspace, object_id, grandchild.delegation_id)),
    ]
    for client, read in reads:
        client.memory.Read(read)
    workspace.owner.admin.UnbindRole(admin_pb2.UnbindRoleRequest(**binding))
    for client, read in reads:
        assert denied(client.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"
    assert standing(workspace, grandchild.delegation_id).ineffective_reason == "GRANTOR_LOST_AUTHORITY"
    workspace.owner.admin.BindRole(admin_pb2.BindRoleRequest(**binding))
    for client, read in reads:
        client.memory.Read(read)


@pytest.mark.req("P-15.4-12")
def test_removing_the_grantors_rule_ends_the_next_exercise(cluster: Cluster, workspace: Workspace) -> None:
    grantor, delegate = cluster.client(GRANTOR), cluster.client(DELEGATE)
    object_id = workspace.create().object_id
    _, rule_id = workspace.allow(GRANTOR, "delegate", "read")
    read = read_request(workspace, object_id, grant(workspace, "read", by=grantor).delegation_id)
    delegate.memory.Read(read)
    remove_rule(workspace, rule_id)
    assert denied(delegate.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"


@pytest.mark.req("P-15.4-14")
def test_an_audit_goes_from_an_operation_to_the_root_grantor(cluster: Cluster, workspace: Workspace) -> None:
    delegate, second = cluster.client(DELEGATE), cluster.client(SECOND)
    parent = grant(workspace, "create", max_redelegations=1)
    request = sub_request(
        workspace,
        parent,
        "create",
    )
    child = delegate.delegation.GrantDelegation(request).delegation
    created = workspace.create(second, delegation_id=child.delegation_id)
    granted = {event.delegation_id: event for event in events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_GRANTED)}
    [written] = [event for event in workspace.events() if event.object_id == created.object_id and event.version_id]
    chain: list[tuple[str, str]] = []
    delegation_id = written.actor.delegation_id
    while delegation_id:
        told = payload(granted[delegation_id])
        chain.append((told["granting_actor_id"], told["delegated_actor_id"]))
        delegation_id = told.get("parent_delegation_id", "")
    assert chain == [(DELEGATE, SECOND), ("actor:admin", DELEGATE)]
    [exercised] = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)
    assert payload(exercised)["chain"] == [parent.delegation_id, child.delegation_id]
    assert exercised.operation_id == written.operation_id


@pytest.mark.req("P-15.4-15")
def test_a_grant_that_is_not_there_denies(cluster: Cluster, workspace: Workspace) -> None:
    object_id = workspace.create().object_id
    read = read_request(workspace, object_id, "urn:uuid:unknown")
    # The owner could read by its own right: naming a grant never falls back.
    assert denied(workspace.owner.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"
    [event] = events_of(workspace, ledger_pb2.EVENT_TYPE_ACCESS_DENIED)
    assert payload(event)["exact_reason"] == "DELEGATION_UNKNOWN"


@pytest.mark.req("X-06")
def test_a_revoked_grant_never_falls_back_to_own_rights(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    object_id = workspace.create().object_id
    workspace.allow(DELEGATE, "read")
    made = grant(workspace, "read")
    revoke(workspace, made.delegation_id)
    read = read_request(workspace, object_id, made.delegation_id)
    assert denied(delegate.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"
    delegate.memory.Read(read_request(workspace, object_id))


def test_across_workspaces_the_rule_must_stand_and_both_ledgers_tell(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    target = Workspace(cluster)
    object_id = target.create().object_id
    rule_id = permit(target, workspace)
    made = grant(workspace, "read", target_scope_id=target.scope_id, usage_limit=5)
    read = read_request(target, object_id, made.delegation_id)
    delegate.memory.Read(read)
    [there] = events_of(target, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)
    [at_home] = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)
    assert payload(at_home)["mirror_of"] == {"scope_id": target.scope_id, "event_id": there.event_id}
    assert at_home.use_number == there.use_number == 1
    # It is good in its target only.
    own = workspace.create().object_id
    assert denied(delegate.memory.Read, read_request(workspace, own, made.delegation_id)) == "DELEGATION_NOT_EFFECTIVE"
    checked = delegate.delegation.CheckDelegation(check_request(target, made.delegation_id, object_id=object_id))
    assert checked.remaining_uses == 3
    assert len(events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)) == 2
    remove_rule(target, rule_id)
    assert denied(delegate.memory.Read, read) == "DELEGATION_NOT_EFFECTIVE"
    assert standing(workspace, made.delegation_id).ineffective_reason == "CROSS_SCOPE_RULE_MISSING"


def test_a_use_is_taken_from_every_ancestor_that_counts(cluster: Cluster, workspace: Workspace) -> None:
    delegate, second = cluster.client(DELEGATE), cluster.client(SECOND)
    object_id = workspace.create().object_id
    parent = grant(workspace, "read", max_redelegations=1, usage_limit=2)
    request = sub_request(
        workspace,
        parent,
        "read",
        usage_limit=2,
    )
    child = delegate.delegation.GrantDelegation(request).delegation
    second.memory.Read(read_request(workspace, object_id, child.delegation_id))
    assert (standing(workspace, parent.delegation_id).uses, standing(workspace, child.delegation_id).uses) == (1, 1)
    delegate.memory.Read(read_request(workspace, object_id, parent.delegation_id))
    read = read_request(workspace, object_id, child.delegation_id)
    assert denied(second.memory.Read, read) == "USAGE_LIMIT_EXHAUSTED"
    assert standing(workspace, child.delegation_id).remaining_uses == 0


def test_a_failed_or_repeated_call_takes_no_use(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    made = grant(workspace, "create", "read", usage_limit=2)
    request = memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        delegation_id=made.delegation_id,
        idempotency_key="once",
        object_type="claim",
        canonical_content=b'{"statement":"x"}',
        provenance={"activity": "observed"},
    )
    first = delegate.memory.Create(request).result
    assert delegate.memory.Create(request).result.object_id == first.object_id
    error = refusal(delegate.memory.Read, read_request(workspace, "urn:x:absent", made.delegation_id))
    assert error.reason == "OBJECT_NOT_FOUND"
    assert standing(workspace, made.delegation_id).uses == 1
