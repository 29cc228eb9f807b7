"""Sealed snapshots: what they say, that they never change, and that they hold no half operation."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

import pytest

from remit.v1 import derived_pb2, ledger_pb2, snapshot_pb2
from server.wire.json_export import export_snapshot
from tests.cluster import ADMIN, Cluster, Workspace
from tests.contract.operations import SPACE
from tests.server.operations.memory.requests import (
    ACCEPT_ALL,
    query_page,
    update,
)
from tests.server.operations.snapshot.sealing import evaluation_workspace, got, refusal_of, seal
from tests.server.wire.shared_schemas import needs_shared, shared_validator

TOOL_RESULT = b'{"invocation_object_id":"mem:call","outcome":"success"}'
CLOCK: dict[str, Any] = {"clock_ref": "clock:1", "start_at": {"seconds": 1_600_000_000, "nanos": 5000}, "tick_ms": 7}


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


def test_hidden_members_are_told_like_absent_ones(workspace: Workspace, cluster: Cluster) -> None:
    hidden = workspace.create(object_id="mem:hidden", object_type="decision")
    seen = workspace.create(object_id="mem:seen")
    only_seals, limited, denied = (cluster.client(f"actor:seals-{name}") for name in ("only", "claims", "less"))
    for client in (only_seals, limited, denied):
        workspace.allow(client.actor_id, "snapshot.seal", "snapshot.read")
    workspace.allow(limited.actor_id, "inspect_history", object_type="claim")
    workspace.allow(denied.actor_id, "read")
    workspace.deny(denied.actor_id, "read", object_id="mem:hidden")
    for client in (only_seals, limited):
        for object_ids in ([hidden.object_id], ["mem:absent"], [seen.object_id, hidden.object_id]):
            refused = refusal_of(seal, workspace, client, included_object_ids=object_ids)
            assert (refused.reason, refused.denial_reason) == ("ACCESS_DENIED", "NO_RULE")
    assert refusal_of(seal, workspace, denied, included_object_ids=["mem:hidden"]).reason == "ACCESS_DENIED"
    assert "snapshot_sealed" not in {event.event_type for event in workspace.events()}
    both = seal(workspace, included_object_ids=[hidden.object_id, seen.object_id])
    for client, visible in ((only_seals, []), (limited, ["mem:seen"]), (denied, ["mem:seen"])):
        given = got(workspace, both.snapshot_id, client)
        assert list(given.included_object_ids) == visible
        assert given.digest == both.digest
    mine = snapshot_pb2.SealSnapshotRequest(
        scope_id=workspace.scope_id, idempotency_key="key", included_object_ids=["mem:seen"]
    )
    assert list(limited.snapshot.SealSnapshot(mine).snapshot.included_object_ids) == ["mem:seen"]
    workspace.deny(limited.actor_id, "inspect_history")
    assert not limited.snapshot.SealSnapshot(mine).snapshot.included_object_ids


def test_embedding_spaces_must_be_registered(workspace: Workspace) -> None:
    descriptor: dict[str, Any] = SPACE
    space = derived_pb2.EmbeddingSpace(**descriptor)
    request = derived_pb2.RegisterEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space=space)
    workspace.owner.derived.RegisterEmbeddingSpace(request)
    known = space.embedding_space_id
    refused = refusal_of(seal, workspace, included_embedding_space_ids=[known, "espace:absent"])
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["included_embedding_space_ids[1]"])
    assert list(seal(workspace, included_embedding_space_ids=[known]).included_embedding_space_ids) == [known]


@pytest.mark.req("P-12-09")
def test_no_half_operation_is_seen_in_a_snapshot(cluster: Cluster) -> None:
    """Every change here is one operation with two events."""
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
    snapshots = [seal(workspace)]
    while len({sealed.ledger_sequence_high_watermark for sealed in snapshots}) < 8:
        snapshots.append(seal(workspace))
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
