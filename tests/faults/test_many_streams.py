"""A thousand streams on two processes over few connections: each gets its events, and none keeps the database busy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from tests.cluster import ADMIN, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.ledger.subscriptions import CREATED, end_of, stream, subscribe, take

STREAMS = 1000
WORKSPACES = 5


@pytest.fixture
def two_servers(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database, servers=2) as cluster:
        yield cluster


@pytest.mark.req("P-10.8-03")
def test_each_of_a_thousand_streams_gets_its_event(two_servers: Cluster) -> None:
    workspaces = [Workspace(two_servers) for _ in range(WORKSPACES)]
    clients = [two_servers.client(ADMIN, server=server) for server in (0, 1)]

    def begin(number: int) -> tuple[int, object]:
        place, client = number % WORKSPACES, clients[number % 2]
        return place, stream(subscribe(workspaces[place], CREATED, client=client), client)

    with ThreadPoolExecutor(16) as pool:
        streams = list(pool.map(begin, range(STREAMS)))
    made = [workspace.create(clients[0]).object_id for workspace in workspaces]
    for place, opened in streams:
        assert [event.object_id for event in take(opened, 1)] == [made[place]]
    # All of a process end together, each with its own terminal message.
    assert two_servers.servers[1].terminate() == 0
    for number, (_, opened) in enumerate(streams):
        if number % 2:
            events, closed = end_of(opened)
            assert (events, closed.resumable) == ([], True)
        else:
            opened.cancel()
