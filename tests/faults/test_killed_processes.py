"""kill -9 of a server process, and of PostgreSQL, under load: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import grpc
import pytest

from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns, reachable_folder
from tests.faults.account import check_account, check_offline
from tests.faults.load import Attempt, Load, grant_to_delegate
from tests.faults.postgres_process import OwnPostgres, own_postgres

ROUNDS = int(os.environ.get("REMIT_FAULT_ROUNDS", "3"))


@pytest.fixture
def three_servers(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database, servers=3) as cluster:
        yield cluster


@pytest.mark.req("P-12-06")
def test_a_killed_server_loses_and_doubles_nothing(three_servers: Cluster, tmp_path: Path) -> None:
    workspace = Workspace(three_servers)
    delegation_id = grant_to_delegate(workspace)
    attempts: list[Attempt] = []
    for round_number in range(ROUNDS):
        victim = round_number % 3
        others = [server for server in range(3) if server != victim]
        with Load(workspace, delegation_id, range(3)) as load:
            load.wait_acknowledged(5)
            three_servers.servers[victim].kill()
            load.wait_refused(1, [victim])
            load.wait_acknowledged(2, others)
        three_servers.servers[victim].start()
        attempts += load.attempts()
        check_account(workspace, attempts, server=victim)
    check_offline(workspace, tmp_path)


@pytest.fixture
def own() -> Iterator[OwnPostgres]:
    with own_postgres() as postgres:
        yield postgres


@pytest.fixture
def two_servers(own: OwnPostgres) -> Iterator[Cluster]:
    cluster = Cluster(own.databases(), reachable_folder("remit-cluster-"))
    try:
        cluster.add_tenant(TENANT, ADMIN)
        for _ in range(2):
            cluster.start_server()
        yield cluster
    finally:
        cluster.close()


@pytest.mark.case("C13")
@pytest.mark.req("P-12-06")
def test_a_killed_database_loses_and_doubles_nothing(own: OwnPostgres, two_servers: Cluster, tmp_path: Path) -> None:
    workspace = Workspace(two_servers)
    delegation_id = grant_to_delegate(workspace)
    attempts: list[Attempt] = []
    for round_number in range(ROUNDS):
        with Load(workspace, delegation_id, range(2)) as load:
            load.wait_acknowledged(3)
            own.kill()
            if round_number == 0:
                # Who asks while it is away is told to come back; the other rounds don't wait for that.
                reader = two_servers.client(ADMIN)
                with pytest.raises(Refusal) as refused:
                    workspace.read("urn:any", reader)
                assert refused.value.code is grpc.StatusCode.UNAVAILABLE
            own.start()
            load.wait_acknowledged(3)
        attempts += load.attempts()
        assert {code for attempt in load.attempts() for code in attempt.refusals} <= {grpc.StatusCode.UNAVAILABLE}
        check_account(workspace, attempts)
    assert [server.process.poll() for server in two_servers.servers] == [None, None]
    check_offline(workspace, tmp_path)
