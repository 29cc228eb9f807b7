"""Sealed snapshots: what they say, what reads in them see, and what the authority and the gate of now still decide."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

import pytest

from remit.v1 import derived_pb2, ledger_pb2, memory_pb2, snapshot_pb2
from server.wire.json_export import export_snapshot
from tests.cluster import ADMIN, Cluster, Refusal, Workspace
from tests.contract.operations import SPACE
from tests.server.operations.memory.requests import (
    ACCEPT_ALL,
    CORROBORATED,
    delete,
    grant,
    history,
    query_ids,
    query_page,
    transition,
    update,
)
from tests.server.operations.snapshot.sealing import evaluation_workspace, seal
from tests.server.wire.shared_schemas import needs_shared, shared_validator

TOOL_RESULT = b'{"invocation_object_id":"mem:call","outcome":"success"}'
CLOCK: dict[str, Any] = {"clock_ref": "clock:1", "start_at": {"seconds": 1_600_000_000, "nanos": 5000}, "tick_ms": 7}


def refusal_of(call: Any, *arguments: Any, **fields: Any) -> Refusal:
    """The refusal of a call."""
    with pytest.raises(Refusal) as refused:
        call(*arguments, **fields)
    return refused.value


def got(workspace: Workspace, snapshot_id: str) -> snapshot_pb2.Snapshot:
    """GetSnapshot."""
    request = snapshot_pb2.GetSnapshotRequest(scope_id=workspace.scope_id, snapshot_id=snapshot_id)
    response: snapshot_pb2.GetSnapshotResponse = workspace.owner.snapshot.GetSnapshot(request)
    return response.snapshot


def envelope_digests(events: list[Any]) -> dict[str, str]:
    """The digest of each version, as the event that made it has it."""
    payloads = ((event.version_id, json.loads(event.payload_json)) for event in events if event.version_id)
    return {version_id: payload["envelope_digest"] for version_id, payload in payloads if "envelope_digest" in payload}


@pytest.mark.req("P-18.11-01")
def test_a_snapshot_says_what_was_sealed(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    made = [workspace.create(object_id=object_id) for object_id in ("mem:b", "mem:a", "mem:c")]
    head = workspace.events()[-1].sequence
    given: dict[str, Any] = {
        "snapshot_id": "snap:one",
        "included_object_ids": ["mem:b", "mem:a"],
        "deterministic_clock": CLOCK,
        "deterministic_rng_seed": -(2**63),
        "evaluation_run_id": "eval:run:1",
    }
    sealed = seal(workspace, sealed=True, **given)
    assert sealed.sealed
    assert (sealed.snapshot_id, sealed.scope_id) == ("snap:one", workspace.scope_id)
    assert sealed.created_by_actor_id == ADMIN
    assert sealed.created_at.seconds > 1_600_000_000
    assert sealed.ledger_sequence_high_watermark == head
    assert list(sealed.included_object_ids) == ["mem:a", "mem:b"]
    assert sealed.deterministic_clock == snapshot_pb2.DeterministicClock(**CLOCK)
    assert sealed.deterministic_rng_seed == -(2**63)
    assert sealed.evaluation_run_id == "eval:run:1"
    digests = {
        event.version_id: json.loads(event.payload_json)["envelope_digest"]
        for event in workspace.events()
        if event.version_id
    }
    lines = [
        f"{result.object_id} {result.version_id} {result.sequence} {digests[result.version_id]}\n"
        for result in sorted(made[:2], key=lambda result: str(result.object_id))
    ]
    assert sealed.digest == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert (sealed.digest_algorithm, sealed.canonicalization_profile) == ("sha-256", "remit.snapshot-members/1")
    assert got(workspace, "snap:one") == sealed
    event = workspace.events()[-1]
    payload = json.loads(event.payload_json)
    assert payload["snapshot_digest"] == sealed.digest
    assert (payload["snapshot_id"], payload["member_count"]) == ("snap:one", 2)


@pytest.mark.req("P-18.11-01")
def test_an_unsealed_snapshot_is_refused(workspace: Workspace) -> None:
    refused = refusal_of(seal, workspace, sealed=False)
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["sealed"])


@pytest.mark.req("P-18.11-01")
def test_the_watermark_of_an_empty_workspace_is_its_opening(workspace: Workspace) -> None:
    sealed = seal(workspace)
    assert sealed.ledger_sequence_high_watermark == 1
    assert sealed.digest == hashlib.sha256(b"").hexdigest()
    assert not sealed.HasField("deterministic_clock")
    assert not sealed.HasField("deterministic_rng_seed")
    assert sealed.snapshot_id.startswith("urn:uuid:")


@needs_shared
@pytest.mark.req("P-18.11-01")
def test_snapshots_are_those_of_the_draft(workspace: Workspace) -> None:
    validator = shared_validator("evaluation-snapshot.schema.json")
    object_id = workspace.create().object_id
    full: dict[str, Any] = {
        "included_object_ids": [object_id],
        "deterministic_clock": CLOCK,
        "deterministic_rng_seed": 0,
        "evaluation_run_id": "eval:run:1",
    }
    for fields in ({}, full):
        exported = export_snapshot(seal(workspace, **fields))
        assert exported.draft is not None
        assert [error.message for error in validator.iter_errors(exported.draft)] == []
        assert set(full) & set(exported.draft) == set(fields)


@pytest.mark.req("P-18.11-02")
def test_a_sealed_snapshot_takes_nothing_more(workspace: Workspace) -> None:
    first, second = workspace.create(), workspace.create()
    sealed = seal(workspace, snapshot_id="snap:one", included_object_ids=[first.object_id])
    more = [first.object_id, second.object_id]
    for fields in ({"included_object_ids": more}, {}, {"evaluation_run_id": "eval:run:2"}):
        assert refusal_of(seal, workspace, snapshot_id="snap:one", **fields).reason == "INVALID_STATE_TRANSITION"
    assert got(workspace, "snap:one") == sealed


def test_a_repeated_seal_gives_the_snapshot_of_the_first(workspace: Workspace) -> None:
    request = snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id, idempotency_key="key")
    first = workspace.owner.snapshot.SealSnapshot(request)
    workspace.create()
    again = workspace.owner.snapshot.SealSnapshot(request)
    assert again.replayed
    again.ClearField("replayed")
    assert again == first
    other = snapshot_pb2.SealSnapshotRequest(
        scope_id=workspace.scope_id, idempotency_key="key", deterministic_rng_seed=1
    )
    assert refusal_of(workspace.owner.snapshot.SealSnapshot, other).reason == "DUPLICATE_OPERATION"


def test_members_must_be_there(workspace: Workspace) -> None:
    made = workspace.create()
    refused = refusal_of(seal, workspace, included_object_ids=[made.object_id, "mem:absent"])
    assert refused.reason == "OBJECT_NOT_FOUND"
    assert "snapshot_sealed" not in {event.event_type for event in workspace.events()}


def test_embedding_spaces_must_be_registered(workspace: Workspace) -> None:
    descriptor: dict[str, Any] = SPACE
    space = derived_pb2.EmbeddingSpace(**descriptor)
    request = derived_pb2.RegisterEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space=space)
    workspace.owner.derived.RegisterEmbeddingSpace(request)
    known = space.embedding_space_id
    refused = refusal_of(seal, workspace, included_embedding_space_ids=[known, "espace:absent"])
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["included_embedding_space_ids[1]"])
    assert list(seal(workspace, included_embedding_space_ids=[known]).included_embedding_space_ids) == [known]


@pytest.mark.req("P-10.2-05", "P-14-17")
def test_an_unknown_snapshot_is_not_found_whatever_is_asked_in_it(workspace: Workspace) -> None:
    made = workspace.create()
    elsewhere = seal(Workspace(workspace.cluster)).snapshot_id
    for snapshot_id in ("snap:absent", elsewhere):
        place: dict[str, Any] = {"snapshot_id": snapshot_id}
        refusals = [
            refusal_of(workspace.read, made.object_id, **place),
            refusal_of(query_page, workspace, **place),
            refusal_of(history, workspace, object_id=made.object_id, **place),
            refusal_of(history, workspace, after_sequence=0, **place),
            refusal_of(got, workspace, snapshot_id),
        ]
        assert {refused.reason for refused in refusals} == {"SNAPSHOT_NOT_FOUND"}
        assert {refused.pamspec.retryable for refused in refusals} == {False}


@pytest.mark.req("P-10.2-01", "P-18.11-02")
def test_reads_in_a_snapshot_see_it_and_nothing_later(workspace: Workspace) -> None:
    first = workspace.create(canonical_content=b'{"n":1}')
    sealed = seal(workspace)
    second = update(workspace, first.object_id, first.version_id, canonical_content=b'{"n":2}')
    later = workspace.create()
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id}
    read = workspace.read(first.object_id, **within)
    assert read.envelope == first.envelope
    assert workspace.read(first.object_id).envelope == second.envelope
    assert workspace.read(first.object_id, version_id=first.version_id, **within).envelope == first.envelope
    assert (
        refusal_of(workspace.read, first.object_id, version_id=second.version_id, **within).reason == "OBJECT_NOT_FOUND"
    )
    assert refusal_of(workspace.read, later.object_id, **within).reason == "OBJECT_NOT_FOUND"
    assert query_ids(workspace, filters=ACCEPT_ALL, **within) == [first.object_id]
    entries = history(workspace, object_id=first.object_id, **within)
    assert [entry.version.version_id for entry in entries if entry.HasField("version")] == [first.version_id]
    ranged = history(workspace, after_sequence=0, **within)
    assert max(entry.ledger_sequence for entry in ranged) == sealed.ledger_sequence_high_watermark
    assert refusal_of(history, workspace, object_id=later.object_id, **within).reason == "OBJECT_NOT_FOUND"


@pytest.mark.req("P-10.2-01")
def test_a_read_gives_the_view_of_each_optional_input(workspace: Workspace) -> None:
    first = workspace.create()
    sealed = seal(workspace)
    second = update(workspace, first.object_id, first.version_id)
    assert workspace.read(first.object_id, version_id=first.version_id).envelope == first.envelope
    whole = workspace.read(first.object_id)
    assert not whole.HasField("history")
    hinted = workspace.read(first.object_id, history_hint=True)
    assert hinted.history == memory_pb2.HistoryHint(version_count=2, current_version_id=second.version_id)
    earlier = workspace.read(first.object_id, history_hint=True, snapshot_id=sealed.snapshot_id)
    assert earlier.history == memory_pb2.HistoryHint(version_count=1, current_version_id=first.version_id)
    masked = workspace.read(first.object_id, field_mask=["object_type", "canonical_content"]).envelope
    always = {"object_id", "version_id", "scope_id"}
    states = {f"{name}_state" for name in ("lifecycle", "availability", "retention", "validation")}
    given = {field.name: value for field, value in masked.ListFields()}
    assert set(given) == {"object_type", "canonical_content"} | always | states
    assert all(getattr(whole.envelope, name) == value for name, value in given.items())
    refused = refusal_of(workspace.read, first.object_id, field_mask=["object_type", "content"])
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["field_mask[1]"])


@pytest.mark.req("P-10.6-03", "P-18.11-02")
def test_a_snapshot_of_chosen_members_holds_no_other(workspace: Workspace) -> None:
    member, other = workspace.create(), workspace.create()
    sealed = seal(workspace, included_object_ids=[member.object_id])
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id}
    assert workspace.read(member.object_id, **within).envelope == member.envelope
    assert refusal_of(workspace.read, other.object_id, **within).reason == "OBJECT_NOT_FOUND"
    assert query_ids(workspace, filters=ACCEPT_ALL, **within) == [member.object_id]
    assert {
        entry.event.object_id for entry in history(workspace, after_sequence=0, **within) if entry.event.event_id
    } == {member.object_id}
    assert refusal_of(history, workspace, object_id=other.object_id, **within).reason == "OBJECT_NOT_FOUND"


def all_pages(workspace: Workspace, **fields: Any) -> tuple[list[bytes], list[Any]]:
    """The serialized rows of each page, and the metadata of each."""
    rows, metadata, cursor = [], [], ""
    while True:
        page = query_page(workspace, cursor=cursor, **fields)
        rows.append(memory_pb2.QueryResponse(results=page.results).SerializeToString(deterministic=True))
        metadata.append(page.metadata)
        cursor = page.cursor
        if not cursor:
            return rows, metadata


@pytest.mark.req("P-11-02", "P-18.7-01")
@pytest.mark.parametrize("order", range(6))
def test_a_query_in_a_snapshot_repeats_byte_for_byte(workspace: Workspace, order: int) -> None:
    made = [workspace.create(validation_state=CORROBORATED, observed_at={"seconds": 5}) for _ in range(7)]
    sealed = seal(workspace)
    asked: dict[str, Any] = {"snapshot_id": sealed.snapshot_id, "limit": 3, "order": order}
    before = all_pages(workspace, **asked)
    for result in made[:3]:
        newer = update(workspace, result.object_id, result.version_id)
        transition(
            workspace, result.object_id, newer.version_id, "validation", "disputed", provenance={"activity": "x"}
        )
    for _ in range(4):
        workspace.create(validation_state=CORROBORATED)
    assert all_pages(workspace, **asked) == before
    assert len(before[0]) == 3
    assert {page.ledger_sequence for page in before[1]} == {sealed.ledger_sequence_high_watermark}
    assert {page.snapshot_id for page in before[1]} == {sealed.snapshot_id}
    assert len(query_ids(workspace)) == 8


@pytest.mark.case("A29")
def test_lists_and_reads_agree_in_a_snapshot(workspace: Workspace) -> None:
    made = [workspace.create() for _ in range(5)]
    within: dict[str, Any] = {"snapshot_id": seal(workspace).snapshot_id}
    for result in made[:2]:
        transition(workspace, result.object_id, result.version_id, "retention", "expired")
    update(workspace, made[2].object_id, made[2].version_id)
    listed = query_page(workspace, filters=ACCEPT_ALL, **within).results
    assert [row.object_id for row in listed] == [result.object_id for result in made]
    for row in listed:
        assert workspace.read(row.object_id, **within).envelope == row


@pytest.mark.req("P-18.11-02")
def test_erasure_wins_over_a_snapshot(workspace: Workspace) -> None:
    names = ("kept", "deleted", "redacted", "pending")
    made = {name: workspace.create(object_id=f"mem:{name}", validation_state=CORROBORATED) for name in names}
    sealed = seal(workspace)
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id}
    assert len(query_ids(workspace, **within)) == 4
    delete(workspace, "mem:deleted", made["deleted"].version_id)
    transition(workspace, "mem:redacted", made["redacted"].version_id, "availability", "redacted")
    transition(workspace, "mem:pending", made["pending"].version_id, "retention", "pending_deletion")
    workspace.allow("actor:reader", "read", "query", "inspect_history")
    reader = workspace.cluster.client("actor:reader")
    reasons = {
        name: refusal_of(workspace.read, f"mem:{name}", reader, **within).reason for name in names if name != "kept"
    }
    assert reasons == {
        "deleted": "OBJECT_DELETED",
        "redacted": "OBJECT_REDACTED",
        "pending": "RETENTION_RESTRICTION",
    }
    assert query_ids(workspace, reader, **within) == ["mem:kept"]
    for name in names[1:]:
        versions = [
            entry for entry in history(workspace, reader, object_id=f"mem:{name}", **within) if entry.content_state
        ]
        assert [entry.content_state for entry in versions] == [memory_pb2.CONTENT_STATE_WITHHELD]
        assert {entry.version.canonical_content for entry in versions} == {b""}
    assert got(workspace, sealed.snapshot_id) == sealed


def test_a_snapshot_gives_no_authority(workspace: Workspace) -> None:
    claim, task = workspace.create(object_type="claim"), workspace.create(object_type="task")
    within: dict[str, Any] = {"snapshot_id": seal(workspace).snapshot_id}
    delegation_id = grant(
        workspace, "actor:delegate", "read", "query", "inspect_history", granted_object_types={"values": ["task"]}
    )
    delegate = workspace.cluster.client("actor:delegate")
    by_grant: dict[str, Any] = {"delegation_id": delegation_id, **within}
    assert query_ids(workspace, delegate, filters=ACCEPT_ALL, **by_grant) == [task.object_id]
    assert workspace.read(task.object_id, delegate, **by_grant).envelope == task.envelope
    assert refusal_of(workspace.read, claim.object_id, delegate, **by_grant).reason == "ACCESS_DENIED"
    # What the caller may not touch is refused before the snapshot is looked for.
    hidden: dict[str, Any] = {"delegation_id": delegation_id, "snapshot_id": "snap:absent"}
    assert refusal_of(workspace.read, claim.object_id, delegate, **hidden).reason == "ACCESS_DENIED"
    for call in (lambda: seal(workspace, delegate), lambda: seal(workspace, delegate, snapshot_id="snap:x")):
        assert refusal_of(call).reason == "ACCESS_DENIED"


@pytest.mark.req("P-12-09")
def test_no_half_operation_is_seen_in_a_snapshot(cluster: Cluster) -> None:
    """Every change here is one operation with several events, or a pair of objects changed by one promotion."""
    workspace = Workspace(cluster)
    stop = threading.Event()

    def write(number: int) -> None:
        client = cluster.client(ADMIN)
        at = workspace.create(
            client, object_id=f"mem:{number}", object_type="tool_result", canonical_content=TOOL_RESULT
        )
        while not stop.is_set():
            at = update(workspace, at.object_id, at.version_id, client, canonical_content=TOOL_RESULT)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    snapshots = [seal(workspace) for _ in range(12)]
    stop.set()
    for writer in writers:
        writer.join()
    events = workspace.events()
    for sealed in snapshots:
        watermark = sealed.ledger_sequence_high_watermark
        within = {event.operation_id for event in events if event.sequence <= watermark}
        assert within.isdisjoint({event.operation_id for event in events if event.sequence > watermark})
        digest = hashlib.sha256()
        last = {event.object_id: event for event in events if event.version_id and event.sequence <= watermark}
        rows = query_page(workspace, filters=ACCEPT_ALL, snapshot_id=sealed.snapshot_id, order=5).results
        assert {row.object_id: row.version_id for row in rows} == {key: last[key].version_id for key in last}
        made_by = {
            event.version_id: json.loads(event.payload_json)
            for event in events
            if "envelope_digest" in event.payload_json
        }
        for row in rows:
            digest.update(
                f"{row.object_id} {row.version_id} {row.sequence} {made_by[row.version_id]['envelope_digest']}\n".encode()
            )
        assert digest.hexdigest() == sealed.digest


@pytest.mark.parametrize("column", ["core", "mac", "mac_key_id", "snapshot_id"])
def test_a_snapshot_edited_behind_the_service_is_refused(workspace: Workspace, column: str) -> None:
    made = workspace.create()
    sealed = seal(workspace, snapshot_id="snap:one")
    other = seal(workspace, snapshot_id="snap:two", included_object_ids=[made.object_id])
    edits = {
        "core": "core = (select core from remit.snapshots where scope_id = %(scope)s and snapshot_id = 'snap:two')",
        "mac": "mac = sha256(mac)",
        "mac_key_id": "mac_key_id = 'other'",
        "snapshot_id": "snapshot_id = 'snap:three'",
    }
    edit = f"update remit.snapshots set {edits[column]} where scope_id = %(scope)s and snapshot_id = 'snap:one'"
    with workspace.cluster.superuser() as connection:
        connection.execute(edit, {"scope": workspace.scope_id})
    snapshot_id = "snap:three" if column == "snapshot_id" else sealed.snapshot_id
    for refused in (
        refusal_of(got, workspace, snapshot_id),
        refusal_of(workspace.read, made.object_id, snapshot_id=snapshot_id),
    ):
        assert refused.reason == "INTERNAL_ERROR"
    assert got(workspace, "snap:two") == other
    kinds = [event.event_type for event in workspace.events()]
    assert kinds.count(ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION) == 2
