"""The conformance cases of the draft's three base profiles, over gRPC and without it (P-10-01, P-13-02)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.cluster import Cluster, Workspace, running_cluster
from tests.conformance.delegation import DELEGATION
from tests.conformance.lite import LITE
from tests.conformance.places import OverTheWire, Place, in_process
from tests.conformance.subscribe import SUBSCRIBE
from tests.conftest import DatabaseDsns

CASES = {**LITE, **DELEGATION, **SUBSCRIBE}


@pytest.fixture(scope="module")
def store(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    """A database and its keys, which nobody else is on: what serves it is ended and started by the cases."""
    with running_cluster(clone_database, servers=0) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def wire(store: Cluster) -> Place:
    return OverTheWire(store)


@pytest.fixture(scope="module")
def handlers(store: Cluster) -> Iterator[Place]:
    with in_process(store) as place:
        yield place


def _run(name: str, place: Place) -> None:
    there: Any = place
    CASES[name](Workspace(there), place)


def test_there_are_as_many_cases_as_the_draft_has() -> None:
    assert (len(LITE), len(DELEGATION), len(SUBSCRIBE)) == (17, 7, 4)
    assert len(CASES) == 28


@pytest.mark.req("P-10-01", "P-13-02")
@pytest.mark.parametrize("name", CASES)
def test_a_case_holds_over_the_wire(wire: Place, name: str) -> None:
    _run(name, wire)


@pytest.mark.req("P-13-02")
@pytest.mark.parametrize("name", CASES)
def test_a_case_holds_without_a_transport(handlers: Place, name: str) -> None:
    _run(name, handlers)
