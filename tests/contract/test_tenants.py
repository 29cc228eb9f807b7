"""Two tenants that are alike in everything, served by the same processes at the same time (A05, B05; X-04)."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from remit.v1 import admin_pb2, delegation_pb2, discovery_pb2, ledger_pb2
from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import grant, read_request
from tests.server.operations.memory.requests import query_ids

WORKER = "actor:worker"
TENANTS = (TENANT, OTHER_TENANT)


class Twin(Workspace):
    """A workspace under a name that another tenant has as well."""

    def __init__(self, cluster: Cluster, tenant_id: str, scope_id: str) -> None:
        self.cluster = cluster
        self.tenant_id = tenant_id
        self.scope_id = scope_id
        self.owner = cluster.client(ADMIN, tenant_id)
        self.worker = cluster.client(WORKER, tenant_id)
        request = admin_pb2.CreateWorkspaceRequest(
            scope_id=f"tenant:{tenant_id}", new_scope_id=scope_id, scope_kind="workspace"
        )
        self.owner.admin.CreateWorkspace(request)


@dataclass(frozen=True)
class Twins:
    """The same workspace name in two tenants, with the same actors."""

    one: Twin
    two: Twin

    @property
    def both(self) -> tuple[Twin, Twin]:
        """Both of them."""
        return self.one, self.two


@pytest.fixture
def twins(cluster: Cluster) -> Twins:
    scope_id = f"workspace:twin-{uuid.uuid4().hex}"
    return Twins(*(Twin(cluster, tenant_id, scope_id) for tenant_id in TENANTS))


def outcome(client: Client, request: Any) -> str:
    """`OK`, or the reason of a refusal of a read."""
    try:
        client.memory.Read(request)
    except Refusal as refused:
        return refused.reason
    return "OK"


@pytest.mark.case("A05")
def test_two_tenants_writing_at_once_keep_their_own(twins: Twins) -> None:
    for twin in twins.both:
        twin.allow(WORKER, "create")
    places = [twins.both[number % 2] for number in range(200)]

    def write(numbered: tuple[int, Twin]) -> Any:
        number, twin = numbered
        content = json.dumps({"statement": twin.tenant_id, "number": number}).encode()
        return twin.create(twin.worker, object_id=f"urn:x:{number // 2}", canonical_content=content)

    with ThreadPoolExecutor(16) as threads:
        results = list(threads.map(write, enumerate(places)))
    assert {result.scope_id for result in results} == {twins.one.scope_id}
    for twin in twins.both:
        found = query_ids(twin, filters={"validation_state": range(1, 5), "lifecycle_state": range(1, 7)})
        assert sorted(found) == sorted(f"urn:x:{number}" for number in range(100))
        for object_id in found[:10]:
            envelope = twin.read(object_id).envelope
            assert json.loads(envelope.canonical_content)["statement"] == twin.tenant_id
        created = twin.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_CREATED])
        assert len(created) == 100
        assert {(event.actor.actor_id, event.scope_id) for event in created} == {(WORKER, twin.scope_id)}
        verified = twin.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=twin.scope_id))
        assert verified.ok


@pytest.mark.case("B05")
def test_the_same_question_in_two_tenants_has_each_its_answer(twins: Twins) -> None:
    """Same actors, same workspace, same objects, opposite rules, asked in turns: no answer is the other's."""
    for twin in twins.both:
        twin.create(object_id="urn:x:1")
        twin.allow(WORKER, "query")
    twins.one.allow(WORKER, "read")
    twins.two.deny(WORKER, "read")
    request = read_request(twins.one, "urn:x:1")
    with ThreadPoolExecutor(8) as threads:
        clients = [twins.both[number % 2].worker for number in range(200)]
        outcomes = list(threads.map(lambda client: outcome(client, request), clients))
    assert outcomes == ["OK", "ACCESS_DENIED"] * 100
    # Turned round, it is turned round at the next call.
    for twin in twins.both:
        rules = twin.owner.admin.ListPolicyRules(
            admin_pb2.ListPolicyRulesRequest(scope_id=twin.scope_id, subject=WORKER, limit=100)
        ).rules
        [rule_id] = [rule.rule_id for rule in rules if rule.action == "read"]
        twin.owner.admin.RemovePolicyRule(admin_pb2.RemovePolicyRuleRequest(scope_id=twin.scope_id, rule_id=rule_id))
    twins.two.allow(WORKER, "read")
    assert [outcome(twin.worker, request) for twin in twins.both] == ["ACCESS_DENIED", "OK"]


@pytest.mark.req("X-04")
def test_nothing_of_a_tenant_is_another_tenants(twins: Twins, cluster: Cluster) -> None:
    """Scopes, objects, grants, events and idempotency keys, under names that both could have."""
    one, two = twins.both
    made = one.create(object_id="urn:x:1", idempotency_key="key", canonical_content=b'"one"')
    given = grant(one, "read", delegate=WORKER)
    # The names are free in the other tenant, and the key answers there as one never used.
    for object_id in ("urn:x:1", made.object_id):
        assert outcome(two.owner, read_request(two, object_id)) == "OBJECT_NOT_FOUND"
    other = two.create(object_id="urn:x:1", idempotency_key="key", canonical_content=b'"two"')
    assert (other.replayed, other.version_id == made.version_id) == (False, False)
    assert one.read("urn:x:1").envelope.canonical_content == b'"one"'
    # A grant of one tenant is none in the other, for its delegate of the same name.
    assert outcome(one.worker, read_request(one, "urn:x:1", given.delegation_id)) == "OK"
    assert outcome(two.worker, read_request(two, "urn:x:1", given.delegation_id)) == "SCOPE_NOT_FOUND"
    listed = two.owner.delegation.ListDelegations(
        delegation_pb2.ListDelegationsRequest(scope_id=two.scope_id, limit=100)
    )
    assert not listed.delegations
    event_ids = {event.event_id for event in one.events()}
    assert not event_ids & {event.event_id for event in two.events()}
    for event_id in list(event_ids)[:3]:
        with pytest.raises(Refusal) as refused:
            two.owner.ledger.GetEvent(ledger_pb2.GetEventRequest(scope_id=two.scope_id, event_id=event_id))
        assert refused.value.reason == "OBJECT_NOT_FOUND"
    # Each sees its own workspaces only.
    only_one = Workspace(cluster).scope_id
    for tenant_id, sees in ((TENANT, True), (OTHER_TENANT, False)):
        client = cluster.client(ADMIN, tenant_id)
        assert (only_one in workspaces_of(client, tenant_id)) is sees
        manifest = client.discovery.GetManifest(discovery_pb2.GetManifestRequest())
        scopes = {scope.scope_id for scope in manifest.scopes}
        assert (f"tenant:{TENANT}" in scopes, f"tenant:{OTHER_TENANT}" in scopes) == (sees, not sees)


def workspaces_of(client: Client, tenant_id: str) -> set[str]:
    """The workspaces that a tenant's administrator sees."""
    found: set[str] = set()
    cursor = ""
    while True:
        request = admin_pb2.ListWorkspacesRequest(scope_id=f"tenant:{tenant_id}", limit=1000, cursor=cursor)
        page = client.admin.ListWorkspaces(request)
        found.update(workspace.scope_id for workspace in page.workspaces)
        cursor = page.cursor
        if not cursor:
            return found


def test_a_cursor_of_one_tenant_is_none_of_another(twins: Twins) -> None:
    for twin in twins.both:
        for number in range(3):
            twin.create(object_id=f"urn:x:{number}")
    page = twins.one.owner.ledger.ListEvents(ledger_pb2.ListEventsRequest(scope_id=twins.one.scope_id, limit=1))
    with pytest.raises(Refusal) as refused:
        twins.two.owner.ledger.ListEvents(
            ledger_pb2.ListEventsRequest(scope_id=twins.two.scope_id, limit=1, cursor=page.cursor)
        )
    assert refused.value.fields == ["cursor"]
