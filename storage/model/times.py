"""Times are integers of microseconds since 1970-01-01 UTC, everywhere but at the edges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def from_datetime(value: datetime) -> int:
    """Microseconds of an aware datetime; raises ValueError when it has no zone."""
    if value.tzinfo is None:
        raise ValueError("a time without a zone")
    return (value - _EPOCH) // _MICROSECOND


def to_datetime(value_us: int) -> datetime:
    """The aware UTC datetime of a number of microseconds; raises OverflowError outside the years 1 to 9999."""
    return _EPOCH + timedelta(microseconds=value_us)


def iso_text(value_us: int) -> str:
    """RFC 3339 text in UTC (`+00:00`) with six digits of a second."""
    return to_datetime(value_us).isoformat(timespec="microseconds")
