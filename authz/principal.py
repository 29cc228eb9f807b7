"""Who is calling, as verified (authority.md, Who is calling)."""

import re
from dataclasses import dataclass
from typing import Final

from authz.errors import InvalidActorName

ACTOR_ID_BYTES_MAX: Final = 256
DEFAULT_ACTOR_PREFIX: Final = "actor:"

_ACTOR_PREFIX: Final = re.compile(r"actor:[A-Za-z0-9+._:\-/]*", re.ASCII)
_PLAIN_BYTES: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-/")


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller. Roles are not part of it: they come from stored bindings, never from a token.

    `on_behalf_of` is the actor id of whom the caller acts for; it is recorded and gives no rights. `expires_at_us` ends
    the caller's streams (microseconds since 1970). `credential_id` names the credential in logs without revealing it.
    """

    tenant_id: str
    actor_id: str
    actor_kind: str
    issuer: str
    expires_at_us: int
    on_behalf_of: str | None
    session_id: str | None
    credential_id: str


def is_actor_prefix(prefix: str) -> bool:
    """Returns whether ids made with the prefix are actors in the id grammar."""
    return _ACTOR_PREFIX.fullmatch(prefix) is not None


def actor_id_of(subject: str, prefix: str = DEFAULT_ACTOR_PREFIX) -> str:
    """Returns the actor id of a token's subject: the issuer's prefix and the subject's UTF-8 bytes, escaped.

    The id grammar has no `%`, so a byte outside `A-Za-z0-9._:-/` is written `+XX` (two upper-case hex digits); `+`
    itself is one of them, `+2B`. So `+` always starts an escape, decoding is a function, and no two subjects share an
    id. Nothing is folded or normalised: subjects that differ by case or Unicode form are different actors.
    Raises InvalidActorName when the subject is empty, is not Unicode text, or makes an id over 256 bytes.
    """
    if not subject:
        raise InvalidActorName("the subject is empty")
    if len(subject) > ACTOR_ID_BYTES_MAX:
        raise InvalidActorName("the actor id would be over 256 bytes")
    try:
        octets = subject.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidActorName("the subject holds a lone surrogate") from None
    escaped = "".join(chr(octet) if octet in _PLAIN_BYTES else f"+{octet:02X}" for octet in octets)
    if len(prefix) + len(escaped) > ACTOR_ID_BYTES_MAX:
        raise InvalidActorName("the actor id would be over 256 bytes")
    return prefix + escaped
