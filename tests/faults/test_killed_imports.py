"""kill -9 of the server in the middle of an import: all of it stands afterwards, or nothing (field report A48)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until
from tests.server.operations.portability.drafts import a_version, export_of
from tests.server.operations.portability.exports import Export, take_export, take_import
from tests.server.operations.portability.rich import verified

VERSIONS = 800
IMPORTED = ledger_pb2.EVENT_TYPE_WORKSPACE_IMPORTED


@pytest.fixture
def two_servers(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database, servers=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def export() -> Export:
    return export_of(*(a_version(f"mem:claim:{number:05}") for number in range(VERSIONS)))


class Attempt:
    """An import through the first server, under way on a thread of its own."""

    def __init__(self, workspace: Workspace, export: Export) -> None:
        self.refused: Refusal | None = None
        client = workspace.cluster.client("actor:admin", server=0)

        def run() -> None:
            try:
                take_import(workspace, export, client, remap=True)
            except Refusal as refusal:
                self.refused = refusal

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def join(self) -> None:
        self._thread.join()


def staged(cluster: Cluster, workspace: Workspace) -> int:
    with cluster.superuser() as connection:
        row = connection.execute(
            "select count(*) from remit.import_rows where scope_id = %s", (workspace.scope_id,)
        ).fetchone()
    assert row is not None
    return int(row[0])


def is_whole_or_absent(workspace: Workspace) -> bool:
    """Returns whether all of the import stands; nothing of it may stand otherwise."""
    count = len(take_export(workspace).kinds("memory_object"))
    events = len(workspace.events(event_classes=[IMPORTED]))
    assert (count, events) in {(0, 0), (VERSIONS, 1)}
    verified(workspace)
    return count == VERSIONS


def on_second(cluster: Cluster, workspace: Workspace) -> None:
    """What the test asks from now on goes to the server that was not killed."""
    workspace.owner = cluster.client("actor:admin", server=1)


@pytest.mark.case("A48")
def test_killed_while_rows_are_put_aside(two_servers: Cluster, export: Export) -> None:
    workspace = Workspace(two_servers)
    attempt = Attempt(workspace, export)
    until(lambda: staged(two_servers, workspace) > 0, "rows are put aside")
    two_servers.servers[0].kill()
    attempt.join()
    on_second(two_servers, workspace)
    whole = is_whole_or_absent(workspace)
    assert whole or attempt.refused is not None
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:claim:99999")
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    answer = take_import(workspace, export, remap=True)
    assert answer.replayed == whole
    assert is_whole_or_absent(workspace)


@pytest.mark.case("A48")
def test_killed_at_the_commit(two_servers: Cluster, export: Export) -> None:
    workspace = Workspace(two_servers)
    with stalled_head(two_servers, workspace):
        attempt = Attempt(workspace, export)
        until(lambda: waiting_appends(two_servers) > 0, "the first rows wait for the head")
    until(lambda: staged(two_servers, workspace) > 2 * VERSIONS, "all but the last rows are put aside")
    with stalled_head(two_servers, workspace):
        two_servers.servers[0].kill()
        attempt.join()
    on_second(two_servers, workspace)
    whole = is_whole_or_absent(workspace)
    answer = take_import(workspace, export, remap=True)
    assert answer.replayed == whole
    assert answer.versions == VERSIONS
    assert is_whole_or_absent(workspace)
