"""Derivatives: registered with their source, listed, removed; never a version, never after their source (P-7.6-*)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.derived.embeddings import (
    ids,
    lineage,
    nearest,
    rebuild,
    register,
    register_space,
    remove,
)
from tests.server.operations.memory.requests import delete, grant, history, transition, update


def _refused(reason: str, attempt: Any) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        attempt()
    assert refusal.value.reason == reason
    return refusal.value


def _versions(workspace: Workspace, object_id: str) -> int:
    return sum(entry.HasField("version") for entry in history(workspace, object_id=object_id))


@pytest.mark.req("P-7.8-01")
def test_an_object_has_no_one_or_several_embeddings(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    register_space(workspace, "space:b", dimensions=3)
    made = workspace.create()
    assert not lineage(workspace, made.object_id).rows
    registered = [
        register(workspace, made, [1, 0], "space:a").lineage,
        register(workspace, made, [1, 0, 0], "space:b").lineage,
    ]
    rows = lineage(workspace, made.object_id).rows
    assert list(rows) == registered
    assert [row.embedding_space_id for row in rows] == ["space:a", "space:b"]
    assert all(row.current and row.source_version_id == made.version_id for row in rows)


@pytest.mark.req("P-7.8-02", "P-14-16")
def test_a_vector_names_its_space_and_fits_it(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create()
    for vector, space_id in (([1.0, 0.0], ""), ([1.0, 0.0], "space:x"), ([1.0], "space:a"), ([1.0, 0, 0], "space:a")):
        _refused("EMBEDDING_SPACE_MISMATCH", lambda v=vector, s=space_id: register(workspace, made, v, s))
        requests = [{"embedding_space_id": space_id, "vector": vector}]
        _refused("EMBEDDING_SPACE_MISMATCH", lambda r=requests: workspace.create(derived_requests=r))
    assert not lineage(workspace, made.object_id).rows


def test_what_can_not_be_compared_is_no_vector(workspace: Workspace) -> None:
    register_space(workspace)
    register_space(workspace, "space:l2", distance_metric="l2")
    made = workspace.create()
    for bad in ([0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [1e30, 1.0], [1e-30, 0.0]):
        _refused("INVALID_REQUEST", lambda v=bad: register(workspace, made, v))
        _refused("INVALID_REQUEST", lambda v=bad: nearest(workspace, v))
        requests = [{"embedding_space_id": "space:a", "vector": bad}]
        _refused("INVALID_REQUEST", lambda r=requests: workspace.create(derived_requests=r))
    register(workspace, made, [0.0, 0.0], "space:l2")
    assert ids(nearest(workspace, [0.0, 0.0], "space:l2")) == [made.object_id]


@pytest.mark.req("P-7.8-08")
def test_a_vector_generated_again_is_an_event_and_no_version(workspace: Workspace) -> None:
    register_space(workspace)
    made, other = workspace.create(), workspace.create()
    register(workspace, other, [1, 1])
    before = workspace.read(made.object_id).envelope.SerializeToString()
    register(workspace, made, [0, 1], artifact_id="artifact:1")
    assert ids(nearest(workspace)) == [other.object_id, made.object_id]
    again = register(workspace, made, [1, 0], artifact_id="artifact:1")
    assert len(again.event_ids) == 1
    assert ids(nearest(workspace)) == [made.object_id, other.object_id]
    events = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_EMBEDDING_GENERATED], object_id=made.object_id)
    assert [event.event_id for event in events][1:] == list(again.event_ids)
    assert workspace.read(made.object_id).envelope.SerializeToString() == before
    assert len(lineage(workspace, made.object_id).rows) == 1


@pytest.mark.req("P-8.4-04", "P-7.6-01")
def test_derived_state_makes_no_version(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create()
    stranger = workspace.cluster.client("actor:stranger")
    workspace.allow("actor:stranger", "query")
    register(workspace, made, [1, 0], artifact_id="artifact:1")
    register(workspace, made, artifact_type="summary", store_id="elsewhere", space_id="")
    for index_id in ("index:lexical", "index:vector:space:a"):
        before = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INDEX_REBUILT])
        rebuild(workspace, index_id)
        after = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INDEX_REBUILT])
        assert len(after) == len(before) + 1
    rebuild(workspace, "index:elsewhere", indexed_sequence=1)
    _refused("ACCESS_DENIED", lambda: workspace.read(made.object_id, stranger))
    remove(workspace, "artifact:1")
    assert _versions(workspace, made.object_id) == 1
    types = {event.event_type for event in workspace.events()}
    assert types >= {
        ledger_pb2.EVENT_TYPE_EMBEDDING_GENERATED,
        ledger_pb2.EVENT_TYPE_LINEAGE_REGISTERED,
        ledger_pb2.EVENT_TYPE_DERIVATIVE_REMOVED,
        ledger_pb2.EVENT_TYPE_ACCESS_DENIED,
    }


@pytest.mark.req("P-7.6-02")
def test_removing_an_embedding_leaves_the_object_as_it_is(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create()
    registered = register(workspace, made, [1, 0])
    before = workspace.read(made.object_id).envelope.SerializeToString()
    removed = remove(workspace, registered.lineage.artifact_id)
    assert removed.removed
    assert workspace.read(made.object_id).envelope.SerializeToString() == before
    assert not nearest(workspace).results
    assert not lineage(workspace, made.object_id).rows
    again = remove(workspace, registered.lineage.artifact_id)
    assert (again.removed, list(again.event_ids)) == (False, [])


@pytest.mark.req("P-10.1-02")
def test_a_create_brings_its_vectors_and_all_else_it_may(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    register_space(workspace, "space:b", dimensions=3)
    given: dict[str, Any] = {
        "object_id": "urn:x:given",
        "observed_at": {"seconds": 1},
        "asserted_at": {"seconds": 2},
        "valid_from": {"seconds": 3},
        "valid_until": {"seconds": 4},
        "integrity": {"digest": "ab" * 32, "algorithm": "sha-256"},
        "expect_absent": True,
    }
    requests = [
        {"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "artifact:1"},
        {"embedding_space_id": "space:a", "vector": [0, 1]},
        {"embedding_space_id": "space:b", "vector": [1, 0, 0]},
    ]
    made = workspace.create(**given, derived_requests=requests)
    envelope = workspace.read("urn:x:given").envelope
    for name in ("observed_at", "asserted_at", "valid_from", "valid_until"):
        assert getattr(envelope, name).seconds == given[name]["seconds"]
    assert envelope.integrity.digest == given["integrity"]["digest"]
    with pytest.raises(Refusal) as refusal:
        workspace.create(object_id="urn:x:given", expect_absent=True)
    assert refusal.value.reason == "VERSION_CONFLICT"
    rows = lineage(workspace, "urn:x:given").rows
    assert sorted(row.embedding_space_id for row in rows) == ["space:a", "space:a", "space:b"]
    assert "artifact:1" in [row.artifact_id for row in rows]
    for space_id, vector in (("space:a", [0, 1]), ("space:b", [1, 0, 0])):
        page = nearest(workspace, vector, space_id)
        assert ids(page) == ["urn:x:given"]
        assert page.rankings[0].score == pytest.approx(1)
    generated = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_EMBEDDING_GENERATED])
    assert [event.event_id for event in generated] == list(made.event_ids)[1:]


def test_vectors_of_a_new_object_need_the_right_to_register_them(workspace: Workspace, cluster: Cluster) -> None:
    """Whatever they name, so that nothing is told of spaces and artifacts; and no grant conveys it (P-7.8-01)."""
    register_space(workspace)
    kept = {"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "a:1"}
    workspace.create(derived_requests=[kept])
    creator = cluster.client("actor:creates-only")
    workspace.allow(creator.actor_id, "create")
    delegate = cluster.client("actor:creates-by-grant")
    delegation_id = grant(workspace, delegate.actor_id, "create")
    for client, fields in ((creator, {}), (delegate, {"delegation_id": delegation_id})):
        told = set()
        for change in ({}, {"artifact_id": "a:2"}, {"embedding_space_id": "space:x"}, {"vector": [1]}):
            given = fields | {"derived_requests": [kept | change]}
            refusal = _refused("ACCESS_DENIED", lambda c=client, g=given: workspace.create(c, **g))
            told.add((refusal.denial_reason, refusal.message))
        assert len(told) == 1, told
        workspace.create(client, **fields)
        workspace.allow(client.actor_id, "derived.write")
        workspace.create(client, **fields, derived_requests=[kept | {"artifact_id": f"a:{client.actor_id}"}])


def test_a_create_whose_vector_is_refused_makes_nothing(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create(
        derived_requests=[{"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "a:1"}]
    )
    taken = [{"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "a:1"}]
    _refused("INVALID_REQUEST", lambda: workspace.create(object_id="urn:x:no", derived_requests=taken))
    twice = [{"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "a:2"}] * 2
    _refused("INVALID_REQUEST", lambda: workspace.create(object_id="urn:x:no", derived_requests=twice))
    _refused("OBJECT_NOT_FOUND", lambda: workspace.read("urn:x:no"))
    assert ids(nearest(workspace)) == [made.object_id]


@pytest.mark.case("A17")
def test_nothing_is_registered_of_what_is_gone_or_withheld(workspace: Workspace) -> None:
    register_space(workspace)
    deleted, redacted, pending = (workspace.create() for _ in range(3))
    delete(workspace, deleted.object_id, deleted.version_id)
    transition(workspace, redacted.object_id, redacted.version_id, "availability", "redacted")
    transition(workspace, pending.object_id, pending.version_id, "retention", "pending_deletion")
    for made, reason in (
        (deleted, "OBJECT_DELETED"),
        (redacted, "OBJECT_REDACTED"),
        (pending, "RETENTION_RESTRICTION"),
    ):
        _refused(reason, lambda m=made: register(workspace, m, [1, 0]))
        assert not lineage(workspace, made.object_id).rows
    live = workspace.create()
    live.version_id = "urn:x:unknown"
    _refused("OBJECT_NOT_FOUND", lambda: register(workspace, live, [1, 0]))
    assert not nearest(workspace).results


def test_a_partly_redacted_object_is_represented_by_its_current_version_only(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create(canonical_content=b'{"statement":"x","secret":"y"}')
    register(workspace, made, [1, 0])
    request = memory_pb2.RedactRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        policy_basis="test",
        target={"json_pointers": ["/secret"]},
        mode=memory_pb2.REDACTION_MODE_SUPPRESS,
    )
    result = workspace.owner.memory.Redact(request).result
    assert not nearest(workspace, filters={"availability_state": [1, 2], "validation_state": [1, 2]}).results
    _refused("OBJECT_REDACTED", lambda: register(workspace, made, [1, 0]))
    register(workspace, result, [1, 0])
    found = nearest(workspace, filters={"availability_state": [1, 2], "validation_state": [1, 2]})
    assert ids(found) == [made.object_id]


def test_lineage_is_paged_and_chosen_by_version(workspace: Workspace) -> None:
    made = workspace.create()
    for number in range(5):
        register(workspace, made, space_id="", artifact_type="summary", store_id="s", artifact_id=f"artifact:{number}")
    changed = update(workspace, made.object_id, made.version_id)
    register(workspace, changed, space_id="", artifact_type="summary", store_id="s", artifact_id="artifact:1")
    found, cursor = [], ""
    while True:
        page = lineage(workspace, made.object_id, limit=2, cursor=cursor)
        found += page.rows
        cursor = page.cursor
        if not cursor:
            break
    assert [row.artifact_id for row in found] == [*(f"artifact:{number}" for number in range(5)), "artifact:1"]
    assert [row.current for row in found] == [False] * 5 + [True]
    of_first = lineage(workspace, made.object_id, source_version_id=made.version_id).rows
    assert list(of_first) == found[:5]


def test_an_artifact_elsewhere_is_registered_once_and_may_have_several_sources(workspace: Workspace) -> None:
    sources = [workspace.create(), workspace.create()]
    named: dict[str, Any] = {"space_id": "", "artifact_type": "summary", "store_id": "s", "artifact_id": "artifact:1"}
    first = [register(workspace, made, **named) for made in sources]
    again = register(workspace, sources[0], **named)
    assert list(again.event_ids) == []
    assert again.lineage == first[0].lineage
    assert remove(workspace, "artifact:1", artifact_type="summary", store_id="s").removed
    assert not any(lineage(workspace, made.object_id).rows for made in sources)


def test_where_a_vector_is_kept_is_one_place(workspace: Workspace) -> None:
    register_space(workspace)
    made, other = workspace.create(), workspace.create()
    refusal = _refused("INVALID_REQUEST", lambda: register(workspace, made, [1, 0], store_id="elsewhere"))
    assert refusal.fields == ["store_id"]
    assert _refused("INVALID_REQUEST", lambda: register(workspace, made)).fields == ["vector"]
    register(workspace, made, [1, 0], artifact_id="artifact:1")
    refusal = _refused("INVALID_REQUEST", lambda: register(workspace, other, [1, 0], artifact_id="artifact:1"))
    assert refusal.fields == ["artifact_id"]
    register(workspace, made, store_id="elsewhere", artifact_id="artifact:1")


def test_rights_over_objects_bound_what_is_registered_and_removed(workspace: Workspace, cluster: Cluster) -> None:
    register_space(workspace)
    mine, hidden = workspace.create(object_type="task"), workspace.create()
    register(workspace, hidden, [1, 0], artifact_id="artifact:hidden")
    worker = cluster.client("actor:worker")
    workspace.allow("actor:worker", "derived.write", "derived.read", object_type="task")
    register(workspace, mine, [0, 1], client=worker, artifact_id="artifact:mine")
    for attempt in (
        lambda: register(workspace, hidden, [1, 0], client=worker),
        lambda: lineage(workspace, hidden.object_id, worker),
        lambda: remove(workspace, "artifact:hidden", worker),
        lambda: remove(workspace, "artifact:none", worker),
        lambda: rebuild(workspace, "index:lexical", worker),
    ):
        refusal = _refused("ACCESS_DENIED", attempt)
        assert refusal.denial_reason == "NO_RULE"
    assert remove(workspace, "artifact:mine", worker).removed
    assert ids(nearest(workspace)) == [hidden.object_id]


def test_a_registration_is_replayed_by_its_key(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create()
    named: dict[str, Any] = {"artifact_id": "artifact:1", "idempotency_key": "key"}
    first, again = (register(workspace, made, [1, 0], **named) for _ in range(2))
    assert (again.replayed, list(again.event_ids), again.lineage) == (True, list(first.event_ids), first.lineage)
    _refused("DUPLICATE_OPERATION", lambda: register(workspace, made, [0, 1], **named))
    gone = [remove(workspace, "artifact:1", idempotency_key="gone") for _ in range(2)]
    assert [(answer.removed, answer.replayed) for answer in gone] == [(True, False), (True, True)]


def test_an_index_elsewhere_is_recorded_up_to_the_ledger(workspace: Workspace) -> None:
    head = workspace.events()[-1].sequence
    answer = rebuild(workspace, "index:elsewhere", indexed_sequence=head)
    assert answer.indexed_sequence == head
    [event] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INDEX_REBUILT])
    assert event.event_id == answer.event_ids[0]
    assert not event.version_id
    for index_id, fields, field in (
        ("index:elsewhere", {"indexed_sequence": head + 100}, "indexed_sequence"),
        ("index:elsewhere", {}, "indexed_sequence"),
        ("index:lexical", {"indexed_sequence": 1}, "indexed_sequence"),
    ):
        refusal = _refused("INVALID_REQUEST", lambda i=index_id, f=fields: rebuild(workspace, i, **f))
        assert refusal.fields == [field]
    _refused("EMBEDDING_SPACE_MISMATCH", lambda: rebuild(workspace, "index:vector:space:none"))


def test_lifecycle_moves_leave_a_vector_current(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": [1, 0]}])
    transition(workspace, made.object_id, made.version_id, "lifecycle", "archived")
    page = nearest(workspace)
    assert ids(page) == [made.object_id]
    assert page.results[0].lifecycle_state == common_pb2.LIFECYCLE_STATE_ARCHIVED
    assert not page.metadata.stale
    assert lineage(workspace, made.object_id).rows[0].current
