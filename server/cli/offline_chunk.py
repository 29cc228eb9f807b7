"""Judgement of a chunk of an export's lines: runs of lines that are right, told in short, and doubtful lines between.

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from server.cli.offline_format import MalformedLineError, read_hash
from server.cli.offline_lines import BATCH_CHARACTERS, Event, Lines, Right
from server.cli.offline_replay import Use
from server.cli.offline_tables import PointerRow, VersionRow


@dataclass(slots=True)
class DoubtfulRun:
    """Lines of which nothing is known."""

    count: int = 0


@dataclass(slots=True)
class RowRun:
    """Versions that agree with their cores, behind them pointers; without replay they are only counted."""

    count: int = 0
    versions: list[VersionRow] = field(default_factory=list)
    pointers: list[PointerRow] = field(default_factory=list)


@dataclass(slots=True)
class EventRun:
    """Events that are right in themselves, each linked to the one before it; of the first this can't be known.

    `operation_id` and `earlier_us` are those of the last event: its operation and the time recorded last before that,
    None when the operation is that of the run's first event.
    """

    first_sequence: int
    first_recorded_at_us: int
    first_leaf: bytes
    first_chain: bytes
    recorded_at_us: int
    chain: bytes
    first_operation_id: str
    operation_id: str
    earlier_us: int | None = None
    count: int = 0
    # By `hash`, which is the same in a process and in those forked from it.
    event_id_hashes: array[int] = field(default_factory=lambda: array("q"))
    # sequence, object, number, version id, digest
    versions: list[tuple[int, str, int, str, str]] = field(default_factory=list)
    # In order: sequence, time, the time before its operation, use number, use; or sequence and body of a change.
    uses_and_changes: list[tuple[int, int, int | None, int, Use] | tuple[int, dict[str, Any]]] = field(
        default_factory=list
    )

    @classmethod
    def begin(cls, event: Event) -> EventRun | None:
        """A run whose first event is this one, to be added yet; None when the chain hash is none."""
        sequence, recorded_at_us, _, leaf, chain_text, (_, operation_id, _) = event
        try:
            chain = read_hash(chain_text)
        except MalformedLineError:
            return None
        return cls(sequence, recorded_at_us, leaf, chain, recorded_at_us, chain, operation_id, operation_id)

    def take(self, lines: Sequence[Right | None], begin: int, known_sequence: int | None, replay: bool) -> int:
        """Takes lines from `begin` on as long as they are events that follow; returns the index behind them."""
        chain, time_us = self.chain, self.recorded_at_us
        operation_id, earlier_us = self.operation_id, self.earlier_us
        sequence = self.first_sequence + self.count
        index = begin
        for index in range(begin, len(lines)):
            line = lines[index]
            if line is None or line[0] != "event":
                break
            number, recorded_at_us, use_number, leaf, chain_text, told = line[1]
            if number != sequence or recorded_at_us < time_us or number == known_sequence:
                break
            if sequence != self.first_sequence:
                next_chain = sha256(b"\x01" + chain + leaf).digest()
                if next_chain.hex() != chain_text:
                    break
                chain = next_chain
            if replay:
                event_id, own_operation_id, (named, use, change) = told
                self.event_id_hashes.append(hash(event_id))
                if own_operation_id != operation_id:
                    operation_id, earlier_us = own_operation_id, time_us
                if named is not None:
                    self.versions.append((number, *named))
                elif use is not None:
                    self.uses_and_changes.append((number, recorded_at_us, earlier_us, use_number, use))
                elif change is not None:
                    self.uses_and_changes.append((number, change))
            sequence += 1
            time_us = recorded_at_us
        else:
            index = len(lines)
        self.chain, self.recorded_at_us = chain, time_us
        self.operation_id, self.earlier_us = operation_id, earlier_us
        self.count += index - begin
        return index


Run = DoubtfulRun | RowRun | EventRun


class Judge:
    """Judges chunks of one workspace's export. An event at `known_sequence` is left to the verifier.

    `names` are the workspace's `tenant_id` and `scope_id`. Without `replay` bodies and cores are not read.
    """

    def __init__(self, names: Mapping[str, str], replay: bool, known_sequence: int | None) -> None:
        self._lines = Lines(names, replay)
        self._replay = replay
        self._known_sequence = known_sequence

    def judge(self, text: str) -> list[Run]:
        """Returns the lines of a text as runs, in order; the counts of these add up to the number of lines."""
        runs: list[Run] = []
        begin, length = 0, len(text)
        while begin < length:
            end = text.find("\n", begin + BATCH_CHARACTERS) + 1 or length
            lines = self._lines.read(text[begin:end])
            index = 0
            while index < len(lines):
                index = self._take(lines, index, runs)
            begin = end
        return runs

    def _take(self, lines: Sequence[Right | None], index: int, runs: list[Run]) -> int:
        """Takes lines into the last run or into a new one; returns the index behind them."""
        line = lines[index]
        run = runs[-1] if runs else None
        if line is not None and line[0] == "event":
            events = run if isinstance(run, EventRun) else EventRun.begin(line[1])
            taken = events.take(lines, index, self._known_sequence, self._replay) if events is not None else index
            if events is not None and taken > index:
                if events is not run:
                    runs.append(events)
                return taken
        elif line is not None:
            # What a pointer is held against are the versions before it: so none comes behind one within a run.
            if not isinstance(run, RowRun) or (line[0] == "version" and run.pointers):
                run = RowRun()
                runs.append(run)
            run.count += 1
            if self._replay and line[0] == "object":
                run.pointers.append(line[1])
            elif self._replay and line[0] == "version":
                run.versions.append(line[1])
            return index + 1
        if not isinstance(run, DoubtfulRun):
            run = DoubtfulRun()
            runs.append(run)
        run.count += 1
        return index + 1
