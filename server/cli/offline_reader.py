"""Reading of an export in the file's order: a header, events, rows of the tables, a head (ledger.md, Proof).

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. Every check
is here or in what this calls. Lines come one by one, or as runs that a `Judge` made of them: of a run only its border
and the replay are left, and a run that does not fit to what stands before it is read line by line.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from server.cli.offline_chunk import EventRun, RowRun, Run
from server.cli.offline_findings import Findings
from server.cli.offline_format import (
    MalformedLineError,
    UnknownFormatError,
    chain_hash,
    genesis_hash,
    leaf_hash,
    read_base64,
    read_hash,
    read_record,
)
from server.cli.offline_tables import Tables, judge_body


class _EventIds:
    """Finds event ids used twice, at 16 bytes an event: sequences and 64-bit hashes, compared at the end."""

    PART = 2_000_000

    def __init__(self) -> None:
        self._sequences: array[int] = array("q")
        self._hashes: array[int] = array("q")

    def add(self, sequence: int, event_id: str) -> None:
        """Takes in the id of an event."""
        self._sequences.append(sequence)
        self._hashes.append(hash(event_id))

    def extend(self, first_sequence: int, hashes: array[int]) -> None:
        """Takes in the hashes of the ids of events that follow each other."""
        self._sequences.extend(range(first_sequence, first_sequence + len(hashes)))
        self._hashes.extend(hashes)

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


class LedgerReader:
    """What was read of an export, and what was found; `known` is a place kept from earlier."""

    def __init__(self, known: tuple[int, bytes] | None, replay: bool) -> None:
        self.findings = Findings()
        self.head_sequence = 0
        self.head_hash = b""
        self.event_count = 0
        # The workspace's `tenant_id` and `scope_id`, None before the header.
        self.names: dict[str, str] | None = None
        self._replay = replay
        self._known = known
        self._known_met = False
        self._head: Mapping[str, Any] | None = None
        self._rows_begun = False
        # The newest event in order: its sequence, chain hash and time.
        self._sequence = 0
        self._chain = b""
        self._recorded_at_us = -(2**63)
        self._event_ids = _EventIds()
        self._tables: Tables

    def read(self, number: int, line: bytes | str) -> None:
        """Takes the line of a number in; without a header reading on makes no sense."""
        try:
            record = read_record(line)
            if self.names is None:
                self._begin(record)
            elif self._head is not None:
                raise MalformedLineError("behind the head")
            elif record["kind"] == "event":
                self._event(record)
            elif record["kind"] == "head":
                self.head_hash = read_hash(record["chain_hash"])
                self._head, self.head_sequence = record, record["sequence"]
            else:
                self._row(record)
        except MalformedLineError as error:
            unknown = isinstance(error, UnknownFormatError)
            place = f"line {number}: {error}"
            at = 0 if self._rows_begun or self.names is None else self._sequence + 1
            self.findings.add(at, "UNKNOWN_FORMAT" if unknown else "MALFORMED", place)

    def take(self, number: int, runs: Iterable[Run], lines: Callable[[], Sequence[bytes | str]]) -> int:
        """Takes runs in, from the line of a number on; returns the number behind them.

        `lines` gives all lines of the runs; it is called once some of them must be read one by one.
        """
        first = number
        read: Sequence[bytes | str] | None = None
        for run in runs:
            if self._head is None and isinstance(run, EventRun) and self._fits(run):
                self._take_events(run)
            elif self._head is None and isinstance(run, RowRun):
                self._take_rows(run)
            else:
                read = lines() if read is None else read
                for index, line in enumerate(read[number - first : number - first + run.count], number):
                    self.read(index, line)
            number += run.count
        return number

    def finish(self) -> None:
        """Judges what only the end shows."""
        if self.names is None:
            if not self.findings.total:
                self.findings.add(0, "TRUNCATED_EXPORT", "header")
            return
        for sequence in self._event_ids.repeated():
            self.findings.add(sequence, "DUPLICATE_EVENT", "event_id")
        if self._replay:
            self._tables.finish(None if self._head is None else self._head["policy_revision"])
        if self._head is None:
            self.findings.add(0, "TRUNCATED_EXPORT", "head")
        elif self.head_sequence > self._sequence:
            self.findings.add(self._sequence + 1, "TAIL_CUT", f"events up to {self.head_sequence}")
        elif self.head_sequence < self._sequence or self.head_hash != self._chain:
            self.findings.add(0, "HEAD_MISMATCH", "head")
        if self._known is not None and not self._known_met:
            self.findings.add(self._known[0], "KNOWN_PLACE_MISSING", "known place")

    def _begin(self, record: Mapping[str, Any]) -> None:
        self._chain = genesis_hash(record)
        self.names = {"tenant_id": record["tenant_id"], "scope_id": record["scope_id"]}
        self._tables = Tables(self.names, self.findings)
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
        self.event_count += 1
        expected = self._sequence + 1
        if sequence != expected:
            self.findings.add(min(sequence, expected), "SEQUENCE_GAP", f"{sequence} where {expected} belongs")
        self._judge_hashes(sequence, self._chain if sequence == expected else None, true_leaf, leaf, chain)
        if sequence >= expected:
            if recorded_at_us < self._recorded_at_us:
                self.findings.add(sequence, "RECORDED_AT_BACKWARDS", "recorded_at")
            self._sequence, self._chain, self._recorded_at_us = sequence, chain, recorded_at_us
        self._meet_known(sequence, chain)
        if self._replay:
            self._replay_event(sequence, recorded_at_us, use_number, body, record["columns"])

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

    def _replay_event(
        self, sequence: int, recorded_at_us: int, use_number: int, body_bytes: bytes, columns: Mapping[str, Any]
    ) -> None:
        assert self.names is not None  # set before any event
        body, wrong = judge_body(body_bytes, columns, use_number, self.names)
        for kind, place in wrong:
            self.findings.add(sequence, kind, place)
        if body is not None:
            self._event_ids.add(sequence, body["event_id"])
            if ("BODY_FOREIGN", "body") not in wrong:
                self._tables.event(sequence, recorded_at_us, use_number, body)

    def _row(self, record: Mapping[str, Any]) -> None:
        if record["kind"] == "header":
            raise MalformedLineError("a second header")
        core = read_base64(record["core"]) if "core" in record else b""
        self._rows_begun = True
        if self._replay:
            self._tables.row(record, core)

    def _fits(self, run: EventRun) -> bool:
        """Whether a run's first event follows the newest one; of the others that is known."""
        return (
            not self._rows_begun
            and run.first_sequence == self._sequence + 1
            and run.first_recorded_at_us >= self._recorded_at_us
            and chain_hash(self._chain, run.first_leaf) == run.first_chain
        )

    def _take_events(self, run: EventRun) -> None:
        self.event_count += run.count
        self._sequence, self._chain, self._recorded_at_us = self._sequence + run.count, run.chain, run.recorded_at_us
        if not self._replay:
            return
        self._event_ids.extend(run.first_sequence, run.event_id_hashes)
        tables = self._tables
        for named in run.versions:
            tables.objects.name(*named)
        begun_us = tables.grants.earlier_us(run.first_operation_id)
        for use_or_change in run.uses_and_changes:
            if len(use_or_change) == 2:
                tables.change(*use_or_change)
            else:
                sequence, time_us, earlier_us, use_number, use = use_or_change
                earlier_us = begun_us if earlier_us is None else earlier_us
                tables.grants.exercised(sequence, time_us, earlier_us, use_number, use)
        earlier_us = begun_us if run.earlier_us is None else run.earlier_us
        tables.grants.pass_operations(run.operation_id, run.recorded_at_us, earlier_us)

    def _take_rows(self, run: RowRun) -> None:
        self._rows_begun = True
        for version in run.versions:
            self._tables.version(version)
        for pointer in run.pointers:
            self._tables.pointer(*pointer)
