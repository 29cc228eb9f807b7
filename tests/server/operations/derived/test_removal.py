"""Derived state goes with its source, from the acknowledgement on (A12; P-15.8-01, P-16.6-01)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.server.operations.derived.embeddings import (
    hybrid,
    ids,
    lineage,
    nearest,
    rebuild,
    register,
    register_space,
    remove,
)
from tests.server.operations.memory.requests import ACCEPT_ALL, delete, query_ids, transition

TABLES = ("vectors", "vector_lists", "lexical_tokens", "lexical_objects", "derivatives")
EVERYTHING: dict[str, Any] = ACCEPT_ALL | {"availability_state": [1, 2, 3, 4], "retention_state": [1, 2, 3, 4]}
READER = "derived_reader"


def _left(workspace: Workspace, object_id: str) -> dict[str, int]:
    """Rows of the object that are left, as a role of its own reads them back."""
    with workspace.cluster.superuser() as connection:
        connection.execute(
            f"do $$ begin create role {READER} login bypassrls; exception when duplicate_object then null; end $$"
        )
        connection.execute(
            f"grant usage on schema remit to {READER}; grant select on all tables in schema remit to {READER}"
        )
        connection.execute(f'grant connect on database "{workspace.cluster.database.name}" to {READER}')
    dsn = workspace.cluster.database.server.replace("remit_server", READER)
    with psycopg.connect(dsn) as connection:
        counts = {}
        for table in TABLES:
            column = "artifact_id" if table == "vector_lists" else "object_id"
            value = f"a:{object_id}" if table == "vector_lists" else object_id
            query = f"select count(*) from remit.{table} where scope_id = %s and {column} = %s"
            [(count,)] = connection.execute(query, (workspace.scope_id, value)).fetchall()
            if count:
                counts[table] = count
        return counts


def _probe(workspace: Workspace) -> Any:
    made = workspace.create(canonical_content=b'"probe alpha"')
    register(workspace, made, [1, 0], "space:a", artifact_id=f"a:{made.object_id}")
    register(workspace, made, [1, 0, 0], "space:b")
    assert ids(hybrid(workspace, "probe alpha")) == [made.object_id]
    assert set(_left(workspace, made.object_id)) == {"vectors", "lexical_tokens", "lexical_objects", "derivatives"}
    return made


def _redact(workspace: Workspace, made: Any) -> None:
    request = memory_pb2.RedactRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        policy_basis="test",
        target={"whole": True},
        mode=memory_pb2.REDACTION_MODE_ERASE,
    )
    workspace.owner.memory.Redact(request)


REMOVALS: dict[str, Any] = {
    "delete": lambda workspace, made: delete(workspace, made.object_id, made.version_id),
    "transition to deleted": lambda workspace, made: transition(
        workspace, made.object_id, made.version_id, "availability", "deleted"
    ),
    "redact": _redact,
    "transition to redacted": lambda workspace, made: transition(
        workspace, made.object_id, made.version_id, "availability", "redacted"
    ),
}


@pytest.mark.case("A12")
@pytest.mark.parametrize("way", REMOVALS)
def test_nothing_is_found_and_nothing_is_left_from_the_answer_on(workspace: Workspace, way: str) -> None:
    register_space(workspace, "space:a")
    register_space(workspace, "space:b", dimensions=3)
    made, kept = _probe(workspace), workspace.create(canonical_content=b'"probe alpha too"')
    register(workspace, kept, [0, 1])
    REMOVALS[way](workspace, made)
    assert _left(workspace, made.object_id) == {}
    for filters in (ACCEPT_ALL, EVERYTHING):
        assert made.object_id not in ids(nearest(workspace, filters=filters))
        assert made.object_id not in ids(nearest(workspace, [1, 0, 0], "space:b", filters=filters))
        assert made.object_id not in ids(hybrid(workspace, "probe alpha", filters=filters))
    assert query_ids(workspace, filters=ACCEPT_ALL) == [kept.object_id]
    assert ids(hybrid(workspace, "probe alpha")) == [kept.object_id]
    assert _left(workspace, made.object_id) == {}
    assert not lineage(workspace, made.object_id).rows


def test_the_lineage_of_artifacts_elsewhere_stays_to_be_removed(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    made = workspace.create()
    register(workspace, made, artifact_type="summary", store_id="elsewhere", space_id="")
    register(workspace, made, [1, 0])
    delete(workspace, made.object_id, made.version_id)
    assert [row.store_id for row in lineage(workspace, made.object_id).rows] == ["elsewhere"]


def test_what_is_pending_deletion_is_hidden_at_once_and_found_again_when_kept(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    register_space(workspace, "space:b", dimensions=3)
    made = _probe(workspace)
    pending = transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion")
    for filters in (ACCEPT_ALL, EVERYTHING):
        reader = workspace.cluster.client("actor:reader")
        workspace.allow("actor:reader", "query")
        assert ids(nearest(workspace, filters=filters, client=reader)) == []
        assert ids(hybrid(workspace, "probe", filters=filters, client=reader)) == []
    transition(workspace, made.object_id, pending.version_id, "retention", "retained")
    assert ids(nearest(workspace)) == [made.object_id]
    assert ids(hybrid(workspace, "probe")) == [made.object_id]


def test_a_registration_that_races_a_deletion_leaves_nothing(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    for _ in range(12):
        made = workspace.create(canonical_content=b'"probe"')

        def attempt(number: int, made: Any = made) -> str:
            try:
                register(workspace, made, [1, number])
            except Refusal as refusal:
                return refusal.reason
            return "OBJECT_DELETED"

        def query(_: int) -> str:
            hybrid(workspace, "probe")
            return "OBJECT_DELETED"

        with ThreadPoolExecutor(8) as pool:
            waiting = [pool.submit(attempt, number) for number in range(4)]
            waiting += [pool.submit(query, number) for number in range(2)]
            deletion = pool.submit(delete, workspace, made.object_id, made.version_id)
            waiting += [pool.submit(attempt, number) for number in range(4)]
            deletion.result()
            assert {one.result() for one in waiting} == {"OBJECT_DELETED"}
        assert _left(workspace, made.object_id) == {}
        assert not nearest(workspace).results


def test_a_ledger_with_derived_state_verifies(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    made = workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": [1, 0]}])
    register(workspace, made, [0, 1], artifact_id="artifact:1")
    remove(workspace, "artifact:1")
    rebuild(workspace, "index:lexical")
    rebuild(workspace, "index:vector:space:a")
    delete(workspace, made.object_id, made.version_id)
    answer = workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
    assert answer.ok, answer.findings
