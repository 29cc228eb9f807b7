"""The metrics endpoint tells what workspaces hold, and what all processes of a port answered together (PAMSPEC 17.6)."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from remit.v1 import ledger_pb2, snapshot_pb2
from tests.cluster import TENANT, Client, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.contract.conftest import free_port
from tests.faults.waiting import until
from tests.server.operations.memory.requests import delete, update

KINDS = {"versions", "ledger_entries", "snapshots", "indexes", "tombstones"}
SECRET = "never-in-a-metric"


class Measured:
    """A cluster and the page of its metrics."""

    def __init__(self, cluster: Cluster, port: int, processes: int) -> None:
        self.cluster = cluster
        self.processes = processes
        self._address = f"http://127.0.0.1:{port}/metrics"

    def page(self) -> str:
        """The page as it now is."""
        with urllib.request.urlopen(self._address, timeout=30) as response:
            text: str = response.read().decode()
            return text

    def samples(self, name: str) -> list[tuple[dict[str, str], float]]:
        """Labels and values of a metric."""
        families = text_string_to_metric_families(self.page())
        return [(one.labels, one.value) for family in families for one in family.samples if one.name == name]

    def stored(self) -> dict[str, dict[str, int]]:
        """The counts by workspace and kind."""
        found: dict[str, dict[str, int]] = {}
        for labels, value in self.samples("remit_stored"):
            assert labels["tenant_id"] == TENANT
            found.setdefault(labels["scope_id"], {})[labels["kind"]] = int(value)
        return found

    def answered(self, method: str) -> int:
        """How many calls of a method were answered well."""
        wanted = {"code": "OK", "method": f"/remit.v1.{method}"}
        return int(sum(value for labels, value in self.samples("remit_calls_total") if labels == wanted))


@pytest.fixture(params=[1, 2], ids=["one process", "two workers"])
def measured(
    request: pytest.FixtureRequest, clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]
) -> Iterator[Measured]:
    port = free_port()
    settings = {
        "REMIT_METRICS_LISTEN": f"127.0.0.1:{port}",
        "REMIT_METRICS_SCOPES_MAX": "2",
        "REMIT_METRICS_SCOPES_SECONDS": "0.2",
        "REMIT_WORKERS": str(request.param),
    }
    with running_cluster(clone_database, **settings) as cluster:
        yield Measured(cluster, port, request.param)


def _fill(workspace: Workspace) -> None:
    content = f'{{"statement":"{SECRET}"}}'.encode()
    first, second = workspace.create(canonical_content=content), workspace.create(canonical_content=content)
    changed = update(workspace, first.object_id, first.version_id)
    delete(workspace, first.object_id, changed.version_id)
    workspace.owner.snapshot.SealSnapshot(snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id))
    workspace.read(second.object_id)


@pytest.mark.req("P-17.6-01")
def test_what_each_workspace_holds_is_told_without_what_it_is(measured: Measured) -> None:
    workspace = Workspace(measured.cluster)
    _fill(workspace)
    recorded = until(lambda: _settled_events(workspace), "the erasure is recorded")
    wanted: dict[str, Any] = {"versions": 4, "ledger_entries": recorded, "snapshots": 1, "tombstones": 1}

    def told() -> dict[str, int] | None:
        found = measured.stored().get(workspace.scope_id, {})
        return found if found.items() >= wanted.items() else None

    found = until(told, "the counts are told")
    assert found.keys() == KINDS
    assert SECRET not in measured.page()
    # No more series than asked for, however many workspaces are served.
    for _ in range(3):
        Workspace(measured.cluster).create()
    with_other = until(lambda: measured.stored(), "the counts are told")
    assert len(with_other) <= 2 * measured.processes


def _settled_events(workspace: Workspace) -> int:
    """How many events there are once the job of the deletion has closed."""
    events = workspace.events()
    closed = any(event.event_type == ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED for event in events)
    return len(events) if closed else 0


def test_calls_of_all_workers_are_counted_together(measured: Measured) -> None:
    workspace = Workspace(measured.cluster)
    made = workspace.create().object_id
    before = measured.answered("MemoryService/Read")
    server = measured.cluster.servers[0]
    # Each channel is a connection of its own, and the port gives those to either worker.
    for _ in range(20):
        client = Client(server.address, measured.cluster.token("actor:admin"), "actor:admin")
        workspace.read(made, client)
        client.close()
    assert measured.answered("MemoryService/Read") - before == 20
