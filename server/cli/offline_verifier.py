"""Verification of an exported ledger without the service, its database or its code (ledger.md, Proof).

With `offline_format` and `offline_replay` this needs the standard library only. A file is read once, line by line;
besides what the replay keeps, an event costs 16 bytes (to find an event id used twice). Nothing in a file makes it
raise: whatever is not as the format says is a finding.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from server.cli.offline_format import (
    EVENT_COLUMNS,
    VERSION_COLUMNS,
    MalformedLineError,
    MalformedPayloadError,
    UnknownFormatError,
    chain_hash,
    genesis_hash,
    leaf_hash,
    read_base64,
    read_body,
    read_core,
    read_count,
    read_hash,
    read_record,
    read_text,
)
from server.cli.offline_replay import (
    VERSION_EVENTS,
    Finding,
    Findings,
    GrantReplay,
    Lineage,
    PolicyReplay,
)

PROGRESS_EVERY_LINES = 4096


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """Outcome: `findings` has the first bad place first, table findings last, at most FINDINGS_MAX of `finding_count`.

    `head_sequence` and `head_hash` are the head's (0 and empty when the export has none), `count` the events read.
    """

    ok: bool
    findings: list[Finding]
    finding_count: int
    head_sequence: int
    head_hash: bytes
    count: int


def verify(
    lines: Iterable[bytes | str],
    known_sequence: int | None = None,
    known_hash: bytes | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    replay: bool = True,
) -> VerificationReport:
    """Verifies the lines of one export file, against a place kept from earlier when one is given.

    `known_sequence` and `known_hash` (32 bytes) come together or not at all: else ValueError. `progress` is called with
    the number of lines read, every PROGRESS_EVERY_LINES lines and at the end. Without `replay` only the chain is
    verified (order, hashes, head, known place), several times faster: bodies are not parsed and tables not compared.
    Raises nothing because of the content.
    """
    if (known_sequence is None) != (known_hash is None):
        raise ValueError("known_sequence and known_hash come together")
    known = (known_sequence, known_hash) if known_sequence is not None and known_hash is not None else None
    verifier = _Verifier(known, replay)
    number = 0
    for number, line in enumerate(lines, 1):
        if not verifier.read(number, line):
            break
        if progress is not None and number % PROGRESS_EVERY_LINES == 0:
            progress(number)
    if progress is not None:
        progress(number)
    return verifier.report()


class _EventIds:
    """Finds event ids used twice, at 16 bytes an event: two independent 64-bit hashes, compared at the end."""

    PART = 2_000_000

    def __init__(self) -> None:
        self._sequences: array[int] = array("q")
        self._hashes: array[int] = array("q")

    def add(self, sequence: int, event_id: str) -> None:
        self._sequences.append(sequence)
        self._hashes.append(hash(event_id))

    def repeated(self) -> list[int]:
        """Returns the sequences of the events whose id an earlier event has.

        The hashes are split into parts so that a set of all of them never stands in memory. A collision of two
        different ids (one file in a million of ten million events) would be a false alarm, never a missed one.
        """
        parts = len(self._hashes) // self.PART + 1
        repeated = []
        for part in range(parts):
            own = self._hashes if parts == 1 else [value for value in self._hashes if value % parts == part]
            if len(set(own)) == len(own):
                continue
            seen: set[int] = set()
            for sequence, value in zip(self._sequences, self._hashes, strict=True):
                if value % parts == part:
                    if value in seen:
                        repeated.append(sequence)
                    seen.add(value)
        return repeated


class _Verifier:
    """Reads an export line by line: a header, events in order, rows of the tables, a head."""

    def __init__(self, known: tuple[int, bytes] | None, replay: bool) -> None:
        self.findings = Findings()
        self._replay = replay
        self._known = known
        self._header: Mapping[str, Any] | None = None
        self._head: Mapping[str, Any] | None = None
        self._rows_begun = False
        self._count = 0
        # The newest event in order: its sequence, chain hash (None when it can't be told) and time.
        self._sequence = 0
        self._chain: bytes | None = None
        self._recorded_at_us = -(2**63)
        self._event_ids = _EventIds()
        self._known_met = False
        self._tables: _Tables | None = None

    def read(self, number: int, line: bytes | str) -> bool:
        """Takes one line in; returns whether reading on makes sense (without a header it does not)."""
        try:
            record = read_record(line)
            if self._header is None:
                self._begin(record)
            elif self._head is not None:
                raise MalformedLineError("behind the head")
            elif record["kind"] == "event":
                self._event(record)
            elif record["kind"] == "head":
                self._head_hash = read_hash(record["chain_hash"])
                self._head = record
            else:
                self._row(record)
        except MalformedLineError as error:
            unknown = isinstance(error, UnknownFormatError)
            place = f"line {number}: {error}"
            at = 0 if self._rows_begun or self._header is None else self._sequence + 1
            self.findings.add(at, "UNKNOWN_FORMAT" if unknown else "MALFORMED", place)
            return self._header is not None
        return True

    def report(self) -> VerificationReport:
        """Judges what only the end shows."""
        if self._header is not None and self._tables is not None:
            for sequence in self._event_ids.repeated():
                self.findings.add(sequence, "DUPLICATE_EVENT", "event_id")
            if self._replay:
                self._tables.finish(None if self._head is None else self._head["policy_revision"])
            self._judge_head()
            if self._known is not None and not self._known_met:
                self.findings.add(self._known[0], "KNOWN_PLACE_MISSING", "known place")
        elif not self.findings.total:
            self.findings.add(0, "TRUNCATED_EXPORT", "header")
        return VerificationReport(
            ok=not self.findings.total,
            findings=self.findings.first(),
            finding_count=self.findings.total,
            head_sequence=0 if self._head is None else self._head["sequence"],
            head_hash=b"" if self._head is None else self._head_hash,
            count=self._count,
        )

    def _begin(self, record: Mapping[str, Any]) -> None:
        self._chain = genesis_hash(record)
        self._header = record
        self._tables = _Tables(record["tenant_id"], record["scope_id"], self.findings)
        self._meet_known(0, self._chain)

    def _meet_known(self, sequence: int, chain: bytes) -> None:
        if self._known is not None and sequence == self._known[0]:
            self._known_met = True
            if chain != self._known[1]:
                self.findings.add(sequence, "KNOWN_PLACE_CHANGED", "known place")

    def _event(self, record: Mapping[str, Any]) -> None:
        if self._rows_begun:
            raise MalformedLineError("event behind the rows")
        sequence, recorded_at_us, use_number = record["sequence"], record["recorded_at_us"], record["use_number"]
        body = read_base64(record["body"])
        leaf, chain = read_hash(record["leaf_hash"]), read_hash(record["chain_hash"])
        true_leaf = leaf_hash(sequence, recorded_at_us, use_number, body)
        self._count += 1
        expected, previous = self._sequence + 1, self._chain
        if sequence != expected:
            self.findings.add(min(sequence, expected), "SEQUENCE_GAP", f"{sequence} where {expected} belongs")
            previous = None
        self._judge_hashes(sequence, previous, true_leaf, leaf, chain)
        if sequence >= expected:
            if recorded_at_us < self._recorded_at_us:
                self.findings.add(sequence, "RECORDED_AT_BACKWARDS", "recorded_at")
            self._sequence, self._chain, self._recorded_at_us = sequence, chain, recorded_at_us
        self._meet_known(sequence, chain)
        if self._replay:
            self._judge_body(sequence, recorded_at_us, use_number, body, record["columns"])

    def _judge_hashes(self, sequence: int, previous: bytes | None, true_leaf: bytes, leaf: bytes, chain: bytes) -> None:
        """One finding for one cause: the stored chain hash goes on as the next event's predecessor."""
        if previous is None:
            if true_leaf != leaf:
                self.findings.add(sequence, "BODY_CHANGED", "body, recorded_at or use_number")
        elif chain_hash(previous, true_leaf) == chain:
            if true_leaf != leaf:
                self.findings.add(sequence, "LEAF_HASH_CHANGED", "leaf_hash")
        elif true_leaf != leaf and chain_hash(previous, leaf) == chain:
            self.findings.add(sequence, "BODY_CHANGED", "body, recorded_at or use_number")
        else:
            self.findings.add(sequence, "CHAIN_BROKEN", "chain_hash")

    def _judge_body(
        self, sequence: int, recorded_at_us: int, use_number: int, body_bytes: bytes, columns: Mapping[str, Any]
    ) -> None:
        assert self._header is not None  # set together, before any event
        assert self._tables is not None
        body, canonical = read_body(body_bytes)
        if body is None:
            self.findings.add(sequence, "BODY_MALFORMED", "body")
            return
        if not canonical:
            self.findings.add(sequence, "BODY_NOT_CANONICAL", "body")
        named = {column: body.get(column) for column in EVENT_COLUMNS}
        named["actor_id"] = body["actor"]["actor_id"]
        if columns != named:
            for column in EVENT_COLUMNS:
                if columns[column] != named[column]:
                    self.findings.add(sequence, "COLUMN_CHANGED", column)
        self._event_ids.add(sequence, body["event_id"])
        if body["tenant_id"] != self._header["tenant_id"] or body["scope_id"] != self._header["scope_id"]:
            self.findings.add(sequence, "BODY_FOREIGN", "body")
            return
        if use_number and body["event_type"] != "delegation_exercised":
            self.findings.add(sequence, "USE_NUMBER_CHANGED", "use_number")
        try:
            self._tables.event(sequence, recorded_at_us, use_number, body)
        except MalformedPayloadError as error:
            self.findings.add(sequence, "PAYLOAD_MALFORMED", f"payload: {error}")

    def _row(self, record: Mapping[str, Any]) -> None:
        if record["kind"] == "header" or self._tables is None:
            raise MalformedLineError("a second header")
        core = read_base64(record["core"]) if "core" in record else b""
        self._rows_begun = True
        if self._replay:
            self._tables.row(record, core)

    def _judge_head(self) -> None:
        if self._head is None:
            self.findings.add(0, "TRUNCATED_EXPORT", "head")
        elif self._head["sequence"] > self._sequence:
            self.findings.add(self._sequence + 1, "TAIL_CUT", f"events up to {self._head['sequence']}")
        elif self._head["sequence"] < self._sequence or self._head_hash != self._chain:
            self.findings.add(0, "HEAD_MISMATCH", "head")


class _Tables:
    """Hands each event and each row to the replay that it concerns."""

    def __init__(self, tenant_id: str, scope_id: str, findings: Findings) -> None:
        self._names = {"tenant_id": tenant_id, "scope_id": scope_id}
        self._findings = findings
        self._objects = Lineage("object", findings)
        self._object_types: dict[str, str] = {}
        self._grants = GrantReplay(tenant_id, scope_id, findings)
        self._policy = PolicyReplay(findings)

    def event(self, sequence: int, recorded_at_us: int, use_number: int, body: Mapping[str, Any]) -> None:
        """Replays one event; raises MalformedPayloadError."""
        event_type, payload = body["event_type"], body["payload"]
        self._grants.pass_time(recorded_at_us, str(body["operation_id"]))
        if event_type == "delegation_exercised":
            self._grants.exercised(sequence, recorded_at_us, use_number, body, payload)
        elif event_type == "delegation_granted":
            self._grants.granted(sequence, body, payload)
        elif event_type == "delegation_revoked":
            self._grants.revoked(sequence, body, payload)
        elif event_type in ("policy_rule_added", "policy_rule_removed", "role_bound", "role_unbound"):
            self._policy.changed(sequence, event_type, payload)
        elif event_type == "workspace_created":
            self._policy.bootstrap(sequence, payload)
        elif event_type in VERSION_EVENTS or ("envelope_digest" in payload and "object_id" in body):
            number, digest = read_count(payload, "object_sequence"), read_text(payload, "envelope_digest")
            self._objects.name(sequence, read_text(body, "object_id"), number, read_text(body, "version_id"), digest)

    def row(self, record: Mapping[str, Any], core: bytes) -> None:
        """Compares one row with what the events said of it."""
        kind = record["kind"]
        if kind == "version":
            self._version(record, core)
        elif kind == "object":
            self._objects.pointer(record["object_id"], record["sequence"], record["version_id"])
            if self._object_types.get(record["object_id"], record["object_type"]) != record["object_type"]:
                self._findings.add(0, "OBJECT_TYPE_CHANGED", f"object {record['object_id']}")
        elif kind == "delegation":
            self._grants.row(record)
        elif kind == "delegation_version":
            self._grants.version_row(record, core, read_core(core))
        else:
            fields = [value for key, value in record.items() if key != "kind"]
            names = 2 if kind == "binding" else 1
            self._policy.row((kind, *fields[:names]), tuple(fields[names:]))

    def finish(self, policy_revision: int | None) -> None:
        """The rows are at their end; `policy_revision` is the head's, None without one."""
        self._objects.finish()
        self._grants.lineage.finish()
        self._policy.finish(policy_revision)

    def _version(self, record: Mapping[str, Any], core_bytes: bytes) -> None:
        object_id, number, columns = record["object_id"], record["sequence"], record["columns"]
        event = self._objects.row(object_id, number, record["version_id"], core_bytes, record["ledger_sequence"])
        if event is None:
            return
        place = f"object {object_id} version {number}"
        core = read_core(core_bytes)
        actor = core.get("actor") if core is not None else None
        if core is None or type(core.get("object_type")) is not str or not isinstance(actor, dict):
            self._findings.add(event, "VERSION_MALFORMED", place)
            return
        for key in ("tenant_id", "scope_id", "object_id", "version_id", "sequence"):
            if core.get(key) != self._names.get(key, record.get(key)):
                self._findings.add(event, "VERSION_COLUMN_CHANGED", f"{place}: {key}")
        for key in VERSION_COLUMNS:
            if columns[key] != (actor.get("actor_id") if key == "actor_id" else core.get(key)):
                self._findings.add(event, "VERSION_COLUMN_CHANGED", f"{place}: {key}")
        if self._object_types.setdefault(object_id, core["object_type"]) != core["object_type"]:
            self._findings.add(event, "OBJECT_TYPE_CHANGED", place)
