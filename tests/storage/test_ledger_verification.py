"""The two implementations of the ledger's verification, held against every edit and against each other.

The offline one is held against itself too: on lines, and on a file in small chunks, by one process and by two.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.cli.offline_findings import KINDS
from server.cli.offline_verifier import VerificationReport, verify, verify_file
from storage.ledger_check import check_ledger
from storage.ledger_export import event_line, export_lines
from storage.model.ledger_rows import FindingKind, KnownPlace, LedgerVerification
from tests.storage.ledger_edits import CHAIN_EDITS, TABLE_EDITS, Edit
from tests.storage.related_ledger import RELATIONSHIP_EDITS, related_ledger
from tests.storage.synthetic_ledger import Ledger, LedgerBuilder, canonical, whole_ledger

FILE_KINDS = {"MALFORMED", "UNKNOWN_FORMAT", "TRUNCATED_EXPORT"}
WHOLE = whole_ledger()


def lines_of(ledger: Ledger) -> list[bytes]:
    return [line.encode() for line in export_lines(ledger.identity, **ledger.tables(), head=ledger.head)]


def offline(ledger: Ledger, known: KnownPlace | None = None) -> VerificationReport:
    place = (known.sequence, known.chain_hash) if known else (None, None)
    return verify(lines_of(ledger), *place)


def offline_file(ledger: Ledger, known: KnownPlace | None = None, jobs: int = 1) -> VerificationReport:
    place = (known.sequence, known.chain_hash) if known else (None, None)
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(lines_of(ledger)))
        file.flush()
        return verify_file(file.name, *place, jobs=jobs, chunk_bytes=5000)


def online(ledger: Ledger, known: KnownPlace | None = None) -> LedgerVerification:
    return asyncio.run(check_ledger(ledger.source(), known))


def findings_of(report: VerificationReport | LedgerVerification) -> list[tuple[int, str, str]]:
    return [(finding.sequence, str(finding.kind), finding.place) for finding in report.findings]


def both(ledger: Ledger, known: KnownPlace | None = None) -> list[tuple[int, str, str]]:
    """The findings that both implementations name, after making sure that they agree on all of them."""
    first, second = offline(ledger, known), online(ledger, known)
    assert offline_file(ledger, known) == first
    assert findings_of(first) == findings_of(second)
    assert (first.ok, first.finding_count, first.head_sequence, first.head_hash, first.count) == (
        (second.ok, second.finding_count, second.head_sequence, second.head_hash, second.count)
    )
    assert first.ok is not bool(first.findings)
    return findings_of(first)


def test_both_know_the_same_kinds_in_the_same_order() -> None:
    assert [kind for kind in KINDS if kind not in FILE_KINDS] == list(FindingKind)


def test_a_sound_ledger_verifies() -> None:
    assert both(WHOLE) == []
    assert offline(WHOLE).count == len(WHOLE.events)


def test_an_empty_ledger_verifies() -> None:
    ledger = LedgerBuilder().ledger
    assert both(ledger) == []
    ledger.head = replace(ledger.head, chain_hash=bytes(32))
    assert both(ledger) == [(0, "HEAD_MISMATCH", "head")]


@pytest.mark.parametrize("edit", [*CHAIN_EDITS, *TABLE_EDITS], ids=lambda edit: edit.name)
def test_an_edit_is_found_at_its_place(edit: Edit) -> None:
    ledger = WHOLE.copy()
    edit.apply(ledger)
    sequence, kind, _ = both(ledger)[0]
    assert (sequence, kind) == (edit.sequence, edit.kind)
    assert offline_file(ledger, jobs=2) == offline(ledger)


def test_a_sound_ledger_with_relationships_verifies() -> None:
    assert both(related_ledger()) == []


@pytest.mark.parametrize("edit", RELATIONSHIP_EDITS, ids=lambda edit: edit.name)
def test_an_edit_of_a_relationship_is_found_at_its_place(edit: Edit) -> None:
    ledger = related_ledger()
    edit.apply(ledger)
    sequence, kind, _ = both(ledger)[0]
    assert (sequence, kind) == (edit.sequence, edit.kind)


@pytest.mark.parametrize("edit", CHAIN_EDITS, ids=lambda edit: edit.name)
def test_an_edit_of_the_chain_is_found_or_needs_the_replay(edit: Edit) -> None:
    ledger = WHOLE.copy()
    edit.apply(ledger)
    report = verify(lines_of(ledger), replay=False)
    replayed = "rechained" in edit.name or "column" in edit.name or edit.name == "policy revision changed"
    assert report.ok is (replayed and edit.kind != FindingKind.RECORDED_AT_BACKWARDS)


@pytest.mark.case("C05")
@pytest.mark.parametrize("kept", [0, 1, 13, 25])
def test_a_truncated_tail_is_named(kept: int) -> None:
    ledger = WHOLE.copy()
    del ledger.events[kept:]
    assert both(ledger)[0][:2] == (kept + 1, "TAIL_CUT")


def rolled_back(kept: int) -> Ledger:
    """The workspace as it was after its first events: a sound ledger in itself."""
    builder = LedgerBuilder()
    builder.begin()
    while len(builder.ledger.events) < kept:
        builder.append("access_denied", {"operation": "read"})
    return builder.ledger


def test_a_rollback_of_the_whole_store_is_found_against_a_known_place() -> None:
    known = KnownPlace(12, rolled_back(12).head.chain_hash)
    assert both(rolled_back(20), known) == []
    assert both(rolled_back(8)) == []
    assert both(rolled_back(8), known) == [(12, "KNOWN_PLACE_MISSING", "known place")]


def test_a_rewritten_history_is_found_against_a_known_place() -> None:
    ledger = rolled_back(20)
    known = KnownPlace(12, ledger.events[11].chain_hash)
    ledger.rewrite(5, purpose="audit")
    ledger.rechain(5)
    assert both(ledger) == []
    assert both(ledger, known) == [(12, "KNOWN_PLACE_CHANGED", "known place")]


def test_a_cut_with_a_rewritten_head_is_found_against_a_known_place() -> None:
    ledger = rolled_back(20)
    known = KnownPlace(20, ledger.head.chain_hash)
    del ledger.events[15:]
    ledger.rechain(15)
    assert both(ledger) == []
    assert both(ledger, known) == [(20, "KNOWN_PLACE_MISSING", "known place")]


def test_the_genesis_is_a_place_too() -> None:
    assert both(WHOLE, KnownPlace(0, bytes(32))) == [(0, "KNOWN_PLACE_CHANGED", "known place")]


@pytest.mark.case("C02")
def test_times_are_hashed_to_the_microsecond_that_is_stored() -> None:
    builder = LedgerBuilder(interval_us=1)
    builder.begin()
    builder.append("access_denied", {"operation": "read"})
    ledger = builder.ledger
    assert ledger.events[1].recorded_at_us % 1000 == 2
    assert both(ledger) == []
    ledger.events[1] = replace(ledger.events[1], recorded_at_us=ledger.events[1].recorded_at_us + 1)
    assert both(ledger)[0][:2] == (2, "BODY_CHANGED")


@pytest.mark.case("C03")
def test_a_body_verifies_from_its_stored_bytes() -> None:
    builder = LedgerBuilder()
    builder.begin()
    texts = {
        "b": 1,
        "a": [True, None, -0, 2**60],
        "odd": 'é\x7f\x01\u2028\U0001d11e"\\/\b\f\n\r\t',
        "": {"z": {}, "A": []},
    }
    builder.append("access_denied", texts)
    assert both(builder.ledger) == []
    reordered = builder.ledger.copy()
    body = json.loads(reordered.events[1].body)
    unsorted = json.dumps(dict(reversed(body.items())), separators=(",", ":"), ensure_ascii=False).encode()
    reordered.events[1] = replace(reordered.events[1], body=unsorted)
    assert both(reordered)[0][:2] == (2, "BODY_CHANGED")
    reordered.rechain(2)
    assert both(reordered)[0][:2] == (2, "BODY_NOT_CANONICAL")


@pytest.mark.parametrize(
    "payload",
    [
        *(b'{"a":1.0}', b'{"a":1e3}', b'{"a":NaN}', b'{"a":-0}', b'{"a":1,"a":1}', b'{"b":1,"a":1}'),
        *(b'{"a":"\\u0041"}', b'{"a":"\\ud800"}', b'{"a":"\xff"}', '{"é":1}'.encode()),
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=lambda payload: repr(payload[:20]),
)
def test_a_body_of_another_form_is_refused_though_its_hashes_are_right(payload: bytes) -> None:
    builder = LedgerBuilder()
    builder.begin()
    builder.append("access_denied", {"only": "payload"})
    row = builder.ledger.events[1]
    builder.ledger.events[1] = replace(row, body=row.body.replace(b'{"only":"payload"}', payload))
    builder.ledger.rechain(2)
    sequence, kind, _ = both(builder.ledger)[0]
    assert sequence == 2
    assert kind in ("BODY_MALFORMED", "BODY_NOT_CANONICAL")


@pytest.mark.case("C04")
def test_neighbouring_fields_never_trade_bytes() -> None:
    first, second = LedgerBuilder(tenant_id="ab", scope_id="c:d"), LedgerBuilder(tenant_id="abc", scope_id=":d")
    assert first.ledger.head.chain_hash != second.ledger.head.chain_hash
    moved = WHOLE.copy()
    row = moved.events[13]
    moved.events[13] = replace(row, recorded_at_us=row.recorded_at_us << 8 | 0, use_number=0)
    assert both(moved)[0][:2] == (14, "BODY_CHANGED")
    bodies = [canonical({"actor_id": left, "operation_id": right}) for left, right in (("ab", "c"), ("a", "bc"))]
    chains = []
    for body in bodies:
        ledger = WHOLE.copy()
        ledger.events[13] = replace(row, body=body)
        ledger.rechain(14)
        chains.append(ledger.head.chain_hash)
    assert chains[0] != chains[1]


def exercised(*, limit: int | None = None, not_before_us: int = 0, not_after_us: int = 1 << 60) -> LedgerBuilder:
    builder = LedgerBuilder()
    builder.begin()
    terms = {"not_before_us": not_before_us, "not_after_us": not_after_us}
    builder.grant("urn:grant:root", **terms, **({} if limit is None else {"usage_limit": limit}))
    builder.grant("urn:grant:leaf", **terms, parent_delegation_id="urn:grant:root")
    return builder


def test_an_exercise_after_the_revocation_of_a_grant_above_is_found() -> None:
    builder = exercised()
    builder.revoke("urn:grant:root")
    sequence = builder.exercise("urn:grant:root", "urn:grant:leaf")
    assert both(builder.ledger) == [(sequence, "EXERCISED_AFTER_REVOCATION", "delegation urn:grant:root")]


def test_uses_beyond_the_limit_of_a_grant_above_are_found() -> None:
    builder = exercised(limit=2)
    for _ in range(2):
        builder.exercise("urn:grant:root", "urn:grant:leaf")
    assert both(builder.ledger) == []
    sequence = builder.exercise("urn:grant:root", "urn:grant:leaf")
    assert both(builder.ledger) == [(sequence, "USAGE_LIMIT_EXCEEDED", "delegation urn:grant:root")]


@pytest.mark.parametrize(("before_us", "after_us", "inside"), [(0, 0, True), (1, 0, False), (0, -1, False)])
def test_the_window_holds_to_the_microsecond_at_both_ends(before_us: int, after_us: int, inside: bool) -> None:
    use_us = LedgerBuilder().now_us + 4_000_000
    builder = exercised(not_before_us=use_us + before_us, not_after_us=use_us + after_us)
    sequence = builder.exercise("urn:grant:root")
    expected = [] if inside else [(sequence, "EXERCISED_OUTSIDE_WINDOW", "delegation urn:grant:root")]
    assert both(builder.ledger) == expected


def test_a_use_recorded_at_the_time_of_an_operation_before_it_is_not_judged_by_that_time() -> None:
    use_us = LedgerBuilder().now_us + 4_000_000
    builder = exercised(not_before_us=0, not_after_us=use_us - 2_000_000)
    builder.now_us -= 1_000_000
    builder.exercise("urn:grant:root")
    assert both(builder.ledger) == []


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"chain": ["urn:grant:leaf"]}, "DELEGATION_CHAIN_CHANGED"),
        ({"delegation_sequence": 2}, "EXERCISED_OTHER_VERSION"),
        ({"chain": []}, "PAYLOAD_MALFORMED"),
        ({"chain": ["urn:grant:leaf", "urn:grant:leaf"]}, "PAYLOAD_MALFORMED"),
        ({"chain": ["urn:grant:root"]}, "PAYLOAD_MALFORMED"),
    ],
)
def test_an_exercise_that_misnames_its_grants_is_found(payload: dict[str, Any], kind: str) -> None:
    builder = exercised()
    sequence = builder.exercise("urn:grant:root", "urn:grant:leaf", **payload)
    assert both(builder.ledger)[0][:2] == (sequence, kind)


def test_an_exercise_before_the_grant_is_found() -> None:
    builder = LedgerBuilder()
    builder.begin()
    sequence = builder.exercise_foreign("urn:grant:root", use_number=1)
    assert both(builder.ledger) == []
    builder.grant("urn:grant:root")
    assert both(builder.ledger) == [(sequence, "EXERCISED_WITHOUT_GRANT", "delegation urn:grant:root")]


def test_uses_of_a_grant_made_elsewhere_are_numbered_upwards() -> None:
    builder = LedgerBuilder()
    builder.begin()
    builder.exercise_foreign("urn:grant:away", use_number=4)
    sequence = builder.exercise_foreign("urn:grant:away", use_number=4)
    assert both(builder.ledger) == [(sequence, "USE_NUMBER_CHANGED", "delegation urn:grant:away")]


def test_a_home_copy_of_an_unknown_grant_is_found() -> None:
    builder = LedgerBuilder()
    builder.begin()
    payload = {"chain": ["urn:grant:x"], "delegation_sequence": 1, "mirror_of": {"scope_id": "ws:two"}}
    sequence = builder.append("delegation_exercised", payload, use_number=1, delegation_id="urn:grant:x")
    assert both(builder.ledger) == [(sequence, "EXERCISED_WITHOUT_GRANT", "delegation urn:grant:x")]


def test_the_first_findings_are_kept_and_all_are_counted() -> None:
    ledger = rolled_back(1500)
    ledger.events = [replace(row, operation_id="op:x", actor_id="actor:x") for row in ledger.events]
    findings = both(ledger)
    assert len(findings) == 1000
    assert offline(ledger).finding_count == 3000
    assert findings[-1][0] == 500


def byte_changes() -> st.SearchStrategy[tuple[int, int, int]]:
    lines = [event_line(row).encode() for row in WHOLE.events]
    places = [(index, offset) for index, line in enumerate(lines, 1) for offset in range(len(line))]
    return st.tuples(st.sampled_from(places), st.integers(1, 255)).map(lambda change: (*change[0], change[1]))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(byte_changes())
def test_any_changed_byte_of_an_event_line_is_detected(change: tuple[int, int, int]) -> None:
    index, offset, difference = change
    lines = lines_of(WHOLE)
    line = bytearray(lines[index])
    line[offset] ^= difference
    lines[index] = bytes(line)
    assert not verify(lines).ok


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_no_file_makes_the_offline_verification_raise(rng: random.Random) -> None:
    lines = lines_of(WHOLE)
    for _ in range(rng.randint(1, 4)):
        index = rng.randrange(len(lines))
        line = bytearray(lines[index])
        edit = rng.choice(["drop", "double", "cut", "move", "noise", "insert"])
        if edit == "drop":
            del lines[index]
        elif edit == "double":
            lines.insert(index, bytes(line))
        elif edit == "cut":
            lines[index] = bytes(line[: rng.randrange(len(line) + 1)])
        elif edit == "move":
            lines.insert(rng.randrange(len(lines)), lines.pop(index))
        elif edit == "noise":
            lines[index] = rng.randbytes(rng.randrange(40))
        else:
            lines.insert(index, rng.choice([b"", b"null", b"[]", b'{"kind":[]}', b'{"kind":"event"}', b"[" * 10_000]))
        if not lines:
            break
    verify(lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([2**63, -(2**63) - 1, 10**30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def replace_somewhere(value: Any, rng: random.Random, new: Any) -> Any:
    """The value with `new` in one place of it."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys or rng.random() < 0.1:
        return new
    key = rng.choice(keys)
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = replace_somewhere(value[key], rng, new)
    return changed


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False), JSON)
def test_whatever_a_rightly_hashed_body_holds_both_agree(rng: random.Random, new: Any) -> None:
    ledger = WHOLE.copy()
    index = rng.randrange(len(ledger.events))
    body = replace_somewhere(json.loads(ledger.events[index].body), rng, new)
    ledger.events[index] = replace(ledger.events[index], body=json.dumps(body).encode())
    if rng.random() < 0.5:
        try:
            ledger.events[index] = replace(ledger.events[index], body=canonical(body))
        except UnicodeEncodeError:
            return
    ledger.rechain(index + 1)
    first, second = offline(ledger), online(ledger)
    assert first.ok == second.ok
    assert [finding[:2] for finding in findings_of(first)[:1]] == [finding[:2] for finding in findings_of(second)[:1]]


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False), JSON)
def test_whatever_a_line_holds_is_a_finding_and_never_an_error(rng: random.Random, new: Any) -> None:
    lines = lines_of(WHOLE)
    index = rng.randrange(len(lines))
    lines[index] = json.dumps(replace_somewhere(json.loads(lines[index]), rng, new)).encode()
    verify(lines)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([*CHAIN_EDITS, *TABLE_EDITS]), min_size=2, max_size=3, unique_by=lambda edit: edit.name)
)
def test_both_agree_on_edits_on_top_of_edits(edits: list[Edit]) -> None:
    ledger = WHOLE.copy()
    for edit in edits:
        try:
            edit.apply(ledger)
        except (IndexError, ValueError):  # an earlier edit took away what this one changes
            continue
    assert both(ledger) or ledger == WHOLE
