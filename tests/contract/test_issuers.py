"""Issuers over gRPC: rotated keys, clocks that differ, and whom a token makes the actor (authority.md, Who is calling)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import grpc
import pytest

from remit.v1 import admin_pb2, ledger_pb2, memory_pb2
from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns, reachable_folder
from tests.contract.conftest import IssuedCluster
from tests.contract.tokens import Issuer, new_key, write_issuers
from tests.contract.wire import OWN, ask, bearer, open_channel

MANIFEST = next(method for method in OWN if method.name == "DiscoveryService/GetManifest")


def code_of(channel: grpc.Channel, token: str) -> grpc.StatusCode:
    """How a call with the token ends that every authenticated caller may make."""
    return ask(channel, MANIFEST, b"", bearer(token)).code


class Rotated:
    """A process of the test's own whose issuer's keys are changed while it runs."""

    def __init__(self, cluster: Cluster, issuer: Issuer) -> None:
        self.address = cluster.servers[0].address
        self.issuer = issuer


@pytest.fixture
def rotated(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Rotated]:
    folder: Path = reachable_folder("remit-rotated-")
    issuer = Issuer(folder, "rotated", [TENANT], ["EdDSA"])
    for kid in ("next", "after next"):
        issuer.keys[kid] = ("EdDSA", new_key("EdDSA"))
    settings = {"REMIT_ISSUERS_FILE": str(write_issuers(folder, issuer))}
    with running_cluster(clone_database, **settings) as cluster:
        yield Rotated(cluster, issuer)


@pytest.mark.case("B11")
def test_old_and_new_keys_stand_side_by_side_and_a_flood_reads_the_set_once(rotated: Rotated) -> None:
    issuer = rotated.issuer
    first = next(iter(issuer.keys))
    with open_channel(rotated.address) as channel:
        # The set is first read by the first token, so the key that is published now is known from then on.
        issuer.publish(first, "next")
        for kid in (first, "next"):
            assert code_of(channel, issuer.token("admin", TENANT, kid=kid)) is grpc.StatusCode.OK
        # Inside the interval nothing makes it read again: not an unknown key, nor a thousand of them, nor one that
        # is published meanwhile.
        issuer.publish(first, "next", "after next")
        with ThreadPoolExecutor(16) as threads:
            flood = [issuer.token("admin", TENANT, header={"kid": f"kid-{number}"}) for number in range(400)]
            codes = list(threads.map(lambda token: code_of(channel, token), flood))
        assert set(codes) == {grpc.StatusCode.UNAUTHENTICATED}
        after_next = issuer.token("admin", TENANT, kid="after next")
        assert code_of(channel, after_next) is grpc.StatusCode.UNAUTHENTICATED
        # Those it knows are honoured through all of it, fresh tokens of them too.
        for kid in (first, "next"):
            assert code_of(channel, issuer.token("admin", TENANT, kid=kid, session_id="s")) is grpc.StatusCode.OK


@pytest.mark.case("B12")
@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({"nbf": 20}, True),
        ({"nbf": 60}, False),
        ({"iat": 300}, True),
        ({"iat": 86_400}, True),
        ({"nbf": 20, "iat": 300}, True),
        ({"exp": -20}, True),
        ({"exp": -60}, False),
    ],
    ids=str,
)
def test_clocks_may_differ_by_thirty_seconds(
    issued: IssuedCluster, issued_channel: grpc.Channel, changes: dict[str, int], accepted: bool
) -> None:
    now = int(time.time())
    shifted = {name: now + seconds for name, seconds in changes.items()}
    expected = grpc.StatusCode.OK if accepted else grpc.StatusCode.UNAUTHENTICATED
    assert code_of(issued_channel, issued.issuer.token("admin", TENANT, **shifted)) is expected


@pytest.mark.case("B11")
def test_each_algorithm_of_the_issuer_is_honoured(issued: IssuedCluster, issued_channel: grpc.Channel) -> None:
    for kid in issued.issuer.keys:
        assert code_of(issued_channel, issued.issuer.token("admin", TENANT, kid=kid)) is grpc.StatusCode.OK
    for audience in (["remit-under-test"], ["other", "remit-under-test"]):
        assert code_of(issued_channel, issued.issuer.token("admin", TENANT, aud=audience)) is grpc.StatusCode.OK
    assert code_of(issued_channel, issued.issuer.token("admin", TENANT, aud=["other"])) is not grpc.StatusCode.OK


def events_of(workspace: Workspace) -> list[ledger_pb2.LedgerEvent]:
    """The events of objects that were created."""
    return workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_CREATED])


def client_of(issued: IssuedCluster, subject: str, **claims: Any) -> Client:
    """A client of a token with these claims."""
    return issued.client("", token=issued.issuer.token(subject, TENANT, **claims))


def test_the_outermost_actor_acts_and_its_subject_gives_no_right(
    issued: IssuedCluster, issued_workspace: Workspace
) -> None:
    """RFC 8693: for `sub`, who owns the workspace, acts `act.sub`, who may do what its own rules allow and no more."""
    workspace = issued_workspace
    chain = {"sub": "worker", "act": {"sub": "admin", "act": {"sub": "somebody"}}}
    worker = client_of(issued, "admin", act=chain)
    with pytest.raises(Refusal) as refused:
        workspace.create(worker)
    assert refused.value.reason == "SCOPE_NOT_FOUND"
    workspace.allow("actor:worker", "create")
    made = workspace.create(worker)
    assert (made.envelope.actor.actor_id, made.envelope.actor.on_behalf_of_actor_id) == ("actor:worker", ADMIN)
    with pytest.raises(Refusal) as refused:
        workspace.read(made.object_id, worker)
    assert (refused.value.reason, refused.value.denial_reason) == ("ACCESS_DENIED", "NO_RULE")
    [created] = events_of(workspace)
    assert (created.actor.actor_id, created.actor.on_behalf_of_actor_id) == ("actor:worker", ADMIN)
    denied = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    assert {(event.actor.actor_id, event.actor.on_behalf_of_actor_id) for event in denied} == {("actor:worker", ADMIN)}
    worker.close()


def test_an_owner_acting_for_a_worker_keeps_its_rights(issued: IssuedCluster, issued_workspace: Workspace) -> None:
    owner = client_of(issued, "worker", act={"sub": "admin"})
    made = issued_workspace.create(owner)
    assert (made.envelope.actor.actor_id, made.envelope.actor.on_behalf_of_actor_id) == (ADMIN, "actor:worker")
    owner.close()


@pytest.mark.parametrize(
    "act",
    [
        {},
        {"sub": 1},
        {"sub": ""},
        "admin",
        [],
        {"sub": "admin", "iss": "https://nobody.test"},
        {"act": {"sub": "admin"}},
    ],
    ids=str,
)
def test_an_act_that_names_no_actor_is_no_credential(
    issued: IssuedCluster, issued_channel: grpc.Channel, act: Any
) -> None:
    token = issued.issuer.token("admin", TENANT, act=act)
    assert code_of(issued_channel, token) is grpc.StatusCode.UNAUTHENTICATED


def test_an_issuer_names_actors_with_its_prefix_only(issued: IssuedCluster) -> None:
    """Another issuer's `admin` is not ours, whatever it says; its subjects can't reach outside its prefix."""
    root = f"tenant:{OTHER_TENANT}"
    for subject in ("admin", "actor:admin", "/../admin", "%61dmin"):
        client = issued.client("", token=issued.other.token(subject, OTHER_TENANT))
        with pytest.raises(Refusal) as refused:
            client.admin.ListPolicyRules(admin_pb2.ListPolicyRulesRequest(scope_id=root))
        assert refused.value.reason == "SCOPE_NOT_FOUND"
        client.close()
    admin = issued.client(ADMIN, OTHER_TENANT)
    denied = admin.ledger.ListEvents(ledger_pb2.ListEventsRequest(scope_id=root, limit=1000)).events
    names = {event.actor.actor_id for event in denied if event.event_type == ledger_pb2.EVENT_TYPE_ACCESS_DENIED}
    assert {"actor:other-admin", "actor:other-actor:admin"} <= names
    assert ADMIN not in names
    assert all(name.startswith("actor:other-") for name in names if "admin" in name or "dmin" in name)
    admin.close()


def test_a_subject_outside_the_grammar_stays_one_actor(issued: IssuedCluster, issued_workspace: Workspace) -> None:
    """Each byte outside the grammar is written as %XX is in a URI, with a sign of the grammar."""
    workspace = issued_workspace
    names = set()
    for subject in ("mail@host.example", "two words", "\u00e9", "e\u0301", "100%"):
        client = client_of(issued, subject)
        with pytest.raises(Refusal):
            client.memory.Read(memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id="urn:x:1"))
        client.close()
    names = {event.actor.actor_id for event in workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])}
    assert len(names) == 5
    assert all(name.isascii() and name.startswith("actor:") for name in names)
