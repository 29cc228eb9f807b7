"""The key store goes away: nothing is written without its key, what is at hand is read, and all of it comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from remit.v1 import ledger_pb2
from storage.keystore.postgres import create_schema
from tests.cluster import ADMIN, TENANT, Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.account import check_ledger, check_nothing_torn
from tests.faults.postgres_process import OwnPostgres, own_postgres

_SETTINGS = {"REMIT_KEY_PAGE_SIZE": "4"}
# More than any process has reserved.
_WRITES_MAX = 30


@dataclass
class KeyStoreFault:
    """A cluster whose key store can be taken away and given back."""

    cluster: Cluster
    take_away: Callable[[], None]
    give_back: Callable[[], None]


@pytest.fixture
def directory(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[KeyStoreFault]:
    """A folder that is no folder any more; modes would not keep root out."""
    with running_cluster(clone_database, servers=2, **_SETTINGS) as cluster:
        folder: Path = cluster.folder / "keys" / TENANT
        kept = folder.with_suffix(".kept")

        def take_away() -> None:
            folder.rename(kept)
            folder.touch()

        def give_back() -> None:
            folder.unlink()
            kept.rename(folder)

        yield KeyStoreFault(cluster, take_away, give_back)


@pytest.fixture
def own() -> Iterator[OwnPostgres]:
    with own_postgres() as postgres:
        yield postgres


@pytest.fixture
def database_of_keys(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]], own: OwnPostgres
) -> Iterator[KeyStoreFault]:
    """A PostgreSQL of its own, killed and started again."""
    create_schema(own.databases().ddl, server_role="remit_server")
    settings = _SETTINGS | {"REMIT_KEYSTORE_URL": own.databases().server}
    with running_cluster(clone_database, servers=2, **settings) as cluster:
        yield KeyStoreFault(cluster, own.kill, own.start)


def write_until_refused(workspace: Workspace, client: Client) -> list[str]:
    """Creates objects until one is refused for want of a key; returns those that were made."""
    made: list[str] = []
    while len(made) < _WRITES_MAX:
        try:
            made.append(str(workspace.create(client).object_id))
        except Refusal as refusal:
            if refusal.code is grpc.StatusCode.UNAVAILABLE:
                return made
            raise
    raise AssertionError("keys without a key store")


@pytest.mark.parametrize("store", ["directory", "database_of_keys"])
def test_writes_wait_for_their_keys_and_reads_do_not(store: str, request: pytest.FixtureRequest) -> None:
    fault: KeyStoreFault = request.getfixturevalue(store)
    cluster = fault.cluster
    workspace = Workspace(cluster)
    warm, cold = cluster.client(ADMIN, server=0), cluster.client(ADMIN, server=1)
    stored = [str(workspace.create(warm).object_id) for _ in range(3)]
    fault.take_away()
    with ThreadPoolExecutor(1) as pool:
        # Who has not seen the keys can't read, and says so; it finds no fault with what is stored.
        unread = pool.submit(workspace.read, stored[0], cold)
        stored += write_until_refused(workspace, warm)
    for object_id in stored:
        assert workspace.read(object_id, warm).envelope.canonical_content == b'{"statement":"x"}'
    with pytest.raises(Refusal) as refused:
        unread.result()
    assert refused.value.code is grpc.StatusCode.UNAVAILABLE
    with cluster.superuser() as connection:
        check_nothing_torn(connection)
        count = connection.execute(
            "select count(*) from remit.memory_objects where scope_id = %s", (workspace.scope_id,)
        ).fetchone()
    assert count == (len(stored),)
    fault.give_back()
    for client in (warm, cold):
        created = workspace.create(client)
        assert all(workspace.read(object_id, client).envelope for object_id in [*stored, created.object_id])
    assert not workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION])
    check_ledger(workspace, workspace.owner)
