"""Every method under every kind of authority that does not suffice (X-01, X-02, X-06; P-7.5-02, P-15.4-01, P-15.4-15)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf import unknown_fields

from remit.v1 import ledger_pb2
from tests.cluster import ADMIN, Client, Cluster, Workspace
from tests.contract.denials import CANARY, events_of_operation, new_operation_id, payload_of, the_denial
from tests.contract.operations import SPACE
from tests.contract.requests import filled
from tests.contract.wire import DELEGABLE, OWN, SCOPED, Answer, Method, ask
from tests.server.operations.delegation.grants import grant, revoke

MEMBER = "actor:member"
DELEGATE = "actor:delegate"
REVIEWER = "actor:reviewer"

# What a method answers to members whatever their rules: about themselves.
OF_ONESELF = {
    "DelegationService/ExplainAccess",
    "DelegationService/ListDelegations",
}
# And to those who are party to a grant: the events of its exercises.
OF_ONES_GRANTS = {"LedgerService/ListEvents"}
NOT_ALLOWED = {"ACCESS_DENIED", "SCOPE_NOT_FOUND", "UNAUTHENTICATED"}
DELEGATION_ID_FIELD = 4
METHODS = {method.name.split("/")[1]: method for method in OWN}


@dataclass(frozen=True)
class Ward:
    """A workspace with a member of one rule, a delegate of one grant, and a grant that was revoked."""

    workspace: Workspace
    member: Client
    delegate: Client
    revoked_id: str


@pytest.fixture(scope="module")
def ward(cluster: Cluster) -> Ward:
    workspace = Workspace(cluster)
    workspace.allow(MEMBER, "review")
    grant(workspace, "subscribe", delegate=DELEGATE)
    revoked = grant(workspace, "read", delegate=ADMIN).delegation_id
    revoke(workspace, revoked)
    return Ward(workspace, cluster.client(MEMBER), cluster.client(DELEGATE), revoked)


def call(ward: Ward, client: Client, method: Method, operation_id: str, **fields: object) -> Answer:
    """Calls a method with all that a request may hold."""
    values: dict[str, object] = {
        "scope_id": ward.workspace.scope_id,
        "operation_id": operation_id,
        "purpose": CANARY,
        "policy_basis": CANARY,
        "canonical_content": f'{{"statement":"{CANARY}"}}'.encode(),
    }
    return ask(client.channel, method, filled(method.request_class, **(values | fields)), client.metadata)


def holds_denial(ward: Ward, answer: Answer, operation_id: str, coarse: str) -> dict[str, object]:
    """Holds a refusal to be an access_denied for a coarse reason with one event; returns the event's payload."""
    assert (answer.code, answer.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ACCESS_DENIED"), answer
    assert answer.denial_reason == coarse
    assert answer.pamspec.operation_id == operation_id
    assert CANARY.encode() not in answer.raw
    payload = payload_of(the_denial(ward.workspace.owner, ward.workspace.scope_id, operation_id))
    assert payload["denial_reason"] == coarse
    return payload


@pytest.mark.req("X-02")
@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_a_member_without_the_rule_is_denied(ward: Ward, method: Method) -> None:
    operation_id = new_operation_id()
    answer = call(ward, ward.member, method, operation_id)
    if method.name in OF_ONESELF:
        assert answer.reason not in NOT_ALLOWED
        return
    payload = holds_denial(ward, answer, operation_id, "NO_RULE")
    assert payload["operation"] in {method.access.pamspec_operation, method.access.action, "transition.lifecycle"}


@pytest.mark.req("X-02")
@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_a_delegate_that_names_no_grant_is_denied(ward: Ward, method: Method) -> None:
    operation_id = new_operation_id()
    answer = call(ward, ward.delegate, method, operation_id)
    if method.name in OF_ONESELF | OF_ONES_GRANTS:
        assert answer.reason not in NOT_ALLOWED
        return
    holds_denial(ward, answer, operation_id, "NO_RULE")


@pytest.mark.req("P-14-02", "P-13-04", "P-15.3-02")
@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_a_deny_names_its_rule(cluster: Cluster, method: Method) -> None:
    workspace = Workspace(cluster)
    action = method.access.action.replace("{dimension}", "lifecycle")
    workspace.allow(REVIEWER, action)
    rules = workspace.deny(REVIEWER, action)
    own = Ward(workspace, cluster.client(REVIEWER), cluster.client(DELEGATE), "")
    operation_id = new_operation_id()
    answer = call(own, own.member, method, operation_id)
    if method.name in OF_ONESELF:
        assert answer.reason not in NOT_ALLOWED
        return
    payload = holds_denial(own, answer, operation_id, "EXPLICIT_DENY")
    assert payload["policy_rule_id"] == rules[0]
    assert answer.pamspec.policy_rule_id == answer.info.metadata["policy_rule_id"] == rules[0]


@pytest.mark.req("X-06")
@pytest.mark.req("P-15.4-15")
@pytest.mark.parametrize("method", DELEGABLE, ids=lambda method: method.name)
def test_a_grant_that_does_not_hold_never_falls_back_to_own_rights(ward: Ward, method: Method) -> None:
    owner = ward.workspace.owner
    for delegation_id, exact in (("urn:x:unknown", "DELEGATION_UNKNOWN"), (ward.revoked_id, "REVOKED")):
        operation_id = new_operation_id()
        answer = call(ward, owner, method, operation_id, delegation_id=delegation_id)
        payload = holds_denial(ward, answer, operation_id, "DELEGATION_NOT_EFFECTIVE")
        assert payload["exact_reason"] == exact


def an_import_of_nothing(scope_id: str) -> dict[str, object]:
    """The fields of the one request of an export that holds no record."""
    digest = hashlib.sha256().digest()
    header = {"format": "remit-export/1", "spec_version": "0.1.0-draft", "scope_id": scope_id}
    return {
        "header": header,
        "records": [],
        "trailer": {"digest": digest, "memory_digest": digest},
        "policy_basis": "x",
    }


@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_the_owner_calling_the_same_is_let_through(cluster: Cluster, method: Method) -> None:
    """Without this, a request that is always denied would show nothing above."""
    workspace = Workspace(cluster)
    # What an operation demands beyond its message's rules.
    fields: dict[str, object] = {"scope_id": method.scope(workspace), "limit": 10, "after_sequence": 0}
    if method.name == "AdminService/CreateWorkspace":
        fields["new_scope_id"] = f"{workspace.scope_id}-made"
    if method.name == "PortabilityService/ImportWorkspace":
        fields |= an_import_of_nothing(method.scope(workspace))
    if method.name == "DerivedService/RegisterEmbeddingSpace":
        fields["embedding_space"] = SPACE
    if method.name == "DerivedService/RecordIndexRebuild":
        fields["indexed_sequence"] = 1
    own = Ward(workspace, workspace.owner, workspace.owner, "")
    answer = call(own, workspace.owner, method, new_operation_id(), **fields)
    if method.name == "DelegationService/CheckDelegation":
        # A check is an exercise, and of a grant that is not there it is a denial.
        assert answer.denial_reason == "DELEGATION_NOT_EFFECTIVE"
        return
    assert answer.reason not in {*NOT_ALLOWED, "INVALID_REQUEST", "INVALID_OBJECT", "INTERNAL_ERROR"}, answer


@pytest.mark.parametrize(
    "method", [method for method in SCOPED if method not in DELEGABLE], ids=lambda method: method.name
)
def test_a_method_that_is_not_delegable_refuses_a_grant(ward: Ward, method: Method) -> None:
    text = ward.revoked_id.encode()
    request = filled(method.request_class, scope_id=ward.workspace.scope_id).SerializeToString()
    with_grant = request + bytes([DELEGATION_ID_FIELD << 3 | 2, len(text)]) + text
    assert unknown_fields.UnknownFieldSet(method.request_class.FromString(with_grant))[0].field_number == 4
    owner = ward.workspace.owner
    answer = ask(owner.channel, method, with_grant, owner.metadata)
    assert (answer.reason, answer.fields) == ("INVALID_REQUEST", ["#4"])


@pytest.mark.req("P-15.4-01")
def test_an_event_tells_who_on_whose_authority_where_why_and_under_which_policy(
    ward: Ward, cluster: Cluster, workspace: Workspace
) -> None:
    made = grant(workspace, "create", delegate=DELEGATE)
    workspace.create(ward.delegate, delegation_id=made.delegation_id, purpose="billing")
    created, exercised = workspace.events()[-2:]
    for event in (created, exercised):
        request = ledger_pb2.GetEventRequest(scope_id=workspace.scope_id, event_id=event.event_id)
        body = json.loads(workspace.owner.ledger.GetEvent(request).body)
        assert body["actor"]["actor_id"] == DELEGATE
        assert (body["actor"]["on_behalf_of_actor_id"], body["actor"]["delegation_id"]) == (ADMIN, made.delegation_id)
        assert (body["scope_id"], body["purpose"]) == (workspace.scope_id, "billing")
        assert body["payload"]["policy_revision"] >= 1
    # What the request says of its actor is not what the event says.
    spoofed = {"actor_id": ADMIN, "actor_kind": "human"}
    own = Ward(workspace, ward.member, ward.delegate, "")
    answer = call(own, ward.delegate, METHODS["Create"], new_operation_id(), actor=spoofed)
    assert answer.reason == "ACCESS_DENIED"


@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_who_claims_to_be_another_is_denied(ward: Ward, method: Method) -> None:
    operation_id = new_operation_id()
    block = {"actor_id": DELEGATE, "actor_kind": "agent", "display_name": CANARY}
    answer = call(ward, ward.workspace.owner, method, operation_id, actor=block)
    holds_denial(ward, answer, operation_id, "ACTOR_MISMATCH")
    event = the_denial(ward.workspace.owner, ward.workspace.scope_id, operation_id)
    assert event.actor.actor_id == ADMIN


@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
@pytest.mark.parametrize("name", ["on_behalf_of_actor_id", "delegation_id"])
def test_whom_a_call_acts_for_is_not_the_callers_to_say(ward: Ward, method: Method, name: str) -> None:
    block = {"actor_id": ADMIN, "actor_kind": "agent", name: "actor:somebody"}
    answer = call(ward, ward.workspace.owner, method, new_operation_id(), actor=block)
    assert (answer.reason, answer.fields) == ("INVALID_REQUEST", [f"actor.{name}"])


@pytest.mark.req("P-7.5-02")
@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_a_call_without_a_workspace_is_refused(ward: Ward, method: Method) -> None:
    operation_id = new_operation_id()
    for client in (ward.workspace.owner, ward.member):
        answer = call(ward, client, method, operation_id, scope_id="")
        assert (answer.code, answer.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert answer.fields == ["scope_id"]
    assert events_of_operation(ward.workspace.owner, ward.workspace.scope_id, operation_id) == []


def test_denied_calls_are_counted_by_the_ledger(cluster: Cluster, workspace: Workspace) -> None:
    """X-02 at once: all methods denied to a member, a delegate and a stranger, and as many events as refusals."""
    workspace.allow(MEMBER, "review")
    grant(workspace, "subscribe", delegate=DELEGATE)
    own = Ward(workspace, cluster.client(MEMBER), cluster.client(DELEGATE), "")
    clients = (own.member, own.delegate, cluster.client("actor:stranger"))
    answers = [call(own, client, method, new_operation_id()) for client in clients for method in SCOPED]
    refused = [answer for answer in answers if answer.reason in NOT_ALLOWED]
    denials = [event for event in workspace.events() if event.event_type == 8]
    assert len(denials) == len(refused) > 2 * len(SCOPED)
    assert CANARY not in "".join(event.payload_json for event in denials)


def test_every_method_that_is_open_to_members_is_known() -> None:
    assert {method.name for method in OWN} >= OF_ONESELF | OF_ONES_GRANTS
