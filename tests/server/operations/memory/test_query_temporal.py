"""Queries by time: every basis, its order and its ranges (PAMSPEC 11)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import memory_pb2
from tests.cluster import Client, Refusal, Workspace
from tests.server.operations.memory.requests import ACCEPT_ALL, delete, grant, query_page, update

START = 1_700_000_000
CLIENT_TIMES = ("observed_at", "asserted_at", "valid_from", "valid_until")


def at(offset: int, nanos: int = 0) -> dict[str, int]:
    """An instant some seconds after START."""
    return {"seconds": START + offset, "nanos": nanos}


def temporal(basis: str, **fields: Any) -> memory_pb2.QueryExpression:
    """A temporal query over objects in any state."""
    values: dict[str, Any] = {"filters": ACCEPT_ALL} | fields
    return memory_pb2.QueryExpression(
        kind=memory_pb2.QUERY_KIND_TEMPORAL,
        temporal_basis=memory_pb2.TemporalBasis.Value(f"TEMPORAL_BASIS_{basis.upper()}") if basis else 0,
        **values,
    )


def pages(workspace: Workspace, query: memory_pb2.QueryExpression, **fields: Any) -> list[Any]:
    """The rows of all pages."""
    rows: list[Any] = []
    client: Client = fields.pop("client", workspace.owner)
    fields.setdefault("limit", 100)
    cursor = ""
    while True:
        request = memory_pb2.QueryRequest(scope_id=workspace.scope_id, query=query, cursor=cursor, **fields)
        page = client.memory.Query(request)
        rows += page.results
        cursor = page.cursor
        if not cursor:
            return rows


def found(workspace: Workspace, names: dict[str, str], basis: str, **fields: Any) -> list[str]:
    """Names of the objects that a temporal query finds, in its order."""
    limit = fields.pop("limit", 100)
    return [names[row.object_id] for row in pages(workspace, temporal(basis, **fields), limit=limit)]


def refused(workspace: Workspace, **fields: Any) -> list[str]:
    """The fields that an invalid query is refused for."""
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Query(memory_pb2.QueryRequest(scope_id=workspace.scope_id, limit=10, **fields))
    assert refusal.value.reason == "INVALID_REQUEST"
    return refusal.value.fields


@pytest.fixture
def named(workspace: Workspace) -> dict[str, str]:
    """Four objects whose times run in different orders; the last one claims none."""
    times = {
        "a": {"observed_at": at(30), "asserted_at": at(20), "valid_from": at(10), "valid_until": at(20)},
        "b": {"observed_at": at(10), "asserted_at": at(30), "valid_from": at(20)},
        "c": {"observed_at": at(20), "asserted_at": at(10), "valid_until": at(15)},
        "none": {},
    }
    return {workspace.create(**fields).object_id: name for name, fields in times.items()}


@pytest.mark.req("P-11-06", "P-17.4-01", "P-18.7-01")
def test_each_basis_has_an_order_of_its_own(workspace: Workspace, named: dict[str, str]) -> None:
    # The first object is changed, so that order of change is no basis's but those of the service.
    first = next(iter(named))
    update(workspace, first, workspace.read(first).envelope.version_id)
    expected = {
        "observed_at": ["b", "c", "a"],
        "asserted_at": ["c", "a", "b"],
        "valid_time": ["c", "a", "b"],  # c holds since ever
        "committed_at": ["b", "c", "none", "a"],
        "recorded_at": ["b", "c", "none", "a"],
        "sequence": ["b", "c", "none", "a"],
    }
    for limit in (1, 2, 100):
        assert {basis: found(workspace, named, basis, limit=limit) for basis in expected} == expected
    profiles = set()
    for basis in expected:
        request = memory_pb2.QueryRequest(scope_id=workspace.scope_id, query=temporal(basis), limit=1)
        metadata = workspace.owner.memory.Query(request).metadata
        assert metadata.temporal_basis == request.query.temporal_basis
        assert list(metadata.tie_break) == ["object_id", "version_id"]
        profiles.add(metadata.ordering_profile)
    assert len(profiles) == len(expected)


@pytest.mark.req("P-11-06")
def test_a_temporal_query_names_its_basis(workspace: Workspace) -> None:
    assert refused(workspace, query=temporal("")) == ["query.temporal_basis"]
    assert refused(workspace, query=temporal("", time_from=at(0))) == ["query.temporal_basis"]


@pytest.mark.req("P-17.4-01", "P-10.6-03")
def test_ranges_hold_their_start_and_not_their_end(workspace: Workspace, named: dict[str, str]) -> None:
    def by(basis: str, start: int | None, end: int | None) -> list[str]:
        ends = {"time_from": start, "time_to": end}
        return found(workspace, named, basis, **{name: at(value) for name, value in ends.items() if value is not None})

    assert by("observed_at", 10, 30) == ["b", "c"]
    assert by("observed_at", 11, None) == ["c", "a"]
    assert by("observed_at", None, 20) == ["b"]
    assert by("observed_at", 20, 20) == []
    assert by("asserted_at", 20, 31) == ["a", "b"]
    finer = temporal("observed_at", time_from=at(10, 1000), time_to=at(20, 1000))
    assert [named[row.object_id] for row in pages(workspace, finer)] == ["c"]
    events = {row.object_id: row.committed_at for row in pages(workspace, temporal("committed_at"))}
    for basis in ("committed_at", "recorded_at"):
        for object_id, moment in events.items():
            query = temporal(basis, time_from=moment, time_to={"seconds": moment.seconds, "nanos": moment.nanos + 1000})
            assert object_id in [row.object_id for row in pages(workspace, query)]
            assert object_id not in [row.object_id for row in pages(workspace, temporal(basis, time_to=moment))]


@pytest.mark.req("P-17.4-01")
def test_validity_is_found_where_it_overlaps(workspace: Workspace) -> None:
    claims: dict[str, dict[str, Any]] = {
        "until 15": {"valid_until": at(15)},
        "10 to 20": {"valid_from": at(10), "valid_until": at(20)},
        "at 20": {"valid_from": at(20), "valid_until": at(20)},
        "since 20": {"valid_from": at(20)},
        "no claim": {},
    }
    names = {workspace.create(**times).object_id: name for name, times in claims.items()}

    def during(start: int, end: int) -> set[str]:
        return set(found(workspace, names, "valid_time", time_from=at(start), time_to=at(end)))

    assert during(0, 10) == {"until 15"}
    assert during(0, 11) == {"until 15", "10 to 20"}
    assert during(15, 20) == {"10 to 20"}
    assert during(20, 21) == {"at 20", "since 20"}
    assert during(21, 99) == {"since 20"}
    assert found(workspace, names, "valid_time", limit=1) == [
        "until 15",
        "10 to 20",
        *(names[object_id] for object_id in sorted(names) if names[object_id] in ("at 20", "since 20")),
    ]


@pytest.mark.req("P-17.4-01")
def test_ledger_sequences_are_a_basis_both_ends_included(workspace: Workspace) -> None:
    made = [workspace.create() for _ in range(4)]
    names = {result.object_id: str(index) for index, result in enumerate(made)}
    sequences = {event.object_id: event.sequence for event in workspace.events() if event.object_id}
    first, last = sequences[made[1].object_id], sequences[made[2].object_id]
    assert found(workspace, names, "sequence", sequence_from=first, sequence_to=last) == ["1", "2"]
    assert found(workspace, names, "sequence", sequence_from=last) == ["2", "3"]
    assert found(workspace, names, "sequence", sequence_to=2**64 - 1, limit=1) == ["0", "1", "2", "3"]
    assert found(workspace, names, "sequence", sequence_from=2**64 - 1) == []


@pytest.mark.req("P-11-08", "P-11-09")
def test_equal_times_come_by_object_id_once_each(workspace: Workspace) -> None:
    made = [workspace.create(observed_at=at(1)).object_id for _ in range(12)]
    for limit in (1, 5, 12, 100):
        assert [row.object_id for row in pages(workspace, temporal("observed_at"), limit=limit)] == sorted(made)


def test_versions_are_found_by_their_own_time(workspace: Workspace) -> None:
    made = workspace.create(observed_at=at(10))
    newer = update(workspace, made.object_id, made.version_id, observed_at=at(20))
    removed = workspace.create(observed_at=at(15))
    delete(workspace, removed.object_id, removed.version_id)
    versions = memory_pb2.QUERY_RESULT_KIND_VERSIONS
    rows = pages(workspace, temporal("observed_at"), result_kind=versions, limit=1)
    assert [row.version_id for row in rows] == [made.version_id, newer.version_id]
    early = temporal("observed_at", time_to=at(20))
    assert [row.version_id for row in pages(workspace, early, result_kind=versions)] == [made.version_id]
    assert pages(workspace, early) == []


def test_authority_narrows_before_a_page_is_cut(workspace: Workspace) -> None:
    kinds = ("claim", "task")
    made = [workspace.create(object_type=kinds[index % 2], observed_at=at(index)).object_id for index in range(6)]
    delegation_id = grant(workspace, "actor:delegate", "query", granted_object_types={"values": ["task"]})
    delegate = workspace.cluster.client("actor:delegate")
    rows = pages(workspace, temporal("observed_at"), client=delegate, limit=2, delegation_id=delegation_id)
    assert [row.object_id for row in rows] == made[1::2]


STRUCTURED = {"kind": memory_pb2.QUERY_KIND_STRUCTURED}
MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "a basis without a temporal query": (
        {"query": STRUCTURED | {"temporal_basis": memory_pb2.TEMPORAL_BASIS_SEQUENCE}},
        "query.temporal_basis",
    ),
    "a time without one": ({"query": STRUCTURED | {"time_from": at(0)}}, "query.time_from"),
    "a sequence without one": ({"query": STRUCTURED | {"sequence_to": 1}}, "query.sequence_to"),
    "words": ({"query": STRUCTURED | {"text": "x"}}, "query.text"),
    "a space": ({"query": STRUCTURED, "embedding_space_id": "espace:1"}, "embedding_space_id"),
    "a vector": ({"query": STRUCTURED, "query_vector": [1.0]}, "query_vector"),
    "the space of a vector": ({"query": STRUCTURED, "query_vector_space_id": "espace:1"}, "query_vector_space_id"),
    "a search mode": ({"query": STRUCTURED, "search_mode": 1}, "search_mode"),
    "ranking": ({"query": STRUCTURED, "explain_ranking": True}, "explain_ranking"),
    "an order": ({"query": temporal("sequence"), "order": 1}, "order"),
    "relationships by time": (
        {"query": temporal("sequence"), "result_kind": memory_pb2.QUERY_RESULT_KIND_RELATIONSHIPS},
        "result_kind",
    ),
    "times by sequence": ({"query": temporal("sequence", time_to=at(0))}, "query.time_to"),
    "sequences by time": ({"query": temporal("observed_at", sequence_from=1)}, "query.sequence_from"),
    "an inverted time": ({"query": temporal("observed_at", time_from=at(1), time_to=at(0))}, "query.time_to"),
    "an inverted sequence": (
        {"query": temporal("sequence", sequence_from=2, sequence_to=1)},
        "query.sequence_to",
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_the_kind_is_refused_by_name(workspace: Workspace, case: str) -> None:
    fields, path = MISFITS[case]
    assert refused(workspace, **fields) == [path]


def test_structured_queries_name_their_ordering(workspace: Workspace) -> None:
    profiles = {query_page(workspace, order=order).metadata.ordering_profile for order in range(1, 6)}
    assert profiles == {
        "remit.ledger.ascending/1",
        "remit.ledger.descending/1",
        "remit.committed-at.ascending/1",
        "remit.committed-at.descending/1",
        "remit.object-id.ascending/1",
    }
