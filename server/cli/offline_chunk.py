"""Judgement of a chunk of an export's lines: runs of lines that are right, told in short, and doubtful lines between.

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from server.cli.offline_format import MalformedLineError, read_hash
from server.cli.offline_lines import BATCH_CHARACTERS, Event, Lines, Right
from server.cli.offline_replay import Use, UseFields
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
    event_ids: list[str] = field(default_factory=list)
    # sequence, object, number, version id, digest
    versions: list[tuple[int, str, int, str, str]] = field(default_factory=list)
    # In order: sequence, time, the time before its operation, use number, use; or sequence and body of a change.
    uses_and_changes: list[tuple[int, int, int | None, int, UseFields] | tuple[int, dict[str, Any]]] = field(
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

    def add(self, event: Event, replay: bool) -> bool:
        """Adds an event, if it is the run's first or follows the last one; returns whether it does."""
        sequence, recorded_at_us, use_number, leaf, chain_text, (event_id, operation_id, effect) = event
        if self.count:
            if sequence != self.first_sequence + self.count or recorded_at_us < self.recorded_at_us:
                return False
            chain = sha256(b"\x01" + self.chain + leaf).digest()
            if chain.hex() != chain_text:
                return False
            self.chain = chain
        if replay:
            self.event_ids.append(event_id)
            if operation_id != self.operation_id:
                self.operation_id, self.earlier_us = operation_id, self.recorded_at_us
            if isinstance(effect, Use):
                grant_id, version, chain_ids, mirrored = effect
                use = grant_id, version, chain_ids, mirrored  # a plain tuple goes faster between processes
                self.uses_and_changes.append((sequence, recorded_at_us, self.earlier_us, use_number, use))
            elif isinstance(effect, dict):
                self.uses_and_changes.append((sequence, effect))
            elif effect is not None:
                self.versions.append((sequence, *effect))
        self.recorded_at_us = recorded_at_us
        return True


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
        run: Run | None = None
        begin, length = 0, len(text)
        while begin < length:
            end = text.find("\n", begin + BATCH_CHARACTERS) + 1 or length
            for line in self._lines.read(text[begin:end]):
                taken = None if line is None else self._add(line, run)
                if taken is None:
                    taken = run if isinstance(run, DoubtfulRun) else DoubtfulRun()
                if taken is not run:
                    runs.append(taken)
                    run = taken
                taken.count += 1
            begin = end
        return runs

    def _add(self, line: Right, run: Run | None) -> Run | None:
        """Returns the run that a line was added to, perhaps a new one; None when it follows on nothing known."""
        if line[0] == "event":
            if line[1][0] == self._known_sequence:
                return None
            events = run if isinstance(run, EventRun) else EventRun.begin(line[1])
            return events if events is not None and events.add(line[1], self._replay) else None
        # What a pointer is held against are the versions before it: so none comes behind one within a run.
        rows = run if isinstance(run, RowRun) and (line[0] == "object" or not run.pointers) else RowRun()
        if not self._replay:
            return rows
        if line[0] == "object":
            rows.pointers.append(line[1])
        else:
            rows.versions.append(line[1])
        return rows
