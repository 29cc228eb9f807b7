"""Where an import waits: in order, as often as it is asked for, within its limits, and legible to nobody else."""

from __future__ import annotations

import io

import pytest

from server.domain_errors import ResourceExhausted
from server.portability.spool import Spool, spooling

SECRET = b'{"statement":"correct horse battery staple"}'


def test_records_come_back_in_their_order_again_and_again() -> None:
    records = [("memory_object", SECRET), ("event_side", b"{}"), ("a", bytes(range(256)))]
    with spooling(records_max=3, bytes_max=1000) as spool:
        for kind, record in records:
            spool.put(kind, record)
        assert spool.count == 3
        assert list(spool) == records
        assert list(spool) == records


def test_nothing_can_be_read_in_the_file() -> None:
    file = io.BytesIO()
    spool = Spool(file, records_max=10, bytes_max=1000)
    spool.put("memory_object", SECRET)
    spool.put("memory_object", SECRET)
    written = file.getvalue()
    assert b"horse" not in written
    assert b"memory_object" not in written
    half = len(written) // 2
    assert written[:half] != written[half:]
    assert [record for _, record in spool] == [SECRET, SECRET]


@pytest.mark.parametrize(("records_max", "bytes_max", "limit"), [(1, 1000, "import records"), (9, 50, "import bytes")])
def test_limits(records_max: int, bytes_max: int, limit: str) -> None:
    with spooling(records_max=records_max, bytes_max=bytes_max) as spool:
        spool.put("memory_object", SECRET)
        with pytest.raises(ResourceExhausted) as refused:
            spool.put("memory_object", SECRET)
        assert refused.value.limit == limit


def test_a_large_spool_leaves_memory_and_comes_back() -> None:
    record = b"x" * (1 << 20)
    with spooling(records_max=20, bytes_max=20 << 20) as spool:
        for _ in range(12):
            spool.put("memory_object", record)
        assert sum(len(found) for _, found in spool) == 12 << 20
