"""Redactions as tests ask for them, and where they look for what should be gone."""

from __future__ import annotations

import json
from typing import Any

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Client, Cluster, Workspace
from tests.faults.waiting import until

CLOSED = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED
SUPPRESS = memory_pb2.REDACTION_MODE_SUPPRESS
ERASE = memory_pb2.REDACTION_MODE_ERASE


def redaction(
    workspace: Workspace, object_id: str, version_id: str, *pointers: str, mode: Any = SUPPRESS, **fields: Any
) -> memory_pb2.RedactRequest:
    """A request; `provenance_pointers` and `whole` go into its target."""
    target = {
        "json_pointers": pointers,
        "provenance_pointers": fields.pop("provenance_pointers", ()),
        "whole": fields.pop("whole", False),
    }
    fields.setdefault("policy_basis", "test")
    return memory_pb2.RedactRequest(
        scope_id=workspace.scope_id,
        object_id=object_id,
        expected_version_id=version_id,
        target=target,
        mode=mode,
        **fields,
    )


def redact(
    workspace: Workspace,
    object_id: str,
    version_id: str,
    *pointers: str,
    client: Client | None = None,
    **fields: Any,
) -> memory_pb2.RedactResponse:
    """Redacts; returns the response."""
    request = redaction(workspace, object_id, version_id, *pointers, **fields)
    response: memory_pb2.RedactResponse = (client or workspace.owner).memory.Redact(request)
    return response


def content_of(workspace: Workspace, object_id: str, version_id: str = "", **fields: Any) -> Any:
    """The parsed content that a read gives."""
    return json.loads(workspace.read(object_id, version_id=version_id, **fields).envelope.canonical_content)


def closing_of(workspace: Workspace, job_id: str) -> dict[str, Any]:
    """The payload of the event that closes a job, once it has."""

    def found() -> dict[str, Any] | None:
        payloads = [json.loads(event.payload_json) for event in workspace.events(event_classes=[CLOSED])]
        return next((payload for payload in payloads if payload["job_id"] == job_id), None)

    payload = until(found, "the propagation job closes")
    assert payload is not None
    return payload


def stored_bytes(cluster: Cluster) -> bytes:
    """Every row of every table of the database, as a dump would have them, in the clear and in hex."""
    found = []
    with cluster.superuser() as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'remit'").fetchall()
        for (table,) in tables:
            with connection.cursor().copy(f"copy remit.{table} to stdout (format binary)".encode()) as rows:
                found += [bytes(row) for row in rows]
    return b"".join(found)
