"""Erasure: keys first, then rows, then the word; and a job that a killed process left is finished by the next."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import pytest

from remit.v1 import ledger_pb2
from storage.embedded import EmbeddedServer
from tests.cluster import ADMIN, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.waiting import until
from tests.server.operations.memory.requests import delete, update
from tests.server.workers.key_stores import KINDS, OneKeyStore, key_store_of_kind, parts_of

CLOSED = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED
CloneDatabase = Callable[[], AbstractContextManager[DatabaseDsns]]


@pytest.fixture(params=KINDS)
def keyed(
    request: pytest.FixtureRequest, postgres: EmbeddedServer, clone_database: CloneDatabase
) -> Iterator[tuple[Cluster, OneKeyStore]]:
    """A cluster of the test's own on either key store."""
    with (
        key_store_of_kind(request.param, postgres) as store,
        running_cluster(clone_database, 1, **store.settings) as cluster,
    ):
        yield cluster, store


@contextmanager
def held_rows(dsn: str, statement: str, arguments: tuple[Any, ...]) -> Iterator[psycopg.Connection[Any]]:
    """Locks rows, so that whoever deletes them waits."""
    with psycopg.connect(dsn) as connection:
        assert connection.execute(statement.encode() + b" for update", arguments).fetchall()
        yield connection
        connection.rollback()


def someone_waits(dsn: str) -> bool:
    """Whether a session of the database waits for a lock."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        ).fetchone()
    return row is not None and row[0] > 0


def end_sessions(dsn: str) -> None:
    """Ends what a killed server left waiting in the database, so that it is rolled back."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity "
            "where datname = current_database() and usename = 'remit_server'"
        )


def job_states(cluster: Cluster, workspace: Workspace) -> list[str]:
    """The states of the workspace's erasure jobs."""
    with cluster.superuser() as connection:
        rows = connection.execute(
            "select state from remit.erasure_jobs where scope_id = %s", (workspace.scope_id,)
        ).fetchall()
    return [state for (state,) in rows]


def closings(workspace: Workspace) -> list[Any]:
    """The events that say an erasure is done."""
    return workspace.events(event_classes=[CLOSED])


def verified(workspace: Workspace) -> bool:
    """Whether the ledger verifies."""
    request = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id)
    return bool(workspace.owner.ledger.VerifyLedger(request).ok)


def test_what_is_reported_erased_is_gone(keyed: tuple[Cluster, OneKeyStore]) -> None:
    cluster, store = keyed
    workspace = Workspace(cluster)
    integrity = {"digest": "d", "algorithm": "a"}
    made = workspace.create(integrity=integrity)
    updated = update(workspace, made.object_id, made.version_id)
    kept = workspace.create()
    doomed = [place for places in parts_of(cluster, workspace, made.object_id).values() for place in places]
    others = [place for places in parts_of(cluster, workspace, kept.object_id).values() for place in places]
    assert len(doomed) == 5  # content and provenance of two versions, integrity of one
    assert store.existing(cluster.folder, doomed + others) == {*doomed, *others}
    delete(workspace, made.object_id, updated.version_id)
    [closed] = until(lambda: closings(workspace), "the erasure is done")
    assert json.loads(closed.payload_json)["keys_destroyed"] == 5
    assert job_states(cluster, workspace) == ["closed"]
    left = parts_of(cluster, workspace, made.object_id)
    assert {part: len(places) for part, places in left.items()} == {"provenance": 1}  # the tombstone's own
    assert store.existing(cluster.folder, [*doomed, *others, *left["provenance"]]) == {*others, *left["provenance"]}
    assert workspace.read(kept.object_id).envelope == kept.envelope
    assert verified(workspace)


def test_a_job_that_cannot_be_done_keeps_no_other_from_being(keyed: tuple[Cluster, OneKeyStore]) -> None:
    cluster, _ = keyed
    workspace = Workspace(cluster)
    broken, sound, later = workspace.create(), workspace.create(), workspace.create()
    with cluster.superuser() as connection:
        connection.execute(
            "update remit.memory_contents set key_page = gen_random_uuid() where object_id = %s", (broken.object_id,)
        )
    for made in (broken, sound):
        delete(workspace, made.object_id, made.version_id)
    until(lambda: len(closings(workspace)) == 1, "the sound one is erased")
    delete(workspace, later.object_id, later.version_id)
    until(lambda: len(closings(workspace)) == 2, "and so is the next")
    assert {event.object_id for event in closings(workspace)} == {sound.object_id, later.object_id}
    assert sorted(job_states(cluster, workspace)) == ["closed", "closed", "open"]


@pytest.mark.parametrize("held", ["keys", "rows"])
def test_a_job_that_a_killed_process_left_is_finished(
    postgres: EmbeddedServer, clone_database: CloneDatabase, held: str
) -> None:
    """Killed before the first key is destroyed, and between the keys and the rows."""
    with (
        key_store_of_kind("postgres", postgres) as store,
        running_cluster(clone_database, 1, **store.settings) as cluster,
    ):
        assert store.database is not None
        workspace = Workspace(cluster)
        made = workspace.create()
        doomed = [place for places in parts_of(cluster, workspace, made.object_id).values() for place in places]
        if held == "keys":
            dsn = store.database.superuser
            statement = "select 1 from remit_keys.slots where page_id = %s and slot = %s"
            place: tuple[Any, ...] = doomed[0]
        else:
            dsn = cluster.database.superuser
            statement = "select 1 from remit.memory_contents where scope_id = %s and object_id = %s"
            place = (workspace.scope_id, made.object_id)
        with held_rows(dsn, statement, place):
            delete(workspace, made.object_id, made.version_id)
            until(lambda: someone_waits(dsn), "the erasure reaches what is held")
            cluster.servers[0].kill()
            end_sessions(dsn)
        assert job_states(cluster, workspace) == ["open"]
        assert len(parts_of(cluster, workspace, made.object_id)["content"]) == 1
        assert store.existing(cluster.folder, doomed) == (set(doomed) if held == "keys" else set())
        cluster.servers[0].start()
        workspace.owner = cluster.client(ADMIN)
        until(lambda: closings(workspace), "the next process finishes the erasure")
        assert store.existing(cluster.folder, doomed) == set()
        assert list(parts_of(cluster, workspace, made.object_id)) == ["provenance"]
        assert job_states(cluster, workspace) == ["closed"]
        assert len(closings(workspace)) == 1
        assert verified(workspace)
