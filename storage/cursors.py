"""Page cursors: opaque, authenticated, and good only for the listing they came from (memory.md, One retrieval gate)."""

import base64
import binascii
import json
import os
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from storage.encryption import DeploymentKeys, framed
from storage.errors import StorageError

CURSOR_BYTES_MAX: Final = 4096
_SEED_BYTES: Final = 24
_LABEL: Final = b"remit/cursor/1"
# Every cursor has a key of its own, derived from its random seed, so its nonce need not vary and their number is not
# limited as that of random nonces under one key would be.
_NONCE: Final = bytes(12)

KeyValue = str | int | None


@dataclass(eq=False)
class InvalidCursor(StorageError):
    """The cursor is not one of this listing: changed, of another caller, call, filter or epoch, or not a cursor."""


@dataclass(frozen=True, slots=True)
class CursorBinding:
    """What a cursor is good for: this caller, under this grant, in this workspace, with these filters.

    `rpc` is the full method name, `filters_digest` a digest of everything else in the request that decides which rows
    are listed in which order; `epoch` is the ledger's, raised when a database is restored.
    """

    tenant_id: str
    scope_id: str
    actor_id: str
    delegation_id: str | None
    rpc: str
    filters_digest: bytes
    epoch: int

    def associated_data(self) -> bytes:
        """Returns the framed bytes that the cursor is authenticated with."""
        texts = (self.tenant_id, self.scope_id, self.actor_id, self.delegation_id or "", self.rpc, str(self.epoch))
        return framed(_LABEL, *(text.encode() for text in texts), self.filters_digest)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended: the ledger sequence the listing is pinned to, and the sort key of its last row."""

    binding: CursorBinding
    pinned_sequence: int
    last_key: tuple[KeyValue, ...]


class CursorCodec:
    """Writes and reads cursors. A cursor's text is encrypted, URL-safe, and at most 4096 bytes long."""

    def __init__(self, keys: DeploymentKeys) -> None:
        self._keys = keys

    def seal(self, cursor: Cursor) -> str:
        """Returns the cursor's text. Raises ValueError when the sort key does not fit (callers bound its parts)."""
        seed = os.urandom(_SEED_BYTES)
        place = json.dumps([cursor.pinned_sequence, *cursor.last_key], separators=(",", ":")).encode()
        sealed = self._cipher(seed).encrypt(_NONCE, place, cursor.binding.associated_data())
        text = base64.urlsafe_b64encode(seed + sealed).rstrip(b"=").decode()
        if len(text) > CURSOR_BYTES_MAX:
            raise ValueError("the sort key does not fit a cursor")
        return text

    def open(self, text: str, binding: CursorBinding) -> Cursor:
        """Returns the cursor in `text`. Raises InvalidCursor unless unchanged and sealed with this binding."""
        raw = _decode(text)
        seed, sealed = raw[:_SEED_BYTES], raw[_SEED_BYTES:]
        try:
            place = self._cipher(seed).decrypt(_NONCE, sealed, binding.associated_data())
        except InvalidTag:
            raise InvalidCursor from None
        pinned_sequence, *last_key = json.loads(place)
        return Cursor(binding, pinned_sequence, tuple(last_key))

    def _cipher(self, seed: bytes) -> AESGCM:
        return AESGCM(self._keys.derive_cursor_key(seed))


def _decode(text: str) -> bytes:
    if len(text) > CURSOR_BYTES_MAX or not text.isascii():
        raise InvalidCursor
    try:
        raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise InvalidCursor from None
    # Base64 leaves bits of the last character unused; a text that differs there is another text.
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise InvalidCursor
    return raw
