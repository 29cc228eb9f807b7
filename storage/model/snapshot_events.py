"""Events of snapshots and audited reads (surface.md, section 5)."""

from dataclasses import dataclass
from typing import ClassVar

from storage.model.event_record import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSealed(Event):
    """A snapshot was sealed; `snapshot_digest` is the hex digest over its members."""

    TYPE: ClassVar[str] = "snapshot_sealed"

    snapshot_id: str
    ledger_sequence_high_watermark: int
    member_count: int
    snapshot_digest: str
    sealed_run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRead(Event):
    """An object was read in a workspace that audits reads (P-10.2-04)."""

    TYPE: ClassVar[str] = "object_read"

    read_version_id: str | None = None
