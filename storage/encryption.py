"""The deployment's keys, and the encryption of a version's parts (memory.md, Encrypted parts).

One 32-byte key-encryption key is the root of all others; HKDF-SHA256 separates them by purpose, so that no key serves
two. Commitments are salted and unkeyed: whoever holds the salt and the plaintext can check one, nobody else learns
anything from it, and destroying the data key destroys the salt with the content.
"""

import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, Self
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from storage.errors import StorageError
from storage.key_file import create_key_file, read_key_file

KEY_BYTES: Final = 32
DIGEST_BYTES: Final = 32
_SALT_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_PART_LABEL: Final = b"remit/part/1"
_COMMITMENT_LABEL: Final = b"remit/commitment/1"
_SHORT_LENGTHS: Final = tuple(length.to_bytes(4, "big") for length in range(1024))


@dataclass(eq=False)
class IntegrityViolation(StorageError):
    """Stored data failed its integrity check and was refused.

    `place` names the table or store, `kind` what failed there: CIPHERTEXT, COMMITMENT, MAC, KEY_ID, PAGE_UNKNOWN,
    WRAPPED_KEY or FORMAT. Neither holds anything of the data.
    """

    place: str
    kind: str


def framed(*parts: bytes) -> bytes:
    """Returns the parts, each behind its length as 4 bytes big-endian, so that no two parts can trade bytes."""
    pieces = []
    for part in parts:
        length = len(part)
        pieces.append(_SHORT_LENGTHS[length] if length < len(_SHORT_LENGTHS) else length.to_bytes(4, "big"))
        pieces.append(part)
    return b"".join(pieces)


class DeploymentKeys:
    """The keys of one deployment, derived from its key-encryption key. Neither printable nor picklable.

    `key_id` is the public name of the key-encryption key (16 hex digits): rows that were made under a key name it.
    """

    __slots__ = ("_cursor", "_lexical", "_lookup", "_mac", "_request", "_wrapping", "key_id")

    def __init__(self, key_encryption_key: bytes) -> None:
        """Derives the keys from 32 random bytes. Raises ValueError on any other length."""
        if len(key_encryption_key) != KEY_BYTES:
            raise ValueError(f"a key-encryption key is {KEY_BYTES} bytes long")

        def derive(purpose: str, length: int = KEY_BYTES) -> bytes:
            info = b"remit/1/" + purpose.encode()
            return HKDF(algorithm=hashes.SHA256(), length=length, salt=None, info=info).derive(key_encryption_key)

        self.key_id: Final[str] = derive("key-id", 8).hex()
        self._wrapping: Final = derive("data-key-wrapping")
        self._mac: Final = derive("envelope-mac")
        self._lookup: Final = derive("lookup")
        self._cursor: Final = derive("cursor")
        self._request: Final = derive("request")
        self._lexical: Final = derive("lexical")

    @classmethod
    def from_file(cls, path: Path, *, create: bool = False) -> Self:
        """Returns the keys of the file's 32 raw bytes.

        With `create`, a missing file is made first, with mode 0600 and a random key; of several processes that do so at
        once, all get the same key. Raises KeyFileUnusable when the file is missing, is not 32 bytes long, belongs to
        another user or can be read by one.
        """
        if create:
            create_key_file(path, KEY_BYTES)
        return cls(read_key_file(path, KEY_BYTES))

    def __repr__(self) -> str:
        return f"DeploymentKeys(key_id={self.key_id!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("keys are not pickled")

    def mac(self, core: bytes) -> bytes:
        """Returns the 32-byte HMAC-SHA256 of a version's or a grant's whole core bytes."""
        return hmac.digest(self._mac, core, "sha256")

    def verify_mac(self, core: bytes, mac: bytes, *, key_id: str, place: str) -> None:
        """Returns when `mac` is that of `core` under the key named `key_id`, compared in constant time.

        Raises IntegrityViolation, kind MAC, or KEY_ID when the row names another key than this deployment's.
        """
        if key_id != self.key_id:
            raise IntegrityViolation(place, "KEY_ID")
        if not hmac.compare_digest(self.mac(core), mac):
            raise IntegrityViolation(place, "MAC")

    def lookup(self, field: str, value: str | bytes, *, tenant_id: str) -> bytes:
        """Returns the 32-byte keyed hash under which a hidden value can be found by equality.

        Equal values of different fields or tenants have unrelated hashes.
        """
        data = value.encode() if isinstance(value, str) else value
        return hmac.digest(self._lookup, framed(tenant_id.encode(), field.encode(), data), "sha256")

    def lexical_key(self, tenant_id: str, scope_id: str) -> bytes:
        """Returns the 32-byte key of a workspace's word hashes: a word has unrelated hashes in two workspaces."""
        return hmac.digest(self._lexical, framed(tenant_id.encode(), scope_id.encode()), "sha256")

    def request_digest(self, method: str, request: bytes) -> bytes:
        """Returns the 32-byte HMAC that an idempotency key remembers its request by; `request` are canonical bytes."""
        return hmac.digest(self._request, framed(method.encode(), request), "sha256")

    def derive_page_key(self, tenant_id: str, page_id: UUID) -> bytes:
        """Returns the 32-byte key that wraps the data keys of one page of the key store."""
        return hmac.digest(self._wrapping, framed(tenant_id.encode(), page_id.bytes), "sha256")

    def derive_cursor_key(self, seed: bytes) -> bytes:
        """Returns the 32-byte key of one cursor, from the random seed the cursor carries."""
        return hmac.digest(self._cursor, framed(seed), "sha256")


@dataclass(frozen=True, slots=True)
class SealedPart:
    """An encrypted part: nonce (12 bytes), ciphertext of salt and plaintext, tag (16 bytes); and its commitment."""

    ciphertext: bytes
    commitment: bytes


def _commitment(salt: bytes, plaintext: bytes) -> bytes:
    return hashlib.sha256(framed(_COMMITMENT_LABEL, salt, plaintext)).digest()


def _associated_data(tenant_id: str, scope_id: str, object_id: str, content_id: UUID, commitment: bytes) -> bytes:
    return framed(_PART_LABEL, tenant_id.encode(), scope_id.encode(), object_id.encode(), content_id.bytes, commitment)


def seal_part(
    data_key: bytes, plaintext: bytes, *, tenant_id: str, scope_id: str, object_id: str, content_id: UUID
) -> SealedPart:
    """Returns the plaintext encrypted under the data key (32 bytes) of this part alone, with its salted commitment.

    AES-256-GCM; the place of the row and the commitment are associated data, so that the row opens nowhere else.
    """
    salt = os.urandom(_SALT_BYTES)
    nonce = os.urandom(_NONCE_BYTES)
    commitment = _commitment(salt, plaintext)
    associated = _associated_data(tenant_id, scope_id, object_id, content_id, commitment)
    return SealedPart(nonce + AESGCM(data_key).encrypt(nonce, salt + plaintext, associated), commitment)


def open_part(
    data_key: bytes,
    ciphertext: bytes,
    commitment: bytes,
    *,
    tenant_id: str,
    scope_id: str,
    object_id: str,
    content_id: UUID,
) -> bytes:
    """Returns the plaintext of a part that stands where it was sealed and matches the version's commitment.

    Raises IntegrityViolation, place `memory_contents`: CIPHERTEXT on any other bytes, key, place or commitment,
    COMMITMENT when what was encrypted does not match the commitment it was encrypted with.
    """
    if len(ciphertext) < _NONCE_BYTES + _SALT_BYTES + _TAG_BYTES:
        raise IntegrityViolation("memory_contents", "CIPHERTEXT")
    associated = _associated_data(tenant_id, scope_id, object_id, content_id, commitment)
    try:
        opened = AESGCM(data_key).decrypt(ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], associated)
    except InvalidTag:
        raise IntegrityViolation("memory_contents", "CIPHERTEXT") from None
    salt, plaintext = opened[:_SALT_BYTES], opened[_SALT_BYTES:]
    if not hmac.compare_digest(_commitment(salt, plaintext), commitment):
        raise IntegrityViolation("memory_contents", "COMMITMENT")
    return plaintext
