"""Approximate searches: lists that are made on request, keep nothing of what left, and starve nobody (P-11-04)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import pytest

from remit.v1 import memory_pb2
from storage.vector_lists import VECTORS_MIN
from tests.cluster import Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.derived.embeddings import ids, nearest, rebuild, register, register_space, remove
from tests.server.operations.memory.requests import delete

DIMENSIONS = 16
INDEX = "index:vector:space:a"
EXACT, APPROXIMATE = memory_pb2.SEARCH_MODE_EXACT, memory_pb2.SEARCH_MODE_APPROXIMATE


def _clustered(count: int) -> list[list[float]]:
    """Vectors that gather around some centres, as embeddings do."""
    numbers = random.Random(3)
    centres = [[numbers.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(40)]
    return [[component + numbers.gauss(0, 0.3) for component in centres[n % len(centres)]] for n in range(count)]


def _filled(workspace: Workspace, vectors: Sequence[Sequence[float]]) -> list[Any]:
    register_space(workspace, dimensions=DIMENSIONS)

    def create(vector: Sequence[float]) -> Any:
        return workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": vector}])

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(create, vectors))


def _centroids_are_means(workspace: Workspace) -> int:
    """Holds every centroid to the mean of the vectors in its list now; returns how many vectors are listed."""
    with workspace.cluster.superuser() as connection:
        centroids = connection.execute(
            "select list_number, members, centroid from remit.vector_centroids where scope_id = %s",
            (workspace.scope_id,),
        ).fetchall()
        listed = connection.execute(
            "select l.list_number, x.embedding from remit.vector_lists l left join remit.vectors x"
            " using (tenant_id, scope_id, artifact_type, artifact_id, artifact_version) where scope_id = %s",
            (workspace.scope_id,),
        ).fetchall()
    of_list: dict[int, list[list[float]]] = {}
    for number, vector in listed:
        of_list.setdefault(number, []).append(vector)
    assert {number for number, _, _ in centroids} == set(of_list)
    for number, members, centroid in centroids:
        vectors = of_list[number]
        assert members == len(vectors)
        mean = [math.fsum(column) / members for column in zip(*vectors, strict=True)]
        assert centroid == pytest.approx(mean, abs=1e-4)
    return len(listed)


def test_an_approximate_search_finds_nearly_all_and_says_so(workspace: Workspace) -> None:
    vectors = _clustered(VECTORS_MIN + 200)
    made = _filled(workspace, vectors)
    asked = vectors[::110]
    exact = [ids(nearest(workspace, vector, limit=10)) for vector in asked]
    page = nearest(workspace, asked[0], limit=10, search_mode=APPROXIMATE)
    assert page.metadata.search_mode == EXACT, "there is no index yet"
    rebuild(workspace, INDEX)
    assert _centroids_are_means(workspace) == len(made)
    found = 0
    for vector, expected in zip(asked, exact, strict=True):
        page = nearest(workspace, vector, limit=10, search_mode=APPROXIMATE)
        assert page.metadata.search_mode == APPROXIMATE
        assert page.metadata.approximate
        found += len(set(ids(page)) & set(expected))
        assert ids(nearest(workspace, vector, limit=10)) == expected
    assert found >= 0.95 * 10 * len(asked)
    # What is registered after the lists were made is found, what is removed is not, and leaves no trace in a list.
    late = workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": asked[0]}])
    page = nearest(workspace, asked[0], limit=10, search_mode=APPROXIMATE)
    assert {late.object_id, made[0].object_id} <= set(ids(page))
    for result in made[:60:2]:
        delete(workspace, result.object_id, result.version_id)
    again = register(workspace, made[1], vectors[5], artifact_id="artifact:again")
    remove(workspace, again.lineage.artifact_id)
    assert _centroids_are_means(workspace) == len(made) - 30
    page = nearest(workspace, asked[0], limit=10, search_mode=APPROXIMATE)
    assert made[0].object_id not in ids(page)
    # Every page, to the last row: beyond the lists that were looked into, everything is compared.
    seen, cursor = set(), ""
    while True:
        page = nearest(workspace, asked[0], limit=1000, search_mode=APPROXIMATE, cursor=cursor)
        seen |= set(ids(page))
        cursor = page.cursor
        if not cursor:
            break
    assert len(seen) >= 0.95 * (len(made) + 1 - 30)


def test_a_small_space_is_compared_whole(workspace: Workspace) -> None:
    _filled(workspace, _clustered(30))
    rebuild(workspace, INDEX)
    page = nearest(workspace, _clustered(1)[0], search_mode=APPROXIMATE, limit=5)
    assert page.metadata.search_mode == EXACT


@pytest.mark.parametrize("metric", ["cosine", "l2", "inner_product"])
def test_without_pgvector_the_results_are_the_same(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]], metric: str
) -> None:
    with running_cluster(clone_database) as cluster:
        workspace = Workspace(cluster)
        vectors = _clustered(60)
        register_space(workspace, dimensions=DIMENSIONS, distance_metric=metric)
        for vector in vectors:
            workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": vector}])
        with_pgvector = nearest(workspace, vectors[7])
        with cluster.superuser() as connection:
            assert connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
            connection.execute("drop extension vector")
        cluster.start_server()
        client = cluster.client("actor:admin", server=1)
        without = nearest(workspace, vectors[7], client=client)
        assert ids(without) == ids(with_pgvector)
        assert [r.score for r in without.rankings] == pytest.approx([r.score for r in with_pgvector.rankings], abs=1e-5)
        rebuild(workspace, INDEX, client)
        page = nearest(workspace, vectors[7], client=client, search_mode=APPROXIMATE, limit=5)
        assert page.metadata.search_mode == EXACT
