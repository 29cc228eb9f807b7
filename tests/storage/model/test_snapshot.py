"""Descriptors of snapshots: their bytes, their digest and their clock."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from storage.model.canonical import MalformedCanonical
from storage.model.snapshot import DeterministicClock, MemberDigest, Snapshot, parse_snapshot, snapshot_bytes

BARE = Snapshot(
    tenant_id="acme",
    scope_id="workspace:1",
    snapshot_id="snap:1",
    created_at_us=5,
    created_by_actor_id="actor:a",
    high_watermark=0,
    member_count=0,
    digest=hashlib.sha256().hexdigest(),
)
FULL = replace(
    BARE,
    included_object_ids=("mem:a", "mem:b"),
    included_embedding_space_ids=("espace:a",),
    clock=DeterministicClock("clock:a", -7, 3),
    seed=-(2**63),
    evaluation_run_id="eval:run:1",
)


@pytest.mark.parametrize("snapshot", [BARE, FULL, replace(BARE, seed=2**63 - 1), replace(FULL, clock=None)])
def test_what_is_written_is_read(snapshot: Snapshot) -> None:
    written = snapshot_bytes(snapshot)
    assert parse_snapshot(written) == snapshot
    assert snapshot_bytes(parse_snapshot(written)) == written


@pytest.mark.parametrize(
    "change",
    [
        (b'"digest":', b'"digests":'),
        (b'"created_at_us":5', b'"created_at_us":"5"'),
        (b'"tick_ms":3', b'"tick_ms":null'),
        (b'"included_object_ids":["mem:a"', b'"included_object_ids":[1'),
    ],
)
def test_anything_else_is_refused(change: tuple[bytes, bytes]) -> None:
    written = snapshot_bytes(FULL)
    assert change[0] in written
    with pytest.raises(MalformedCanonical):
        parse_snapshot(written.replace(*change))


def test_the_digest_does_not_depend_on_how_members_come() -> None:
    members = [(f"mem:{number}", f"version:{number}", number, bytes([number]) * 32) for number in range(5)]
    one, parts = MemberDigest(), MemberDigest()
    one.add(members)
    for start in range(0, 5, 2):
        parts.add(members[start : start + 2])
    text = "".join(f"{a} {b} {c} {d.hex()}\n" for a, b, c, d in members)
    assert one.hexdigest() == parts.hexdigest() == hashlib.sha256(text.encode()).hexdigest()
    assert one.count == parts.count == 5


def test_a_clock_reads_its_start_first() -> None:
    clock = DeterministicClock("clock:a", 1_000_001, 250)
    assert [clock.reading_us(number) for number in range(3)] == [1_000_001, 1_250_001, 1_500_001]


def test_changes_are_counted_by_run_else_by_snapshot() -> None:
    assert (BARE.run_key, FULL.run_key) == ("snap:1", "eval:run:1")
