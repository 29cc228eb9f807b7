"""Where the records of an import wait until all of them were judged: memory first, then a file that nobody can read.

The file has no name and every record in it is encrypted under a key that lives with the spool alone, so that nothing of
an import that is refused, or of a process that is killed, is left behind.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from server.domain_errors import ResourceExhausted

_MEMORY_BYTES_MAX: Final = 8 << 20
_LENGTH_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_KEY_BITS: Final = 256


class Spool:
    """Records in the order they came: kind and bytes of each."""

    def __init__(self, file: IO[bytes], *, records_max: int, bytes_max: int) -> None:
        self._file = file
        self._records_max = records_max
        self._bytes_max = bytes_max
        self._cipher = AESGCM(AESGCM.generate_key(_KEY_BITS))
        self._bytes = 0
        self.count = 0

    def put(self, kind: str, record: bytes) -> None:
        """Adds a record. Raises ResourceExhausted beyond the limits, and OSError when the disk is full."""
        self._bytes += len(record)
        if self.count >= self._records_max:
            raise ResourceExhausted("import records")
        if self._bytes > self._bytes_max:
            raise ResourceExhausted("import bytes")
        sealed = self._cipher.encrypt(self._nonce(self.count), kind.encode() + b"\0" + record, None)
        self._file.write(len(sealed).to_bytes(_LENGTH_BYTES, "big"))
        self._file.write(sealed)
        self.count += 1

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yields the records from the first one on."""
        self._file.seek(0)
        for number in range(self.count):
            length = int.from_bytes(self._file.read(_LENGTH_BYTES), "big")
            opened = self._cipher.decrypt(self._nonce(number), self._file.read(length), None)
            kind, _, record = opened.partition(b"\0")
            yield kind.decode(), record

    @staticmethod
    def _nonce(number: int) -> bytes:
        # The key is this spool's alone, so a number is a nonce.
        return number.to_bytes(_NONCE_BYTES, "big")


@contextmanager
def spooling(*, records_max: int, bytes_max: int) -> Iterator[Spool]:
    """Gives a spool for so many records and bytes; what it held is gone afterwards."""
    with tempfile.SpooledTemporaryFile(max_size=_MEMORY_BYTES_MAX) as file:
        yield Spool(file, records_max=records_max, bytes_max=bytes_max)
