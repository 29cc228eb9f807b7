"""Queries by meaning: exact, within authority and gate, and told what they are (PAMSPEC 7.8 and 11)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from remit.v1 import common_pb2, discovery_pb2, memory_pb2, snapshot_pb2
from tests.cluster import OTHER_TENANT, Cluster, Refusal, Workspace
from tests.server.operations.derived.embeddings import hybrid, ids, nearest, rebuild, register, register_space, remove
from tests.server.operations.memory.requests import CORROBORATED, grant, transition, update

METRICS = ("cosine", "l2", "inner_product")


def _score(metric: str, left: Sequence[float], right: Sequence[float]) -> float:
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    if metric == "cosine":
        return product / math.hypot(*left) / math.hypot(*right)
    return product if metric == "inner_product" else -math.dist(left, right)


def _with_vectors(workspace: Workspace, vectors: Sequence[Sequence[float]], **fields: Any) -> list[Any]:
    """Objects with a vector in space:a each."""
    return [
        workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": vector}], **fields)
        for vector in vectors
    ]


def _all_pages(workspace: Workspace, vector: Sequence[float], limit: int, **fields: Any) -> list[Any]:
    found: list[Any] = []
    cursor = ""
    while True:
        page = nearest(workspace, vector, limit=limit, cursor=cursor, **fields)
        found.extend(zip(page.results, page.rankings, strict=True))
        cursor = page.cursor
        if not cursor:
            return found


@pytest.mark.parametrize("metric", METRICS)
def test_an_exact_search_is_brute_force(workspace: Workspace, metric: str) -> None:
    dimensions = 16
    numbers = random.Random(5)
    register_space(workspace, distance_metric=metric, dimensions=dimensions)
    vectors = [[round(numbers.gauss(0, 1), 3) for _ in range(dimensions)] for _ in range(120)]
    made = _with_vectors(workspace, vectors)
    # A second vector of an object counts where it is nearer, and the object still comes once.
    second = [[round(numbers.gauss(0, 1), 3) for _ in range(dimensions)] for _ in range(20)]
    for result, vector in zip(made, second, strict=False):
        register(workspace, result, vector)
    of_object = {result.object_id: [vector] for result, vector in zip(made, vectors, strict=True)}
    for result, vector in zip(made, second, strict=False):
        of_object[result.object_id].append(vector)
    for _ in range(3):
        asked = [round(numbers.gauss(0, 1), 3) for _ in range(dimensions)]
        best = {key: max(_score(metric, asked, vector) for vector in found) for key, found in of_object.items()}
        expected = sorted(best, key=lambda key: (-best[key], key))
        rows = _all_pages(workspace, asked, limit=17)
        assert [row.object_id for row, _ in rows] == expected
        assert [ranking.vector_rank for _, ranking in rows] == list(range(1, len(expected) + 1))
        for row, ranking in rows:
            assert ranking.object_id == row.object_id
            assert ranking.score == pytest.approx(best[row.object_id], abs=1e-5)


@pytest.mark.req("P-11-09")
def test_equal_scores_are_settled_by_object_id(workspace: Workspace) -> None:
    register_space(workspace)
    made = _with_vectors(workspace, [[1, 1]] * 40)
    rows = _all_pages(workspace, [1, 0], limit=3)
    assert [row.object_id for row, _ in rows] == sorted(result.object_id for result in made)
    manifest = workspace.owner.discovery.GetManifest(discovery_pb2.GetManifestRequest())
    assert nearest(workspace).metadata.tie_break == manifest.tie_break == ["object_id", "version_id"]


@pytest.mark.req("P-7.5-06")
def test_what_another_workspace_holds_is_never_found(workspace: Workspace, cluster: Cluster) -> None:
    other = Workspace(cluster)
    for place in (workspace, other):
        register_space(place)
    mine, theirs = (
        place.create(
            canonical_content=b'"the same text"', derived_requests=[{"embedding_space_id": "space:a", "vector": [1, 0]}]
        )
        for place in (workspace, other)
    )
    for kind in ("SEMANTIC", "HYBRID"):
        text = "the same text" if kind == "HYBRID" else ""
        assert ids(nearest(workspace, kind=kind, text=text)) == [mine.object_id]
        assert ids(nearest(other, kind=kind, text=text)) == [theirs.object_id]


def test_another_tenant_with_the_same_names_is_never_found(cluster: Cluster) -> None:
    mine, theirs = Workspace(cluster), Workspace(cluster, OTHER_TENANT)
    for place in (mine, theirs):
        register_space(place)
        _with_vectors(place, [[1, 0]], canonical_content=b'"probe"')
    with cluster.superuser() as connection:
        # The other tenant's vectors and words, as if its workspace had the very name of this one.
        for table in ("vectors", "lexical_tokens", "lexical_objects"):
            connection.execute(
                f"update remit.{table} set scope_id = %s where scope_id = %s", (mine.scope_id, theirs.scope_id)
            )
    assert len(ids(nearest(mine))) == 1
    assert len(ids(hybrid(mine, "probe"))) == 1
    with psycopg.connect(cluster.database.server) as connection:
        for table in (
            "vectors",
            "vector_lists",
            "vector_centroids",
            "derivatives",
            "lexical_tokens",
            "embedding_spaces",
        ):
            assert connection.execute(f"select count(*) from remit.{table}").fetchone() == (0,)


@pytest.mark.req("P-7.8-04", "P-11-03")
def test_an_answer_says_what_it_was_computed_from(workspace: Workspace) -> None:
    register_space(workspace)
    [made] = _with_vectors(workspace, [[1, 1]])
    page = nearest(workspace, explain_ranking=True)
    metadata = page.metadata
    assert metadata.embedding_space_id == "space:a"
    assert metadata.distance_metric == "cosine"
    assert metadata.index_id == "index:vector:space:a"
    assert metadata.index_sequence == metadata.ledger_sequence == workspace.events()[-1].sequence
    assert (metadata.snapshot_id, metadata.approximate) == ("", True)
    assert metadata.search_mode == memory_pb2.SEARCH_MODE_EXACT
    assert list(metadata.tie_break) == ["object_id", "version_id"]
    assert metadata.ordering_profile == "remit.similarity.cosine/1"
    assert list(page.applied_filters.availability_state) == [common_pb2.AVAILABILITY_STATE_AVAILABLE]
    [ranking] = page.rankings
    assert ranking.score == ranking.vector_score == pytest.approx(math.sqrt(0.5))
    assert not ranking.HasField("rerank_score")
    assert made.object_id not in ranking.explanation
    assert "number 1" in ranking.explanation
    assert not nearest(workspace).rankings[0].explanation


@pytest.mark.req("P-10.6-04")
@pytest.mark.parametrize("kind", ["SEMANTIC", "HYBRID"])
def test_a_query_by_meaning_names_its_space(workspace: Workspace, kind: str) -> None:
    workspace.create(canonical_content=b'"words"')
    for fields, field in (({"space_id": ""}, "embedding_space_id"), ({"vector": []}, "query_vector")):
        text = "words" if kind == "HYBRID" else ""
        with pytest.raises(Refusal) as refusal:
            nearest(workspace, kind=kind, text=text, **fields)
        assert refusal.value.reason == "INVALID_REQUEST"
        assert refusal.value.fields == [field]


@pytest.mark.req("P-10.3-03", "P-12-08")
def test_after_an_update_the_index_is_stale_until_the_vector_is_made_anew(workspace: Workspace) -> None:
    register_space(workspace)
    changed, kept = _with_vectors(workspace, [[1, 0], [0, 1]])
    assert not nearest(workspace).metadata.stale
    after = update(workspace, changed.object_id, changed.version_id)
    page = nearest(workspace)
    # What the object says now has no vector: it is not found by what it said before.
    assert ids(page) == [kept.object_id]
    assert page.metadata.stale
    assert page.metadata.index_sequence < page.metadata.ledger_sequence
    register(workspace, after, [1, 0])
    page = nearest(workspace)
    assert ids(page) == [changed.object_id, kept.object_id]
    assert not page.metadata.stale
    assert page.metadata.index_sequence == page.metadata.ledger_sequence


def test_what_is_hidden_makes_no_index_stale(workspace: Workspace, cluster: Cluster) -> None:
    register_space(workspace)
    [hidden] = _with_vectors(workspace, [[1, 0]])
    _with_vectors(workspace, [[1, 1]], object_type="task")
    update(workspace, hidden.object_id, hidden.version_id)
    reader = cluster.client("actor:reader")
    workspace.allow("actor:reader", "query", object_type="task")
    assert nearest(workspace).metadata.stale
    metadata = nearest(workspace, client=reader).metadata
    assert (metadata.stale, metadata.index_sequence) == (False, metadata.ledger_sequence)


@pytest.mark.req("P-11-04")
def test_without_a_snapshot_the_answer_is_best_effort(workspace: Workspace) -> None:
    register_space(workspace)
    made = _with_vectors(workspace, [[1, 0], [1, 1]])
    metadata = nearest(workspace).metadata
    assert (metadata.approximate, metadata.snapshot_id) == (True, "")
    sealed = workspace.owner.snapshot.SealSnapshot(
        snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id)
    ).snapshot
    workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "a:later"}])
    update(workspace, made[0].object_id, made[0].version_id)
    page = nearest(workspace, snapshot_id=sealed.snapshot_id)
    assert ids(page) == [result.object_id for result in made]
    assert (page.metadata.approximate, page.metadata.snapshot_id) == (False, sealed.snapshot_id)
    # A vector that left the space since the seal is missed, and the answer says so.
    remove(workspace, "a:later")
    assert nearest(workspace, snapshot_id=sealed.snapshot_id).metadata.approximate


def test_a_limited_caller_is_not_told_whose_vector_left(workspace: Workspace, cluster: Cluster) -> None:
    register_space(workspace)
    _with_vectors(workspace, [[1, 0]])
    hidden = workspace.create(object_type="decision", object_id="mem:hidden")
    register(workspace, hidden, [1, 1], artifact_id="a:hidden")
    reader = cluster.client("actor:finds-claims")
    workspace.allow(reader.actor_id, "query", "read", object_type="claim")
    sealed = workspace.owner.snapshot.SealSnapshot(
        snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id)
    ).snapshot
    before = nearest(workspace, client=reader, snapshot_id=sealed.snapshot_id)
    remove(workspace, "a:hidden")
    after = nearest(workspace, client=reader, snapshot_id=sealed.snapshot_id)
    for page in (before, after):
        page.ClearField("operation_id")
    assert before == after
    assert before.metadata.approximate


def test_a_space_outside_the_snapshot_is_refused(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    register_space(workspace, "space:b")
    sealed = workspace.owner.snapshot.SealSnapshot(
        snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id, included_embedding_space_ids=["space:b"])
    ).snapshot
    nearest(workspace, space_id="space:b", snapshot_id=sealed.snapshot_id)
    with pytest.raises(Refusal) as refusal:
        nearest(workspace, space_id="space:a", snapshot_id=sealed.snapshot_id)
    assert refusal.value.reason == "EMBEDDING_SPACE_MISMATCH"


def test_the_trusted_defaults_and_the_gate_hold(workspace: Workspace) -> None:
    register_space(workspace)
    trusted, unverified, pending, redacted = _with_vectors(workspace, [[1, 0]] * 4)
    for made in (trusted, pending, redacted):
        moved = transition(
            workspace, made.object_id, made.version_id, "validation", "corroborated", provenance={"activity": "checked"}
        )
        assert moved.envelope.validation_state == CORROBORATED
        made.version_id = moved.version_id
    transition(workspace, pending.object_id, pending.version_id, "retention", "pending_deletion")
    transition(workspace, redacted.object_id, redacted.version_id, "availability", "redacted")
    assert ids(nearest(workspace, filters={})) == [trusted.object_id]
    assert set(ids(nearest(workspace))) == {trusted.object_id, unverified.object_id}
    by_id = {"predicates": [{"field": "object_id", "op": "COMPARISON_OPERATOR_EQ", "values": [unverified.object_id]}]}
    assert ids(nearest(workspace, filters=by_id)) == []
    assert ids(nearest(workspace, filters=by_id | {"validation_state": [CORROBORATED, 1]})) == [unverified.object_id]


@pytest.mark.case("A45")
@pytest.mark.parametrize("mode", ["EXACT", "APPROXIMATE"])
def test_who_owns_little_among_much_gets_all_of_it(workspace: Workspace, cluster: Cluster, mode: str) -> None:
    register_space(workspace)
    mine = _with_vectors(workspace, [[-1, 0.001 * number] for number in range(30)], object_type="task")
    template = workspace.create()
    with cluster.superuser() as connection:
        # 10,000 vectors of others, all nearer: copies of one row, as they would lie there.
        connection.execute(
            "insert into remit.memory_objects select o.tenant_id, o.scope_id, 'urn:x:other:' || n, o.object_type,"
            " o.version_id, o.sequence, o.deleted from remit.memory_objects o, generate_series(1, 10000) n"
            " where o.scope_id = %s and o.object_id = %s",
            (workspace.scope_id, template.object_id),
        )
        columns = [
            name
            for (name,) in connection.execute(
                "select column_name from information_schema.columns"
                " where table_schema = 'remit' and table_name = 'memory_versions' and column_name <> 'object_id'"
                " order by ordinal_position"
            ).fetchall()
        ]
        listed = ", ".join(columns)
        connection.execute(
            f"insert into remit.memory_versions (object_id, {listed}) select 'urn:x:other:' || n, {listed}"
            " from remit.memory_versions v, generate_series(1, 10000) n where v.scope_id = %s and v.object_id = %s",
            (workspace.scope_id, template.object_id),
        )
        connection.execute(
            "insert into remit.vectors select v.tenant_id, v.scope_id, 'space:a', 'embedding', 'a:' || v.object_id, '',"
            " v.object_id, v.object_type, v.content_id, v.ledger_sequence, array[1, random()]::real[]"
            " from remit.memory_versions v where v.scope_id = %s and v.object_id like 'urn:x:other:%%'",
            (workspace.scope_id,),
        )
    if mode == "APPROXIMATE":
        rebuild(workspace, "index:vector:space:a")
    limited = cluster.client("actor:limited")
    workspace.allow("actor:limited", "query", object_type="task")
    search_mode = f"SEARCH_MODE_{mode}"
    page = nearest(workspace, limit=30, client=limited, search_mode=search_mode)
    assert set(ids(page)) == {made.object_id for made in mine}
    assert [ranking.vector_rank for ranking in page.rankings] == list(range(1, 31))
    # The same under a grant that names the objects, and under one that names their type.
    delegate = cluster.client("actor:delegate")
    for restriction in (
        {"granted_object_ids": {"values": [made.object_id for made in mine]}},
        {"granted_object_types": {"values": ["task"]}},
    ):
        grant_id = grant(workspace, "actor:delegate", "query", **restriction)
        page = nearest(workspace, limit=30, client=delegate, delegation_id=grant_id, search_mode=search_mode)
        assert set(ids(page)) == {made.object_id for made in mine}
        assert len(page.event_ids) == 1


def test_a_cursor_is_good_for_its_query_only(workspace: Workspace, cluster: Cluster) -> None:
    register_space(workspace, "space:a")
    register_space(workspace, "space:b")
    _with_vectors(workspace, [[1, 0], [1, 1], [0, 1]])
    cursor = nearest(workspace, limit=1).cursor
    reader = cluster.client("actor:reader")
    workspace.allow("actor:reader", "query")
    for fields in ({"space_id": "space:b"}, {"vector": [0, 1]}, {"client": reader}, {"explain_ranking": True}):
        with pytest.raises(Refusal) as refusal:
            nearest(workspace, limit=1, cursor=cursor, **fields)
        assert refusal.value.fields == ["cursor"]


def test_pages_are_of_the_first_pages_moment(workspace: Workspace) -> None:
    register_space(workspace)
    made = _with_vectors(workspace, [[1, 0.1 * number] for number in range(6)])
    page = nearest(workspace, limit=2)
    _with_vectors(workspace, [[1, 0.25]])
    update(workspace, made[3].object_id, made[3].version_id)
    found = ids(page)
    while page.cursor:
        page = nearest(workspace, limit=2, cursor=page.cursor)
        found += ids(page)
    assert found == [result.object_id for result in made]


def test_every_structured_filter_bounds_what_is_ranked(workspace: Workspace) -> None:
    register_space(workspace)
    task, claim, related = (
        workspace.create(
            object_type=object_type,
            observed_at={"seconds": second},
            derived_requests=[{"embedding_space_id": "space:a", "vector": [1, second]}],
            provenance={"activity": "observed", "evidence_refs": [f"urn:e:{second}"]},
        )
        for object_type, second in (("task", 1), ("claim", 2), ("claim", 3))
    )
    workspace.owner.memory.Relate(
        memory_pb2.RelateRequest(
            scope_id=workspace.scope_id,
            source_object_id=related.object_id,
            target_object_id=task.object_id,
            relationship_type="references",
            directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
            canonical_content=b"{}",
            provenance={"activity": "observed"},
        )
    )
    anything: dict[str, Any] = {"validation_state": [1, 2]}
    later = {"field": "observed_at", "op": "COMPARISON_OPERATOR_GT", "values": ["1970-01-01T00:00:01Z"]}
    cases: list[tuple[dict[str, Any], list[Any]]] = [
        ({"object_type": ["task"]}, [task]),
        ({"predicates": [later]}, [claim, related]),
        ({"evidence_ref": "urn:e:2"}, [claim]),
        ({"related_object_id": task.object_id}, [related]),
        ({"relationship_type": ["references"], "object_type": ["claim"]}, [related]),
        ({"provenance_id": [claim.envelope.provenance.provenance_id]}, [claim]),
    ]
    for filters, expected in cases:
        for kind, text in (("SEMANTIC", ""), ("HYBRID", "x")):
            page = nearest(workspace, kind=kind, text=text, filters=anything | filters)
            assert ids(page) == [made.object_id for made in expected], (filters, kind)
            assert [ranking.vector_rank for ranking in page.rankings] == list(range(1, len(expected) + 1))
