"""An export verified in chunks, by one process or by several, from a file or a pipe."""

from __future__ import annotations

import multiprocessing
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from server.cli.offline_verifier import verify_file
from tests.server.cli.long_ledger import CHUNK_BYTES, EDITED_FROM, LINES, LONG, lines_of, one_by_one


@pytest.mark.parametrize("chunk_bytes", [1, 3000, 1 << 20])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_chunks_and_jobs_change_nothing(tmp_path: Path, chunk_bytes: int, jobs: int) -> None:
    edited = LONG.copy()
    edited.rewrite(EDITED_FROM, purpose="audit")
    del edited.events[EDITED_FROM + 5]
    file = tmp_path / "export"
    file.write_bytes(b"\n".join(lines_of(edited)))
    report = verify_file(file, jobs=jobs, chunk_bytes=chunk_bytes)
    assert report == one_by_one(lines_of(edited))
    assert [finding.sequence for finding in report.findings[:2]] == [EDITED_FROM, EDITED_FROM + 6]


def test_without_replay_the_chain_is_verified_in_chunks_too(tmp_path: Path) -> None:
    edited = LONG.copy()
    edited.rewrite(EDITED_FROM, purpose="audit")
    edited.versions[0] = replace(edited.versions[0], core=b"{}")
    file = tmp_path / "export"
    file.write_bytes(b"\n".join(lines_of(edited)))
    for jobs in (1, 2):
        report = verify_file(file, replay=False, jobs=jobs, chunk_bytes=CHUNK_BYTES)
        assert [(finding.sequence, finding.kind) for finding in report.findings] == [(EDITED_FROM, "BODY_CHANGED")]


def test_progress_tells_every_byte_in_the_end(tmp_path: Path) -> None:
    file = tmp_path / "export"
    file.write_bytes(b"\n".join(LINES))
    for jobs in (1, 2):
        told: list[int] = []
        assert verify_file(file, None, None, told.append, jobs=jobs, chunk_bytes=CHUNK_BYTES).ok
        assert told == sorted(told)
        assert len(told) > 5
        assert told[-1] == file.stat().st_size


def test_processes_that_die_are_done_without(tmp_path: Path) -> None:
    file = tmp_path / "export"
    file.write_bytes(b"\n".join(LINES))

    def kill(_: int) -> None:
        for child in multiprocessing.active_children():
            child.kill()

    assert verify_file(file, None, None, kill, jobs=2, chunk_bytes=CHUNK_BYTES) == one_by_one(LINES)
    assert multiprocessing.active_children() == []


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"\n".join(LINES)])
    writer.start()
    report = verify_file(tmp_path / "pipe", jobs=2)
    writer.join()
    assert report == one_by_one(LINES)
