"""Rows of relationships edited behind the service's back: refused when they are read (memory.md, Encrypted parts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import grpc
import psycopg
import pytest
from psycopg import sql

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.test_tampering import EVERYTHING
from tests.server.operations.memory.relationships import again, relate, traverse
from tests.server.operations.memory.requests import history, query_page

Connection = psycopg.Connection[Any]
RELATIONSHIPS = memory_pb2.QUERY_RESULT_KIND_RELATIONSHIPS


@pytest.fixture(scope="module")
def edited_cluster(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database) as cluster:
        yield cluster


@pytest.fixture
def connection(edited_cluster: Cluster) -> Iterator[Connection]:
    with edited_cluster.superuser() as opened:
        yield opened


@pytest.fixture
def edited(edited_cluster: Cluster) -> Workspace:
    return Workspace(edited_cluster)


def _refused(workspace: Workspace, call: Callable[[], Any]) -> None:
    """The call answers INTEGRITY, and the ledger says so."""
    kinds = [ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION]
    before = len(workspace.events(event_classes=kinds))
    with pytest.raises(Refusal) as refused:
        call()
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL_ERROR")
    assert len(workspace.events(event_classes=kinds)) == before + 1


def _related(workspace: Workspace) -> memory_pb2.RelationshipEnvelope:
    source, target = workspace.create().object_id, workspace.create().object_id
    times: dict[str, Any] = {
        name: {"seconds": 1} for name in ("observed_at", "asserted_at", "valid_from", "valid_until")
    }
    return relate(workspace, source, target, integrity={"digest": "ab", "algorithm": "sha-256"}, **times).relationship


def _refused_when_read(workspace: Workspace, made: memory_pb2.RelationshipEnvelope) -> None:
    _refused(workspace, lambda: history(workspace, relationship_id=made.relationship_id))
    _refused(workspace, lambda: query_page(workspace, filters=EVERYTHING, result_kind=RELATIONSHIPS))
    _refused(workspace, lambda: traverse(workspace, made.source_object_id))
    _refused(workspace, lambda: again(workspace, made, canonical_content=b"2"))


VERSION_EDITS: dict[str, str] = {
    "core": "core = set_byte(core, 40, get_byte(core, 40) # 1)",
    "core_prolonged": "core = core || ' '::bytea",
    "mac": "mac = set_byte(mac, 0, get_byte(mac, 0) # 1)",
    "mac_key_id": "mac_key_id = 'ffffffffffffffff'",
    "version_id": "version_id = 'urn:forged:version'",
    "relationship_type": "relationship_type = 'contradicts'",
    "target_object_id": "target_object_id = source_object_id",
    "directionality": "directionality = 'undirected'",
    "lifecycle_state": "lifecycle_state = 'archived'",
    "retention_state": "retention_state = 'expired'",
    "validation_state": "validation_state = 'corroborated'",
    "actor_id": "actor_id = 'actor:mallory'",
    "provenance_id": "provenance_id = 'urn:forged:provenance'",
    "observed_at": "observed_at = observed_at + interval '1 microsecond'",
    "asserted_at": "asserted_at = null",
    "valid_from": "valid_from = valid_from - interval '1 day'",
    "valid_until": "valid_until = null",
    "committed_at": "committed_at = committed_at - interval '1 microsecond'",
    "recorded_at": "recorded_at = recorded_at + interval '1 microsecond'",
    "content_id": "content_id = provenance_content_id",
    "integrity_content_id": "integrity_content_id = null",
}


@pytest.mark.parametrize("edit", VERSION_EDITS)
def test_an_edited_version_is_refused(edited: Workspace, connection: Connection, edit: str) -> None:
    made = _related(edited)
    changed = connection.execute(
        sql.SQL("update remit.relationship_versions set {} where relationship_id = %s").format(
            sql.SQL(VERSION_EDITS[edit])
        ),
        (made.relationship_id,),
    )
    assert changed.rowcount == 1
    _refused_when_read(edited, made)


@pytest.mark.parametrize("part", ["content", "provenance", "integrity"])
@pytest.mark.parametrize(
    "edit", ["ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1)", "key_slot = key_slot + 1"]
)
def test_edited_content_is_refused(edited: Workspace, connection: Connection, edit: str, part: str) -> None:
    made = _related(edited)
    changed = connection.execute(
        sql.SQL("update remit.memory_contents set {} where object_id = %s and part = %s").format(sql.SQL(edit)),
        (f"relationship/{made.relationship_id}", part),
    )
    assert changed.rowcount == 1
    _refused_when_read(edited, made)


def test_a_pointer_that_leads_elsewhere_is_refused(edited: Workspace, connection: Connection) -> None:
    made = _related(edited)
    other = edited.create().object_id
    connection.execute(
        "update remit.relationships set target_object_id = %s where relationship_id = %s",
        (other, made.relationship_id),
    )
    _refused(edited, lambda: traverse(edited, made.source_object_id))


def test_a_relationship_moved_to_another_workspace_is_refused(edited: Workspace, connection: Connection) -> None:
    made, target = _related(edited), Workspace(edited.cluster)
    for object_id in (made.source_object_id, made.target_object_id):
        target.create(object_id=object_id)
    for table in ("relationships", "relationship_versions"):
        connection.execute(
            f"update remit.{table} set scope_id = %s, target_scope_id = %s where relationship_id = %s",
            (target.scope_id, target.scope_id, made.relationship_id),
        )
    _refused_when_read(target, made)
