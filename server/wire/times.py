"""Times of the wire <-> integers of microseconds since 1970, UTC; what is finer than a microsecond is cut off."""

from google.protobuf.timestamp_pb2 import Timestamp

_MICROSECONDS = 1_000_000


def timestamp_of(time_us: int) -> Timestamp:
    """Returns the Timestamp of a number of microseconds; its nanoseconds count forward before 1970 as well."""
    seconds, rest = divmod(time_us, _MICROSECONDS)
    return Timestamp(seconds=seconds, nanos=rest * 1000)


def optional_timestamp_of(time_us: int | None) -> Timestamp | None:
    """Returns the Timestamp, None for None, which a message's constructor takes as absent."""
    return None if time_us is None else timestamp_of(time_us)


def write_time(stamp: Timestamp, time_us: int) -> None:
    """Sets a Timestamp, which is then present in the message it is a field of, to a number of microseconds."""
    stamp.seconds, rest = divmod(time_us, _MICROSECONDS)
    stamp.nanos = rest * 1000


def microseconds_of(stamp: Timestamp) -> int:
    """Returns a Timestamp in microseconds, cut off toward the past, so that no claim moves into the future."""
    return stamp.seconds * _MICROSECONDS + stamp.nanos // 1000
