"""What the ledger says of imported versions: each has one event here, of the kind that would have made it (P-7.7-08)."""

from __future__ import annotations

from typing import Final

from server.call import Call
from server.memory.creating import object_created
from server.relationships.relating import relationship_event
from storage.commands import EventRow
from storage.model.event_record import Event
from storage.model.events import ObjectDeleted, ObjectUpdated
from storage.model.memory import PartKind, VersionCore
from storage.model.relationship import RelationshipCore
from storage.model.states import AvailabilityState

_COMPARED: Final = (
    *("schema_id", "lifecycle_state", "availability_state", "retention_state", "validation_state"),
    *("observed_at", "asserted_at", "valid_from", "valid_until", "quality_signals"),
)


def primary_event(
    call: Call,
    core: VersionCore | RelationshipCore,
    digest: str,
    before: VersionCore | RelationshipCore | None,
    policy_basis: str,
) -> EventRow:
    """Returns the event of an imported version; `digest` is that of its core, `before` the version before it."""
    if isinstance(core, VersionCore):
        assert before is None or isinstance(before, VersionCore)
        event = _of_object(call, core, digest, before, policy_basis)
        return call.event(event, object_id=core.object_id, version_id=core.version_id)
    changed_fields = None if before is None else _changed_fields(core, before)
    event = relationship_event(core, digest, changed_fields)
    return call.event(event, version_id=core.version_id, relationship_id=core.relationship_id)


def _of_object(call: Call, core: VersionCore, digest: str, before: VersionCore | None, policy_basis: str) -> Event:
    if before is None:
        return object_created(call, core, digest)
    deleted = AvailabilityState.DELETED
    if core.availability_state is deleted and before.availability_state is not deleted:
        return ObjectDeleted(
            object_sequence=core.sequence,
            envelope_digest=digest,
            from_state=before.availability_state,
            policy_basis=policy_basis,
        )
    return ObjectUpdated(
        object_sequence=core.sequence, envelope_digest=digest, changed_fields=_changed_fields(core, before)
    )


def _changed_fields(core: VersionCore | RelationshipCore, before: VersionCore | RelationshipCore) -> tuple[str, ...]:
    changed = {
        name
        for name in _COMPARED
        for attribute in (name if name.endswith(("_id", "_state", "_signals")) else f"{name}_us",)
        if getattr(core, attribute, None) != getattr(before, attribute, None)
    }
    if core.parts.get(PartKind.CONTENT) != before.parts.get(PartKind.CONTENT):
        changed.add("canonical_content")
    if PartKind.INTEGRITY in core.parts:
        changed.add("integrity")
    return tuple(sorted({*changed, "provenance"}))
