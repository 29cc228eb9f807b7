"""Rows edited behind the service's back: refused when they are read (memory.md, Encrypted parts)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

import grpc
import psycopg
import pytest
from psycopg import sql

from remit.v1 import common_pb2, ledger_pb2
from tests.cluster import Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.memory.requests import grant, history, query_page, update

EVERYTHING: dict[str, Any] = {
    "lifecycle_state": common_pb2.LifecycleState.values()[1:],
    "availability_state": common_pb2.AvailabilityState.values()[1:],
    "retention_state": common_pb2.RetentionState.values()[1:],
    "validation_state": common_pb2.ValidationState.values()[1:],
}
Connection = psycopg.Connection[Any]


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


def _make(workspace: Workspace, text: str = "genuine") -> Any:
    return workspace.create(
        canonical_content=json.dumps({"text": text}).encode(),
        schema_id="https://example.org/schema",
        integrity={"digest": "ab", "algorithm": "sha-256"},
        quality_signals={"evidence_strength": 0.5},
        **{name: {"seconds": 1} for name in ("observed_at", "asserted_at", "valid_from", "valid_until")},
    )


def _refused(workspace: Workspace, call: Callable[[], Any]) -> None:
    """The call answers INTEGRITY, and the ledger says so."""
    kinds = [ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION]
    before = len(workspace.events(event_classes=kinds))
    with pytest.raises(Refusal) as refused:
        call()
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL_ERROR")
    assert "INTEGRITY" in str(refused.value) + str(refused.value.pamspec)
    assert len(workspace.events(event_classes=kinds)) == before + 1


def _refused_when_read(workspace: Workspace, object_id: str, version_id: str = "") -> None:
    _refused(workspace, lambda: workspace.read(object_id, version_id=version_id))
    _refused(workspace, lambda: query_page(workspace, filters=EVERYTHING))
    _refused(workspace, lambda: history(workspace, object_id=object_id))


VERSION_EDITS: dict[str, str] = {
    "core": "core = set_byte(core, 40, get_byte(core, 40) # 1)",
    "core_prolonged": "core = core || ' '::bytea",
    "mac": "mac = set_byte(mac, 0, get_byte(mac, 0) # 1)",
    "mac_key_id": "mac_key_id = 'ffffffffffffffff'",
    "version_id": "version_id = 'urn:forged:version'",
    "object_type": "object_type = 'task'",
    "schema_id": "schema_id = null",
    "lifecycle_state": "lifecycle_state = 'archived'",
    "availability_state": "availability_state = 'partially_redacted'",
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
    "no_content": "content_id = null",
    "provenance_content_id": "provenance_content_id = content_id",
    "integrity_content_id": "integrity_content_id = null",
}


@pytest.mark.parametrize("read_before", [False, True], ids=["unread", "read_before"])
@pytest.mark.parametrize("edit", VERSION_EDITS)
def test_an_edited_version_is_refused(edited: Workspace, connection: Connection, edit: str, read_before: bool) -> None:
    made = _make(edited)
    if read_before:  # the service has found it genuine once
        edited.read(made.object_id)
    changed = connection.execute(
        sql.SQL("update remit.memory_versions set {} where object_id = %s").format(sql.SQL(VERSION_EDITS[edit])),
        (made.object_id,),
    )
    assert changed.rowcount == 1
    _refused_when_read(edited, made.object_id)


CONTENT_EDITS: dict[str, str] = {
    "first_byte": "ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1)",
    "last_byte": "ciphertext = substr(ciphertext, 1, octet_length(ciphertext) - 1)",
    "empty": "ciphertext = ''",
    "commitment": "commitment = set_byte(commitment, 31, get_byte(commitment, 31) # 128)",
    "key_slot": "key_slot = key_slot + 1",
    "content_id": "content_id = gen_random_uuid()",
}


@pytest.mark.parametrize("part", ["content", "provenance", "integrity"])
@pytest.mark.parametrize("edit", CONTENT_EDITS)
def test_edited_content_is_refused(edited: Workspace, connection: Connection, edit: str, part: str) -> None:
    made = _make(edited)
    changed = connection.execute(
        sql.SQL("update remit.memory_contents set {} where object_id = %s and part = %s").format(
            sql.SQL(CONTENT_EDITS[edit])
        ),
        (made.object_id, part),
    )
    assert changed.rowcount == 1
    _refused_when_read(edited, made.object_id)


def test_deleted_content_is_refused(edited: Workspace, connection: Connection) -> None:
    made = _make(edited)
    connection.execute("delete from remit.memory_contents where object_id = %s and part = 'content'", (made.object_id,))
    _refused_when_read(edited, made.object_id)


def test_an_object_of_another_type_is_refused(edited: Workspace, connection: Connection) -> None:
    made = _make(edited)
    edited.allow("actor:reader", "read", object_type="task")
    connection.execute("update remit.memory_objects set object_type = 'task' where object_id = %s", (made.object_id,))
    reader = edited.cluster.client("actor:reader")
    _refused(edited, lambda: edited.read(made.object_id, reader))
    _refused(edited, lambda: history(edited, object_id=made.object_id))


_ROW = "core, mac, mac_key_id, content_id, provenance_content_id, integrity_content_id"


def test_two_rows_swapped_are_refused(edited: Workspace, connection: Connection) -> None:
    one, two = _make(edited, "one"), _make(edited, "two")
    rows = {
        made.object_id: connection.execute(
            f"select {_ROW} from remit.memory_versions where object_id = %s", (made.object_id,)
        ).fetchone()
        for made in (one, two)
    }
    for at, source in ((one, two), (two, one)):
        connection.execute(
            f"update remit.memory_versions set ({_ROW}) = (%s, %s, %s, %s, %s, %s) where object_id = %s",
            (*(rows[source.object_id] or ()), at.object_id),
        )
    _refused_when_read(edited, one.object_id)
    _refused_when_read(edited, two.object_id)


def test_two_contents_swapped_are_refused(edited: Workspace, connection: Connection) -> None:
    one, two = _make(edited, "one"), _make(edited, "two")
    columns = "key_page, key_slot, ciphertext, commitment"
    connection.execute(
        f"update remit.memory_contents c set ({columns}) = (select {columns} from remit.memory_contents o"
        " where o.object_id <> c.object_id and o.part = c.part and o.object_id = any (%(ids)s))"
        " where c.object_id = any (%(ids)s) and c.part = 'content'",
        {"ids": [one.object_id, two.object_id]},
    )
    _refused_when_read(edited, one.object_id)
    _refused_when_read(edited, two.object_id)


def test_an_old_version_replayed_as_a_new_one_is_refused(edited: Workspace, connection: Connection) -> None:
    made = _make(edited, "old")
    second = update(edited, made.object_id, made.version_id)
    # The first row's envelope and proof, under the number and the id of the second.
    connection.execute(
        f"update remit.memory_versions n set ({_ROW}) = (select {_ROW} from remit.memory_versions o"
        " where o.object_id = n.object_id and o.sequence = 1) where n.object_id = %s and n.sequence = 2",
        (made.object_id,),
    )
    _refused_when_read(edited, made.object_id, second.version_id)


def _forge(connection: Connection, core: Callable[[dict[str, Any]], dict[str, Any]], object_id: str) -> None:
    """Appends version 2 with a core of the forger's making under the first one's MAC, and points at it."""
    row = connection.execute("select core from remit.memory_versions where object_id = %s", (object_id,)).fetchone()
    assert row is not None
    forged = json.dumps(core(json.loads(row[0])), separators=(",", ":"), sort_keys=True).encode()
    columns = [
        name
        for (name,) in connection.execute(
            "select column_name from information_schema.columns"
            " where table_schema = 'remit' and table_name = 'memory_versions'"
        )
        if name not in ("sequence", "version_id", "core")
    ]
    connection.execute(
        f"insert into remit.memory_versions ({', '.join(columns)}, sequence, version_id, core)"
        f" select {', '.join(columns)}, 2, 'urn:forged:2', %s from remit.memory_versions where object_id = %s",
        (forged, object_id),
    )
    connection.execute(
        "update remit.memory_objects set sequence = 2, version_id = 'urn:forged:2' where object_id = %s", (object_id,)
    )


def test_a_forged_version_is_refused(edited: Workspace, connection: Connection) -> None:
    made = _make(edited)
    _forge(connection, lambda core: core | {"sequence": 2, "version_id": "urn:forged:2"}, made.object_id)
    _refused_when_read(edited, made.object_id)
    # What is redacted of older versions is said by the newest: while that can't be believed, nothing is shown.
    _refused(edited, lambda: edited.read(made.object_id, version_id=made.version_id))


def _copy(connection: Connection, object_id: str, tenant_id: str, scope_id: str, new_object_id: str) -> None:
    """Copies all rows of an object, keys included, to another place."""
    for table in ("memory_objects", "memory_versions", "memory_contents"):
        columns = [
            name
            for (name,) in connection.execute(
                "select column_name from information_schema.columns where table_schema = 'remit' and table_name = %s",
                (table,),
            )
            if name not in ("tenant_id", "scope_id", "object_id")
        ]
        listed = ", ".join(columns)
        connection.execute(
            f"insert into remit.{table} (tenant_id, scope_id, object_id, {listed})"
            f" select %s, %s, %s, {listed} from remit.{table} where object_id = %s",
            (tenant_id, scope_id, new_object_id, object_id),
        )


@pytest.mark.parametrize("place", ["object", "workspace", "tenant"])
def test_a_genuine_row_replayed_elsewhere_is_refused(edited: Workspace, connection: Connection, place: str) -> None:
    made = _make(edited)
    target = edited
    if place != "object":
        target = Workspace(edited.cluster, "acme" if place == "workspace" else "globex")
    object_id = f"urn:copy:{uuid4()}" if place == "object" else made.object_id
    _copy(connection, made.object_id, target.tenant_id, target.scope_id, object_id)
    _refused_when_read(target, object_id)
    assert edited.read(made.object_id).envelope == made.envelope


def test_an_edited_grant_is_refused(edited: Workspace, connection: Connection) -> None:
    made = _make(edited)
    delegation_id = grant(edited, "actor:delegate", "query", usage_limit=1)
    delegate = edited.cluster.client("actor:delegate")
    connection.execute("update remit.delegations set usage_limit = 1000 where delegation_id = %s", (delegation_id,))
    _refused(edited, lambda: query_page(edited, delegate, delegation_id=delegation_id))
    connection.execute("update remit.delegations set usage_limit = 1 where delegation_id = %s", (delegation_id,))
    connection.execute(
        "update remit.delegation_versions set core = convert_to(replace(convert_from(core, 'UTF8'), '\"query\"',"
        " '\"read\"'), 'UTF8') where delegation_id = %s",
        (delegation_id,),
    )
    _refused(edited, lambda: edited.read(made.object_id, delegate, delegation_id=delegation_id))


@pytest.mark.parametrize(
    "edit",
    [
        "body = convert_to(replace(convert_from(body, 'UTF8'), 'actor:admin', 'actor:other'), 'UTF8')",
        "actor_id = 'actor:other'",
        "recorded_at = recorded_at + interval '1 microsecond'",
        "leaf_hash = sha256(leaf_hash)",
        "object_id = null",
        "relationship_id = 'urn:other:relationship'",
    ],
)
def test_an_edited_event_is_refused(edited: Workspace, connection: Connection, edit: str) -> None:
    made = _make(edited)
    connection.execute(
        sql.SQL("update remit.ledger_events set {} where event_id = %s").format(sql.SQL(edit)), (made.event_ids[0],)
    )
    get = ledger_pb2.GetEventRequest(scope_id=edited.scope_id, event_id=made.event_ids[0])
    with pytest.raises(Refusal) as refused:
        edited.owner.ledger.GetEvent(get)
    assert refused.value.code is grpc.StatusCode.INTERNAL
    with pytest.raises(Refusal) as refused:
        edited.events()
    assert refused.value.code is grpc.StatusCode.INTERNAL
    found = edited.events(event_classes=[ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION])
    assert len(found) == 2
