"""Chunks of an export file, judged by this process or by several (offline_chunk).

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. A worker is
told where a chunk begins and ends, reads it from the file and answers with its runs; chunks go round the workers and come
back in the file's order, a few of them under way at a time. A worker whose parent dies reads the end of its pipe and ends.
A worker that dies itself is done without: its chunks are judged here.
"""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import BinaryIO

from server.cli.offline_chunk import DoubtfulRun, Judge, Run

# Chunks given to a worker at a time: one that it judges, one that waits.
_DEPTH = 2


@dataclass(slots=True)
class Chunk:
    """The runs of a chunk, its size in bytes, and its lines, read again when they are asked for."""

    runs: list[Run]
    size: int
    lines: Callable[[], Sequence[bytes]]


def judged_chunks(file: BinaryIO, judge: Judge, jobs: int, chunk_bytes: int) -> Iterator[Chunk]:
    """Yields the chunks from where `file` stands to its end, judged by so many processes (1: by this one).

    A chunk is of whole lines, so a bit larger than `chunk_bytes`.
    """
    if jobs > 1 and "fork" in multiprocessing.get_all_start_methods():
        yield from _by_workers(file, judge, jobs, chunk_bytes)
        return
    while content := file.read(chunk_bytes):
        content += file.readline()
        yield Chunk(_judge(judge, content), len(content), partial(_split, content))


def _by_workers(file: BinaryIO, judge: Judge, jobs: int, chunk_bytes: int) -> Iterator[Chunk]:
    workers: list[_Worker] = []
    under_way: deque[tuple[_Worker, int, int]] = deque()
    try:
        for _ in range(jobs):
            workers.append(_Worker(file, judge, workers))
        for number, (begin, end) in enumerate(_ranges(file, chunk_bytes)):
            worker = workers[number % jobs]
            worker.give(begin, end)
            under_way.append((worker, begin, end))
            if len(under_way) == jobs * _DEPTH:
                yield _chunk(file, judge, *under_way.popleft())
        while under_way:
            yield _chunk(file, judge, *under_way.popleft())
    finally:
        for worker in workers:
            worker.stop()


def _chunk(file: BinaryIO, judge: Judge, worker: _Worker, begin: int, end: int) -> Chunk:
    runs = worker.answer()
    if runs is None:
        runs = _judge(judge, _read(file, begin, end))
    return Chunk(runs, end - begin, lambda: _split(_read(file, begin, end)))


def _ranges(file: BinaryIO, chunk_bytes: int) -> Iterator[tuple[int, int]]:
    """Yields where chunks of whole lines begin and end, from where the file stands."""
    begin, size = file.tell(), os.fstat(file.fileno()).st_size
    while begin < size:
        file.seek(begin + chunk_bytes)
        file.readline()
        end = min(file.tell(), size)
        yield begin, end
        begin = end


def _read(file: BinaryIO, begin: int, end: int) -> bytes:
    """What stands in a range; less when the file was cut meanwhile. The file's own position is left alone."""
    parts = []
    while begin < end and (part := os.pread(file.fileno(), end - begin, begin)):
        parts.append(part)
        begin += len(part)
    return b"".join(parts)


def _split(content: bytes) -> list[bytes]:
    """The lines of a chunk, as reading a file yields them."""
    return io.BytesIO(content).readlines()


def _judge(judge: Judge, content: bytes) -> list[Run]:
    try:
        return judge.judge(content.decode())
    except UnicodeDecodeError:
        return [DoubtfulRun(len(_split(content)))]


class _Worker:
    """A process that judges chunks of a file; it is forked, so it has the file itself and whatever this process has."""

    def __init__(self, file: BinaryIO, judge: Judge, earlier: list[_Worker]) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        ours = [*(worker._pipe for worker in earlier), self._pipe]
        self._process = context.Process(target=_work, args=(theirs, ours, file, judge), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, begin: int, end: int) -> None:
        """Gives the worker a range of the file."""
        with suppress(OSError):  # it died: `answer` tells
            self._pipe.send((begin, end))

    def answer(self) -> list[Run] | None:
        """Returns the runs of the range given first of those not answered, None when the worker has died."""
        try:
            runs: list[Run] = self._pipe.recv()
        except (EOFError, OSError):
            return None
        return runs

    def stop(self) -> None:
        """Ends the worker, whatever it is at."""
        self._pipe.close()
        self._process.join()


def _work(pipe: Connection, ours: list[Connection], file: BinaryIO, judge: Judge) -> None:
    """What a worker does: it answers ranges with runs until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    for connection in ours:  # or the pipes of a dead parent would not end
        connection.close()
    gc.disable()  # runs hold no cycles, and many tuples
    with suppress(EOFError, OSError):
        while True:
            begin, end = pipe.recv()
            pipe.send(_judge(judge, _read(file, begin, end)))
