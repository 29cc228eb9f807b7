"""Snapshots and comparisons against an oracle that knows nothing but the ledger, while others write."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2, snapshot_pb2
from tests.cluster import ADMIN, Client, Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, history, query_page, transition, update
from tests.server.operations.snapshot.sealing import compared, seal

WRITERS = 3
STEPS = 25
EVERY_STATE = {
    "lifecycle_state": range(1, 7),
    "availability_state": range(1, 5),
    "retention_state": range(1, 5),
    "validation_state": range(1, 5),
}
DIMENSIONS = ("lifecycle", "availability", "retention", "validation")
MOVES = {
    "lifecycle": ("deprecated", "archived", "active", "superseded"),
    "retention": ("expired", "legal_hold", "retained"),
    "validation": ("corroborated", "disputed", "unverified", "rejected"),
}


@dataclass(frozen=True)
class Known:
    """An object as the oracle has it at a ledger sequence."""

    version_id: str
    sequence: int
    states: tuple[tuple[str, str], ...]

    @property
    def is_there(self) -> bool:
        return dict(self.states)["availability"] != "deleted"


@dataclass
class Oracle:
    """The workspace at any ledger sequence, replayed from its events."""

    events: list[ledger_pb2.LedgerEvent]

    def at(self, sequence: int) -> dict[str, Known]:
        """What is known of every object."""
        known: dict[str, Known] = {}
        for event in self.events:
            if event.sequence > sequence or not event.version_id:
                continue
            payload = json.loads(event.payload_json)
            if "object_sequence" not in payload:
                continue
            before = known.get(event.object_id)
            states = dict(before.states) if before is not None else {}
            kind = ledger_pb2.EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower()
            if kind == "object_created":
                states = {dimension: payload[f"{dimension}_state"] for dimension in DIMENSIONS}
            elif kind == "object_deleted":
                states["availability"] = "deleted"
            elif kind.endswith("_transitioned"):
                states[kind.removesuffix("_transitioned")] = payload["to"]
            known[event.object_id] = Known(event.version_id, payload["object_sequence"], tuple(sorted(states.items())))
        return known


@dataclass
class Differences:
    """What a comparison says, in sets."""

    added: set[tuple[str, str]] = field(default_factory=set)
    removed: set[tuple[str, str]] = field(default_factory=set)
    versions: set[tuple[str, str, str]] = field(default_factory=set)
    states: set[tuple[str, str, str, str]] = field(default_factory=set)


def expected(left: dict[str, Known], right: dict[str, Known]) -> Differences:
    """The differences by the oracle."""
    found = Differences()
    there = [{key: known for key, known in side.items() if known.is_there} for side in (left, right)]
    for key in there[0].keys() | there[1].keys():
        before, after = there[0].get(key), there[1].get(key)
        if before is None and after is not None:
            found.added.add((key, after.version_id))
        elif before is not None and after is None:
            found.removed.add((key, before.version_id))
        elif before is not None and after is not None and before != after:
            found.versions.add((key, before.version_id, after.version_id))
            for (dimension, old), (_, new) in zip(before.states, after.states, strict=True):
                if old != new:
                    found.states.add((key, dimension, old, new))
    return found


def told(response: snapshot_pb2.CompareSnapshotsResponse) -> Differences:
    """The differences by the service."""
    return Differences(
        {(member.object_id, member.version_id) for member in response.added},
        {(member.object_id, member.version_id) for member in response.removed},
        {(delta.object_id, delta.left_version_id, delta.right_version_id) for delta in response.version_deltas},
        {(delta.object_id, delta.dimension, delta.left_state, delta.right_state) for delta in response.state_deltas},
    )


def write(workspace: Workspace, client: Client, choose: random.Random, name: str) -> None:
    """Random changes of one writer's own objects; a refused one is no change."""
    at: dict[str, Any] = {}
    for step in range(STEPS):
        object_id = choose.choice(sorted(at)) if at and choose.random() < 0.75 else None
        try:
            if object_id is None:
                object_id = f"mem:{name}-{step}"
                at[object_id] = workspace.create(client, object_id=object_id)
            elif choose.random() < 0.4:
                at[object_id] = update(workspace, object_id, at[object_id].version_id, client)
            elif choose.random() < 0.15:
                at[object_id] = delete(workspace, object_id, at[object_id].version_id, client)
            else:
                dimension = choose.choice(sorted(MOVES))
                target = choose.choice(MOVES[dimension])
                moved = (object_id, at[object_id].version_id, dimension, target, client)
                at[object_id] = transition(workspace, *moved, provenance={"activity": "moved"})
        except Refusal as refused:
            assert refused.reason in {  # noqa: PT017 (anything else is a failure of the service)
                "INVALID_STATE_TRANSITION",
                "OBJECT_DELETED",
                "LEGAL_HOLD",
                "POLICY_DENIED",
            }


def rows_in(workspace: Workspace, snapshot: snapshot_pb2.Snapshot, limit: int) -> dict[str, tuple[str, int]]:
    """Version and number of every object that a query in the snapshot lists."""
    rows: dict[str, tuple[str, int]] = {}
    cursor = ""
    while True:
        page = query_page(workspace, filters=EVERY_STATE, snapshot_id=snapshot.snapshot_id, limit=limit, cursor=cursor)
        for row in page.results:
            assert row.object_id not in rows
            rows[row.object_id] = (row.version_id, row.sequence)
        cursor = page.cursor
        if not cursor:
            return rows


@pytest.mark.req("P-18.11-02", "P-18.11-06", "P-12-09")
@pytest.mark.parametrize("seed", range(3))
def test_snapshots_hold_what_the_ledger_says(cluster: Cluster, seed: int) -> None:
    workspace = Workspace(cluster)
    choose = random.Random(seed)
    writers = [
        threading.Thread(
            target=write, args=(workspace, cluster.client(ADMIN), random.Random(f"{seed}-{number}"), f"w{number}")
        )
        for number in range(WRITERS)
    ]
    snapshots = [seal(workspace)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        snapshots.append(seal(workspace))
    for writer in writers:
        writer.join()
    snapshots.append(seal(workspace))
    oracle = Oracle(workspace.events())
    chosen = [snapshots[0], *choose.sample(snapshots[1:-1], min(4, len(snapshots) - 2)), snapshots[-1]]
    states = [oracle.at(snapshot.ledger_sequence_high_watermark) for snapshot in chosen]
    now = oracle.at(snapshots[-1].ledger_sequence_high_watermark)
    for snapshot, known in zip(chosen, states, strict=True):
        # What was removed since is left out of listings, but for a tombstone the snapshot itself has.
        listed = {
            key: (version.version_id, version.sequence)
            for key, version in known.items()
            if now[key].is_there or not version.is_there
        }
        assert rows_in(workspace, snapshot, choose.choice((1, 7, 1000))) == listed
        for key in choose.sample(sorted(now), min(6, len(now))):
            check_reads(workspace, snapshot, key, known.get(key), now[key])
    for left, left_known in zip(chosen, states, strict=True):
        for right, right_known in zip(chosen, states, strict=True):
            limit = choose.choice((1, 5, 1000))
            found = told(compared(workspace, left.snapshot_id, right.snapshot_id, limit=limit))
            assert found == expected(left_known, right_known)


def check_reads(
    workspace: Workspace, snapshot: snapshot_pb2.Snapshot, key: str, known: Known | None, now: Known
) -> None:
    """Holds Read and InspectHistory of an object in a snapshot to the oracle."""
    within: dict[str, Any] = {"snapshot_id": snapshot.snapshot_id}
    if known is None:
        for call in (lambda: workspace.read(key, **within), lambda: history(workspace, object_id=key, **within)):
            with pytest.raises(Refusal) as refused:
                call()
            assert refused.value.reason == "OBJECT_NOT_FOUND"
        return
    entries = history(workspace, object_id=key, redaction_policy=memory_pb2.REDACTION_POLICY_TOMBSTONE, **within)
    versions = [entry.version.version_id for entry in entries if entry.HasField("version")]
    assert len(versions) == known.sequence
    assert versions[-1] == known.version_id
    if now.is_there:
        envelope = workspace.read(key, **within).envelope
        assert (envelope.version_id, envelope.sequence) == (known.version_id, known.sequence)
    else:
        with pytest.raises(Refusal) as refused:
            workspace.read(key, **within)
        assert refused.value.reason == "OBJECT_DELETED"
