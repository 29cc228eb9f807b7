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

SHOWS = {
    "case_scope_isolation": "P-18.1-01",
    "case_scope_mutation_rejected": "P-18.1-01",
    "case_create": "P-18.1-01",
    "case_read": "P-18.1-01",
    "case_stale_update": "P-18.1-04",
    "case_stale_transition": "P-18.1-04",
    "case_stale_delete": "P-18.1-04",
    "case_idempotency_survives_restart": "P-18.1-05",
    "case_subscription_delivers_matching_events": "P-18.3-02",
    "case_subscription_filter_excludes_non_matching": "P-18.3-03",
    "case_close_stops_delivery": "P-18.3-05",
}
"""Cases that a line of the catalogue names."""


def _named(name: str) -> Any:
    return pytest.param(name, marks=[pytest.mark.req(SHOWS[name])] if name in SHOWS else [])


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
@pytest.mark.parametrize("name", [_named(name) for name in CASES])
def test_a_case_holds_over_the_wire(wire: Place, name: str) -> None:
    _run(name, wire)


@pytest.mark.req("P-13-02")
@pytest.mark.parametrize("name", CASES)
def test_a_case_holds_without_a_transport(handlers: Place, name: str) -> None:
    _run(name, handlers)
