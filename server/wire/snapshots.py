"""Sealed snapshots, model -> wire (PAMSPEC 18.11; P-18.11-01)."""

from remit.v1 import snapshot_pb2
from server.wire.times import timestamp_of
from storage.model.snapshot import Snapshot


def snapshot_message(snapshot: Snapshot) -> snapshot_pb2.Snapshot:
    """Returns the descriptor as it was sealed."""
    clock = snapshot.clock
    return snapshot_pb2.Snapshot(
        snapshot_id=snapshot.snapshot_id,
        scope_id=snapshot.scope_id,
        sealed=True,
        created_at=timestamp_of(snapshot.created_at_us),
        created_by_actor_id=snapshot.created_by_actor_id,
        ledger_sequence_high_watermark=snapshot.high_watermark,
        included_object_ids=snapshot.included_object_ids or (),
        included_embedding_space_ids=snapshot.included_embedding_space_ids or (),
        deterministic_clock=None
        if clock is None
        else snapshot_pb2.DeterministicClock(
            clock_ref=clock.clock_ref, start_at=timestamp_of(clock.start_at_us), tick_ms=clock.tick_ms
        ),
        deterministic_rng_seed=snapshot.seed,
        evaluation_run_id=snapshot.evaluation_run_id or "",
        digest=snapshot.digest,
        digest_algorithm=snapshot.digest_algorithm,
        canonicalization_profile=snapshot.canonicalization_profile,
    )
