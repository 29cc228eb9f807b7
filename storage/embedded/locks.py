"""Advisory file locks (flock) with a time limit. The kernel drops them with the last holder, however it ended."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import EmbeddedBusy

POLL_SECONDS = 0.01


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(path: Path, operation: int) -> int | None:
    """Take the lock (LOCK_SH or LOCK_EX) and return its descriptor, or None when someone holds it against us."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def exclusive(path: Path, timeout_seconds: float) -> Iterator[None]:
    """Hold the lock alone. Raises EmbeddedBusy when it isn't to be had within `timeout_seconds`."""
    deadline = time.monotonic() + timeout_seconds
    while (descriptor := try_lock(path, fcntl.LOCK_EX)) is None:
        if time.monotonic() > deadline:
            raise EmbeddedBusy(path, timeout_seconds)
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        os.close(descriptor)
