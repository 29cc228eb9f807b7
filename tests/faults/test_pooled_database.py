"""The service behind a transaction-pooling PgBouncer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest

from remit.v1 import memory_pb2
from tests.cluster import ADMIN, TENANT, Cluster, Workspace
from tests.conftest import reachable_folder
from tests.faults.account import check_ledger, check_nothing_torn
from tests.faults.load import DELEGATE, grant_to_delegate
from tests.faults.pooler import transaction_pooler
from tests.faults.postgres_process import own_postgres


class PooledCluster(Cluster):
    """Its processes know that a pooler stands before the database."""

    def environment(self, **settings: str) -> dict[str, str]:
        return super().environment(REMIT_DATABASE_PREPARED_STATEMENTS="false", **settings)


@pytest.fixture
def pooled() -> Iterator[Cluster]:
    with own_postgres() as postgres, transaction_pooler(postgres) as dsn:
        cluster = PooledCluster(replace(postgres.databases(), server=dsn), reachable_folder("remit-cluster-"))
        try:
            cluster.add_tenant(TENANT, ADMIN)
            for _ in range(2):
                cluster.start_server()
            yield cluster
        finally:
            cluster.close()


@pytest.mark.case("C11")
def test_a_hundred_parallel_calls_meet_no_error(pooled: Cluster) -> None:
    workspace = Workspace(pooled)
    delegation_id = grant_to_delegate(workspace)
    owners = [pooled.client(ADMIN, server=server) for server in range(2)]
    delegates = [pooled.client(DELEGATE, server=server) for server in range(2)]
    stored = [workspace.create().object_id for _ in range(10)]

    def call(number: int) -> bool:
        owner, delegate, object_id = owners[number % 2], delegates[number % 2], stored[number % 10]
        if number % 4 < 2:
            created = workspace.create(owner)
            return workspace.read(created.object_id, owner).envelope.version_id == created.version_id
        if number % 4 == 2:
            return workspace.read(object_id, owner).envelope.object_id == object_id
        read = memory_pb2.ReadRequest(scope_id=workspace.scope_id, object_id=object_id, delegation_id=delegation_id)
        return delegate.memory.Read(read).envelope.object_id == object_id

    with ThreadPoolExecutor(100) as pool:
        for _ in range(3):
            assert all(pool.map(call, range(100)))
    with psycopg.connect(pooled.database.superuser) as connection:
        shared = connection.execute("select count(*) from pg_stat_activity where usename = 'remit_server'").fetchone()
        check_nothing_torn(connection)
    assert shared is not None
    assert shared[0] <= 3
    check_ledger(workspace, workspace.owner)
