"""The three processes that tests of authority race against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.authority.fleet import Fleet, fleet_of
from tests.authority.scene import Scene
from tests.cluster import running_cluster
from tests.conftest import DatabaseDsns


@pytest.fixture(scope="session")
def running_fleet(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Fleet]:
    """Three processes of these tests' own, because they stop the clock and kill."""
    with running_cluster(clone_database, servers=3) as cluster, fleet_of(cluster) as fleet:
        yield fleet


@pytest.fixture
def fleet(running_fleet: Fleet) -> Iterator[Fleet]:
    """The processes; the clock goes and all of them serve when a test begins."""
    yield running_fleet
    running_fleet.set_clock(None)
    for server in range(len(running_fleet.cluster.servers)):
        if server not in running_fleet.serving:
            running_fleet.restart(server)


@pytest.fixture
def scene(fleet: Fleet) -> Scene:
    """A workspace of the test's own."""
    return Scene(fleet)
