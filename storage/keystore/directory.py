"""Key pages as files: the key store of the embedded default (memory.md, Encrypted parts).

One file per page, in one folder per tenant, beside the database and not in it. A page is written whole under another
name, fsynced and renamed, so that a kill at any point leaves the old page or the new one. The readers' and writers'
lock is on the page's own file; since a rename exchanges the file, whoever got the lock checks that it is still the
page, and tries again when it is not.
"""

import asyncio
import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Final, ParamSpec, TypeVar
from uuid import UUID

from storage.encryption import DeploymentKeys, IntegrityViolation
from storage.key_file import fsync_directory
from storage.keystore.page import (
    PAGE_SIZE_MAX,
    PLACE,
    WRAPPED_BYTES,
    KeyFolderExposed,
    KeyId,
    KeyPage,
    KeyStoreUnavailable,
    check_key_id,
    check_tenant,
    slots_by_page,
)

P = ParamSpec("P")
T = TypeVar("T")

_MAGIC: Final = b"remitkp1"
_HEADER_BYTES: Final = len(_MAGIC) + 16 + 8 + 4  # magic, page id, key id, size (big-endian)
_SLOT_BYTES: Final = 1 + WRAPPED_BYTES  # 1 when the key exists, 0 when it was destroyed; the wrapped key or zeros


class DirectoryKeyStore:
    """A key store in a folder (mode 0700; files 0600), for one host. Implements KeyStore."""

    def __init__(self, path: Path, keys: DeploymentKeys) -> None:
        self._path = path
        self._keys = keys

    async def open(self) -> None:
        """Makes the folder when it is missing. Raises KeyFolderExposed when another user can enter it."""
        await self._in_thread(self._prepare)

    async def close(self) -> None:
        """Does nothing: no file is kept open."""

    async def reserve_page(self, tenant_id: str, size: int) -> KeyPage:
        """See KeyStore."""
        return await self._in_thread(self._reserve, tenant_id, size)

    async def load_page(self, tenant_id: str, page_id: UUID) -> KeyPage:
        """See KeyStore."""
        check_tenant(tenant_id)
        return await self._in_thread(self._load, tenant_id, page_id)

    async def destroy(self, tenant_id: str, key_ids: Collection[KeyId]) -> int:
        """See KeyStore. The bytes of the replaced file are overwritten as far as the file system lets one."""
        check_tenant(tenant_id)
        return await self._in_thread(self._destroy, tenant_id, key_ids)

    @staticmethod
    async def _in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await asyncio.to_thread(work, *args, **kwargs)
        except OSError as error:
            raise KeyStoreUnavailable(errno.errorcode.get(error.errno or 0, "OSError")) from error

    def _prepare(self) -> None:
        _make_folder(self._path)
        status = self._path.stat()
        if status.st_uid != os.geteuid():
            raise KeyFolderExposed(self._path, "owned by another user")
        if status.st_mode & 0o077:
            raise KeyFolderExposed(self._path, f"mode {stat.S_IMODE(status.st_mode):04o}")

    def _reserve(self, tenant_id: str, size: int) -> KeyPage:
        page = KeyPage.generate(self._keys, tenant_id, size)
        path = self._page_path(tenant_id, page.page_id)
        _make_folder(path.parent)
        _replace_durably(path, self._encode(page))
        return page

    def _load(self, tenant_id: str, page_id: UUID) -> KeyPage:
        with _locked(self._page_path(tenant_id, page_id), fcntl.LOCK_SH) as descriptor:
            return self._decode(tenant_id, page_id, _read(descriptor))

    def _destroy(self, tenant_id: str, key_ids: Collection[KeyId]) -> int:
        destroyed = 0
        unknown: IntegrityViolation | None = None
        for page_id, slots in slots_by_page(key_ids).items():
            try:
                destroyed += self._destroy_slots(tenant_id, page_id, slots)
            except IntegrityViolation as error:
                unknown = error
        if unknown is not None:
            raise unknown
        return destroyed

    def _destroy_slots(self, tenant_id: str, page_id: UUID, slots: list[int]) -> int:
        path = self._page_path(tenant_id, page_id)
        with _locked(path, fcntl.LOCK_EX) as descriptor:
            page = self._decode(tenant_id, page_id, _read(descriptor))
            present = page.slots() & set(slots)
            # What a killed writer left behind under the draft's name may hold keys that are destroyed now.
            _overwrite_file(_draft_of(path))
            if present:
                page.discard(present)
                _replace_durably(path, self._encode(page))
                with contextlib.suppress(OSError):  # best effort: the page itself is replaced and durable
                    _overwrite(descriptor)
            else:
                # They may have been destroyed by a process that was killed before this.
                fsync_directory(path.parent)
            return len(present)

    def _page_path(self, tenant_id: str, page_id: UUID) -> Path:
        return self._path / tenant_id / f"{page_id}.page"

    def _encode(self, page: KeyPage) -> bytes:
        wrapped = page.wrapped()
        header = _MAGIC + page.page_id.bytes + bytes.fromhex(self._keys.key_id) + page.size.to_bytes(4, "big")
        empty = bytes(_SLOT_BYTES)
        return header + b"".join(b"\1" + wrapped[slot] if slot in wrapped else empty for slot in range(page.size))

    def _decode(self, tenant_id: str, page_id: UUID, data: bytes) -> KeyPage:
        size = int.from_bytes(data[_HEADER_BYTES - 4 : _HEADER_BYTES], "big")
        if (
            not data.startswith(_MAGIC + page_id.bytes)
            or not 1 <= size <= PAGE_SIZE_MAX
            or len(data) != _HEADER_BYTES + size * _SLOT_BYTES
        ):
            raise IntegrityViolation(PLACE, "FORMAT")
        check_key_id(data[len(_MAGIC) + 16 : _HEADER_BYTES - 4].hex(), self._keys)
        slots = (data[at : at + _SLOT_BYTES] for at in range(_HEADER_BYTES, len(data), _SLOT_BYTES))
        wrapped = {slot: value[1:] for slot, value in enumerate(slots) if value[0]}
        return KeyPage(self._keys, tenant_id, page_id, size, wrapped)


def _make_folder(path: Path) -> None:
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    # Also when it is there: whoever made it may have been killed before this.
    fsync_directory(path.parent)


@contextlib.contextmanager
def _locked(path: Path, operation: int) -> Iterator[int]:
    """Yields a locked descriptor of the page's current file. Raises IntegrityViolation when there is no such page."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            raise IntegrityViolation(PLACE, "PAGE_UNKNOWN") from None
        try:
            fcntl.flock(descriptor, operation)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _read(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read()


def _draft_of(path: Path) -> Path:
    # One name per page: the next writer of the page finds, and overwrites, what a killed one has left.
    return path.with_suffix(".draft")


def _replace_durably(path: Path, data: bytes) -> None:
    draft = _draft_of(path)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    draft.rename(path)
    fsync_directory(path.parent)


def _overwrite(descriptor: int) -> None:
    os.pwrite(descriptor, bytes(os.fstat(descriptor).st_size), 0)
    os.fsync(descriptor)


def _overwrite_file(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        _overwrite(descriptor)
    finally:
        os.close(descriptor)
    path.unlink()
