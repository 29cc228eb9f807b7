"""What a caller is told while the database is away or broken: to come back, and nothing of what is inside."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import grpc
import psycopg
import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Cluster, Workspace, running_cluster
from tests.contract.denials import CANARY, new_operation_id
from tests.contract.requests import filled
from tests.contract.wire import OWN, Answer, Method, ask
from tests.faults.postgres_process import OwnPostgres, own_postgres
from tests.faults.waiting import until

# Words of the inside: statements, tables, drivers, sources.
INSIDE = (
    b"select",
    b"insert",
    b"relation",
    b"schema",
    b"psycopg",
    b"postgres",
    b"traceback",
    b".py",
    b"socket",
    b"sql",
)


@dataclass(frozen=True)
class Own:
    """A PostgreSQL of the tests' own, a process on it and a workspace there."""

    postgres: OwnPostgres
    cluster: Cluster
    workspace: Workspace


@pytest.fixture(scope="module")
def own() -> Iterator[Own]:
    with own_postgres() as postgres, running_cluster(lambda: nullcontext(postgres.databases())) as cluster:
        yield Own(postgres, cluster, Workspace(cluster))


def call(own: Own, method: Method, operation_id: str = "") -> Answer:
    """The owner's call of any method."""
    client = own.workspace.owner
    request = filled(
        method.request_class,
        scope_id=method.scope(own.workspace),
        operation_id=operation_id or new_operation_id(),
        limit=10,
        after_sequence=0,
        purpose=CANARY,
        policy_basis=CANARY,
        canonical_content=f'{{"statement":"{CANARY}"}}'.encode(),
    )
    return ask(client.channel, method, request, client.metadata)


def told_of_all(own: Own) -> dict[str, Answer]:
    """The answer of every method, all asked at once."""
    with ThreadPoolExecutor(len(OWN)) as threads:
        answers = threads.map(lambda method: call(own, method), OWN)
        return {method.name: answer for method, answer in zip(OWN, answers, strict=True)}


def holds_nothing_inside(answer: Answer) -> None:
    """Holds an error to be free of what was sent and of what is inside."""
    raw = answer.raw.lower()
    assert CANARY.encode() not in raw
    assert not [word for word in INSIDE if word in raw], answer


@contextmanager
def schema_away(own: Own) -> Iterator[None]:
    """Every statement of the service fails as one that does not fit the database."""
    with own.cluster.superuser() as connection:
        connection.execute("alter schema remit rename to elsewhere")
        try:
            yield
        finally:
            connection.execute("alter schema elsewhere rename to remit")


@contextmanager
def database_away(own: Own) -> Iterator[None]:
    """PostgreSQL is stopped."""
    with own.cluster.superuser() as connection:
        own.postgres.stop()
        until(lambda: has_ended(connection), "PostgreSQL stops")
    try:
        yield
    finally:
        own.postgres.start()
        until(lambda: serves(own), "the service recovers")


def has_ended(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server at the other end is gone."""
    try:
        connection.execute("select 1")
    except psycopg.OperationalError:
        return True
    return False


def serves(own: Own) -> bool:
    """Whether the service does its work."""
    method = next(method for method in OWN if method.name == "MemoryService/Create")
    return call(own, method).code is grpc.StatusCode.OK


def holds_sound(own: Own) -> None:
    """Holds the ledger to verify."""
    verified = own.workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=own.workspace.scope_id))
    assert verified.ok, verified.findings


@pytest.mark.req("P-14-23", "P-18.10-01")
def test_an_unexpected_failure_is_told_without_what_failed(own: Own) -> None:
    assert serves(own)
    with schema_away(own):
        answers = told_of_all(own)
    for name, answer in answers.items():
        assert (answer.code, answer.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL_ERROR"), (name, answer)
        assert answer.pamspec.retryable is False
        assert answer.message == "The service failed unexpectedly."
        assert [(detail.name, detail.value) for detail in answer.pamspec.details] == [("reason", "STORAGE")]
        holds_nothing_inside(answer)
    assert CANARY not in logs(own)
    until(lambda: serves(own), "the service recovers")
    holds_sound(own)


@pytest.mark.req("P-14-22", "P-18.10-01")
def test_while_the_database_is_away_every_call_is_told_to_come_back(own: Own) -> None:
    assert serves(own)
    with database_away(own):
        answers = told_of_all(own)
    for name, answer in answers.items():
        assert (answer.code, answer.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVICE_UNAVAILABLE"), (name, answer)
        assert answer.pamspec.retryable is True
        assert answer.retry.retry_delay.ToMilliseconds() > 0
        holds_nothing_inside(answer)
    assert CANARY not in logs(own)
    holds_sound(own)


@pytest.mark.req("P-14-22", "P-18.10-01")
@pytest.mark.parametrize("who", ["stranger", "member"])
def test_a_denial_that_cannot_be_recorded_is_still_a_refusal(own: Own, who: str) -> None:
    """Neither allowed for want of a ledger, nor told as a denial that no ledger holds."""
    own.workspace.allow("actor:member", "snapshot.read")
    client = own.cluster.client(f"actor:{who}")
    method = next(method for method in OWN if method.name == "MemoryService/Read")
    request = filled(method.request_class, scope_id=own.workspace.scope_id)

    def ask_again() -> Answer:
        return ask(client.channel, method, request, client.metadata)

    before = ask_again()
    assert before.reason in {"SCOPE_NOT_FOUND", "ACCESS_DENIED"}
    with database_away(own):
        answer = ask_again()
    assert (answer.reason, answer.responses) == ("SERVICE_UNAVAILABLE", ())
    assert ask_again().reason == before.reason


def logs(own: Own) -> str:
    """All that the processes logged."""
    return "".join(path.read_text() for path in own.cluster.folder.glob("*.log"))
