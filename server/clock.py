"""The database's clock, carried forward on this process's monotonic clock (write-path.md, "Times").

Stamps envelopes only. Windows are judged by the database itself.
"""

from __future__ import annotations

import time

from storage.database import Database

_READING = "select (extract(epoch from remit.clock()) * 1000000)::bigint"


class DatabaseClock:
    """Readings are at most `reading_age_max_seconds` old and assigned to the middle of the round trip."""

    def __init__(self, database: Database, *, reading_age_max_seconds: float = 1.0) -> None:
        self._database = database
        self._age_max_ns = int(reading_age_max_seconds * 1_000_000_000)
        self._read_at_ns = 0
        self._reading_us: int | None = None

    async def now_us(self) -> int:
        """Returns the database's time in microseconds; raises DatabaseUnavailable when it can't be read."""
        before_ns = time.monotonic_ns()
        if self._reading_us is None or before_ns - self._read_at_ns > self._age_max_ns:
            async with self._database.connection() as connection:
                before_ns = time.monotonic_ns()
                row = await (await connection.execute(_READING)).fetchone()
            assert row is not None
            after_ns = time.monotonic_ns()
            self._reading_us, self._read_at_ns = int(row[0]), (before_ns + after_ns) // 2
        return self._reading_us + (time.monotonic_ns() - self._read_at_ns) // 1000

    def observe(self, now_us: int) -> None:
        """Takes notice of a time the commit function judged by: when it has jumped, the next call reads anew."""
        if self._reading_us is not None:
            carried_us = self._reading_us + (time.monotonic_ns() - self._read_at_ns) // 1000
            if now_us and abs(carried_us - now_us) > 1_000_000:
                self._reading_us = None
