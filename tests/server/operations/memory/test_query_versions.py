"""Queries whose result are versions, queries by evidence, and how a seed decides ties (PAMSPEC 10.6, 11, 18.11)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from remit.v1 import common_pb2, memory_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.server.operations.memory.redactions import redact
from tests.server.operations.memory.requests import (
    ACCEPT_ALL,
    CORROBORATED,
    delete,
    grant,
    query_ids,
    query_page,
    transition,
    update,
)
from tests.server.operations.memory.test_query_temporal import at, pages, temporal
from tests.server.operations.snapshot.sealing import evaluation_workspace, seal

VERSIONS = memory_pb2.QUERY_RESULT_KIND_VERSIONS
DATASHEET = "https://models.example/cards/classifier#v3"


def version_ids(workspace: Workspace, client: Client | None = None, **fields: Any) -> list[str]:
    """Version ids of all pages."""
    found: list[str] = []
    cursor = ""
    fields.setdefault("filters", ACCEPT_ALL)
    while True:
        page = query_page(workspace, client, cursor=cursor, result_kind=VERSIONS, **fields)
        found.extend(row.version_id for row in page.results)
        cursor = page.cursor
        if not cursor:
            return found


@pytest.mark.req("P-10.6-02")
def test_each_result_kind_gives_its_own_rows(workspace: Workspace) -> None:
    first = workspace.create()
    second = update(workspace, first.object_id, first.version_id)
    other = workspace.create()
    for kind in (memory_pb2.QUERY_RESULT_KIND_UNSPECIFIED, memory_pb2.QUERY_RESULT_KIND_OBJECTS):
        rows = query_page(workspace, filters=ACCEPT_ALL, result_kind=kind).results
        assert [row.version_id for row in rows] == [second.version_id, other.version_id]
    page = query_page(workspace, filters=ACCEPT_ALL, result_kind=VERSIONS)
    assert list(page.results) == [first.envelope, second.envelope, other.envelope]
    assert not page.relationships
    related = workspace.owner.memory.Relate(
        memory_pb2.RelateRequest(
            scope_id=workspace.scope_id,
            source_object_id=first.object_id,
            target_object_id=other.object_id,
            relationship_type="supports",
            directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
            provenance={"activity": "x"},
        )
    ).relationship
    kind = memory_pb2.QUERY_RESULT_KIND_RELATIONSHIPS
    page = query_page(workspace, filters=ACCEPT_ALL, result_kind=kind)
    assert list(page.relationships) == [related]
    assert not page.results


@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("limit", [1, 2, 100])
def test_versions_come_once_each_in_every_order(workspace: Workspace, order: int, limit: int) -> None:
    versions = []
    for _ in range(2):
        made = workspace.create()
        versions += [made, update(workspace, made.object_id, made.version_id)]
    if order in (2, 4):
        versions.reverse()
    if order == 5:
        versions.sort(key=lambda result: (str(result.object_id), str(result.version_id)))
    assert version_ids(workspace, order=order, limit=limit) == [result.version_id for result in versions]


def test_pages_of_versions_do_not_see_what_is_written_meanwhile(workspace: Workspace) -> None:
    made = workspace.create()
    at_first = [made, update(workspace, made.object_id, made.version_id)]
    page = query_page(workspace, filters=ACCEPT_ALL, result_kind=VERSIONS, limit=1)
    update(workspace, made.object_id, at_first[1].version_id)
    rest = query_page(workspace, filters=ACCEPT_ALL, result_kind=VERSIONS, limit=100, cursor=page.cursor)
    assert [row.version_id for row in (*page.results, *rest.results)] == [result.version_id for result in at_first]
    assert not rest.cursor


def test_filters_are_judged_on_each_version(workspace: Workspace) -> None:
    made = workspace.create(validation_state=CORROBORATED)
    disputed = transition(
        workspace, made.object_id, made.version_id, "validation", "disputed", provenance={"activity": "doubted"}
    )
    assert version_ids(workspace, filters={}) == [made.version_id]
    only = {"validation_state": [common_pb2.VALIDATION_STATE_DISPUTED]}
    assert version_ids(workspace, filters=only) == [disputed.version_id]
    second = {"predicates": [{"field": "sequence", "op": "COMPARISON_OPERATOR_EQ", "values": ["2"]}], **ACCEPT_ALL}
    assert version_ids(workspace, filters=second) == [disputed.version_id]


def test_older_versions_of_removed_objects_are_withheld(workspace: Workspace) -> None:
    removed: dict[str, list[Any]] = {}
    for name in ("deleted", "redacted", "pending"):
        made = workspace.create(object_id=f"mem:{name}")
        removed[name] = [made, update(workspace, made.object_id, made.version_id)]
    tombstone = delete(workspace, "mem:deleted", removed["deleted"][1].version_id)
    hidden = transition(workspace, "mem:redacted", removed["redacted"][1].version_id, "availability", "redacted")
    waiting = transition(workspace, "mem:pending", removed["pending"][1].version_id, "retention", "pending_deletion")
    every = {
        **ACCEPT_ALL,
        "availability_state": range(1, 5),
        "retention_state": [1, 2, 4],
    }
    workspace.allow("actor:reader", "query")
    reader = workspace.cluster.client("actor:reader")
    assert version_ids(workspace, reader) == []
    rows = query_page(workspace, reader, filters=every, result_kind=VERSIONS).results
    assert [row.version_id for row in rows] == [tombstone.version_id, hidden.version_id]
    assert {row.canonical_content for row in rows} == {b'{"tombstone":true}', b""}
    assert {row.provenance.activity for row in rows} == {""}
    # A reviewer that asks for what is pending gets all its versions.
    every["retention_state"] = [1, 2, 3, 4]
    found = version_ids(workspace, filters=every)
    assert set(found) == {
        tombstone.version_id,
        hidden.version_id,
        waiting.version_id,
        *(result.version_id for result in removed["pending"]),
    }
    assert version_ids(workspace, reader, filters=every) == [tombstone.version_id, hidden.version_id]


@pytest.mark.req("P-App-01")
def test_references_to_model_cards_round_trip_and_are_filterable(workspace: Workspace) -> None:
    evidence = {"activity": "classified", "evidence_refs": [DATASHEET, "urn:evidence:1"]}
    made = workspace.create(validation_state=CORROBORATED, provenance=evidence)
    workspace.create(validation_state=CORROBORATED, provenance={"activity": "x", "evidence_refs": [DATASHEET + "x"]})
    workspace.create(validation_state=CORROBORATED)
    assert list(workspace.read(made.object_id).envelope.provenance.evidence_refs) == evidence["evidence_refs"]
    for reference in (DATASHEET, "urn:evidence:1"):
        page = query_page(workspace, filters={"evidence_ref": reference})
        assert [row.object_id for row in page.results] == [made.object_id]
        assert page.applied_filters.evidence_ref == reference
    assert query_ids(workspace, filters={"evidence_ref": "urn:evidence:none"}) == []
    # The filter is judged on each version's own provenance.
    newer = update(workspace, made.object_id, made.version_id)
    assert query_ids(workspace, filters={"evidence_ref": DATASHEET}) == []
    assert version_ids(workspace, filters={"evidence_ref": DATASHEET, **ACCEPT_ALL}) == [made.version_id]
    moved = transition(workspace, made.object_id, newer.version_id, "lifecycle", "deprecated")
    assert moved.envelope.provenance == newer.envelope.provenance


def test_rows_say_how_much_content_they_hold(workspace: Workspace) -> None:
    first = workspace.create(canonical_content=b'{"a":1,"b":2}')
    redact(workspace, first.object_id, first.version_id, "/a")
    whole = workspace.create()
    page = query_page(workspace, filters=ACCEPT_ALL | {"availability_state": [1, 2]}, result_kind=VERSIONS)
    assert [row.object_id for row in page.results] == [first.object_id, first.object_id, whole.object_id]
    partial, present = memory_pb2.CONTENT_STATE_PARTIAL, memory_pb2.CONTENT_STATE_PRESENT
    assert list(page.content_states) == [partial, partial, present]


def test_evidence_of_what_is_gone_finds_nothing(workspace: Workspace) -> None:
    evidence = {"activity": "x", "evidence_refs": [DATASHEET]}
    made = [workspace.create(provenance=evidence) for _ in range(2)]
    filters = {**ACCEPT_ALL, "availability_state": range(1, 5), "evidence_ref": DATASHEET}
    assert len(query_ids(workspace, filters=filters)) == 2
    delete(workspace, made[0].object_id, made[0].version_id)
    transition(workspace, made[1].object_id, made[1].version_id, "availability", "redacted")
    assert query_ids(workspace, filters=filters) == []
    assert version_ids(workspace, filters=filters) == []


@pytest.mark.req("P-8.6-05")
def test_who_may_not_read_provenance_finds_nothing_by_it(workspace: Workspace) -> None:
    evidence = {"activity": "x", "evidence_refs": [DATASHEET]}
    claim = workspace.create(provenance=evidence)
    task = workspace.create(object_type="task", provenance=evidence)
    filters = {**ACCEPT_ALL, "evidence_ref": DATASHEET}
    workspace.allow("actor:reader", "query", "read")
    workspace.deny("actor:reader", "provenance.read", object_type="claim")
    reader = workspace.cluster.client("actor:reader")
    assert query_ids(workspace, reader, filters=filters) == [task.object_id]
    assert query_ids(workspace, filters=filters) == [claim.object_id, task.object_id]
    # Nor does a delegate of somebody else, whose own rule it is.
    delegation_id = grant(workspace, "actor:reader", "query")
    assert query_ids(workspace, reader, filters=filters, delegation_id=delegation_id) == [task.object_id]


def seeded_order(seed: int, object_ids: list[str]) -> list[str]:
    """The order that the documented tie-break gives."""
    prefix = seed.to_bytes(8, "big", signed=True)
    return sorted(object_ids, key=lambda object_id: (hashlib.sha256(prefix + object_id.encode()).digest(), object_id))


@pytest.mark.req("P-18.11-04")
@pytest.mark.parametrize("limit", [1, 4, 100])
def test_a_seed_decides_ties_the_same_way_every_time(cluster: Cluster, limit: int) -> None:
    names = [f"mem:{number}" for number in range(10)]
    orders: dict[tuple[int, int], list[str]] = {}
    for run in range(2):
        workspace = evaluation_workspace(cluster)
        for name in names:
            workspace.create(object_id=name, observed_at=at(1))
        workspace.create(object_id="mem:first", observed_at=at(0))
        for seed in (7, -8):
            snapshot = seal(workspace, deterministic_rng_seed=seed)
            within = {"snapshot_id": snapshot.snapshot_id, "limit": limit}
            for _ in range(2):
                rows = pages(workspace, temporal("observed_at"), **within)
                order = [row.object_id for row in rows]
                assert orders.setdefault((run, seed), order) == order
            assert order == ["mem:first", *seeded_order(seed, names)]
            request = memory_pb2.QueryRequest(
                scope_id=workspace.scope_id, query=temporal("observed_at"), limit=1, snapshot_id=snapshot.snapshot_id
            )
            metadata = workspace.owner.memory.Query(request).metadata
            assert metadata.ordering_profile == "remit.observed-at.ascending.seeded/1"
            assert list(metadata.tie_break) == ["seeded_object_id", "object_id", "version_id"]
    assert orders[0, 7] == orders[1, 7]
    assert orders[0, -8] == orders[1, -8]
    assert orders[0, 7] != orders[0, -8]
    unseeded = {"snapshot_id": seal(workspace).snapshot_id, "limit": limit}
    rows = pages(workspace, temporal("observed_at"), **unseeded)
    assert [row.object_id for row in rows] == ["mem:first", *names]


def test_a_query_by_meaning_gives_no_versions(workspace: Workspace) -> None:
    for kind in (memory_pb2.QUERY_KIND_SEMANTIC, memory_pb2.QUERY_KIND_HYBRID):
        request = memory_pb2.QueryRequest(
            scope_id=workspace.scope_id, query={"kind": kind}, limit=1, result_kind=VERSIONS
        )
        with pytest.raises(Refusal) as refused:
            workspace.owner.memory.Query(request)
        assert refused.value.fields == ["result_kind"]
