"""Rules, permits and roles: each change one event at its revision, in effect everywhere at once (P-7.5-09, X-07)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.v1 import admin_pb2, discovery_pb2, ledger_pb2
from tests.cluster import ADMIN, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import (
    DELEGATE,
    STRANGER,
    denied,
    events_of,
    payload,
    permit,
    read_request,
    refusal,
    remove_rule,
)

POLICY_EVENTS = (
    ledger_pb2.EVENT_TYPE_POLICY_RULE_ADDED,
    ledger_pb2.EVENT_TYPE_POLICY_RULE_REMOVED,
    ledger_pb2.EVENT_TYPE_ROLE_BOUND,
    ledger_pb2.EVENT_TYPE_ROLE_UNBOUND,
)


def add_request(workspace: Workspace, **fields: Any) -> admin_pb2.AddPolicyRuleRequest:
    """A rule that lets the stranger read everything, unless the fields say otherwise."""
    values = {"subject": STRANGER, "action": "read", "object_type": "*", "object_id": "*"} | fields
    values.setdefault("effect", admin_pb2.EFFECT_ALLOW)
    return admin_pb2.AddPolicyRuleRequest(scope_id=workspace.scope_id, rule=admin_pb2.NewPolicyRule(**values))


def listing(workspace: Workspace, **fields: Any) -> Any:
    """The workspace's policy."""
    return workspace.owner.admin.ListPolicyRules(
        admin_pb2.ListPolicyRulesRequest(scope_id=workspace.scope_id, limit=1000, **fields)
    )


def bind(workspace: Workspace, actor_id: str, role_id: str) -> Any:
    """Binds a role."""
    request = admin_pb2.BindRoleRequest(scope_id=workspace.scope_id, actor_id=actor_id, role_id=role_id)
    return workspace.owner.admin.BindRole(request)


def unbind(workspace: Workspace, actor_id: str, role_id: str) -> admin_pb2.UnbindRoleRequest:
    """A request that unbinds a role."""
    return admin_pb2.UnbindRoleRequest(scope_id=workspace.scope_id, actor_id=actor_id, role_id=role_id)


@pytest.mark.req("P-7.5-09")
def test_a_rule_changes_the_following_decision(cluster: Cluster, workspace: Workspace) -> None:
    stranger = cluster.client(STRANGER)
    manifest = workspace.owner.discovery.GetManifest(discovery_pb2.GetManifestRequest())
    assert "casbin" in manifest.authorization_model
    task, claim = workspace.create(object_type="task").object_id, workspace.create().object_id
    assert refusal(stranger.memory.Read, read_request(workspace, task)).reason == "SCOPE_NOT_FOUND"
    added = workspace.owner.admin.AddPolicyRule(add_request(workspace, object_type="task"))
    stranger.memory.Read(read_request(workspace, task))
    assert denied(stranger.memory.Read, read_request(workspace, claim)) == "NO_RULE"
    [rule_id] = workspace.deny(STRANGER, "read", object_id=task)
    error = refusal(stranger.memory.Read, read_request(workspace, task))
    assert (error.denial_reason, error.info.metadata["policy_rule_id"]) == ("EXPLICIT_DENY", rule_id)
    remove_rule(workspace, rule_id)
    stranger.memory.Read(read_request(workspace, task))
    remove_rule(workspace, added.rule.rule_id)
    assert refusal(stranger.memory.Read, read_request(workspace, task)).reason == "SCOPE_NOT_FOUND"


@pytest.mark.req("X-07")
def test_changes_hold_on_every_replica_without_restart(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    object_id = workspace.create().object_id
    strangers = [replicas.client(STRANGER, server=number) for number in (1, 2)]
    read = read_request(workspace, object_id)
    for _ in range(20):
        [rule_id] = workspace.allow(STRANGER, "read")
        for stranger in strangers:
            stranger.memory.Read(read)
        remove_rule(workspace, rule_id)
        for stranger in strangers:
            assert refusal(stranger.memory.Read, read).reason == "SCOPE_NOT_FOUND"


@pytest.mark.req("X-07")
def test_a_role_taken_away_is_gone_on_every_replica(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    object_id = workspace.create().object_id
    workspace.allow("role:reader", "read")
    workspace.allow(STRANGER, "query")
    read = read_request(workspace, object_id)
    for _ in range(10):
        bind(workspace, STRANGER, "role:reader")
        for server in (1, 2):
            replicas.client(STRANGER, server=server).memory.Read(read)
        workspace.owner.admin.UnbindRole(unbind(workspace, STRANGER, "role:reader"))
        for server in (1, 2):
            assert denied(replicas.client(STRANGER, server=server).memory.Read, read) == "NO_RULE"


@pytest.mark.case("B07")
def test_the_same_rule_is_one_and_exactly_one_goes(workspace: Workspace) -> None:
    before = listing(workspace)
    near = [
        add_request(workspace),
        add_request(workspace, object_type="task"),
        add_request(workspace, object_id="urn:x:1"),
        add_request(workspace, action="update"),
        add_request(workspace, subject="actor:Stranger"),
        add_request(workspace, effect=admin_pb2.EFFECT_DENY),
    ]
    added = [workspace.owner.admin.AddPolicyRule(request) for request in near]
    again = workspace.owner.admin.AddPolicyRule(near[0])
    assert (again.rule, again.replayed, again.event_id) == (added[0].rule, True, "")
    assert again.policy_revision == added[-1].policy_revision == before.policy_revision + len(near)
    removed = workspace.owner.admin.RemovePolicyRule(
        admin_pb2.RemovePolicyRuleRequest(scope_id=workspace.scope_id, rule_id=added[0].rule.rule_id)
    )
    after = listing(workspace)
    kept = {rule.rule_id for rule in [*before.rules, *(answer.rule for answer in added[1:])]}
    assert {rule.rule_id for rule in after.rules} == kept
    assert after.policy_revision == removed.policy_revision == before.policy_revision + len(near) + 1
    once_more = workspace.owner.admin.RemovePolicyRule(
        admin_pb2.RemovePolicyRuleRequest(scope_id=workspace.scope_id, rule_id=added[0].rule.rule_id)
    )
    assert (once_more.replayed, once_more.event_id, once_more.policy_revision) == (True, "", after.policy_revision)


def test_every_change_is_one_event_at_its_revision(cluster: Cluster, workspace: Workspace) -> None:
    other = Workspace(cluster)
    permit_id = permit(workspace, other)
    assert permit(workspace, other) == permit_id
    [rule_id] = workspace.allow(STRANGER, "read")
    bind(workspace, STRANGER, "role:reader")
    assert bind(workspace, STRANGER, "role:reader").replayed
    workspace.owner.admin.UnbindRole(unbind(workspace, STRANGER, "role:reader"))
    assert workspace.owner.admin.UnbindRole(unbind(workspace, STRANGER, "role:reader")).replayed
    remove_rule(workspace, rule_id)
    remove_rule(workspace, permit_id)
    events = events_of(workspace, *POLICY_EVENTS)
    added, removed, bound, unbound = POLICY_EVENTS
    assert [event.event_type for event in events] == [added, added, bound, unbound, removed, removed]
    assert [payload(event)["policy_revision"] for event in events] == [2, 3, 4, 5, 6, 7]
    assert payload(events[0])["source_scope_id"] == other.scope_id
    verified = workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
    assert verified.ok, verified.findings


def test_changes_side_by_side_all_succeed(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    owners = [replicas.client(ADMIN, server=number % 3) for number in range(8)]

    def change(number: int) -> int:
        request = add_request(workspace, object_id=f"urn:x:{number}")
        if number % 4 == 0:
            request.rule.effect = admin_pb2.EFFECT_DENY
        return int(owners[number % 8].admin.AddPolicyRule(request).policy_revision)

    with ThreadPoolExecutor(16) as pool:
        revisions = list(pool.map(change, range(48)))
    assert sorted(revisions) == list(range(2, 50))
    assert listing(workspace).policy_revision == 49
    verified = workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
    assert verified.ok, verified.findings


def test_a_repeated_request_is_answered_once(workspace: Workspace) -> None:
    request = add_request(workspace)
    request.idempotency_key = "one"
    first = workspace.owner.admin.AddPolicyRule(request)
    remove_rule(workspace, first.rule.rule_id)
    again = workspace.owner.admin.AddPolicyRule(request)
    assert (again.rule, again.event_id, again.policy_revision) == (first.rule, first.event_id, first.policy_revision)
    assert again.replayed
    assert first.rule.rule_id not in {rule.rule_id for rule in listing(workspace).rules}
    request.rule.action = "update"
    assert refusal(workspace.owner.admin.AddPolicyRule, request).reason == "DUPLICATE_OPERATION"


def test_what_is_no_rule(workspace: Workspace) -> None:
    for fields, field in (
        ({"action": "obliterate"}, "rule.action"),
        ({"action": ""}, "rule.action"),
        ({"subject": "urn:uuid:1"}, "rule.subject"),
        ({"object_type": "not a type"}, "rule.object_type"),
        ({"object_type": ""}, "rule.object_type"),
        ({"object_id": "no id"}, "rule.object_id"),
        ({"effect": admin_pb2.EFFECT_UNSPECIFIED}, "rule.effect"),
    ):
        error = refusal(workspace.owner.admin.AddPolicyRule, add_request(workspace, **fields))
        assert (error.reason, error.fields) == ("INVALID_REQUEST", [field])
    nothing = admin_pb2.AddPolicyRuleRequest(scope_id=workspace.scope_id)
    assert refusal(workspace.owner.admin.AddPolicyRule, nothing).fields == ["rule"]
    itself = admin_pb2.NewCrossScopeRule(source_scope_id=workspace.scope_id, kind=admin_pb2.CROSS_SCOPE_KIND_DELEGATION)
    request = admin_pb2.AddPolicyRuleRequest(scope_id=workspace.scope_id, cross_scope_rule=itself)
    assert refusal(workspace.owner.admin.AddPolicyRule, request).fields == ["cross_scope_rule.source_scope_id"]
    workspace.owner.admin.AddPolicyRule(add_request(workspace, action="*"))


def test_the_last_owner_stays(cluster: Cluster, workspace: Workspace) -> None:
    method = workspace.owner.admin.UnbindRole
    assert refusal(method, unbind(workspace, ADMIN, "role:owner")).reason == "POLICY_DENIED"
    bind(workspace, DELEGATE, "role:owner")
    method(unbind(workspace, ADMIN, "role:owner"))
    request = admin_pb2.ListPolicyRulesRequest(scope_id=workspace.scope_id)
    assert refusal(workspace.owner.admin.ListPolicyRules, request).reason == "SCOPE_NOT_FOUND"
    second = cluster.client(DELEGATE)
    bindings = second.admin.ListPolicyRules(request).bindings
    assert [(bound.actor_id, bound.role_id) for bound in bindings] == [(DELEGATE, "role:owner")]
    assert refusal(second.admin.UnbindRole, unbind(workspace, DELEGATE, "role:owner")).reason == "POLICY_DENIED"


def test_a_binding_to_a_role_with_a_deny_takes_away_at_once(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    object_id = workspace.create().object_id
    workspace.allow(STRANGER, "read")
    workspace.deny("role:banned", "read")
    read = read_request(workspace, object_id)
    for _ in range(10):
        strangers = [replicas.client(STRANGER, server=server) for server in (1, 2)]
        for stranger in strangers:
            stranger.memory.Read(read)
        bind(workspace, STRANGER, "role:banned")
        for stranger in strangers:
            assert denied(stranger.memory.Read, read) == "EXPLICIT_DENY"
        workspace.owner.admin.UnbindRole(unbind(workspace, STRANGER, "role:banned"))


def test_only_who_administers_the_policy_changes_it(cluster: Cluster, workspace: Workspace) -> None:
    stranger = cluster.client(STRANGER)
    workspace.allow(STRANGER, *("read", "admin.workspace"))
    for method, request in (
        (stranger.admin.AddPolicyRule, add_request(workspace)),
        (
            stranger.admin.RemovePolicyRule,
            admin_pb2.RemovePolicyRuleRequest(scope_id=workspace.scope_id, rule_id="urn:x:1"),
        ),
        (stranger.admin.ListPolicyRules, admin_pb2.ListPolicyRulesRequest(scope_id=workspace.scope_id)),
        (stranger.admin.UnbindRole, unbind(workspace, ADMIN, "role:owner")),
    ):
        assert denied(method, request) == "NO_RULE"
    workspace.allow(STRANGER, "admin.policy")
    request = admin_pb2.BindRoleRequest(scope_id=workspace.scope_id, actor_id=STRANGER, role_id="role:owner")
    assert not stranger.admin.BindRole(request).replayed


def test_the_listing_is_by_id_in_pages_and_by_subject(cluster: Cluster, workspace: Workspace) -> None:
    other = Workspace(cluster)
    permit_id = permit(workspace, other)
    rule_ids = workspace.allow(STRANGER, "read", "update", "query")
    bind(workspace, STRANGER, "role:reader")
    whole = listing(workspace)
    found: list[str] = []
    cursor = ""
    while True:
        page = workspace.owner.admin.ListPolicyRules(
            admin_pb2.ListPolicyRulesRequest(scope_id=workspace.scope_id, limit=4, cursor=cursor)
        )
        assert bool(page.bindings) == bool(page.cross_scope_rules) == (not cursor)
        found.extend(rule.rule_id for rule in page.rules)
        cursor = page.cursor
        if not cursor:
            break
    assert found == sorted(found) == [rule.rule_id for rule in whole.rules]
    assert [one.rule_id for one in whole.cross_scope_rules] == [permit_id]
    of_stranger = listing(workspace, subject=STRANGER)
    assert [rule.rule_id for rule in of_stranger.rules] == sorted(rule_ids)
    assert [(one.actor_id, one.role_id) for one in of_stranger.bindings] == [(STRANGER, "role:reader")]
    assert [one.actor_id for one in listing(workspace, subject="role:owner").bindings] == [ADMIN]


@pytest.mark.case("B14")
def test_nobody_slips_in_while_rules_are_rewritten(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    object_id = workspace.create().object_id
    workspace.allow(STRANGER, "query")
    read = read_request(workspace, object_id)
    stranger = replicas.client(STRANGER, server=1)

    def rewrite(number: int) -> None:
        [rule_id] = workspace.allow("actor:somebody", "read", object_id=f"urn:x:{number}")
        remove_rule(workspace, rule_id)

    def knock(_: int) -> str:
        try:
            stranger.memory.Read(read)
        except Refusal as error:
            return error.reason
        return "READ"

    with ThreadPoolExecutor(2) as pool:
        rewriting = pool.map(rewrite, range(250))
        answers = {knock(number) for number in range(100)}
        for _ in rewriting:
            answers.add(knock(0))
    assert answers <= {"ACCESS_DENIED", "SERVICE_UNAVAILABLE"}
    assert "ACCESS_DENIED" in answers
