"""Embedding spaces: complete descriptors, whose id alone decides what may be compared (P-7.8-03 to P-7.8-06)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remit.v1 import derived_pb2, ledger_pb2
from tests.cluster import ADMIN, Cluster, Refusal, Workspace
from tests.server.operations.derived.embeddings import DESCRIPTOR, nearest, register, register_space


def _get(workspace: Workspace, space_id: str) -> derived_pb2.GetEmbeddingSpaceResponse:
    request = derived_pb2.GetEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space_id=space_id)
    response: derived_pb2.GetEmbeddingSpaceResponse = workspace.owner.derived.GetEmbeddingSpace(request)
    return response


@pytest.mark.req("P-7.8-05")
@pytest.mark.parametrize("name", ["embedding_space_id", *DESCRIPTOR])
def test_every_field_of_a_descriptor_is_required(workspace: Workspace, name: str) -> None:
    fields = {"embedding_space_id": "space:a"} | DESCRIPTOR
    del fields[name]
    request = derived_pb2.RegisterEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space=fields)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.derived.RegisterEmbeddingSpace(request)
    assert refusal.value.reason == "INVALID_REQUEST"
    assert refusal.value.fields == [f"embedding_space.{name}"]


def test_a_space_comes_back_as_it_was_registered(workspace: Workspace) -> None:
    registered = register_space(workspace)
    space = _get(workspace, "space:a").embedding_space
    assert space == registered.embedding_space
    assert {name: getattr(space, name) for name in DESCRIPTOR} == DESCRIPTOR
    assert space.created_by.actor_id == ADMIN
    [event] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_EMBEDDING_SPACE_REGISTERED])
    assert (event.event_id, event.recorded_at) == (registered.event_ids[0], space.created_at)


def test_the_same_descriptor_again_changes_nothing(workspace: Workspace) -> None:
    first = register_space(workspace)
    before = len(workspace.events())
    again = register_space(workspace)
    assert (again.embedding_space, list(again.event_ids)) == (first.embedding_space, [])
    assert len(workspace.events()) == before


@pytest.mark.parametrize("name", DESCRIPTOR)
def test_an_id_never_gets_another_descriptor(workspace: Workspace, name: str) -> None:
    register_space(workspace)
    other: dict[str, Any] = {name: {"dimensions": 3, "distance_metric": "l2"}.get(name, "other")}
    with pytest.raises(Refusal) as refusal:
        register_space(workspace, **other)
    assert refusal.value.reason == "INVALID_REQUEST"
    assert refusal.value.fields == [f"embedding_space.{name}"]
    assert getattr(_get(workspace, "space:a").embedding_space, name) == DESCRIPTOR[name]


def test_a_metric_that_is_not_compared_is_refused(workspace: Workspace) -> None:
    with pytest.raises(Refusal) as refusal:
        register_space(workspace, distance_metric="hamming")
    assert refusal.value.fields == ["embedding_space.distance_metric"]


def test_what_the_server_fills_is_refused(workspace: Workspace) -> None:
    with pytest.raises(Refusal) as refusal:
        register_space(workspace, created_at={"seconds": 1})
    assert refusal.value.fields == ["embedding_space.created_at"]


def test_a_registration_is_replayed_by_its_key(workspace: Workspace) -> None:
    space = derived_pb2.EmbeddingSpace(embedding_space_id="space:a", **DESCRIPTOR)
    request = derived_pb2.RegisterEmbeddingSpaceRequest(
        scope_id=workspace.scope_id, embedding_space=space, idempotency_key="key"
    )
    first, again = (workspace.owner.derived.RegisterEmbeddingSpace(request) for _ in range(2))
    assert (again.replayed, list(again.event_ids), again.operation_id) == (
        True,
        list(first.event_ids),
        first.operation_id,
    )
    request.embedding_space.model = "other"
    with pytest.raises(Refusal) as refusal:
        workspace.owner.derived.RegisterEmbeddingSpace(request)
    assert refusal.value.reason == "DUPLICATE_OPERATION"


def test_spaces_and_their_counts_are_of_one_workspace(workspace: Workspace, cluster: Cluster) -> None:
    other = Workspace(cluster)
    register_space(workspace)
    with pytest.raises(Refusal) as refusal:
        _get(other, "space:a")
    assert refusal.value.reason == "OBJECT_NOT_FOUND"
    register_space(other, dimensions=3)
    register(other, other.create(), [1, 2, 3])
    assert _get(workspace, "space:a").vector_count == 0
    assert _get(other, "space:a").vector_count == 1


@pytest.mark.case("A43")
@pytest.mark.req("P-7.8-03", "P-7.8-06", "P-14-16")
def test_spaces_that_are_equal_but_for_their_id_are_never_compared(workspace: Workspace) -> None:
    for space_id in ("space:a", "space:b"):
        register_space(workspace, space_id)
    of_a, of_b = workspace.create(), workspace.create()
    registered = register(workspace, of_a, [1, 0], "space:a")
    register(workspace, of_b, [1, 0], "space:b")
    # Nothing of one space is found in the other, query after query.
    for _ in range(2):
        for space_id, made in (("space:a", of_a), ("space:b", of_b)):
            page = nearest(workspace, [1, 0], space_id)
            assert [row.object_id for row in page.results] == [made.object_id]
            assert page.metadata.embedding_space_id == space_id
    # A vector of the one against the other, and an artifact of the one registered in the other.
    attempts: list[Callable[[], Any]] = [
        lambda: nearest(workspace, [1, 0], "space:b", query_vector_space_id="space:a"),
        lambda: register(workspace, of_a, [1, 0], "space:b", artifact_id=registered.lineage.artifact_id),
        lambda: nearest(workspace, [1, 0], "space:c"),
        lambda: nearest(workspace, [1, 0, 0], "space:a"),
    ]
    for attempt in attempts:
        with pytest.raises(Refusal) as refusal:
            attempt()
        assert refusal.value.reason == "EMBEDDING_SPACE_MISMATCH"
