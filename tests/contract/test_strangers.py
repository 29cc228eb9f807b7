"""Who is nobody in a workspace learns of it what one learns of a workspace that is not there (P-14-09, X-04; A04)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import grpc
import pytest

from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Client, Cluster, Workspace
from tests.contract.denials import CANARY, events_of_operation, new_operation_id, payload_of, the_denial
from tests.contract.requests import filled
from tests.contract.wire import DELEGABLE, SCOPED, Answer, Method, ask

STRANGER = "actor:stranger"


@dataclass(frozen=True)
class Ward:
    """A workspace with an object and a grant, and who looks on from outside."""

    workspace: Workspace
    object_id: str
    stranger: Client
    foreigner: Client
    root: Client
    foreign_root: Client


@pytest.fixture(scope="module")
def ward(cluster: Cluster) -> Ward:
    workspace = Workspace(cluster)
    return Ward(
        workspace,
        object_id=workspace.create().object_id,
        stranger=cluster.client(STRANGER),
        # The same actor id, and the same administrator's name, in another tenant.
        foreigner=cluster.client(ADMIN, OTHER_TENANT),
        root=cluster.client(ADMIN),
        foreign_root=cluster.client(ADMIN, OTHER_TENANT),
    )


def call(client: Client, method: Method, scope_id: str, operation_id: str, **fields: str) -> Answer:
    """Calls a method with all that a request may hold."""
    request = filled(
        method.request_class,
        scope_id=scope_id,
        operation_id=operation_id,
        purpose=CANARY,
        policy_basis=CANARY,
        canonical_content=f'{{"statement":"{CANARY}"}}'.encode(),
        **fields,
    )
    return ask(client.channel, method, request, client.metadata)


def absent_scope() -> str:
    return f"workspace:{uuid.uuid4().hex}"


@pytest.mark.req("P-14-09")
@pytest.mark.req("X-02")
@pytest.mark.req("X-04")
@pytest.mark.case("A04")
@pytest.mark.case("B09")
@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_a_foreign_workspace_is_an_absent_one(ward: Ward, method: Method) -> None:
    there, nowhere = new_operation_id(), new_operation_id()
    named = {"object_id": ward.object_id} if "object_id" in method.access.object_id_fields else {}
    foreign = call(ward.foreigner, method, ward.workspace.scope_id, there, **named)
    absent = call(ward.foreigner, method, absent_scope(), nowhere, **named)
    assert (foreign.code, foreign.reason) == (grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND"), foreign
    assert foreign.seen(there) == absent.seen(nowhere)
    events = [the_denial(ward.foreign_root, f"tenant:{OTHER_TENANT}", operation) for operation in (there, nowhere)]
    for event in events:
        assert event.actor.actor_id == ADMIN
        assert (event.object_id, event.version_id, event.delegation_id) == ("", "", "")
        assert payload_of(event)["exact_reason"] == "SCOPE_ABSENT"
    assert payload_of(events[0]).keys() == payload_of(events[1]).keys()
    for client, scope_id in ((ward.workspace.owner, ward.workspace.scope_id), (ward.root, f"tenant:{TENANT}")):
        assert events_of_operation(client, scope_id, there) == []


@pytest.mark.req("P-14-09")
@pytest.mark.req("X-02")
@pytest.mark.case("B09")
@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_a_workspace_of_others_is_an_absent_one(ward: Ward, method: Method) -> None:
    there, nowhere = new_operation_id(), new_operation_id()
    strange = call(ward.stranger, method, ward.workspace.scope_id, there)
    absent = call(ward.stranger, method, absent_scope(), nowhere)
    assert (strange.code, strange.reason) == (grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND"), strange
    assert strange.seen(there) == absent.seen(nowhere)
    event = the_denial(ward.workspace.owner, ward.workspace.scope_id, there)
    assert event.actor.actor_id == STRANGER
    assert payload_of(event)["exact_reason"] == "NOT_A_MEMBER"
    assert events_of_operation(ward.root, f"tenant:{TENANT}", there) == []
    assert payload_of(the_denial(ward.root, f"tenant:{TENANT}", nowhere))["exact_reason"] == "SCOPE_ABSENT"


@pytest.mark.parametrize("method", SCOPED, ids=lambda method: method.name)
def test_the_root_of_another_tenant_is_an_absent_workspace(ward: Ward, method: Method) -> None:
    """Its name is known to everybody, and tells nobody whether there is such a tenant."""
    there, nowhere = new_operation_id(), new_operation_id()
    foreign = call(ward.root, method, f"tenant:{OTHER_TENANT}", there)
    absent = call(ward.root, method, f"tenant:{uuid.uuid4().hex[:6]}", nowhere)
    assert foreign.reason == "SCOPE_NOT_FOUND"
    assert foreign.seen(there) == absent.seen(nowhere)
    assert events_of_operation(ward.foreign_root, f"tenant:{OTHER_TENANT}", there) == []
    the_denial(ward.root, f"tenant:{TENANT}", there)


@pytest.mark.parametrize("method", DELEGABLE, ids=lambda method: method.name)
def test_a_grant_that_is_not_theirs_lets_nobody_in(ward: Ward, cluster: Cluster, method: Method) -> None:
    made = ward.workspace.owner.delegation.GrantDelegation(
        filled(
            next(found for found in SCOPED if found.name == "DelegationService/GrantDelegation").request_class,
            scope_id=ward.workspace.scope_id,
            delegated_actor={"actor_id": "actor:somebody"},
            granted_operations=[method.access.pamspec_operation],
        )
    ).delegation.delegation_id
    for client in (ward.stranger, ward.foreigner):
        there, unknown, nowhere = new_operation_id(), new_operation_id(), new_operation_id()
        scope_id = ward.workspace.scope_id
        named = call(client, method, scope_id, there, delegation_id=made)
        assert named.reason == "SCOPE_NOT_FOUND"
        assert named.seen(there) == call(client, method, scope_id, unknown, delegation_id="urn:x:none").seen(unknown)
        assert named.seen(there) == call(client, method, absent_scope(), nowhere, delegation_id=made).seen(nowhere)
    # To its delegate the same grant opens the door.
    delegate = cluster.client("actor:somebody")
    opened = call(delegate, method, scope_id, new_operation_id(), delegation_id=made)
    assert opened.reason not in {"SCOPE_NOT_FOUND", "ACCESS_DENIED"}, opened
