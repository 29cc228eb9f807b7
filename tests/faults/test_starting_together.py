"""Eight processes that start at once on a database nobody has prepared, and again on the one they left."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import psycopg
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from server.cli.serve import DEVELOPMENT_ADMIN, DEVELOPMENT_TENANT
from server.tenants import add_tenant
from storage.commands import Status
from storage.commit import Coalescer
from storage.database import Database
from tests.cluster import Cluster, ServerProcess, Workspace
from tests.conftest import DatabaseDsns, reachable_folder
from tests.faults.account import check_ledger

_PROCESSES = 8


def start_together(environment: dict[str, str], folder: Path) -> list[ServerProcess]:
    """Starts all of them at once; returns when each says that it serves."""
    with ThreadPoolExecutor(_PROCESSES) as pool:
        started = [pool.submit(ServerProcess, environment, folder / f"together-{n}.log") for n in range(_PROCESSES)]
        return [one.result() for one in started]


def check_healthy(servers: list[ServerProcess]) -> None:
    for server in servers:
        with grpc.insecure_channel(server.address) as channel:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=30)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


def check_they_are_one(cluster: Cluster, servers: list[ServerProcess]) -> None:
    """Each can use what another one wrote, keys included."""
    cluster.servers = servers
    workspace = Workspace(cluster, DEVELOPMENT_TENANT)
    created = workspace.create()
    for number in range(_PROCESSES):
        client = cluster.client(DEVELOPMENT_ADMIN, DEVELOPMENT_TENANT, number)
        assert workspace.read(created.object_id, client).envelope.version_id == created.version_id
        workspace.create(client)
    check_ledger(workspace, workspace.owner)


def end(servers: list[ServerProcess]) -> None:
    with ThreadPoolExecutor(_PROCESSES) as pool:
        assert set(pool.map(ServerProcess.terminate, servers)) == {0}


@pytest.fixture
def folder() -> Iterator[Path]:
    made = reachable_folder("remit-together-")
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.mark.case("A49")
def test_replicas_and_the_migration_start_together_twice(empty_database: DatabaseDsns, folder: Path) -> None:
    cluster = Cluster(empty_database, folder)
    migration = [sys.executable, "-m", "server", "migrate"]
    environment = cluster.environment(REMIT_MIGRATE_DATABASE_URL=empty_database.ddl)
    for _ in range(2):
        migrating = subprocess.Popen(migration, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        servers = start_together(cluster.environment(), folder)
        told, _ = migrating.communicate(timeout=60)
        assert migrating.returncode == 0, told
        check_healthy(servers)
        check_they_are_one(cluster, servers)
        end(servers)
    with psycopg.connect(empty_database.superuser) as connection:
        created = connection.execute(
            "select count(*) from remit.ledger_events where event_type = 'tenant_created'"
        ).fetchone()
    assert created == (1,)
    cluster.close()


@pytest.mark.case("A49")
def test_processes_on_one_embedded_database_start_together(empty_database: DatabaseDsns, folder: Path) -> None:
    cluster = Cluster(empty_database, folder)  # of which only the folder and its issuer are used
    environment = cluster.environment()
    del environment["REMIT_DATABASE_URL"]
    servers = start_together(environment, folder)
    check_healthy(servers)
    check_they_are_one(cluster, servers)
    end(servers)
    assert not (folder / "postgres" / "postmaster.pid").exists()  # the last to leave stopped it
    cluster.close()


async def test_one_of_many_adds_a_tenant(fresh_database: DatabaseDsns) -> None:
    """The others find it there: nothing of it exists that they could wait for."""
    async with AsyncExitStack() as stack:
        pools = [
            await stack.enter_async_context(Database(fresh_database.server, size_max=1)) for _ in range(_PROCESSES)
        ]
        for round_number in range(5):
            tenant_id = f"tenant-{round_number}"
            added = (add_tenant(Coalescer(pool), tenant_id, ["actor:admin"]) for pool in pools)
            statuses = [outcome.status for outcome in await asyncio.gather(*added)]
            assert sorted(statuses) == sorted([Status.ACCEPTED, *[Status.SCOPE_EXISTS] * (_PROCESSES - 1)])
