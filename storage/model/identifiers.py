"""Identifiers: their grammar, and UUIDv7 ids made by the server (surface.md, section 1; P-8.1-26)."""

import os
import re
import threading
import time
from typing import Final
from uuid import UUID

ID_BYTES_MAX: Final = 256

_OPAQUE: Final = r"[A-Za-z0-9+._:\-/]+"
ID: Final = re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*:{_OPAQUE}", re.ASCII)
"""`scheme:opaque`; always used with fullmatch, since `$` would accept a trailing newline."""
ACTOR_ID: Final = re.compile(rf"actor:{_OPAQUE}", re.ASCII)
ROLE_ID: Final = re.compile(rf"role:{_OPAQUE}", re.ASCII)
TENANT_ID: Final = re.compile(r"[a-z0-9-]{1,63}", re.ASCII)

TENANT_SCOPE_PREFIX: Final = "tenant:"


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    return len(text) <= ID_BYTES_MAX and pattern.fullmatch(text) is not None


def is_id(text: str) -> bool:
    """Returns whether the text is an id: `scheme:opaque`, ASCII, at most 256 bytes."""
    return _matches(ID, text)


def is_actor_id(text: str) -> bool:
    """Returns whether the text is an actor's id, `actor:...`."""
    return _matches(ACTOR_ID, text)


def is_role_id(text: str) -> bool:
    """Returns whether the text is a role's id, `role:...`."""
    return _matches(ROLE_ID, text)


def is_subject_id(text: str) -> bool:
    """Returns whether the text may be the subject of a rule: an actor or a role."""
    return is_actor_id(text) or is_role_id(text)


def is_tenant_id(text: str) -> bool:
    """Returns whether the text is a tenant's id, `[a-z0-9-]{1,63}`."""
    return TENANT_ID.fullmatch(text) is not None


def root_scope_id(tenant_id: str) -> str:
    """Returns the id of the tenant's root scope, where tenant-level administration lives."""
    return TENANT_SCOPE_PREFIX + tenant_id


_COUNTER_MAX: Final = 0xFFF
_lock = threading.Lock()
_last_milliseconds = 0
_counter = 0


def _new_value() -> int:
    """Returns the 128 bits of a UUIDv7 (RFC 9562) greater than every earlier one of this process.

    48 bits of Unix milliseconds, a 12-bit counter that restarts at random in its lower half each millisecond and rises
    within it, and 62 random bits. When the counter is used up or the clock steps back, the last millisecond is carried
    on.
    """
    global _last_milliseconds, _counter
    # The random bits are drawn anew for every id, so that a forked child that inherits the counter repeats nothing.
    random_bits = int.from_bytes(os.urandom(10), "big")
    now = time.time_ns() // 1_000_000
    with _lock:
        if now > _last_milliseconds:
            _last_milliseconds = now
            _counter = random_bits >> 69
        elif _counter == _COUNTER_MAX:
            _last_milliseconds += 1
            _counter = random_bits >> 69
        else:
            _counter += 1
        milliseconds, counter = _last_milliseconds, _counter
    return milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | random_bits & 0x3FFF_FFFF_FFFF_FFFF


def new_uuid() -> UUID:
    """Returns a fresh UUIDv7, greater than every earlier one of this process."""
    return UUID(int=_new_value())


def new_id() -> str:
    """Returns a fresh id, `urn:uuid:<uuidv7>`, that sorts after every earlier one of this process."""
    digits = f"{_new_value():032x}"
    return f"urn:uuid:{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
