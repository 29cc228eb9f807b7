"""A workspace's export as a file: JSON lines, one record each, between a header and a trailer (remit-export/1).

A record's bytes stand in its line as they are, so that the digest of the trailer can be recomputed from the file alone.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from remit.v1 import portability_pb2
from server.portability.records import members_of

_HEADER: Final = "header"
_TRAILER: Final = "trailer"
_KIND: Final = "kind"
_RECORD: Final = "record"
_BYTES: Final = frozenset({"ledger_chain_hash", "digest", "memory_digest"})
_HEADER_FIELDS: Final = frozenset(portability_pb2.ExportHeader.DESCRIPTOR.fields_by_name)
_TRAILER_FIELDS: Final = frozenset(portability_pb2.ExportTrailer.DESCRIPTOR.fields_by_name)


class BadLineError(ValueError):
    """A line of the file is not one of an export; `number` counts from 1."""

    def __init__(self, number: int, problem: str) -> None:
        super().__init__(f"line {number} {problem}")
        self.number = number
        self.problem = problem


def header_line(header: portability_pb2.ExportHeader) -> bytes:
    """Returns the first line, without its end."""
    return _encoded(_HEADER, header, _HEADER_FIELDS)


def trailer_line(trailer: portability_pb2.ExportTrailer) -> bytes:
    """Returns the last line, without its end."""
    return _encoded(_TRAILER, trailer, _TRAILER_FIELDS)


def record_line(kind: str, record: bytes) -> bytes:
    """Returns the line of a record, without its end."""
    return b'{"kind":%s,"record":%s}' % (json.dumps(kind).encode(), record)


def _encoded(name: str, message: Any, fields: frozenset[str]) -> bytes:
    members: dict[str, Any] = {}
    for field in sorted(fields):
        value = getattr(message, field)
        members[field] = b64encode(value).decode() if isinstance(value, bytes) else value
    return json.dumps({name: members}, separators=(",", ":")).encode()


def read_file(file: Path) -> Iterator[portability_pb2.ExportWorkspaceResponse]:
    """Yields header, records and trailer of a file as the service would send them. Raises BadLineError, OSError."""
    with file.open("rb") as lines:
        stage = _HEADER
        number = 0
        for number, line in enumerate(lines, 1):
            item = _item(number, line)
            found = item.WhichOneof("item")
            if stage == _TRAILER:
                raise BadLineError(number, "stands behind the trailer")
            if (found == _HEADER) is not (number == 1):
                raise BadLineError(number, "is a header" if found == _HEADER else "is not the header")
            stage = str(found)
            yield item
        if stage != _TRAILER:
            raise BadLineError(number + 1, "is missing: the file is cut")


def _item(number: int, line: bytes) -> portability_pb2.ExportWorkspaceResponse:
    try:
        text = line.decode()
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadLineError(number, "is not JSON") from None
    if not isinstance(value, dict):
        raise BadLineError(number, "is not a JSON object")
    if value.keys() == {_KIND, _RECORD} and isinstance(value[_KIND], str) and isinstance(value[_RECORD], dict):
        record = members_of(text)[_RECORD].encode()
        return portability_pb2.ExportWorkspaceResponse(record={"kind": value[_KIND], "record": record})
    try:
        if value.keys() == {_HEADER}:
            header = portability_pb2.ExportHeader(**_decoded(value[_HEADER], _HEADER_FIELDS))
            return portability_pb2.ExportWorkspaceResponse(header=header)
        if value.keys() == {_TRAILER}:
            trailer = portability_pb2.ExportTrailer(**_decoded(value[_TRAILER], _TRAILER_FIELDS))
            return portability_pb2.ExportWorkspaceResponse(trailer=trailer)
    except (TypeError, ValueError, AttributeError, Base64Error):
        raise BadLineError(number, "has a member that is not what it must be") from None
    raise BadLineError(number, "is neither header, record nor trailer")


def _decoded(value: Any, fields: frozenset[str]) -> dict[str, Any]:
    if not value.keys() <= fields:
        raise ValueError("unknown member")
    return {name: b64decode(item, validate=True) if name in _BYTES else item for name, item in value.items()}
