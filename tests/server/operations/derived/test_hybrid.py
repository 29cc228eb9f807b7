"""Hybrid queries: words as keyed hashes, fused with meaning, blind to what is hidden (P-11-05, Q65)."""

from __future__ import annotations

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from server.derived.lexical_index import _VERSIONS_OF_BATCH, BATCHES_OF_QUERY
from storage.lexical import FUSION_CONSTANT
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.derived.embeddings import hybrid, ids, nearest, rebuild, register, register_space
from tests.server.operations.memory.requests import delete, history, transition, update


def _tokens(workspace: Workspace) -> list[tuple[str, bytes]]:
    with workspace.cluster.superuser() as connection:
        return connection.execute(
            "select object_id, token from remit.lexical_tokens where scope_id = %s order by 1, 2", (workspace.scope_id,)
        ).fetchall()


def test_places_by_meaning_and_by_words_are_fused(workspace: Workspace) -> None:
    register_space(workspace)
    both, near, worded, neither = (
        workspace.create(canonical_content=text)
        for text in (b'{"s":"red fox"}', b'"blue whale"', b'["red","red fox"]', b'"grey wolf"')
    )
    register(workspace, near, [1, 0])
    register(workspace, both, [1, 1])
    page = hybrid(workspace, "Fox, RED!", explain_ranking=True)
    assert set(ids(page)) == {both.object_id, near.object_id, worded.object_id}
    assert neither.object_id not in ids(page)
    assert page.metadata.fusion_constant == FUSION_CONSTANT
    assert page.metadata.ordering_profile == "remit.fused.cosine/1"
    assert page.metadata.lexical_index_sequence == page.metadata.ledger_sequence
    by_id = {ranking.object_id: ranking for ranking in page.rankings}
    for ranking in page.rankings:
        places = [
            place
            for name, place in (("vector_rank", ranking.vector_rank), ("lexical_rank", ranking.lexical_rank))
            if ranking.HasField(name)
        ]
        assert ranking.score == pytest.approx(sum(1 / (FUSION_CONSTANT + place) for place in places))
        assert not any(other in ranking.explanation for other in by_id)
    assert (by_id[both.object_id].vector_rank, by_id[near.object_id].vector_rank) == (2, 1)
    assert not by_id[worded.object_id].HasField("vector_score")
    assert not by_id[near.object_id].HasField("lexical_score")
    assert ids(page)[0] == both.object_id
    assert [ranking.score for ranking in page.rankings] == sorted((r.score for r in page.rankings), reverse=True)


def test_pages_of_a_hybrid_query_give_every_row_once(workspace: Workspace) -> None:
    register_space(workspace)
    made = [
        workspace.create(
            canonical_content=b'"probe"', derived_requests=[{"embedding_space_id": "space:a", "vector": [1, number]}]
        )
        for number in range(7)
    ] + [workspace.create(canonical_content=b'"probe probe"') for _ in range(5)]
    whole = ids(hybrid(workspace, "probe"))
    assert set(whole) == {result.object_id for result in made}
    paged, cursor = [], ""
    while True:
        page = hybrid(workspace, "probe", limit=2, cursor=cursor)
        paged += ids(page)
        cursor = page.cursor
        if not cursor:
            break
    assert paged == whole


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('{"s":"Straße"}', "STRASSE"),
        ('"ﬁne cafe\u0301"', "fine café"),
        ('"हिन्दी भाषा"', "हिन्दी"),
        ('[1, {"n": 42}]', "42"),
        ('"a_b c"', "A_B"),
    ],
)
def test_words_are_found_in_any_writing(workspace: Workspace, content: str, text: str) -> None:
    register_space(workspace)
    made = workspace.create(canonical_content=content.encode())
    workspace.create(canonical_content='"other words: हि भा stra e"'.encode())
    assert ids(hybrid(workspace, text)) == [made.object_id]


def test_words_are_kept_as_hashes_of_one_workspace(workspace: Workspace, cluster: Cluster) -> None:
    other = Workspace(cluster)
    for place in (workspace, other):
        register_space(place)
        place.create(canonical_content=b'"confidential"')
        assert len(ids(hybrid(place, "confidential"))) == 1
    [(_, mine)], [(_, theirs)] = _tokens(workspace), _tokens(other)
    assert len(mine) == 16
    assert mine != theirs
    assert b"confidential" not in mine


@pytest.mark.req("P-11-05")
def test_what_is_hidden_shows_in_no_count_score_or_explanation(workspace: Workspace, cluster: Cluster) -> None:
    register_space(workspace)

    def made(object_type: str, vector: list[float]) -> str:
        request = {"embedding_space_id": "space:a", "vector": vector}
        result = workspace.create(
            object_type=object_type, canonical_content=b'{"s":"probe alpha"}', derived_requests=[request]
        )
        return str(result.object_id)

    mine = [made("task", [1, 1]), made("task", [1, 2])]
    reader = cluster.client("actor:reader")
    workspace.allow("actor:reader", "query", object_type="task")

    def answer(kind: str) -> memory_pb2.QueryResponse:
        text = "probe alpha" if kind == "HYBRID" else ""
        page: memory_pb2.QueryResponse = nearest(workspace, client=reader, kind=kind, text=text, explain_ranking=True)
        told = memory_pb2.QueryResponse()
        told.CopyFrom(page)
        # These move with every write of the workspace, whoever makes it.
        for name in ("ledger_sequence", "index_sequence", "lexical_index_sequence"):
            told.metadata.ClearField(name)
        told.ClearField("operation_id")
        return told

    kinds = ("SEMANTIC", "HYBRID")
    before = {kind: answer(kind) for kind in kinds}
    assert [ids(page) for page in before.values()] == [mine, mine]
    hidden = [made("claim", [1, 0.01 * number]) for number in range(8)]
    workspace.create(canonical_content=b'"probe"')
    assert {kind: answer(kind) for kind in kinds} == before
    for page in before.values():
        assert not any(object_id.encode() in page.SerializeToString() for object_id in hidden)


def test_content_that_is_withheld_is_not_indexed(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create(canonical_content=b'{"open":"public","secret":"hidden"}')
    request = memory_pb2.RedactRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        policy_basis="test",
        target={"json_pointers": ["/secret"]},
        mode=memory_pb2.REDACTION_MODE_SUPPRESS,
    )
    assert ids(hybrid(workspace, "hidden")) == [made.object_id]
    workspace.owner.memory.Redact(request)
    assert _tokens(workspace) == []
    everything = {"availability_state": [1, 2, 3, 4], "validation_state": [1, 2]}
    assert ids(hybrid(workspace, "hidden", filters=everything)) == []
    assert ids(hybrid(workspace, "public", filters=everything)) == [made.object_id]
    pending = workspace.create(canonical_content=b'"pending"')
    transition(workspace, pending.object_id, pending.version_id, "retention", "pending_deletion")
    before = _tokens(workspace)
    assert ids(hybrid(workspace, "pending", filters={"retention_state": [1, 2, 3, 4]})) == []
    assert _tokens(workspace) == before


def test_words_of_an_older_version_are_forgotten(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create(canonical_content=b'"before"')
    assert ids(hybrid(workspace, "before")) == [made.object_id]
    update(workspace, made.object_id, made.version_id, canonical_content=b'"after"')
    assert ids(hybrid(workspace, "before")) == []
    assert ids(hybrid(workspace, "after")) == [made.object_id]
    assert len(_tokens(workspace)) == 1


def test_beyond_its_bound_a_query_answers_from_an_index_that_is_behind(workspace: Workspace) -> None:
    register_space(workspace)
    made = workspace.create(canonical_content=b'"first"')
    copies = BATCHES_OF_QUERY * _VERSIONS_OF_BATCH + 10
    with workspace.cluster.superuser() as connection:
        # So many versions of an object that nothing points to any more: taking them in is only counting them.
        connection.execute(
            "insert into remit.memory_versions (tenant_id, scope_id, object_id, sequence, version_id, ledger_sequence,"
            " object_type, lifecycle_state, availability_state, retention_state, validation_state, actor_id,"
            " provenance_id, committed_at, recorded_at, provenance_content_id, core, mac, mac_key_id)"
            " select tenant_id, scope_id, object_id, sequence + n, version_id || n, ledger_sequence + n,"
            " object_type, lifecycle_state, availability_state, retention_state, validation_state, actor_id,"
            " provenance_id, committed_at, recorded_at, provenance_content_id, core, mac, mac_key_id"
            " from remit.memory_versions, generate_series(1, %s) n where scope_id = %s and object_id = %s",
            (copies, workspace.scope_id, made.object_id),
        )
    last = workspace.create(canonical_content=b'"last"')
    with workspace.cluster.superuser() as connection:
        connection.execute(
            "update remit.memory_versions set ledger_sequence = ledger_sequence + %s"
            " where scope_id = %s and object_id = %s",
            (copies, workspace.scope_id, last.object_id),
        )
        connection.execute(
            "update remit.ledger_heads set sequence = sequence + %s where scope_id = %s", (copies, workspace.scope_id)
        )
    page = hybrid(workspace, "last")
    assert ids(page) == []
    assert page.metadata.stale
    assert page.metadata.approximate
    assert page.metadata.lexical_index_sequence < page.metadata.ledger_sequence
    # The next query goes on where this one stopped.
    page = hybrid(workspace, "last")
    assert ids(page) == [last.object_id]
    assert not page.metadata.stale


@pytest.mark.req("P-7.6-01")
def test_a_rebuild_makes_no_version_and_one_event(workspace: Workspace) -> None:
    register_space(workspace)
    made = [workspace.create(canonical_content=f'"probe {number}"'.encode()) for number in range(3)]
    before = ids(hybrid(workspace, "probe"))
    with workspace.cluster.superuser() as connection:
        connection.execute("delete from remit.lexical_tokens where scope_id = %s", (workspace.scope_id,))
    assert ids(hybrid(workspace, "probe")) == []
    head = workspace.events()[-1].sequence
    answer = rebuild(workspace, "index:lexical", idempotency_key="key")
    assert answer.indexed_sequence == head
    assert ids(hybrid(workspace, "probe")) == before
    again = rebuild(workspace, "index:lexical", idempotency_key="key")
    assert (again.replayed, list(again.event_ids)) == (True, list(answer.event_ids))
    [event] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INDEX_REBUILT])
    assert event.event_id == answer.event_ids[0]
    for result in made:
        entries = history(workspace, object_id=result.object_id)
        assert sum(entry.HasField("version") for entry in entries) == 1


def test_a_hybrid_query_needs_words(workspace: Workspace) -> None:
    register_space(workspace)
    with pytest.raises(Refusal) as refusal:
        hybrid(workspace, "")
    assert refusal.value.fields == ["query.text"]
    made = workspace.create(derived_requests=[{"embedding_space_id": "space:a", "vector": [1, 0]}])
    assert ids(hybrid(workspace, "?!")) == [made.object_id]
    delete(workspace, made.object_id, made.version_id)
    assert ids(hybrid(workspace, "?!")) == []


def test_what_was_tampered_with_is_not_indexed_and_stops_no_query(workspace: Workspace) -> None:
    register_space(workspace)
    bad, good = (workspace.create(canonical_content=text) for text in (b'"probe bad"', b'"probe good"'))
    with workspace.cluster.superuser() as connection:
        connection.execute(
            "update remit.memory_contents set ciphertext = set_byte(ciphertext, 50, get_byte(ciphertext, 50) # 1)"
            " where scope_id = %s and object_id = %s and part = 'content'",
            (workspace.scope_id, bad.object_id),
        )
    assert ids(hybrid(workspace, "probe")) == [good.object_id]
    with pytest.raises(Refusal) as refusal:
        workspace.read(bad.object_id)
    assert refusal.value.reason == "INTERNAL_ERROR"
