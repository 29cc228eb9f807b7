"""What makes the offline verification fast changes nothing in what it finds."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.cli.offline_chunk import DoubtfulRun, EventRun, Judge, RowRun
from server.cli.offline_format import VERSION_COLUMNS
from server.cli.offline_verifier import verify, verify_file
from tests.server.cli.long_ledger import EDITED_FROM, LINES, LONG, NAMES, agree, lines_of, one_by_one
from tests.storage.synthetic_ledger import Ledger, LedgerBuilder, canonical

# Occurrences whose shape was learnt rounds before.
IN_ROUND_6 = {"object_created": 6, "object_updated": 6, "access_denied": 12, "delegation_exercised": 18}


def test_a_sound_export_is_in_no_doubt_but_for_its_few_other_rows() -> None:
    runs = Judge(NAMES, True, None).judge("\n".join(line.decode() for line in LINES[1:]))
    others = len(LINES) - 1 - len(LONG.events) - len(LONG.versions) - len(LONG.objects)
    assert [(type(run), run.count) for run in runs] == [
        *((EventRun, len(LONG.events)), (RowRun, len(LONG.versions) + len(LONG.objects)), (DoubtfulRun, others)),
    ]


def test_a_known_place_within_a_run_is_met(tmp_path: Path) -> None:
    file = tmp_path / "export"
    file.write_bytes(b"\n".join(LINES))
    for known_hash in (LONG.events[EDITED_FROM].chain_hash, bytes(32)):
        known = EDITED_FROM + 1, known_hash
        assert verify(LINES, *known) == one_by_one(LINES, known) == verify_file(file, *known, jobs=2)


@pytest.mark.parametrize("column", [*VERSION_COLUMNS, "version_id", "sequence", "ledger_sequence"])
@pytest.mark.parametrize("index", [-1, -2])
@pytest.mark.parametrize("value", [None, 7, "x"])
def test_a_row_of_a_known_shape_is_held_against_its_core(
    tmp_path: Path, column: str, index: int, value: object
) -> None:
    edited = LONG.copy()
    edited.versions[index] = replace(edited.versions[index], **{column: value})
    assert agree(lines_of(edited), tmp_path).ok is (getattr(LONG.versions[index], column) == value)


def test_a_truth_value_in_a_core_is_not_taken_for_an_absent_column(tmp_path: Path) -> None:
    builder = LedgerBuilder()
    builder.begin()
    for number in range(8):
        builder.write(f"urn:obj:{number}", "object_created", observed_at_us=True)
    builder.ledger.versions = [replace(row, observed_at_us=1) for row in builder.ledger.versions]
    assert agree(lines_of(builder.ledger), tmp_path).ok
    builder.ledger.versions[-1] = replace(builder.ledger.versions[-1], observed_at_us=None)
    assert not agree(lines_of(builder.ledger), tmp_path).ok


@pytest.mark.parametrize(
    ("event_type", "changes", "kind"),
    [
        ("object_updated", {"payload": {"object_sequence": -1}}, "PAYLOAD_MALFORMED"),
        ("object_updated", {"payload": {"envelope_digest": 1}}, "PAYLOAD_MALFORMED"),
        ("object_updated", {"tenant_id": "other"}, "BODY_FOREIGN"),
        ("object_updated", {"scope_id": "ws:two"}, "BODY_FOREIGN"),
        ("object_updated", {"v": 2}, "BODY_MALFORMED"),
        ("object_updated", {"event_type": "object_created"}, "COLUMN_CHANGED"),
        ("object_updated", {"event_id": LONG.events[5].event_id}, "COLUMN_CHANGED"),
        ("access_denied", {"payload": {"operation": 1.5}}, "BODY_MALFORMED"),
        ("delegation_exercised", {"payload": {"delegation_sequence": -1}}, "PAYLOAD_MALFORMED"),
        ("delegation_exercised", {"payload": {"chain": ["urn:grant:leaf"]}}, "PAYLOAD_MALFORMED"),
        ("delegation_exercised", {"payload": {"chain": ["urn:grant:root", 1]}}, "PAYLOAD_MALFORMED"),
    ],
)
def test_a_body_of_a_known_shape_is_held_against_all(
    tmp_path: Path, event_type: str, changes: dict[str, Any], kind: str
) -> None:
    edited = LONG.copy()
    sequence = edited.find(event_type, IN_ROUND_6[event_type])
    edited.rewrite(sequence, **changes)
    edited.rechain(sequence)
    findings = agree(lines_of(edited), tmp_path).findings
    assert (findings[0].sequence, findings[0].kind) == (sequence, kind)


@pytest.mark.parametrize("event_type", ["object_created", "object_updated", "access_denied"])
def test_a_use_number_without_a_use_is_found(tmp_path: Path, event_type: str) -> None:
    edited = LONG.copy()
    sequence = edited.find(event_type, IN_ROUND_6[event_type])
    edited.events[sequence - 1] = replace(edited.events[sequence - 1], use_number=1)
    edited.rechain(sequence)
    [finding] = agree(lines_of(edited), tmp_path).findings
    assert (finding.sequence, finding.kind) == (sequence, "USE_NUMBER_CHANGED")


@pytest.mark.parametrize("fill", ["=", "==", "====", "A", " "])
def test_base64_that_is_written_another_way_is_malformed(tmp_path: Path, fill: str) -> None:
    lines = list(LINES)
    record = json.loads(lines[EDITED_FROM])
    record["body"] += fill
    lines[EDITED_FROM] = json.dumps(record, separators=(",", ":")).encode()
    finding = agree(lines, tmp_path).findings[0]
    assert (finding.sequence, finding.kind) == (EDITED_FROM, "MALFORMED")


def test_an_event_id_used_twice_is_found(tmp_path: Path) -> None:
    edited = LONG.copy()
    sequence, event_id = edited.find("object_updated", 6), edited.events[5].event_id
    edited.rewrite(sequence, event_id=event_id)
    edited.events[sequence - 1] = replace(edited.events[sequence - 1], event_id=event_id)
    edited.rechain(sequence)
    [finding] = agree(lines_of(edited), tmp_path).findings
    assert (finding.sequence, finding.kind) == (sequence, "DUPLICATE_EVENT")


def test_operations_go_on_from_chunk_to_chunk(tmp_path: Path) -> None:
    """A use recorded at the time of the operation before it, by a clock that has stepped back behind its window."""
    builder = LedgerBuilder()
    builder.begin()
    builder.grant("urn:grant:root", not_before_us=0, not_after_us=builder.now_us + 1_500_000)
    builder.append("access_denied", {"operation": "read"})
    builder.now_us -= 1_000_000
    builder.exercise("urn:grant:root")
    file = tmp_path / "export"
    file.write_bytes(b"\n".join(lines_of(builder.ledger)))
    assert agree(lines_of(builder.ledger), tmp_path).ok
    assert verify_file(file, jobs=2, chunk_bytes=1).ok
    builder.exercise("urn:grant:root")
    file.write_bytes(b"\n".join(lines_of(builder.ledger)))
    assert verify_file(file, jobs=2, chunk_bytes=1) == agree(lines_of(builder.ledger), tmp_path)
    assert not verify_file(file, chunk_bytes=1).ok


def test_a_gap_is_found_though_the_chain_goes_on(tmp_path: Path) -> None:
    edited = LONG.copy()
    edited.events[EDITED_FROM:] = [replace(row, sequence=row.sequence + 1) for row in edited.events[EDITED_FROM:]]
    edited.rechain(EDITED_FROM + 1)
    assert agree(lines_of(edited), tmp_path).findings[0].kind == "SEQUENCE_GAP"


@pytest.mark.parametrize("behind", [b'{"kind":"version"', b'{"kind":"object"', b'{"kind":"rule"', b'{"kind":"head"'])
def test_an_event_that_stands_too_late_is_refused_though_it_links(tmp_path: Path, behind: bytes) -> None:
    lines = list(LINES)
    event = lines.pop(len(LONG.events))
    lines.insert(next(index for index, line in enumerate(lines) if line.startswith(behind)) + 1, event)
    assert "MALFORMED" in {finding.kind for finding in agree(lines, tmp_path).findings}


def test_a_pointer_is_held_against_the_versions_before_it_only(tmp_path: Path) -> None:
    edited = LONG.copy()
    edited.objects = [replace(row, object_type="goal") for row in edited.objects]
    rows = lines_of(edited)[len(LONG.events) + 1 :]
    pointers = [line for line in rows if line.startswith(b'{"kind":"object"')]
    others = [line for line in rows if line not in pointers]
    lines = LINES[: len(LONG.events) + 1]
    assert agree([*lines, *pointers, *others], tmp_path).ok
    assert agree([*lines, *others[:5], *pointers, *others[5:]], tmp_path).finding_count == 3
    head = others.pop()
    assert agree([*lines, *others, *pointers, head], tmp_path).finding_count == len(pointers)


VALUES = [None, True, False, 0, 1, -1, 1.0, 2**63, "", "x", "é", '"', [], {}, ["x"], {"x": 1}]


def replace_somewhere(value: Any, rng: random.Random) -> Any:
    """The value with one place of it changed or taken away."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys or rng.random() < 0.1:
        return rng.choice(VALUES)
    key = rng.choice(keys)
    changed = dict(value) if isinstance(value, dict) else list(value)
    if rng.random() < 0.1:
        del changed[key]
    else:
        changed[key] = replace_somewhere(value[key], rng)
    return changed


def change_body(ledger: Ledger, rng: random.Random) -> None:
    """Another body, with every hash made right again."""
    index = rng.randrange(EDITED_FROM, len(ledger.events))
    body = replace_somewhere(json.loads(ledger.events[index].body), rng)
    encoded = canonical(body) if rng.random() < 0.7 else json.dumps(body).encode()
    ledger.events[index] = replace(ledger.events[index], body=encoded)
    ledger.rechain(index + 1)


def change_column(ledger: Ledger, rng: random.Random) -> None:
    index = rng.randrange(EDITED_FROM, len(ledger.events))
    column = rng.choice(["event_id", "event_type", "operation_id", "actor_id", "object_id", "version_id", "use_number"])
    value = (
        rng.choice([0, 1, 9])
        if column == "use_number"
        else rng.choice([None, "x", "é", '"', ledger.events[5].event_id])
    )
    ledger.events[index] = replace(ledger.events[index], **{column: value})
    ledger.rechain(index + 1)


def change_core(ledger: Ledger, rng: random.Random) -> None:
    """Another core, whose digest stands in its event."""
    index = rng.randrange(len(ledger.versions))
    row = ledger.versions[index]
    core = canonical(replace_somewhere(json.loads(row.core), rng))
    ledger.versions[index] = replace(row, core=core)
    ledger.rewrite(row.ledger_sequence, payload={"envelope_digest": hashlib.sha256(core).hexdigest()})
    ledger.rechain(row.ledger_sequence)


def change_row(ledger: Ledger, rng: random.Random) -> None:
    index = rng.randrange(len(ledger.versions))
    column = rng.choice(["object_type", "schema_id", "observed_at_us", "actor_id", "version_id", "sequence"])
    value = rng.choice([0, 2, 99]) if column == "sequence" else rng.choice([None, 1, True, "x", "é"])
    ledger.versions[index] = replace(ledger.versions[index], **{column: value})


def change_lines(lines: list[bytes], rng: random.Random) -> None:
    index = rng.randrange(len(lines))
    line = bytearray(lines[index])
    place = rng.randrange(len(line) + 1)
    edit = rng.choice(["drop", "double", "move", "cut", "insert", "change", "line", "respell"])
    if edit == "drop":
        del lines[index]
    elif edit == "double":
        lines.insert(index, bytes(line))
    elif edit == "move":
        lines.insert(rng.randrange(len(lines)), lines.pop(index))
    elif edit == "cut":
        lines[index] = bytes(line[:place])
    elif edit == "insert":
        line[place:place] = rng.choice([b"\n", b"\r", b" ", b"\\", b'"', b"}", b",", b"\xff", "é".encode(), b"\x00"])
        lines[index] = bytes(line)
    elif edit == "change" and line:
        line[place - 1] ^= rng.randrange(1, 256)
        lines[index] = bytes(line)
    elif edit == "respell":
        lines[index] = json.dumps(json.loads(line)).encode()
    else:
        lines.insert(index, rng.choice([b"", b"null", b'{"kind":"event"}', b'{"kind":"object"}', lines[0]]))


CHANGES = [change_body, change_column, change_core, change_row]


@settings(max_examples=250, deadline=None)
@given(st.randoms(use_true_random=False))
def test_whatever_is_changed_all_ways_to_read_agree(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random
) -> None:
    ledger = LONG.copy()
    for _ in range(rng.choice([0, 1, 1, 2])):
        try:
            rng.choice(CHANGES)(ledger, rng)
        except (UnicodeEncodeError, AttributeError, KeyError, TypeError):
            continue  # no text that can be written, or an earlier change took away what this one changes
    lines = lines_of(ledger)
    if rng.random() < 0.5:
        change_lines(lines, rng)
    agree(lines, tmp_path_factory.getbasetemp(), jobs=rng.choice([1, 1, 1, 2]))
