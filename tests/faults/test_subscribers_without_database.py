"""The database goes away and comes back under streams and polls: what happened meanwhile is delayed, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest

from remit.v1 import ledger_pb2
from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace
from tests.conftest import reachable_folder
from tests.faults.postgres_process import OwnPostgres, own_postgres
from tests.faults.waiting import until
from tests.server.operations.ledger.subscriptions import (
    CREATED,
    acknowledge,
    poll,
    sequences,
    stream,
    subscribe,
    take,
)


@pytest.fixture
def own() -> Iterator[OwnPostgres]:
    with own_postgres() as postgres:
        yield postgres


@pytest.fixture
def served(own: OwnPostgres) -> Iterator[Cluster]:
    cluster = Cluster(own.databases(), reachable_folder("remit-cluster-"))
    try:
        cluster.add_tenant(TENANT, ADMIN)
        cluster.start_server()
        yield cluster
    finally:
        cluster.close()


def resumed(workspace: Workspace, subscription: ledger_pb2.Subscription, count: int) -> list[int]:
    """The next events of a stream that is begun again for as long as the service is unavailable."""

    def attempt() -> list[int]:
        try:
            with stream(subscription, workspace.owner) as opened:
                return sequences(take(opened, count))
        except Refusal as refused:
            assert refused.code is grpc.StatusCode.UNAVAILABLE, refused  # noqa: PT017 -- any other is a fault
            return []

    return until(attempt, "the events of a stream that was begun again")


def created(workspace: Workspace) -> bool:
    """Whether an object could be created."""
    try:
        workspace.create()
    except Refusal:
        return False
    return True


@pytest.mark.req("P-10.8-03", "P-10.8-05")
def test_a_database_that_comes_back_brings_everything(own: OwnPostgres, served: Cluster) -> None:
    workspace = Workspace(served)
    streamed, polled, quiet = (subscribe(workspace, CREATED) for _ in range(3))
    with stream(streamed, workspace.owner) as opened, stream(quiet, workspace.owner) as silent:
        workspace.create()
        [first] = take(opened, 1)
        assert len(take(silent, 1)) == 1
        acknowledge(streamed, workspace.owner, first.sequence)
        own.kill()
        with pytest.raises(Refusal) as refused:
            poll(polled, workspace.owner)
        assert refused.value.code is grpc.StatusCode.UNAVAILABLE
        own.start()
        until(lambda: created(workspace), "an object created")
    made = sequences(workspace.events(event_classes=[CREATED]))
    assert resumed(workspace, streamed, len(made) - 1) == made[1:]
    assert sequences(poll(polled, workspace.owner, max_events=1000).events) == made
