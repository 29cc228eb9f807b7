"""The eight ways a read is refused (P-10.2-05), and working memory that outlives its process (P-8.2-13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest

from tests.cluster import Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.test_restarted_server import restart
from tests.faults.waiting import until
from tests.server.operations.memory.redactions import ERASE, redact
from tests.server.operations.memory.requests import ACCEPT_ALL, delete, query_ids, query_page, transition


@pytest.fixture
def own(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database) as cluster:
        yield cluster


def lock_out(cluster: Cluster) -> None:
    """Ends every session of the database and lets none begin."""
    name = cluster.database.name
    with psycopg.connect(cluster.database.superuser.replace(name, "postgres"), autocommit=True) as connection:
        connection.execute(f"alter database {name} allow_connections false".encode())
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (name,))


@pytest.mark.req("P-10.2-05")
def test_a_read_is_refused_in_eight_ways(own: Cluster) -> None:
    workspace = Workspace(own)
    made, broken = workspace.create(), workspace.create()
    hidden, gone = workspace.create(), workspace.create()
    redact(workspace, hidden.object_id, hidden.version_id, whole=True, mode=ERASE)
    delete(workspace, gone.object_id, gone.version_id)
    with own.superuser() as connection:
        connection.execute(
            "update remit.memory_versions set mac = sha256('x') where object_id = %s", (broken.object_id,)
        )
    workspace.allow("actor:writer", "create")

    def reason(object_id: str = made.object_id, **fields: Any) -> str:
        with pytest.raises(Refusal) as refusal:
            workspace.read(object_id, **fields)
        assert refusal.value.pamspec.operation_id
        return refusal.value.reason

    assert reason("mem:absent") == "OBJECT_NOT_FOUND"
    assert reason(client=own.client("actor:stranger")) == "SCOPE_NOT_FOUND"
    assert reason(client=own.client("actor:writer")) == "ACCESS_DENIED"
    assert reason(hidden.object_id) == "OBJECT_REDACTED"
    assert reason(gone.object_id) == "OBJECT_DELETED"
    assert reason(snapshot_id="snap:absent") == "SNAPSHOT_NOT_FOUND"
    assert reason(broken.object_id) == "INTERNAL_ERROR"
    lock_out(own)
    assert until(lambda: reason() == "SERVICE_UNAVAILABLE", "the service finds the database away")


@pytest.mark.req("P-8.2-13")
def test_working_memory_is_there_for_a_task_that_resumes(own: Cluster) -> None:
    workspace = Workspace(own)
    content = b'{"task_ref":"task:resume","content":{"step":3},"ttl_hint_seconds":1}'
    made = workspace.create(object_type="working_memory", canonical_content=content)
    other = workspace.create(object_type="working_memory", canonical_content=content.replace(b"resume", b"other"))
    workspace.owner = restart(own)
    filters = ACCEPT_ALL | {"task_ref": "task:resume"}
    [found] = query_page(workspace, filters=filters).results
    assert found == made.envelope
    # The hint decides nothing, and moves keep the task.
    moved = transition(workspace, made.object_id, made.version_id, "lifecycle", "candidate")
    assert [row.version_id for row in query_page(workspace, filters=filters).results] == [moved.version_id]
    assert query_ids(workspace, filters=ACCEPT_ALL | {"task_ref": "task:other"}) == [other.object_id]
    reader = own.client("actor:reader")
    workspace.allow("actor:reader", "query", object_type="claim")
    assert query_ids(workspace, reader, filters=filters) == []
