"""Pages of data keys: how they are named, wrapped and stored, whatever the store (memory.md, Encrypted parts)."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from storage.encryption import KEY_BYTES, DeploymentKeys, IntegrityViolation, framed
from storage.errors import StorageError
from storage.model.identifiers import is_tenant_id, new_uuid

PAGE_SIZE_MAX: Final = 4096
WRAPPED_BYTES: Final = KEY_BYTES + 16
PLACE: Final = "key_store"
_LABEL: Final = b"remit/data-key/1"


@dataclass(eq=False)
class KeyStoreError(StorageError):
    """The key store could not do what was asked."""


@dataclass(eq=False)
class KeyDestroyed(KeyStoreError):
    """The data key was destroyed: what it encrypted can't be read by anyone any more."""


@dataclass(eq=False)
class KeyStoreUnavailable(KeyStoreError):
    """The key store can't serve this now. Repeating the call is safe."""

    condition: str


@dataclass(eq=False)
class KeyFolderExposed(KeyStoreError):
    """Only the owner may enter the key store's folder (mode 0700)."""

    path: Path
    reason: str


class KeyId(NamedTuple):
    """Where a data key lies: its page, and its slot there (0 up to the page's size)."""

    page_id: UUID
    slot: int


class KeyPage:
    """The keys of one page that still exist. Holds them wrapped and opens one when it is asked for.

    Each key is wrapped by AES-256-GCM under a key derived for its page, with its slot as the nonce: a page's keys are
    wrapped once, when the page is made, so no nonce repeats. Tenant, page and slot are bound by the associated data.
    """

    __slots__ = ("_cipher", "_place", "_wrapped", "page_id", "size")

    def __init__(
        self, keys: DeploymentKeys, tenant_id: str, page_id: UUID, size: int, wrapped: Mapping[int, bytes]
    ) -> None:
        """A page of `size` slots; `wrapped` holds the wrapped keys (48 bytes) of those that were not destroyed."""
        self.page_id = page_id
        self.size = size
        self._place = framed(_LABEL, tenant_id.encode(), page_id.bytes)
        self._wrapped = dict(wrapped)
        self._cipher = AESGCM(keys.derive_page_key(tenant_id, page_id))

    @classmethod
    def generate(cls, keys: DeploymentKeys, tenant_id: str, size: int) -> "KeyPage":
        """Returns a new page full of random keys. Raises ValueError on a size outside 1..4096 or no tenant id."""
        check_tenant(tenant_id)
        if not 1 <= size <= PAGE_SIZE_MAX:
            raise ValueError(f"a page holds 1 to {PAGE_SIZE_MAX} keys")
        page = cls(keys, tenant_id, new_uuid(), size, {})
        random = os.urandom(KEY_BYTES * size)
        for slot in range(size):
            key = random[slot * KEY_BYTES : (slot + 1) * KEY_BYTES]
            page._wrapped[slot] = page._cipher.encrypt(_nonce(slot), key, page._associated_data(slot))
        return page

    def __repr__(self) -> str:
        return f"KeyPage(page_id={self.page_id!r}, size={self.size}, present={len(self._wrapped)})"

    def key(self, slot: int) -> bytes | None:
        """Returns the 32-byte key in the slot, None when it was destroyed or never was.

        Raises IntegrityViolation, place `key_store`, kind WRAPPED_KEY, when the slot does not open here.
        """
        wrapped = self._wrapped.get(slot)
        if wrapped is None:
            return None
        try:
            return self._cipher.decrypt(_nonce(slot), wrapped, self._associated_data(slot))
        except InvalidTag:
            raise IntegrityViolation(PLACE, "WRAPPED_KEY") from None

    def wrapped(self) -> dict[int, bytes]:
        """Returns the wrapped keys by slot, for a store to keep."""
        return dict(self._wrapped)

    def slots(self) -> frozenset[int]:
        """Returns the slots whose keys exist."""
        return frozenset(self._wrapped)

    def discard(self, slots: Iterable[int]) -> None:
        """Forgets the keys in the slots."""
        for slot in slots:
            self._wrapped.pop(slot, None)

    def _associated_data(self, slot: int) -> bytes:
        return self._place + framed(_nonce(slot))


def _nonce(slot: int) -> bytes:
    return slot.to_bytes(12, "big")


def check_tenant(tenant_id: str) -> None:
    """Raises ValueError unless the text is a tenant id: it becomes the name of a folder and a database setting."""
    if not is_tenant_id(tenant_id):
        raise ValueError("not a tenant id")


def check_key_id(key_id: str, keys: DeploymentKeys) -> None:
    """Raises IntegrityViolation, kind KEY_ID, when a page names another key-encryption key than the deployment's."""
    if key_id != keys.key_id:
        raise IntegrityViolation(PLACE, "KEY_ID")


def slots_by_page(key_ids: Iterable[KeyId]) -> dict[UUID, list[int]]:
    """Returns the slots of each page, pages and slots in order, so that all who lock pages do so in one order."""
    pages: dict[UUID, list[int]] = {}
    for key_id in sorted(set(key_ids)):
        pages.setdefault(key_id.page_id, []).append(key_id.slot)
    return pages


class KeyStore(Protocol):
    """Where pages of data keys are kept. Safe for any number of processes at once; never blocks the event loop.

    Every method raises KeyStoreUnavailable when the store can't serve, ValueError when the tenant id is not one, and
    IntegrityViolation (place `key_store`) for what it holds but must not trust; all may be repeated.
    """

    async def open(self) -> None:
        """Makes the store ready; called once, before the others."""

    async def close(self) -> None:
        """Releases what the store holds."""

    async def reserve_page(self, tenant_id: str, size: int) -> KeyPage:
        """Returns a new page of `size` random keys that nobody else has; it is durable before it is returned."""

    async def load_page(self, tenant_id: str, page_id: UUID) -> KeyPage:
        """Returns the page with the keys that still exist.

        Raises IntegrityViolation, kind PAGE_UNKNOWN, for a page the store never had: pages stay when their keys go, so
        that a wrong or rolled-back store does not pass for one that has erased everything.
        """

    async def destroy(self, tenant_id: str, key_ids: Collection[KeyId]) -> int:
        """Destroys the keys and returns how many of them still existed; the rest was destroyed before.

        Durable before it returns; a destroyed slot is never used again. Keys of pages the store never had raise
        IntegrityViolation, kind PAGE_UNKNOWN, after all others are destroyed.
        """
