"""The draft's table of moves, and objects that stand in a state of it."""

from __future__ import annotations

from typing import Any

from remit.v1 import common_pb2
from tests.cluster import Workspace
from tests.server.operations.memory.redactions import redact
from tests.server.operations.memory.requests import transition

# The draft's table, written out once more so that the product's own is held to it.
LEGAL = {
    "lifecycle": {
        "scratch": {"candidate", "archived"},
        "candidate": {"active", "deprecated", "archived"},
        "active": {"superseded", "deprecated", "archived"},
        "superseded": {"archived", "deprecated"},
        "deprecated": {"archived", "active"},
        "archived": {"active", "deprecated"},
    },
    "availability": {
        "available": {"partially_redacted", "redacted", "deleted"},
        "partially_redacted": {"available", "redacted", "deleted"},
        "redacted": {"available", "deleted"},
        "deleted": set(),
    },
    "retention": {
        "retained": {"expired", "pending_deletion", "legal_hold"},
        "expired": {"retained", "pending_deletion", "legal_hold"},
        "pending_deletion": {"retained", "legal_hold"},
        "legal_hold": {"retained", "expired", "pending_deletion"},
    },
    "validation": {
        "unverified": {"corroborated", "disputed", "rejected"},
        "corroborated": {"disputed", "rejected", "unverified"},
        "disputed": {"corroborated", "rejected"},
        "rejected": {"disputed", "corroborated"},
    },
}
DIMENSIONS = tuple(LEGAL)
EVENT_TYPES = {dimension: f"EVENT_TYPE_{dimension.upper()}_TRANSITIONED" for dimension in DIMENSIONS}


def states(envelope: common_pb2.MemoryEnvelope) -> dict[str, str]:
    """The four states by dimension."""
    enums: dict[str, Any] = {
        "lifecycle": common_pb2.LifecycleState,
        "availability": common_pb2.AvailabilityState,
        "retention": common_pb2.RetentionState,
        "validation": common_pb2.ValidationState,
    }
    return {
        name: enum.Name(getattr(envelope, f"{name}_state")).removeprefix(f"{name.upper()}_STATE_").lower()
        for name, enum in enums.items()
    }


def made_in(workspace: Workspace, dimension: str, state: str) -> Any:
    """A new object that stands in a state."""
    if dimension == "lifecycle":
        return workspace.create(lifecycle_state=f"LIFECYCLE_STATE_{state.upper()}")
    if dimension == "validation":
        return workspace.create(validation_state=f"VALIDATION_STATE_{state.upper()}")
    result = workspace.create()
    if state in ("available", "retained"):
        return result
    if state == "partially_redacted":
        return redact(workspace, result.object_id, result.version_id, "/statement").result
    return transition(workspace, result.object_id, result.version_id, dimension, state)


def current(workspace: Workspace, object_id: str) -> common_pb2.MemoryEnvelope:
    """The envelope as it stands, a tombstone included."""
    envelope: common_pb2.MemoryEnvelope = workspace.read(object_id, allow_tombstone=True).envelope
    return envelope
