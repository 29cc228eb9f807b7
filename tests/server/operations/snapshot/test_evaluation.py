"""Changes under an evaluation: its clock, its run, and where they may be made (PAMSPEC 18.11)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from remit.v1 import common_pb2, ledger_pb2, memory_pb2, snapshot_pb2
from server.cli.ledger import ledger
from server.wire.json_export import export_envelope
from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, grant, query_ids, transition, update
from tests.server.operations.snapshot.sealing import evaluation_workspace, seal

RUN = "eval:run:1"
START = 1_600_000_000
TICK_MS = 250
CHANGES = ("Create", "Update", "Transition", "Redact", "Delete", "Relate", "Promote")
NOTE = b'{"task_ref":"task:1","content":{}}'
NOTED: dict[str, Any] = {
    "object_type": "working_memory",
    "canonical_content": NOTE,
    "lifecycle_state": common_pb2.LIFECYCLE_STATE_ACTIVE,
}
CLOCK: dict[str, Any] = {"clock_ref": "clock:frozen", "start_at": {"seconds": START}, "tick_ms": TICK_MS}


def times(envelope: Any) -> tuple[int, int]:
    """Commit and record time in milliseconds after START."""
    committed, recorded = (
        (stamp.seconds - START) * 1000 + stamp.nanos // 1_000_000
        for stamp in (envelope.committed_at, envelope.recorded_at)
    )
    return committed, recorded


def play(workspace: Workspace, snapshot_id: str) -> list[Any]:
    """The same changes every time; returns every version made, as its change answered."""
    under: dict[str, Any] = {"evaluation_snapshot_id": snapshot_id}
    moves = (workspace, "mem:a")
    made = [workspace.create(object_id=object_id, **under) for object_id in ("mem:a", "mem:b")]
    made.append(update(*moves, made[0].version_id, **under))
    doubted: dict[str, Any] = {"provenance": {"activity": "doubted"}, **under}
    made.append(transition(*moves, made[-1].version_id, "validation", "disputed", **doubted))
    made.append(transition(*moves, made[-1].version_id, "lifecycle", "deprecated", **under))
    made.append(delete(workspace, "mem:b", made[1].version_id, **under))
    return [result.envelope for result in made]


@pytest.mark.req("P-18.11-03")
def test_a_replay_in_a_fresh_workspace_gives_the_same_times(cluster: Cluster) -> None:
    played = []
    for _ in range(2):
        workspace = evaluation_workspace(cluster)
        snapshot = seal(workspace, deterministic_clock=CLOCK, evaluation_run_id=RUN)
        versions = play(workspace, snapshot.snapshot_id)
        played.append([(v.object_id, v.sequence, v.provenance.recorded_at, times(v)) for v in versions])
        verified = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id)
        assert workspace.owner.ledger.VerifyLedger(verified).ok
    assert played[0] == played[1]
    assert [entry[-1] for entry in played[0]] == [(number * TICK_MS, number * TICK_MS) for number in range(6)]


@pytest.mark.req("P-18.11-03")
def test_changes_side_by_side_each_have_a_time_of_their_own(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    snapshot = seal(workspace, deterministic_clock=CLOCK)
    made: list[Any] = []

    def create() -> None:
        made.append(workspace.create(evaluation_snapshot_id=snapshot.snapshot_id))

    threads = [threading.Thread(target=create) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(times(result.envelope)[0] for result in made) == [number * TICK_MS for number in range(12)]


@pytest.mark.req("P-18.11-03")
def test_replicas_share_the_clock_of_a_run(replicas: Cluster) -> None:
    workspace = evaluation_workspace(replicas)
    snapshot = seal(workspace, deterministic_clock=CLOCK)
    made: list[Any] = []

    def create(server: int) -> None:
        client = replicas.client(ADMIN, server=server)
        made.extend(workspace.create(client, evaluation_snapshot_id=snapshot.snapshot_id) for _ in range(5))

    threads = [threading.Thread(target=create, args=(server,)) for server in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(times(result.envelope)[0] for result in made) == [number * TICK_MS for number in range(15)]


def test_a_refused_and_a_repeated_change_take_no_reading(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    under: dict[str, Any] = {"evaluation_snapshot_id": seal(workspace, deterministic_clock=CLOCK).snapshot_id}
    first = workspace.create(idempotency_key="one", **under)
    again = workspace.create(idempotency_key="one", **under)
    assert again.replayed
    assert again.envelope == first.envelope
    update(workspace, first.object_id, first.version_id, **under)
    with pytest.raises(Refusal):
        update(workspace, first.object_id, first.version_id, **under)
    assert times(workspace.create(**under).envelope) == (2 * TICK_MS, 2 * TICK_MS)


def test_a_clock_that_runs_out_refuses(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    last = {"clock_ref": "clock:end", "start_at": {"seconds": 253_402_300_799}, "tick_ms": 1000}
    under: dict[str, Any] = {"evaluation_snapshot_id": seal(workspace, deterministic_clock=last).snapshot_id}
    workspace.create(**under)
    with pytest.raises(Refusal) as refused:
        workspace.create(**under)
    assert refused.value.reason == "POLICY_DENIED"


@pytest.mark.req("P-18.11-03")
def test_windows_of_grants_keep_the_clock_of_the_database(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    under: dict[str, Any] = {"evaluation_snapshot_id": seal(workspace, deterministic_clock=CLOCK).snapshot_id}
    delegation_id = grant(workspace, "actor:delegate", "update")  # not valid in the year of CLOCK
    made = workspace.create(**under)
    delegate = cluster.client("actor:delegate")
    result = update(workspace, made.object_id, made.version_id, delegate, delegation_id=delegation_id, **under)
    assert times(result.envelope) == (TICK_MS, TICK_MS)


@pytest.mark.req("P-18.11-05")
def test_every_version_and_event_of_a_run_names_it_and_no_other_does(cluster: Cluster, tmp_path: Path) -> None:
    workspace = evaluation_workspace(cluster)
    before = workspace.create(object_id="mem:before")
    snapshot = seal(workspace, deterministic_clock=CLOCK, evaluation_run_id=RUN)
    watermark = workspace.events()[-1].sequence
    under: dict[str, Any] = {"evaluation_snapshot_id": snapshot.snapshot_id}
    # Without provenance of its own the version would carry on a record that no run made.
    moved = transition(workspace, "mem:before", before.version_id, "lifecycle", "deprecated", **under)
    for version in [moved.envelope, *play(workspace, snapshot.snapshot_id)]:
        assert version.provenance.evaluation_run_id == RUN
        exported = export_envelope(version).draft
        assert exported is not None
        assert exported["provenance"]["evidence_refs"] == [f"evaluation-run:{RUN}"]
        assert "evaluation_run_id" not in exported["provenance"]
    assert workspace.read("mem:before", version_id=before.version_id).envelope == before.envelope
    assert before.envelope.provenance.evaluation_run_id == ""
    events = workspace.events()
    assert {event.evaluation_run_id for event in events if event.sequence <= watermark} == {""}
    assert {event.evaluation_run_id for event in events if event.sequence > watermark and event.version_id} == {RUN}
    # What is written in the same workspace without naming the evaluation is not part of it.
    plain = workspace.create()
    assert plain.envelope.provenance.evaluation_run_id == ""
    assert workspace.events()[-1].evaluation_run_id == ""
    file = tmp_path / "ledger.jsonl"
    place = ["--tenant", TENANT, "--scope", workspace.scope_id, "--database-url", cluster.database.server]
    written = CliRunner().invoke(ledger, ["export", *place, "--out", str(file)])
    assert written.exit_code == 0, written.output
    verified = CliRunner().invoke(ledger, ["verify", str(file)])
    assert verified.exit_code == 0, verified.output


@pytest.mark.req("P-18.11-05", "P-18.11-03")
def test_redactions_relationships_and_promotions_are_of_the_run_too(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    before = [workspace.create() for _ in range(2)]
    noted = workspace.create(**NOTED)
    snapshot = seal(workspace, deterministic_clock=CLOCK, evaluation_run_id=RUN)
    watermark = workspace.events()[-1].sequence
    under: dict[str, Any] = {"scope_id": workspace.scope_id, "evaluation_snapshot_id": snapshot.snapshot_id}
    told: dict[str, Any] = {"provenance": {"activity": "x"}}
    memory = workspace.owner.memory
    envelopes: list[Any] = []
    for target in ({"json_pointers": ["/statement"]}, {"whole": True}):
        request = memory_pb2.RedactRequest(
            object_id=before[len(envelopes)].object_id,
            expected_version_id=before[len(envelopes)].version_id,
            target=target,
            mode=memory_pb2.REDACTION_MODE_SUPPRESS,
            policy_basis="x",
            **under,
        )
        envelopes.append(memory.Redact(request).result.envelope)
    related = memory.Relate(
        memory_pb2.RelateRequest(
            source_object_id=before[0].object_id,
            target_object_id=noted.object_id,
            relationship_type="references",
            directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
            **told,
            **under,
        )
    )
    envelopes.append(related.relationship)
    promoted = memory.Promote(
        memory_pb2.PromoteRequest(
            source_object_id=noted.object_id,
            expected_version_id=noted.version_id,
            target_object_type="claim",
            target_canonical_content=b'{"statement":"learned"}',
            **told,
            **under,
        )
    )
    envelopes += [promoted.target.envelope, promoted.source.envelope]
    assert [times(envelope)[0] for envelope in envelopes] == [TICK_MS * number for number in (0, 1, 2, 3, 3)]
    assert {envelope.provenance.evaluation_run_id for envelope in envelopes if envelope.provenance.activity} == {RUN}
    assert workspace.read(noted.object_id).envelope == promoted.source.envelope
    marked = {
        event.evaluation_run_id for event in workspace.events() if event.sequence > watermark and event.version_id
    }
    assert marked == {RUN}


def requests(workspace: Workspace, at: Any, snapshot_id: str) -> dict[str, Any]:
    """Every change of memory that an evaluation can be named in."""
    place: dict[str, Any] = {"scope_id": workspace.scope_id, "evaluation_snapshot_id": snapshot_id}
    on: dict[str, Any] = {**place, "object_id": at.object_id, "expected_version_id": at.version_id}
    told: dict[str, Any] = {"provenance": {"activity": "x"}}
    return {
        "Create": memory_pb2.CreateRequest(object_type="claim", canonical_content=NOTE, **told, **place),
        "Update": memory_pb2.UpdateRequest(canonical_content=NOTE, **told, **on),
        "Transition": memory_pb2.TransitionRequest(
            dimension=memory_pb2.DIMENSION_LIFECYCLE, target_state="deprecated", policy_basis="x", **on
        ),
        "Redact": memory_pb2.RedactRequest(
            target={"whole": True}, mode=memory_pb2.REDACTION_MODE_SUPPRESS, policy_basis="x", **on
        ),
        "Delete": memory_pb2.DeleteRequest(policy_basis="x", **on),
        "Relate": memory_pb2.RelateRequest(
            source_object_id=at.object_id,
            target_object_id=at.object_id,
            relationship_type="references",
            directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
            **told,
            **place,
        ),
        "Promote": memory_pb2.PromoteRequest(
            source_object_id=at.object_id,
            expected_version_id=at.version_id,
            target_object_type="claim",
            target_canonical_content=b"{}",
            **told,
            **place,
        ),
    }


@pytest.mark.req("P-18.11-07")
@pytest.mark.parametrize("rpc", CHANGES)
def test_an_evaluation_changes_no_other_workspace(workspace: Workspace, rpc: str) -> None:
    made = workspace.create(**NOTED)
    snapshot = seal(workspace, deterministic_clock=CLOCK, evaluation_run_id=RUN)
    before = workspace.events()
    with pytest.raises(Refusal) as refused:
        getattr(workspace.owner.memory, rpc)(requests(workspace, made, snapshot.snapshot_id)[rpc])
    assert refused.value.reason == "POLICY_DENIED"
    assert workspace.events() == before
    accepted = {"lifecycle_state": [1, 2, 3, 4, 5, 6], "validation_state": [1, 2, 3, 4]}
    assert query_ids(workspace, filters=accepted) == [made.object_id]


@pytest.mark.req("P-14-17")
@pytest.mark.parametrize("rpc", CHANGES)
def test_an_unknown_snapshot_is_no_evaluation(cluster: Cluster, rpc: str) -> None:
    workspace = evaluation_workspace(cluster)
    made = workspace.create(**NOTED)
    before = workspace.events()
    with pytest.raises(Refusal) as refused:
        getattr(workspace.owner.memory, rpc)(requests(workspace, made, "snap:absent")[rpc])
    assert refused.value.reason == "SNAPSHOT_NOT_FOUND"
    assert workspace.events() == before


def test_who_may_not_write_learns_nothing_of_snapshots(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    snapshot = seal(workspace)
    workspace.allow("actor:reader", "read")
    reader = cluster.client("actor:reader")
    made = workspace.create()
    for snapshot_id in (snapshot.snapshot_id, "snap:absent"):
        for rpc, request in requests(workspace, made, snapshot_id).items():
            with pytest.raises(Refusal) as refused:
                getattr(reader.memory, rpc)(request)
            assert refused.value.reason == "ACCESS_DENIED", rpc


@pytest.mark.req("P-18.11-05")
def test_a_denial_names_the_run_that_it_was_tried_under(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    snapshot = seal(workspace, deterministic_clock=CLOCK, evaluation_run_id=RUN)
    workspace.allow("actor:reader", "read")
    reader = cluster.client("actor:reader")
    for snapshot_id in (snapshot.snapshot_id, "snap:absent", ""):
        with pytest.raises(Refusal) as refused:
            workspace.create(reader, evaluation_snapshot_id=snapshot_id)
        assert refused.value.reason == "ACCESS_DENIED"
    denials = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    assert [event.evaluation_run_id for event in denials] == [RUN, "", ""]
    # A denial is no change: the clock stands.
    assert times(workspace.create(evaluation_snapshot_id=snapshot.snapshot_id).envelope) == (0, 0)


def test_a_strangers_denial_is_part_of_no_run(cluster: Cluster) -> None:
    workspace = evaluation_workspace(cluster)
    snapshot = seal(workspace, evaluation_run_id=RUN)
    with pytest.raises(Refusal) as refused:
        workspace.create(cluster.client("actor:of-no-run"), evaluation_snapshot_id=snapshot.snapshot_id)
    assert refused.value.reason == "SCOPE_NOT_FOUND"
    [denial] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    assert denial.evaluation_run_id == ""


def test_the_snapshot_of_another_workspace_is_unknown(cluster: Cluster) -> None:
    workspace, other = evaluation_workspace(cluster), evaluation_workspace(cluster)
    snapshot = seal(other)
    with pytest.raises(Refusal) as refused:
        workspace.create(evaluation_snapshot_id=snapshot.snapshot_id)
    assert refused.value.reason == "SNAPSHOT_NOT_FOUND"
    request = snapshot_pb2.GetSnapshotRequest(scope_id=workspace.scope_id, snapshot_id=snapshot.snapshot_id)
    with pytest.raises(Refusal) as refused:
        cluster.client(ADMIN).snapshot.GetSnapshot(request)
    assert refused.value.reason == "SNAPSHOT_NOT_FOUND"
