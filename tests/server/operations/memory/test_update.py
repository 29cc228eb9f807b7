"""Update: new versions, what they carry on, and who loses a race (PAMSPEC 8.4, 10.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import ADMIN, Client, Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, history, transition, update


def update_request(workspace: Workspace, made: Any) -> memory_pb2.UpdateRequest:
    """A request that names all it needs."""
    return memory_pb2.UpdateRequest(
        scope_id=workspace.scope_id,
        object_id=made.object_id,
        expected_version_id=made.version_id,
        canonical_content=b"2",
        provenance={"activity": "revised"},
    )


@pytest.mark.req("P-10.3-01")
@pytest.mark.parametrize("missing", ["scope_id", "object_id", "expected_version_id", "provenance"])
def test_an_update_names_all_it_needs(workspace: Workspace, missing: str) -> None:
    request = update_request(workspace, workspace.create())
    request.ClearField(missing)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Update(request)
    code = "INVALID_OBJECT" if missing == "provenance" else "INVALID_REQUEST"
    assert (refusal.value.reason, refusal.value.fields) == (code, [missing])


@pytest.mark.req("P-10.3-02", "P-8.6-03")
def test_an_update_is_one_version_with_its_events(workspace: Workspace) -> None:
    made = workspace.create()
    updated = update(workspace, made.object_id, made.version_id, operation_id="op:u")
    assert updated.sequence == 2
    assert updated.envelope == workspace.read(made.object_id).envelope
    events = [event for event in workspace.events(object_id=made.object_id) if event.operation_id == "op:u"]
    assert [event.event_type for event in events] == [
        ledger_pb2.EVENT_TYPE_OBJECT_UPDATED,
        ledger_pb2.EVENT_TYPE_PROVENANCE_UPDATED,
    ]
    assert [event.event_id for event in events] == list(updated.event_ids)
    assert {event.version_id for event in events} == {updated.version_id}
    assert json.loads(events[0].payload_json)["changed_fields"] == ["canonical_content", "provenance"]


@pytest.mark.req("P-8.4-01", "P-8.1-04", "P-8.6-03")
def test_each_kind_of_change_is_one_version_and_one_primary_event(workspace: Workspace) -> None:
    made = workspace.create()
    changes: list[Callable[[str], Any]] = [
        lambda at: update(workspace, made.object_id, at),
        lambda at: update(workspace, made.object_id, at, update_mask=["provenance"]),
        lambda at: update(workspace, made.object_id, at, update_mask=["valid_until"], valid_until={"seconds": 9}),
        lambda at: update(
            workspace, made.object_id, at, update_mask=["quality_signals"], quality_signals={"staleness_score": 0.5}
        ),
        lambda at: transition(workspace, made.object_id, at, "lifecycle", "archived"),
        lambda at: delete(workspace, made.object_id, at),
    ]
    results = [made]
    for change in changes:
        results.append(change(results[-1].version_id))
    version_ids = [result.version_id for result in results]
    assert len(set(version_ids)) == len(version_ids)
    assert [result.sequence for result in results] == list(range(1, len(results) + 1))
    secondary = {ledger_pb2.EVENT_TYPE_PROVENANCE_UPDATED}
    primary = [
        event.version_id
        for event in workspace.events(object_id=made.object_id)
        if event.version_id and event.event_type not in secondary
    ]
    assert primary == version_ids
    stored = [entry.version for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert [version.version_id for version in stored] == version_ids
    assert [version.sequence for version in stored] == list(range(1, len(stored) + 1))


def test_an_update_carries_on_what_it_does_not_name(workspace: Workspace) -> None:
    made = workspace.create(
        schema_id="urn:s:1",
        observed_at={"seconds": 1},
        valid_from={"seconds": 2},
        quality_signals={"staleness_score": 0.5},
        integrity={"digest": "d", "algorithm": "a"},
    )
    kept = update(workspace, made.object_id, made.version_id, update_mask=["asserted_at"], asserted_at={"seconds": 3})
    envelope = kept.envelope
    assert (envelope.canonical_content, envelope.schema_id) == (b'{"statement":"x"}', "urn:s:1")
    assert (envelope.observed_at.seconds, envelope.asserted_at.seconds, envelope.valid_from.seconds) == (1, 3, 2)
    assert envelope.quality_signals.staleness_score == 0.5
    cleared = update(
        workspace, made.object_id, kept.version_id, update_mask=["schema_id", "observed_at", "quality_signals"]
    )
    read = workspace.read(made.object_id).envelope
    assert read == cleared.envelope
    assert [read.schema_id, read.HasField("observed_at"), read.HasField("quality_signals")] == ["", False, False]
    assert read.canonical_content == b'{"statement":"x"}'


@pytest.mark.req("P-8.1-21", "P-8.7-01")
def test_integrity_metadata_is_bound_to_the_version_it_came_with(workspace: Workspace) -> None:
    integrity: dict[str, Any] = {
        "digest": "sha256:example",
        "algorithm": "sha-256",
        "canonicalization_profile": "none",
        "signature": "c2ln",
        "ledger_ref": "urn:ledger:1",
    }
    made = workspace.create(integrity=integrity)
    assert made.envelope.integrity == common_pb2.Integrity(**integrity)
    updated = update(workspace, made.object_id, made.version_id)
    moved = transition(workspace, made.object_id, updated.version_id, "lifecycle", "archived")
    for version_id in (updated.version_id, moved.version_id):
        assert not workspace.read(made.object_id, version_id=version_id).envelope.HasField("integrity")
    assert workspace.read(made.object_id, version_id=made.version_id).envelope == made.envelope
    with pytest.raises(Refusal) as refusal:
        workspace.create(integrity={"digest": "sha256:example"})
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_OBJECT", ["integrity.algorithm"])


@pytest.mark.req("P-8.1-06")
def test_a_type_is_never_changed_by_an_update(workspace: Workspace) -> None:
    made = workspace.create()
    with pytest.raises(Refusal) as refusal:
        update(workspace, made.object_id, made.version_id, update_mask=["object_type"])
    assert refusal.value.reason == "INVALID_REQUEST"
    unknown_field = b"\xf2\x01\x04task"  # number 30, a string
    renamed = memory_pb2.UpdateRequest.FromString(update_request(workspace, made).SerializeToString() + unknown_field)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Update(renamed)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["#30"])
    assert workspace.read(made.object_id).envelope == made.envelope


@pytest.mark.req("P-10.3-04", "P-10.3-05")
def test_what_is_gone_or_going_is_not_updated(workspace: Workspace) -> None:
    made = [workspace.create() for _ in range(3)]
    states = {
        "OBJECT_DELETED": delete(workspace, made[0].object_id, made[0].version_id),
        "RETENTION_RESTRICTION": transition(
            workspace, made[1].object_id, made[1].version_id, "retention", "pending_deletion"
        ),
        "OBJECT_REDACTED": transition(workspace, made[2].object_id, made[2].version_id, "availability", "redacted"),
    }
    for code, result in states.items():
        with pytest.raises(Refusal) as refusal:
            update(workspace, result.object_id, result.version_id)
        assert refusal.value.reason == code


@pytest.mark.req("P-8.4-02", "P-8.4-03", "P-14-12")
@pytest.mark.case("A34")
def test_one_of_two_updates_of_a_version_wins(workspace: Workspace, cluster: Cluster) -> None:
    made = workspace.create()

    def attempt(number: int) -> Any:
        try:
            fields: dict[str, Any] = {
                "canonical_content": str(number).encode(),
                "operation_id": f"op:{workspace.scope_id}:{number}",
            }
            return update(workspace, made.object_id, made.version_id, **fields)
        except Refusal as refusal:
            return refusal

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(attempt, range(2)))
    [lost] = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    [won] = [outcome for outcome in outcomes if not isinstance(outcome, Refusal)]
    assert (lost.reason, lost.info.metadata["retryable"], lost.pamspec.retryable) == ("VERSION_CONFLICT", "true", True)
    assert lost.info.metadata["current_version_id"] == won.version_id
    assert lost.info.metadata["expected_version_id"] == made.version_id
    assert workspace.read(made.object_id).envelope == won.envelope
    log = Path(cluster.folder / "server-0.log").read_text().splitlines()
    [line] = [line for line in log if f"operation_id={lost.pamspec.operation_id} " in f"{line} "]
    assert " INFO " in line


@pytest.mark.req("P-12-02")
def test_a_conflict_tells_the_current_version_to_readers_only(workspace: Workspace) -> None:
    made = workspace.create()
    updated = update(workspace, made.object_id, made.version_id)
    actions = ("update", "delete", "transition.lifecycle")
    workspace.allow("actor:blind", *actions)
    workspace.allow("actor:seeing", "read", *actions)
    place = (workspace, made.object_id, made.version_id)
    for actor_id, expected in (("actor:blind", ""), ("actor:seeing", updated.version_id)):
        changes: list[Callable[[Client], Any]] = [
            lambda client: update(*place, client),
            lambda client: delete(*place, client),
            lambda client: transition(*place, "lifecycle", "archived", client),
        ]
        for change in changes:
            with pytest.raises(Refusal) as refusal:
                change(workspace.cluster.client(actor_id))
            assert refusal.value.reason == "VERSION_CONFLICT"
            assert refusal.value.info.metadata["current_version_id"] == expected
            assert refusal.value.pamspec.current_version_id == expected


def test_who_may_change_but_not_read_learns_nothing_by_changing(workspace: Workspace) -> None:
    made = workspace.create(
        canonical_content=b'"secret"',
        provenance={"activity": "secret"},
        integrity={"digest": "secret", "algorithm": "a"},
    )
    workspace.allow("actor:blind", "update", "transition.lifecycle")
    blind = workspace.cluster.client("actor:blind")
    masked: dict[str, Any] = {"update_mask": ["valid_until"], "valid_until": {"seconds": 1}, "idempotency_key": "k"}
    updated = update(workspace, made.object_id, made.version_id, blind, **masked)
    again = update(workspace, made.object_id, made.version_id, blind, **masked)
    assert (again.replayed, again.version_id) == (True, updated.version_id)
    moved = transition(workspace, made.object_id, updated.version_id, "lifecycle", "archived", blind)
    for result in (updated, again, moved):
        assert b"secret" not in result.SerializeToString()
    own = update(workspace, made.object_id, moved.version_id, blind, canonical_content=b'"mine"')
    assert (own.envelope.canonical_content, own.envelope.provenance.activity) == (b'"mine"', "revised")
    assert own.envelope.actor.actor_id == "actor:blind" != ADMIN


@pytest.mark.req("P-7.7-04", "P-8.1-14")
def test_events_of_an_object_are_in_the_order_of_its_versions(workspace: Workspace) -> None:
    made = workspace.create()
    clients = [workspace.cluster.client(ADMIN) for _ in range(10)]

    def persist(client: Any) -> str:
        expected = made.version_id
        while True:
            try:
                return str(update(workspace, made.object_id, expected, client).version_id)
            except Refusal as refusal:
                if refusal.reason != "VERSION_CONFLICT":
                    raise
                expected = refusal.info.metadata["current_version_id"]

    with ThreadPoolExecutor(10) as pool:
        written = set(pool.map(persist, clients))
    assert len(written) == 10
    updates = workspace.events(object_id=made.object_id, event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_UPDATED])
    assert [json.loads(event.payload_json)["object_sequence"] for event in updates] == list(range(2, 12))
    sequences = [event.sequence for event in updates]
    assert sequences == sorted(sequences)
    stored = [entry.version for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert [version.version_id for version in stored][1:] == [event.version_id for event in updates]
    assert [version.sequence for version in stored] == list(range(1, 12))
