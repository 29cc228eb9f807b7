"""InspectHistory narrowed by a snapshot, and by how withheld versions are shown (PAMSPEC 10.7)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import memory_pb2
from tests.cluster import Client, Workspace
from tests.server.operations.memory.requests import delete, history, transition, update
from tests.server.operations.snapshot.sealing import seal

OMIT = memory_pb2.REDACTION_POLICY_OMIT
TOMBSTONE = memory_pb2.REDACTION_POLICY_TOMBSTONE


def versions(workspace: Workspace, client: Client | None = None, **fields: Any) -> list[tuple[str, int]]:
    """Version ids of a history with how much content each holds."""
    entries = history(workspace, client, **fields)
    return [(entry.version.version_id, entry.content_state) for entry in entries if entry.HasField("version")]


@pytest.mark.req("P-10.7-01")
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_a_snapshot_bounds_a_history_and_other_bounds_still_narrow_it(workspace: Workspace, limit: int) -> None:
    made = [workspace.create()]
    object_id = made[0].object_id
    made.append(update(workspace, object_id, made[0].version_id))
    sealed = seal(workspace)
    made.append(update(workspace, object_id, made[1].version_id))
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id, "limit": limit, "object_id": object_id}
    whole = history(workspace, **within)
    sequences = [entry.ledger_sequence for entry in whole]
    assert sequences == sorted(sequences)
    assert max(sequences) <= sealed.ledger_sequence_high_watermark
    assert [entry.version.version_id for entry in whole if entry.HasField("version")] == [
        result.version_id for result in made[:2]
    ]
    assert [version for version, _ in versions(workspace, from_version=2, **within)] == [made[1].version_id]
    assert [version for version, _ in versions(workspace, from_version=3, **within)] == []
    first = sequences[0]
    assert history(workspace, to_sequence=first, **within) == whole[:2]
    assert history(workspace, to_sequence=sealed.ledger_sequence_high_watermark + 99, **within) == whole


@pytest.mark.req("P-10.7-01", "P-10.7-02")
@pytest.mark.parametrize("limit", [1, 100])
def test_withheld_versions_are_tombstones_or_left_out(workspace: Workspace, limit: int) -> None:
    kept, deleted, redacted, pending = (workspace.create(object_id=f"mem:{name}") for name in "abcd")
    tombstone = delete(workspace, deleted.object_id, deleted.version_id)
    hidden = transition(workspace, redacted.object_id, redacted.version_id, "availability", "redacted")
    waiting = transition(workspace, pending.object_id, pending.version_id, "retention", "pending_deletion")
    withheld = memory_pb2.CONTENT_STATE_WITHHELD
    present = memory_pb2.CONTENT_STATE_PRESENT
    workspace.allow("actor:reader", "inspect_history")
    reader = workspace.cluster.client("actor:reader")
    asked: dict[str, Any] = {"after_sequence": 0, "limit": limit}
    everything = [
        (kept.version_id, present),
        *((result.version_id, withheld) for result in (deleted, redacted, pending, tombstone, hidden, waiting)),
    ]
    for policy in (memory_pb2.REDACTION_POLICY_UNSPECIFIED, TOMBSTONE):
        assert versions(workspace, reader, redaction_policy=policy, **asked) == everything
    assert versions(workspace, reader, redaction_policy=OMIT, **asked) == everything[:1]
    # The reviewer's own history has what it may review.
    reviewed = [everything[0], (pending.version_id, present), (waiting.version_id, present)]
    assert versions(workspace, redaction_policy=OMIT, **asked) == reviewed
    events = [entry.event for entry in history(workspace, reader, **asked) if entry.HasField("event")]
    left = history(workspace, reader, redaction_policy=OMIT, **asked)
    assert [entry.event for entry in left if entry.HasField("event")] == events
    assert versions(workspace, reader, redaction_policy=OMIT, object_id=deleted.object_id, limit=limit) == []
