"""Records of the draft as another implementation would write them: no side records, no chain, optional fields absent."""

from __future__ import annotations

import json
from typing import Any

from remit.v1 import portability_pb2
from tests.server.operations.portability.exports import Export

SCOPE = "workspace:elsewhere"


def a_version(object_id: str = "mem:claim:1", sequence: int = 1, **members: Any) -> dict[str, Any]:
    """A Memory Object with what the draft requires and nothing else."""
    actor = {"actor_id": "actor:editor:001", "actor_kind": "human"}
    return {
        "spec_version": "0.1.0-draft",
        "object_id": object_id,
        "version_id": f"ver:{object_id}:{sequence}",
        "scope_id": SCOPE,
        "object_type": "claim",
        "canonical_content": {"statement": f"number {sequence}"},
        "lifecycle_state": "active",
        "availability_state": "available",
        "retention_state": "retained",
        "validation_state": "corroborated",
        "committed_at": "2026-07-12T00:00:01Z",
        "recorded_at": "2026-07-12T00:00:02Z",
        "sequence": sequence,
        "actor": actor,
        "provenance": {
            "provenance_id": f"prov:{object_id}:{sequence}",
            "actor": actor,
            "activity": "created",
            "recorded_at": "2026-07-12T00:00:01Z",
        },
    } | members


def draft_export(*records: tuple[str, dict[str, Any]], scope_id: str = SCOPE, **header: Any) -> Export:
    """An export of these records."""
    made = portability_pb2.ExportHeader(
        format="remit-export/1", spec_version="0.1.0-draft", scope_id=scope_id, **header
    )
    empty = Export(made, (), portability_pb2.ExportTrailer())
    return empty.with_records((kind, json.dumps(value).encode()) for kind, value in records)


def export_of(*versions: dict[str, Any], scope_id: str = SCOPE) -> Export:
    """An export of versions of memory objects."""
    return draft_export(*(("memory_object", version) for version in versions), scope_id=scope_id)
