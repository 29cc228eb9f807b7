"""The file of a secret key: who may read it, and making one durably (memory.md, Encrypted parts)."""

import contextlib
import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from storage.errors import StorageError


@dataclass(eq=False)
class KeyFileUnusable(StorageError):
    """The key file can't be used: it must hold exactly the key, and only its owner may read it (mode 0600 or 0400)."""

    path: Path
    reason: str


def read_key_file(path: Path, key_bytes: int) -> bytes:
    """Returns the key in the file.

    Raises KeyFileUnusable when it can't be read, is no regular file, has another length, belongs to neither this user
    nor root, or grants anything to group or others.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise KeyFileUnusable(path, _condition(error)) from error
    try:
        # What is checked is the opened file itself, so that it can't be exchanged between the check and the reading.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise KeyFileUnusable(path, "not a regular file")
        if status.st_uid not in (os.geteuid(), 0):
            raise KeyFileUnusable(path, "owned by another user")
        # A secret mounted by Kubernetes with fsGroup belongs to root and is readable to the process' own group.
        mounted = status.st_uid == 0 and os.geteuid() != 0 and status.st_gid in (os.getegid(), *os.getgroups())
        if status.st_mode & (0o037 if mounted else 0o077):
            raise KeyFileUnusable(path, f"mode {stat.S_IMODE(status.st_mode):04o}")
        key = os.read(descriptor, key_bytes + 1)
    except OSError as error:
        raise KeyFileUnusable(path, _condition(error)) from error
    finally:
        os.close(descriptor)
    if len(key) != key_bytes:
        raise KeyFileUnusable(path, f"not {key_bytes} bytes long")
    return key


def create_key_file(path: Path, key_bytes: int) -> bool:
    """Makes the file with a random key and mode 0600, durably; returns False when it exists, which changes nothing.

    Raises KeyFileUnusable when it can't be written.
    """
    # Linked into place when complete, so that no other process can see a part of it, and the first one wins.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        if path.exists():
            return False
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, secrets.token_bytes(key_bytes))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.link(draft, path)
        fsync_directory(path.parent)
    except FileExistsError:
        return False
    except OSError as error:
        raise KeyFileUnusable(path, _condition(error)) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return True


def fsync_directory(path: Path) -> None:
    """Makes the directory's entries durable. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _condition(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "OSError")
