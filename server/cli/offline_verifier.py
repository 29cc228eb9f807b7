"""Verification of an exported ledger without the service, its database or its code (ledger.md, Proof).

The modules named `offline_*` need the standard library and each other only, so that a proof never rests on the service's
own code. A file is read once; besides what the replay keeps, an event costs 16 bytes (to find an event id used twice) and
a chunk of lines is in memory for each job. Nothing in a file makes it raise: whatever is not as the format says is a
finding. Chunks are judged by themselves, in processes of their own when a file is large; the chunks' borders, the replay
and every doubtful line are this process's. The number of jobs changes nothing in the findings.
"""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from server.cli.offline_chunk import DoubtfulRun, Judge, Run
from server.cli.offline_findings import Finding
from server.cli.offline_reader import LedgerReader
from server.cli.offline_workers import judged_chunks

CHUNK_BYTES = 1 << 20
PROGRESS_EVERY_LINES = 4096
# Below this a file is verified sooner than the processes are started.
PARALLEL_BYTES_MIN = 8 * CHUNK_BYTES


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
    """Verifies the lines of one export file in this process, against a place kept from earlier when one is given.

    `known_sequence` and `known_hash` (32 bytes) come together or not at all: else ValueError. `progress` is called with
    the number of lines read, about every PROGRESS_EVERY_LINES lines and at the end. Without `replay` only the chain is
    verified (order, hashes, head, known place), which is faster: bodies are not read and tables not compared.
    Raises nothing because of the content.
    """
    reader = LedgerReader(_known(known_sequence, known_hash), replay)
    number = 0
    judge: Judge | None = None
    for batch in _batches(lines):
        rest = batch
        if judge is None:
            number, rest = 1, batch[1:]
            reader.read(number, batch[0])
            if reader.names is None:
                break
            judge = Judge(reader.names, replay, known_sequence)
        reader.take(number + 1, _judge(judge, rest), partial(list, rest))
        number += len(rest)
        if progress is not None:
            progress(number)
    if progress is not None:
        progress(number)
    return _report(reader)


def verify_file(
    path: str | os.PathLike[str],
    known_sequence: int | None = None,
    known_hash: bytes | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    replay: bool = True,
    jobs: int | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> VerificationReport:
    """Verifies an export file as `verify` does; `progress` is called with the number of bytes read.

    `jobs` is the number of processes that judge chunks of the file, 1 for none but this one; by default that is the
    number of cores for a file of PARALLEL_BYTES_MIN or more. What is no regular file (a pipe) is read by this process.
    They are forked, so a caller has no threads by then. About `chunk_bytes` are judged at a time. Raises OSError when the
    file can't be read.
    """
    reader = LedgerReader(_known(known_sequence, known_hash), replay)
    with open(path, "rb") as file, _collector_paused():
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            jobs = 1
        elif jobs is None:
            jobs = _core_count() if status.st_size >= PARALLEL_BYTES_MIN else 1
        first = file.readline()
        if first:
            reader.read(1, first)
        if reader.names is not None:
            judge = Judge(reader.names, replay, known_sequence)
            number, done = 2, len(first)
            for chunk in judged_chunks(file, judge, jobs, chunk_bytes):
                number = reader.take(number, chunk.runs, chunk.lines)
                done += chunk.size
                if progress is not None:
                    progress(done)
    return _report(reader)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Runs and what the replay keeps hold no cycles, and are so many that searching them for some costs a few percent."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _report(reader: LedgerReader) -> VerificationReport:
    reader.finish()
    return VerificationReport(
        ok=not reader.findings.total,
        findings=reader.findings.first(),
        finding_count=reader.findings.total,
        head_sequence=reader.head_sequence,
        head_hash=reader.head_hash,
        count=reader.event_count,
    )


def _known(sequence: int | None, chain: bytes | None) -> tuple[int, bytes] | None:
    if (sequence is None) != (chain is None):
        raise ValueError("known_sequence and known_hash come together")
    return (sequence, chain) if sequence is not None and chain is not None else None


def _batches(lines: Iterable[bytes | str]) -> Iterator[list[bytes | str]]:
    """Yields lists of lines, none of them empty, up to PROGRESS_EVERY_LINES lines or about CHUNK_BYTES."""
    batch: list[bytes | str] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if len(batch) == PROGRESS_EVERY_LINES or size >= CHUNK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _judge(judge: Judge, lines: list[bytes | str]) -> list[Run]:
    """Judges lines as one text, if it has just these lines."""
    try:
        texts = [line if isinstance(line, str) else line.decode() for line in lines]
    except UnicodeDecodeError:
        return [DoubtfulRun(len(lines))]
    text = "".join(text if text.endswith("\n") else text + "\n" for text in texts)
    return judge.judge(text) if text.count("\n") == len(lines) else [DoubtfulRun(len(lines))]


def _core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
