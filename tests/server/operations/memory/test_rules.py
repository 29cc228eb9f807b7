"""What holds for every operation: the service judges by itself, and its clock is the only one that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import ACCEPT_ALL, history, query_ids, transition, update
from tests.server.operations.memory.standings import made_in


@pytest.mark.req("P-7.3-01")
def test_the_service_holds_to_its_rules_whoever_calls(workspace: Workspace) -> None:
    made = workspace.create()
    rejected = made_in(workspace, "validation", "rejected")
    workspace.allow("actor:reader", "read")
    reader = workspace.cluster.client("actor:reader")
    bare = memory_pb2.CreateRequest(scope_id=workspace.scope_id, object_type="claim", canonical_content=b"1")
    unscoped = memory_pb2.ReadRequest(object_id=made.object_id)
    unknown: Any = 999
    events = ledger_pb2.ListEventsRequest(scope_id=workspace.scope_id, event_classes=[unknown])
    attempts: dict[str, tuple[str, Callable[[], Any]]] = {
        "scope": ("INVALID_REQUEST", lambda: workspace.owner.memory.Read(unscoped)),
        "lifecycle": (
            "INVALID_STATE_TRANSITION",
            lambda: transition(workspace, made.object_id, made.version_id, "lifecycle", "candidate"),
        ),
        "validation": (
            "INVALID_STATE_TRANSITION",
            lambda: transition(workspace, rejected.object_id, rejected.version_id, "validation", "unverified"),
        ),
        "versioning": ("VERSION_CONFLICT", lambda: update(workspace, made.object_id, rejected.version_id)),
        "event": ("INVALID_REQUEST", lambda: workspace.owner.ledger.ListEvents(events)),
        "provenance": ("INVALID_OBJECT", lambda: workspace.owner.memory.Create(bare)),
        "authorization": ("ACCESS_DENIED", lambda: update(workspace, made.object_id, made.version_id, reader)),
    }
    for rule, (code, attempt) in attempts.items():
        with pytest.raises(Refusal) as refusal:
            attempt()
        assert refusal.value.reason == code, rule
    assert workspace.read(made.object_id).envelope == made.envelope


@pytest.mark.req("P-12-10")
def test_commits_of_one_instant_are_in_order_all_the_same(workspace: Workspace, cluster: Cluster) -> None:
    with cluster.superuser() as connection:
        row = connection.execute("select clock_timestamp()::text").fetchone()
    assert row is not None
    try:
        cluster.set_clock(row[0])
        results = [workspace.create() for _ in range(4)]
    finally:
        cluster.set_clock(None)
    events = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_CREATED])
    assert len({event.recorded_at.ToNanoseconds() for event in events}) == 1
    assert [event.object_id for event in events] == [result.object_id for result in results]
    assert [event.sequence - events[0].sequence for event in events] == [0, 1, 2, 3]
    assert query_ids(workspace, filters=ACCEPT_ALL) == [result.object_id for result in results]
    listed = [entry.version.object_id for entry in history(workspace, after_sequence=0) if entry.HasField("version")]
    assert listed == [result.object_id for result in results]


@pytest.mark.case("A30")
def test_times_are_instants_in_any_zone_and_never_without_one(workspace: Workspace) -> None:
    made = workspace.create(observed_at={"seconds": 1_767_225_600})  # 2026-01-01T00:00:00Z
    other = workspace.create(observed_at={"seconds": 1_767_225_601})

    def found(text: str) -> list[str]:
        at = {"field": "observed_at", "op": memory_pb2.COMPARISON_OPERATOR_EQ, "values": [text]}
        return query_ids(workspace, filters=ACCEPT_ALL | {"predicates": [at]})

    for text in ("2026-01-01T00:00:00Z", "2026-01-01T09:00:00+09:00", "2025-12-31T16:00:00-08:00"):
        assert found(text) == [made.object_id]
    assert found("2026-01-01T09:00:01+09:00") == [other.object_id]
    with pytest.raises(Refusal) as refusal:
        found("2026-01-01T00:00:00")
    assert refusal.value.reason == "INVALID_REQUEST"
