"""Exports as tests make them, change them and send them back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from remit.v1 import portability_pb2
from server.portability.records import ExportDigest
from tests.cluster import Client, Workspace

Record = tuple[str, bytes]


@dataclass(frozen=True)
class Export:
    """A whole export."""

    header: portability_pb2.ExportHeader
    records: tuple[Record, ...]
    trailer: portability_pb2.ExportTrailer

    def kinds(self, *kinds: str) -> list[dict[str, Any]]:
        """The records of these kinds, parsed."""
        return [json.loads(record) for kind, record in self.records if kind in kinds]

    def with_records(self, records: Iterable[Record], **header: Any) -> Export:
        """The same export of other records, its trailer made anew for them."""
        changed = portability_pb2.ExportHeader()
        changed.CopyFrom(self.header)
        for name, value in header.items():
            setattr(changed, name, value)
        kept = tuple(records)
        digest = ExportDigest()
        for kind, record in kept:
            digest.take(kind, record)
        trailer = portability_pb2.ExportTrailer(
            record_count=digest.count, digest=digest.whole, memory_digest=digest.memory
        )
        return Export(changed, kept, trailer)

    def edited(self, index: int, **members: Any) -> Export:
        """The export with members of one record set, or removed where they are None."""
        records = list(self.records)
        kind, record = records[index]
        value = json.loads(record) | members
        value = {name: item for name, item in value.items() if item is not None}
        records[index] = (kind, json.dumps(value).encode())
        return self.with_records(records)

    def cut(self, count: int) -> Export:
        """The first so many records, with the trailer of all of them."""
        return replace(self, records=self.records[:count])


def take_export(workspace: Workspace, client: Client | None = None, **fields: Any) -> Export:
    """ExportWorkspace."""
    request = portability_pb2.ExportWorkspaceRequest(scope_id=workspace.scope_id, **fields)
    header, trailer, records = None, None, []
    for response in (client or workspace.owner).portability.ExportWorkspace(request):
        match response.WhichOneof("item"):
            case "header":
                header = response.header
            case "record":
                assert trailer is None
                records.append((response.record.kind, response.record.record))
            case _:
                trailer = response.trailer
    assert header is not None
    assert trailer is not None
    return Export(header, tuple(records), trailer)


def messages(
    scope_id: str,
    export: Export,
    *,
    per_message: int = 100,
    with_trailer: bool = True,
    policy_basis: str = "policy:test",
    **fields: Any,
) -> Iterator[portability_pb2.ImportWorkspaceRequest]:
    """The requests of an import."""
    yield portability_pb2.ImportWorkspaceRequest(
        scope_id=scope_id, header=export.header, policy_basis=policy_basis, **fields
    )
    for start in range(0, len(export.records), per_message):
        part: Sequence[Record] = export.records[start : start + per_message]
        yield portability_pb2.ImportWorkspaceRequest(
            scope_id=scope_id, records=[{"kind": kind, "record": record} for kind, record in part]
        )
    if with_trailer:
        yield portability_pb2.ImportWorkspaceRequest(scope_id=scope_id, trailer=export.trailer)


def take_import(
    workspace: Workspace, export: Export, client: Client | None = None, **fields: Any
) -> portability_pb2.ImportWorkspaceResponse:
    """ImportWorkspace."""
    sent = messages(workspace.scope_id, export, **fields)
    response: portability_pb2.ImportWorkspaceResponse = (client or workspace.owner).portability.ImportWorkspace(sent)
    return response
