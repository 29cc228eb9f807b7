"""A ledger long enough for every shape of its events to be learnt, and what its export is verified to be.

The reference is the same reading line by line, with no line judged before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from server.cli.offline_reader import LedgerReader
from server.cli.offline_verifier import VerificationReport, verify, verify_file
from storage.ledger_export import export_lines
from tests.storage.synthetic_ledger import Ledger, LedgerBuilder

NAMES = {"tenant_id": "acme", "scope_id": "ws:one"}
CHUNK_BYTES = 6000


def long_ledger() -> Ledger:
    """Rounds of everything that is frequent."""
    builder = LedgerBuilder()
    builder.begin()
    builder.grant("urn:grant:root")
    builder.grant("urn:grant:leaf", parent_delegation_id="urn:grant:root")
    for number in range(8):
        builder.write(f"urn:obj:{number}", "object_created", observed_at_us=number, quality_signals={"confidence": 0.5})
        builder.write(f"urn:obj:{number}")
        builder.exercise("urn:grant:root")
        builder.exercise("urn:grant:root", "urn:grant:leaf")
        builder.exercise_foreign("urn:grant:foreign", use_number=number + 1)
        builder.append("access_denied", {"operation": "read", "marks": [1, {"none": None, "true": True}]})
        builder.append("access_denied", {"operation": "read"}, purpose="é")
    builder.revoke("urn:grant:root")
    return builder.ledger


LONG = long_ledger()
EDITED_FROM = 40  # events from here on are of known shapes


def lines_of(ledger: Ledger) -> list[bytes]:
    return [line.encode() for line in export_lines(ledger.identity, **ledger.tables(), head=ledger.head)]


LINES = lines_of(LONG)


def one_by_one(lines: Sequence[bytes], known: tuple[int, bytes] | None = None) -> VerificationReport:
    """The reference: every line is read by itself."""
    reader = LedgerReader(known, True)
    for number, line in enumerate(lines, 1):
        reader.read(number, line)
        if reader.names is None:
            break
    reader.finish()
    findings = reader.findings
    head = reader.head_sequence, reader.head_hash
    return VerificationReport(not findings.total, findings.first(), findings.total, *head, reader.event_count)


def agree(lines: Sequence[bytes], folder: Path, jobs: int = 1) -> VerificationReport:
    """The outcome, after making sure that all ways to read the file come to it."""
    content = b"\n".join(lines)
    expected = one_by_one(content.split(b"\n") if content else [])
    file = folder / "export"
    file.write_bytes(content)
    assert verify(lines) == one_by_one(lines)
    with file.open("rb") as opened:
        assert verify(opened) == expected
    assert verify_file(file, jobs=jobs, chunk_bytes=CHUNK_BYTES) == expected
    return expected
