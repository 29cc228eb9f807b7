"""Bringing the ids of a customer's own files into the id grammar, so that different ids stay different."""

from __future__ import annotations

import hashlib
import string
from typing import Final

ID_BYTES_MAX: Final = 256
_PLAIN: Final = frozenset((string.ascii_letters + string.digits + "._:-/").encode())


def object_id(kind: str, source_id: str) -> str:
    """Returns `kind:` followed by `source_id` in the id grammar, at most 256 bytes.

    Bytes outside the grammar, and `+` itself, become `+` and two upper-case hexadecimal digits: `#W26` is `+23W26`. An
    id that would be longer than the grammar permits becomes `+sha256/` and its digest, which no escape can spell, since
    `s` is no such digit. So no two source ids share an object id. `kind` is in the grammar of a scheme, `source_id` is
    not empty.
    """
    data = source_id.encode("utf-8", "surrogatepass")
    escaped = "".join(chr(byte) if byte in _PLAIN else f"+{byte:02X}" for byte in data)
    made = f"{kind}:{escaped}"
    if len(made) <= ID_BYTES_MAX:
        return made
    return f"{kind}:+sha256/{hashlib.sha256(data).hexdigest()}"
