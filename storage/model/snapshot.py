"""A sealed snapshot: what its descriptor says, and how its digest is made (PAMSPEC 12 and 18.11; P-18.11-01).

`snapshot_bytes` is what the descriptor's MAC covers and what its row stores.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from storage.model.canonical import Fields, JsonValue, canonical_json, parse_object

DIGEST_ALGORITHM: Final = "sha-256"
CANONICALIZATION_PROFILE: Final = "remit.snapshot-members/1"
"""Names the form that MemberDigest digests."""

_CLOCK_KEYS: Final = frozenset({"clock_ref", "start_at_us", "tick_ms"})
_KEYS: Final = frozenset(
    {
        "tenant_id",
        "scope_id",
        "snapshot_id",
        "created_at_us",
        "created_by_actor_id",
        "ledger_sequence_high_watermark",
        "member_count",
        "digest",
        "digest_algorithm",
        "canonicalization_profile",
        "included_object_ids",
        "included_embedding_space_ids",
        "deterministic_clock",
        "deterministic_rng_seed",
        "evaluation_run_id",
    }
)


@dataclass(frozen=True, slots=True)
class DeterministicClock:
    """A clock whose reading n (from 0) is `start_at_us` + n * `tick_ms` milliseconds."""

    clock_ref: str
    start_at_us: int
    tick_ms: int

    def reading_us(self, number: int) -> int:
        """Returns its reading of that number, in microseconds since 1970 UTC."""
        return self.start_at_us + number * self.tick_ms * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A sealed snapshot. Times are microseconds since 1970 UTC.

    It holds, of each member (`included_object_ids`, None: every object), the last version whose ledger sequence is at
    most `high_watermark`. `digest` is hex, over `member_count` members.
    """

    tenant_id: str
    scope_id: str
    snapshot_id: str
    created_at_us: int
    created_by_actor_id: str
    high_watermark: int
    member_count: int
    digest: str
    digest_algorithm: str = DIGEST_ALGORITHM
    canonicalization_profile: str = CANONICALIZATION_PROFILE
    included_object_ids: tuple[str, ...] | None = None
    included_embedding_space_ids: tuple[str, ...] | None = None
    clock: DeterministicClock | None = None
    seed: int | None = None
    evaluation_run_id: str | None = None

    @property
    def run_key(self) -> str:
        """What the changes of an evaluation are counted by: its run, else the snapshot."""
        return self.evaluation_run_id or self.snapshot_id


class MemberDigest:
    """SHA-256 over the members, each as one line, in the byte order of object ids.

    A line is `object_id version_id sequence envelope_digest` with single spaces and a line feed; the sequence is the
    version's number in decimal, the envelope digest the hex one of the version's own ledger event.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.count = 0

    def add(self, members: Iterable[tuple[str, str, int, bytes]]) -> None:
        """Adds members (object id, version id, sequence, envelope digest), which come in order."""
        for object_id, version_id, sequence, envelope_digest in members:
            self._hash.update(f"{object_id} {version_id} {sequence} {envelope_digest.hex()}\n".encode())
            self.count += 1

    def hexdigest(self) -> str:
        """Returns the digest of what was added."""
        return self._hash.hexdigest()


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    """Returns the canonical JSON of the descriptor (RFC 8785; absent optional fields omitted)."""
    core: dict[str, JsonValue] = {
        "tenant_id": snapshot.tenant_id,
        "scope_id": snapshot.scope_id,
        "snapshot_id": snapshot.snapshot_id,
        "created_at_us": snapshot.created_at_us,
        "created_by_actor_id": snapshot.created_by_actor_id,
        "ledger_sequence_high_watermark": snapshot.high_watermark,
        "member_count": snapshot.member_count,
        "digest": snapshot.digest,
        "digest_algorithm": snapshot.digest_algorithm,
        "canonicalization_profile": snapshot.canonicalization_profile,
    }
    clock = snapshot.clock
    optional: dict[str, JsonValue] = {
        "included_object_ids": snapshot.included_object_ids,
        "included_embedding_space_ids": snapshot.included_embedding_space_ids,
        "deterministic_clock": None
        if clock is None
        else {"clock_ref": clock.clock_ref, "start_at_us": clock.start_at_us, "tick_ms": clock.tick_ms},
        "deterministic_rng_seed": snapshot.seed,
        "evaluation_run_id": snapshot.evaluation_run_id,
    }
    core.update((key, value) for key, value in optional.items() if value is not None)
    return canonical_json(core)


def parse_snapshot(core: bytes) -> Snapshot:
    """Returns the descriptor in `core`, which must have been authenticated. Raises MalformedCanonical."""
    read = parse_object(core, "snapshot", _KEYS)
    return Snapshot(
        tenant_id=read.text("tenant_id"),
        scope_id=read.text("scope_id"),
        snapshot_id=read.text("snapshot_id"),
        created_at_us=read.integer("created_at_us"),
        created_by_actor_id=read.text("created_by_actor_id"),
        high_watermark=read.integer("ledger_sequence_high_watermark"),
        member_count=read.integer("member_count"),
        digest=read.text("digest"),
        digest_algorithm=read.text("digest_algorithm"),
        canonicalization_profile=read.text("canonicalization_profile"),
        included_object_ids=read.optional_texts("included_object_ids"),
        included_embedding_space_ids=read.optional_texts("included_embedding_space_ids"),
        clock=_parse_clock(read.raw("deterministic_clock")),
        seed=read.optional_integer("deterministic_rng_seed"),
        evaluation_run_id=read.optional_text("evaluation_run_id"),
    )


def _parse_clock(value: object) -> DeterministicClock | None:
    if value is None:
        return None
    read = Fields(value, "deterministic_clock", _CLOCK_KEYS)
    return DeterministicClock(read.text("clock_ref"), read.integer("start_at_us"), read.integer("tick_ms"))
