"""Checks, batches of them and explanations: the evaluator's answers, and what asking takes (P-18.2-*)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.v1 import delegation_pb2, ledger_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    GRANTOR,
    SECOND,
    STRANGER,
    at,
    check_request,
    denied,
    events_of,
    grant,
    payload,
    read_request,
    refusal,
    revoke,
    standing,
    sub_request,
)


def explain(workspace: Workspace, client: Client, operation: str = "read", **fields: Any) -> Any:
    """An explanation."""
    request = delegation_pb2.ExplainAccessRequest(scope_id=workspace.scope_id, operation=operation, **fields)
    return client.delegation.ExplainAccess(request)


def batch(workspace: Workspace, *requests: delegation_pb2.CheckDelegationRequest) -> Any:
    """The checks of some requests as one batch."""
    return delegation_pb2.BatchCheckDelegationRequest(
        scope_id=workspace.scope_id, checks=[request.check for request in requests]
    )


@pytest.mark.req("P-18.2-02")
def test_a_check_judges_operation_actor_scope_and_object(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    elsewhere = Workspace(cluster)
    elsewhere.allow(DELEGATE, "read")
    listed = workspace.create(object_type="task").object_id
    made = grant(workspace, "read", granted_object_ids=[listed], granted_object_types=["task"])
    check = delegate.delegation.CheckDelegation
    answer = check(check_request(workspace, made.delegation_id, object_id=listed))
    assert answer.delegation == made
    assert list(answer.object_ids.values) == [listed]
    assert list(answer.object_types.values) == ["task"]
    assert not answer.HasField("remaining_uses")
    assert denied(check, check_request(workspace, made.delegation_id, "update", object_id=listed)) == (
        "OPERATION_NOT_GRANTED"
    )
    assert denied(check, check_request(elsewhere, made.delegation_id, object_id=listed)) == "DELEGATION_NOT_EFFECTIVE"
    as_other = check_request(workspace, made.delegation_id, actor_id=SECOND, object_id=listed)
    assert denied(workspace.owner.delegation.CheckDelegation, as_other) == "DELEGATION_NOT_EFFECTIVE"
    exercised = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)
    assert [(event.event_id, payload(event)["mode"], payload(event)["operation"]) for event in exercised] == [
        (answer.event_id, "check", "read")
    ]
    assert [payload(event)["denial_reason"] for event in events_of(workspace, ledger_pb2.EVENT_TYPE_ACCESS_DENIED)] == [
        "OPERATION_NOT_GRANTED",
        "DELEGATION_NOT_EFFECTIVE",
    ]


@pytest.mark.req("P-18.2-04")
def test_a_check_outside_the_window_is_denied(cluster: Cluster, workspace: Workspace) -> None:
    check = cluster.client(DELEGATE).delegation.CheckDelegation
    for window in ({"not_before": at(60)}, {"not_before": at(-60), "not_after": at(-1)}):
        made = grant(workspace, "read", **window)
        assert denied(check, check_request(workspace, made.delegation_id)) == "DELEGATION_NOT_EFFECTIVE"


@pytest.mark.req("P-18.2-05")
def test_checks_use_the_limit_up(cluster: Cluster, workspace: Workspace) -> None:
    check = cluster.client(DELEGATE).delegation.CheckDelegation
    made = grant(workspace, "read", usage_limit=2)
    request = check_request(workspace, made.delegation_id)
    assert [check(request).remaining_uses for _ in range(2)] == [1, 0]
    assert denied(check, request) == "USAGE_LIMIT_EXHAUSTED"
    assert standing(workspace, made.delegation_id).uses == 2


@pytest.mark.req("P-18.2-05")
def test_parallel_checks_over_replicas_share_the_limit(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    made = grant(workspace, "read", usage_limit=5)
    request = check_request(workspace, made.delegation_id)
    clients = [replicas.client(DELEGATE, server=number % 3) for number in range(9)]

    def check(number: int) -> str:
        try:
            return str(clients[number % 9].delegation.CheckDelegation(request).remaining_uses)
        except Refusal as error:
            return error.denial_reason

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(check, range(30)))
    assert sorted(answers) == ["0", "1", "2", "3", "4"] + ["USAGE_LIMIT_EXHAUSTED"] * 25


@pytest.mark.req("P-18.2-07")
def test_ids_outside_the_list_are_denied_whether_or_not_they_exist(cluster: Cluster, workspace: Workspace) -> None:
    check = cluster.client(DELEGATE).delegation.CheckDelegation
    listed, other = workspace.create().object_id, workspace.create().object_id
    made = grant(workspace, "read", "create", "query", granted_object_ids=[listed, "urn:x:new"])
    check(check_request(workspace, made.delegation_id, object_id=listed))
    told = set()
    for object_id in (other, "urn:x:not-there"):
        request = check_request(workspace, made.delegation_id, object_id=object_id)
        request.operation_id = "urn:x:op"
        error = refusal(check, request)
        told.add((error.denial_reason, error.message, error.pamspec.SerializeToString(deterministic=True)))
    assert {reason for reason, _, _ in told} == {"OBJECT_NOT_GRANTED"}
    assert len(told) == 1
    # Without an id, what makes an object is refused and what lists objects is filtered.
    create = check_request(workspace, made.delegation_id, "create", object_type="claim")
    assert denied(check, create) == "OBJECT_NOT_GRANTED"
    check(check_request(workspace, made.delegation_id, "create", object_type="claim", object_id="urn:x:new"))
    check(check_request(workspace, made.delegation_id, "query"))


@pytest.mark.case("B02")
def test_looking_at_a_grant_takes_nothing(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    made = grant(workspace, "read", usage_limit=1)
    before = len(workspace.events())
    for client in (delegate, workspace.owner):
        assert standing(workspace, made.delegation_id, client).remaining_uses == 1
        listing = client.delegation.ListDelegations(
            delegation_pb2.ListDelegationsRequest(scope_id=workspace.scope_id, effective_only=True)
        )
        assert [row.delegation.delegation_id for row in listing.delegations] == [made.delegation_id]
        dry = check_request(workspace, made.delegation_id, dry_run=True)
        answer = client.delegation.CheckDelegation(dry)
        assert (answer.remaining_uses, answer.event_id) == (1, "")
        assert client.delegation.BatchCheckDelegation(batch(workspace, dry)).verdicts[0].remaining_uses == 1
        assert denied(
            client.delegation.CheckDelegation, check_request(workspace, made.delegation_id, "delete", dry_run=True)
        ) == ("OPERATION_NOT_GRANTED")
    assert explain(workspace, delegate, target_delegation_id=made.delegation_id).allowed
    assert explain(workspace, workspace.owner, actor_id=DELEGATE, target_delegation_id=made.delegation_id).allowed
    assert standing(workspace, made.delegation_id).uses == 0
    assert len(workspace.events()) == before


def test_who_may_check(cluster: Cluster, workspace: Workspace) -> None:
    grantor, delegate, stranger = (cluster.client(actor) for actor in (GRANTOR, DELEGATE, STRANGER))
    workspace.allow(GRANTOR, "delegate", "read")
    workspace.allow(STRANGER, "read")
    made = grant(workspace, "read", by=grantor)
    request = check_request(workspace, made.delegation_id)
    dry = check_request(workspace, made.delegation_id, dry_run=True)
    for client in (grantor, stranger):
        assert denied(client.delegation.CheckDelegation, request) == "NO_RULE"
    assert denied(stranger.delegation.CheckDelegation, dry) == "NO_RULE"
    assert denied(stranger.delegation.BatchCheckDelegation, batch(workspace, dry)) == "NO_RULE"
    assert grantor.delegation.CheckDelegation(dry).event_id == ""
    workspace.allow(STRANGER, "delegation.check")
    # An enforcement point meters for the delegate; it does not act under the grant itself.
    answer = stranger.delegation.CheckDelegation(request)
    [event] = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)
    assert (event.event_id, event.actor.actor_id, event.actor.delegation_id) == (answer.event_id, STRANGER, "")
    assert event.delegation_id == made.delegation_id
    delegate.delegation.CheckDelegation(request)
    workspace.deny(DELEGATE, "read")
    assert denied(delegate.delegation.CheckDelegation, request) == "EXPLICIT_DENY"


def test_what_is_no_check(workspace: Workspace) -> None:
    for operation, fields, field in (
        ("obliterate", {}, "check.operation"),
        ("transition", {}, "check.dimension"),
        ("transition", {"dimension": "mood"}, "check.dimension"),
        ("read", {"dimension": "lifecycle"}, "check.dimension"),
    ):
        request = check_request(workspace, "urn:uuid:any", operation, **fields)
        error = refusal(workspace.owner.delegation.CheckDelegation, request)
        assert (error.reason, error.fields) == ("INVALID_REQUEST", [field])


def test_check_batch_explanation_and_the_call_itself_agree(cluster: Cluster, workspace: Workspace) -> None:
    delegate, second = cluster.client(DELEGATE), cluster.client(SECOND)
    task, claim = workspace.create(object_type="task").object_id, workspace.create().object_id
    workspace.deny(DELEGATE, "read", object_id="urn:x:denied")
    grants = [
        grant(workspace, "read"),
        grant(workspace, "read", granted_object_types=["task"]),
        grant(workspace, "read", granted_object_ids=[task]),
        grant(workspace, "update"),
        grant(workspace, "read", not_before=at(60)),
        grant(workspace, "read", max_redelegations=1, delegate=SECOND),
    ]
    child = second.delegation.GrantDelegation(sub_request(workspace, grants[-1], "read", delegate=DELEGATE)).delegation
    revoked = grant(workspace, "read")
    revoke(workspace, revoked.delegation_id)
    ids = [made.delegation_id for made in [*grants, child, revoked]] + ["urn:uuid:unknown"]
    asked = [
        check_request(workspace, delegation_id, object_id=object_id, dry_run=True)
        for delegation_id in ids
        for object_id in (task, claim, "urn:x:denied", "urn:x:absent")
    ]
    verdicts = delegate.delegation.BatchCheckDelegation(batch(workspace, *asked)).verdicts
    assert len(verdicts) == len(asked)
    for request, verdict in zip(asked, verdicts, strict=True):
        delegation_id, object_id = request.check.target_delegation_id, request.check.object_id
        explained = explain(workspace, delegate, object_id=object_id, target_delegation_id=delegation_id)
        assert (explained.allowed, explained.denial_reason) == (verdict.allowed, verdict.denial_reason)
        exactly = explain(
            workspace, workspace.owner, actor_id=DELEGATE, object_id=object_id, target_delegation_id=delegation_id
        )
        assert (exactly.allowed, exactly.denial_reason) == (verdict.allowed, verdict.denial_reason)
        told = "" if verdict.allowed else verdict.denial_reason
        read = read_request(workspace, object_id, delegation_id)
        for method, message in ((delegate.delegation.CheckDelegation, request), (delegate.memory.Read, read)):
            try:
                method(message)
                answered = ""
            except Refusal as error:
                answered = error.denial_reason if error.reason == "ACCESS_DENIED" else ""
            assert answered == told, (request, method)
    allowed = sum(verdict.allowed for verdict in verdicts)
    assert 0 < allowed < len(verdicts)


def test_a_batch_answers_in_order_and_names_the_bad_one(cluster: Cluster, workspace: Workspace) -> None:
    delegate = cluster.client(DELEGATE)
    good, bad = grant(workspace, "read", usage_limit=7), grant(workspace, "update")
    asked = [check_request(workspace, made.delegation_id) for made in (good, bad, good, bad)] * 250
    verdicts = delegate.delegation.BatchCheckDelegation(batch(workspace, *asked)).verdicts
    assert [verdict.allowed for verdict in verdicts] == [True, False, True, False] * 250
    assert {verdict.remaining_uses for verdict in verdicts if verdict.allowed} == {7}
    asked[3].check.operation = "obliterate"
    error = refusal(delegate.delegation.BatchCheckDelegation, batch(workspace, *asked))
    assert error.fields == ["checks[3].operation"]
    assert refusal(delegate.delegation.BatchCheckDelegation, batch(workspace, *asked, asked[0])).fields == ["checks"]


def test_an_explanation_names_rule_grant_and_failing_hop(cluster: Cluster, workspace: Workspace) -> None:
    grantor, delegate = cluster.client(GRANTOR), cluster.client(DELEGATE)
    _, rule_id = workspace.allow(GRANTOR, "delegate", "read")
    own = explain(workspace, workspace.owner, actor_id=GRANTOR)
    assert (own.allowed, [step.policy_rule_id for step in own.steps if step.step == "rule"]) == (True, [rule_id])
    parent = grant(workspace, "read", by=grantor, max_redelegations=1, delegate=SECOND)
    second = cluster.client(SECOND)
    child = second.delegation.GrantDelegation(sub_request(workspace, parent, "read", delegate=DELEGATE)).delegation
    revoke(workspace, parent.delegation_id, grantor)
    asked: dict[str, Any] = {"actor_id": DELEGATE, "target_delegation_id": child.delegation_id}
    exactly = explain(workspace, workspace.owner, **asked)
    failed = [step for step in exactly.steps if not step.passed]
    assert [(step.step, step.reason, step.delegation_id) for step in failed] == [
        ("revocation", "REVOKED", parent.delegation_id)
    ]
    assert (exactly.allowed, exactly.denial_reason) == (False, "DELEGATION_NOT_EFFECTIVE")
    # About itself the delegate learns no more than a denial would tell it.
    coarsely = explain(workspace, delegate, **asked)
    assert parent.delegation_id not in {step.delegation_id for step in coarsely.steps}
    assert [step.reason for step in coarsely.steps if not step.passed] == ["DELEGATION_NOT_EFFECTIVE"]


def test_an_explanation_of_others_and_of_what_is_hidden(cluster: Cluster, workspace: Workspace) -> None:
    delegate, stranger = cluster.client(DELEGATE), cluster.client(STRANGER)
    workspace.allow(STRANGER, "query")
    made = grant(workspace, "read")
    request = delegation_pb2.ExplainAccessRequest(
        scope_id=workspace.scope_id, operation="read", actor_id=DELEGATE, target_delegation_id=made.delegation_id
    )
    assert denied(stranger.delegation.ExplainAccess, request) == "NO_RULE"
    not_mine = explain(workspace, stranger, target_delegation_id=made.delegation_id)
    not_there = explain(workspace, stranger, target_delegation_id="urn:uuid:unknown")
    assert list(not_mine.steps) == list(not_there.steps)
    assert explain(workspace, delegate, target_delegation_id=made.delegation_id).allowed
    for operation in ("transition", "obliterate"):
        request = delegation_pb2.ExplainAccessRequest(scope_id=workspace.scope_id, operation=operation)
        assert refusal(workspace.owner.delegation.ExplainAccess, request).fields == ["operation"]
