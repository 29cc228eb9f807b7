"""No method of any service answers a caller who can't prove who it is, and none tells why (X-01, X-03; B09, B10, B11)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from remit.v1 import access_pb2, ledger_pb2
from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Workspace
from tests.contract.conftest import IssuedCluster
from tests.contract.requests import filled
from tests.contract.tokens import bad_tokens
from tests.contract.wire import HEALTH, OWN, REFLECTION, Answer, Metadata, Method, ask, bearer
from tests.server.operations.delegation.grants import grant_request

SUBJECT = ADMIN.removeprefix("actor:")
CHECKS = [method for method in HEALTH if method.request_class is health_pb2.HealthCheckRequest]


def refused_credentials(issued: IssuedCluster) -> dict[str, Metadata]:
    """Metadata that proves nothing, by what is wrong with it."""
    good = issued.issuer.token(SUBJECT, TENANT)
    return {
        "no token": (),
        "another scheme": (("authorization", f"Basic {good}"),),
        "no scheme": (("authorization", good),),
        "two tokens": (("authorization", f"Bearer {good}"), ("authorization", f"Bearer {good}")),
        "too large": bearer("x" * 9000),
        "another header": (("x-authorization", f"Bearer {good}"),),
    } | {name: bearer(token) for name, token in bad_tokens(issued.issuer, issued.other, SUBJECT, TENANT).items()}


def head_sequences(workspace: Workspace) -> list[int]:
    """How long the ledgers are that a call could have written to."""
    return [
        workspace.owner.ledger.ListEvents(ledger_pb2.ListEventsRequest(scope_id=scope_id, limit=1)).head_sequence
        for scope_id in (workspace.scope_id, f"tenant:{TENANT}")
    ]


@pytest.mark.req("X-01")
@pytest.mark.req("X-03")
@pytest.mark.case("B09")
@pytest.mark.case("B11")
@pytest.mark.parametrize("method", OWN + REFLECTION, ids=lambda method: method.name)
def test_bad_credentials_get_one_answer_and_leave_no_trace(
    issued: IssuedCluster, issued_channel: grpc.Channel, issued_workspace: Workspace, method: Method
) -> None:
    before = head_sequences(issued_workspace)
    request = filled(method.request_class, scope_id=issued_workspace.scope_id)
    answers = {
        name: ask(issued_channel, method, request, metadata) for name, metadata in refused_credentials(issued).items()
    }
    for name, answer in answers.items():
        assert answer.code is grpc.StatusCode.UNAUTHENTICATED, (name, answer)
        assert answer.pamspec is None, name
        assert answer.responses == ()
        if method in OWN:
            assert answer.reason == "UNAUTHENTICATED", name
    assert len({shape(answer) for answer in answers.values()}) == 1, answers
    assert head_sequences(issued_workspace) == before


def shape(answer: Answer) -> tuple[str, str]:
    """What of an UNAUTHENTICATED may not differ: everything but the id that the server gave the call."""
    return answer.message, answer.reason


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_a_bad_credential_is_told_before_a_bad_request(issued_channel: grpc.Channel, method: Method) -> None:
    assert ask(issued_channel, method, b"\xff\xff\xff").code is grpc.StatusCode.UNAUTHENTICATED
    assert ask(issued_channel, method, bytes(5 << 20)).code in {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }


@pytest.mark.req("X-01")
def test_reflection_lists_only_services_of_the_contract(issued: IssuedCluster, issued_channel: grpc.Channel) -> None:
    [method] = REFLECTION
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    answer = ask(issued_channel, method, request, bearer(issued.issuer.token(SUBJECT, TENANT)))
    assert answer.code is grpc.StatusCode.OK
    listed = reflection_pb2.ServerReflectionResponse.FromString(answer.responses[0])
    names = {service.name for service in listed.list_services_response.service}
    services = {method.path.split("/")[1] for method in (*OWN, *HEALTH, *REFLECTION)}
    assert names == services
    # Called without a token, everything that reflection finds is refused, but for health.
    for found in (*OWN, *REFLECTION):
        assert ask(issued_channel, found, filled(found.request_class)).code is grpc.StatusCode.UNAUTHENTICATED


def test_reflection_is_off_unless_asked_for(channel: grpc.Channel) -> None:
    [method] = REFLECTION
    answer = ask(channel, method, reflection_pb2.ServerReflectionRequest(list_services=""))
    assert answer.code is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.case("B10")
@pytest.mark.parametrize("method", CHECKS, ids=lambda method: method.name)
@pytest.mark.parametrize("name", ["", *sorted({method.path.split("/")[1] for method in OWN})])
def test_health_is_told_without_a_token(channel: grpc.Channel, method: Method, name: str) -> None:
    for metadata in ((), bearer("sample")):
        answer = ask(channel, method, health_pb2.HealthCheckRequest(service=name), metadata)
        assert answer.code is grpc.StatusCode.OK, answer
        response = health_pb2.HealthCheckResponse.FromString(answer.responses[0])
        assert response.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.case("B10")
def test_health_of_a_service_that_is_not_there(channel: grpc.Channel) -> None:
    check = next(method for method in HEALTH if method.path.endswith("/Check"))
    answer = ask(channel, check, health_pb2.HealthCheckRequest(service="remit.v1.NoService"))
    assert answer.code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    "path", ["/remit.v1.MemoryService/NoMethod", "/remit.v1.NoService/Read", "remit.v1.MemoryService/Read", "/"]
)
def test_a_path_that_is_no_method_is_served_by_nothing(issued: IssuedCluster, path: str) -> None:
    read = next(method for method in OWN if method.path.endswith("MemoryService/Read"))
    nowhere = Method(path, read.request_class, read.response_class, False, False, access_pb2.Access())
    client = issued.client(ADMIN)
    for metadata in ((), client.metadata):
        answer = ask(client.channel, nowhere, b"", metadata)
        assert answer.code in {grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL}, answer
        assert answer.responses == ()
    client.close()


@pytest.mark.parametrize("method", OWN, ids=lambda method: method.name)
def test_every_method_declares_what_it_needs(method: Method) -> None:
    assert method.access.level != access_pb2.ACCESS_LEVEL_UNSPECIFIED
    # A method without a workspace has nobody to decide: it may only tell what every caller may know.
    assert method.takes("scope_id") == (method.access.level == access_pb2.ACCESS_LEVEL_AUTHORIZED)


def test_a_token_that_ends_ends_its_calls(issued: IssuedCluster, issued_workspace: Workspace) -> None:
    """The check is of each call, though the channel stays open."""
    get = next(method for method in OWN if method.name == "AdminService/GetWorkspace")
    request = filled(get.request_class, scope_id=issued_workspace.scope_id)
    client = issued.client(ADMIN)
    assert ask(client.channel, get, request, client.metadata).code is grpc.StatusCode.OK
    expired = bearer(issued.issuer.token(SUBJECT, TENANT, exp=1_000_000_000))
    assert ask(client.channel, get, request, expired).code is grpc.StatusCode.UNAUTHENTICATED
    assert ask(client.channel, get, request, client.metadata).code is grpc.StatusCode.OK
    client.close()


def test_what_a_good_token_of_another_tenant_proves(issued: IssuedCluster, issued_workspace: Workspace) -> None:
    """An issuer speaks for its own tenants: its word for another is no credential, and its own tenant is another place."""
    token = issued.other.token("anyone", OTHER_TENANT)
    grant = next(method for method in OWN if method.name == "DelegationService/GrantDelegation")
    client = issued.client("", token=token)
    answer = ask(client.channel, grant, grant_request(issued_workspace, "read"), client.metadata)
    assert (answer.code, answer.reason) == (grpc.StatusCode.NOT_FOUND, "SCOPE_NOT_FOUND")
    client.close()


def test_a_stream_ends_with_its_token(issued: IssuedCluster, issued_channel: grpc.Channel) -> None:
    # The token expired twenty-five seconds ago: inside the leeway, which has five seconds left.
    token = issued.issuer.token(SUBJECT, TENANT, exp=int(time.time()) - 25)
    call = issued_channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
    silent = threading.Event()

    def requests() -> Iterator[bytes]:
        yield reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()
        silent.wait(60)

    answers = call(requests(), metadata=[("authorization", f"Bearer {token}")], timeout=60)
    assert reflection_pb2.ServerReflectionResponse.FromString(next(answers)).list_services_response.service
    with pytest.raises(grpc.RpcError) as ended:
        next(answers)
    silent.set()
    assert ended.value.code() is grpc.StatusCode.UNAUTHENTICATED
