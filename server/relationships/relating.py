"""New versions of relationships: encrypted, authenticated, and made into a change with its event (PAMSPEC 8.5, 10.5).

Whatever makes a relationship, alone or beside other changes of one command, makes it here: `new_relationship` gives the
change, the rows and the event to hand over with `call.commit`, `next_relationship` those of a later version, and
`refusal_of` what the call ends with when the change was refused under the lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from server.call import Call
from server.domain_errors import (
    DomainError,
    InvalidRequest,
    ObjectDeleted,
    ObjectNotFound,
    RelationshipConflict,
    VersionConflict,
)
from server.memory.versions import Plaintexts, part_id, seal_parts
from storage.commands import ColdChange, ContentRow, EventRow, Outcome
from storage.model.event_record import Event
from storage.model.identifiers import new_id
from storage.model.memory import PartKind, PartRef, envelope_digest
from storage.model.provenance import Integrity, Provenance
from storage.model.relationship import Directionality, RelationshipCore, content_owner, relationship_core_bytes
from storage.model.relationship_events import RelationshipCreated, RelationshipUpdated
from storage.model.states import States, default_states
from storage.model.times import iso_text

SOURCE: Final = "source"
TARGET: Final = "target"
NULL_CONTENT: Final = b"null"
"""The content of a relationship that says nothing beside its type."""

# Relationships start in the states of ordinary objects (Q08).
DEFAULT_STATES: Final = default_states("relationship")


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipDraft:
    """What a new relationship says. Times are microseconds since 1970 UTC; `target_scope_id` only where it is another."""

    relationship_id: str
    relationship_type: str
    source_object_id: str
    target_object_id: str
    provenance: Provenance
    directionality: Directionality = Directionality.DIRECTED
    content: bytes = NULL_CONTENT
    states: States = DEFAULT_STATES
    integrity: Integrity | None = None
    target_scope_id: str | None = None
    policy_basis: str | None = None
    observed_at_us: int | None = None
    asserted_at_us: int | None = None
    valid_from_us: int | None = None
    valid_until_us: int | None = None


@dataclass(frozen=True, slots=True)
class NewRelationship:
    """A version ready to commit: its core, the change that stores it, its encrypted parts, and its event."""

    core: RelationshipCore
    plaintexts: Plaintexts
    change: ColdChange
    contents: Sequence[ContentRow]
    event: EventRow


async def new_relationship(
    call: Call,
    draft: RelationshipDraft,
    now_us: int,
    *,
    event_position: int = 1,
    standing_ends: Sequence[str] = (SOURCE, TARGET),
) -> NewRelationship:
    """Returns the first version of a relationship that lies in the call's workspace.

    `event_position` is the place of its event among those of the command for this workspace. `standing_ends` are the ends
    that must be there and not deleted when it commits: leave out one that the same command creates. Raises
    KeyStoreUnavailable.
    """
    plaintexts = Plaintexts(draft.content, draft.provenance, draft.integrity)
    parts = await seal_parts(call, content_owner(draft.relationship_id), plaintexts)
    core = RelationshipCore(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        relationship_id=draft.relationship_id,
        version_id=new_id(),
        sequence=1,
        relationship_type=draft.relationship_type,
        source_object_id=draft.source_object_id,
        target_object_id=draft.target_object_id,
        directionality=draft.directionality,
        lifecycle_state=draft.states.lifecycle,
        availability_state=draft.states.availability,
        retention_state=draft.states.retention,
        validation_state=draft.states.validation,
        committed_at_us=now_us,
        recorded_at_us=now_us,
        actor=call.actor_ref(),
        provenance_id=draft.provenance.provenance_id,
        parts=parts.refs,
        target_scope_id=draft.target_scope_id,
        policy_basis=draft.policy_basis,
        observed_at_us=draft.observed_at_us,
        asserted_at_us=draft.asserted_at_us,
        valid_from_us=draft.valid_from_us,
        valid_until_us=draft.valid_until_us,
    )
    return _sealed(call, core, plaintexts, parts.rows, (), event_position, standing_ends)


async def next_relationship(
    call: Call,
    before: RelationshipCore,
    changed: RelationshipCore,
    plaintexts: Plaintexts,
    changed_fields: Sequence[str],
    *,
    standing_ends: Sequence[str] = (),
) -> NewRelationship:
    """Returns the version after `before`: `changed` is what it says, its ids, number and parts still those of before.

    `plaintexts` are the parts that are new; content that is not among them is carried on, and integrity metadata never,
    since it covers the version it came with. Raises KeyStoreUnavailable.
    """
    assert plaintexts.provenance is not None, "a version says where it comes from"
    parts = await seal_parts(call, content_owner(before.relationship_id), plaintexts)
    refs: dict[PartKind, PartRef] = dict(parts.refs)
    if PartKind.CONTENT not in refs and PartKind.CONTENT in changed.parts:
        refs[PartKind.CONTENT] = changed.parts[PartKind.CONTENT]
    core = replace(
        changed,
        version_id=new_id(),
        previous_version_id=before.version_id,
        sequence=before.sequence + 1,
        actor=call.actor_ref(),
        provenance_id=plaintexts.provenance.provenance_id,
        parts=refs,
    )
    return _sealed(call, core, plaintexts, parts.rows, changed_fields, 1, standing_ends)


def _sealed(
    call: Call,
    core: RelationshipCore,
    plaintexts: Plaintexts,
    contents: Sequence[ContentRow],
    changed_fields: Sequence[str],
    event_position: int,
    standing_ends: Sequence[str],
) -> NewRelationship:
    keys = call.services.keys
    written = relationship_core_bytes(core)
    fields: dict[str, Any] = {
        "relationship_id": core.relationship_id,
        "version_id": core.version_id,
        "sequence": core.sequence,
        "expected_version_id": core.previous_version_id,
        "event": event_position,
        "standing_ends": list(standing_ends),
        "mac_key_id": keys.key_id,
    }
    for name, value in relationship_columns(core).items():
        if name.endswith("_us"):
            fields[name[:-3]] = None if value is None else iso_text(int(str(value)))
        else:
            fields[name] = str(value) if isinstance(value, UUID) else value
    # The column names the workspace of the target in any case; the change only where it is another.
    fields["target_scope_id"] = core.target_scope_id
    blobs = {"core": written, "mac": keys.mac(written)}
    if plaintexts.integrity is not None:
        digest = plaintexts.integrity.digest
        blobs["integrity_lookup"] = keys.lookup("integrity_digest", digest, tenant_id=call.tenant_id)
    event = call.event(
        relationship_event(
            core, envelope_digest(written), None if core.previous_version_id is None else tuple(changed_fields)
        ),
        version_id=core.version_id,
        relationship_id=core.relationship_id,
    )
    return NewRelationship(core, plaintexts, ColdChange("relationship.put", fields, blobs), contents, event)


def relationship_event(core: RelationshipCore, digest: str, changed_fields: tuple[str, ...] | None) -> Event:
    """Returns the event that makes a version of a relationship: its first one when `changed_fields` is None."""
    said: dict[str, Any] = {
        "relationship_sequence": core.sequence,
        "envelope_digest": digest,
        "source_object_id": core.source_object_id,
        "target_object_id": core.target_object_id,
        "relationship_type": core.relationship_type,
        "target_scope_id": core.target_scope_id,
        "policy_basis": core.policy_basis,
    }
    if changed_fields is None:
        return RelationshipCreated(**said)
    return RelationshipUpdated(**said, changed_fields=changed_fields)


def relationship_columns(core: RelationshipCore) -> dict[str, object]:
    """Returns the columns that repeat a core for filtering; times are microseconds."""
    return {
        "relationship_type": core.relationship_type,
        "source_object_id": core.source_object_id,
        "target_object_id": core.target_object_id,
        "target_scope_id": core.target_scope,
        "directionality": core.directionality.value,
        "lifecycle_state": core.lifecycle_state.value,
        "availability_state": core.availability_state.value,
        "retention_state": core.retention_state.value,
        "validation_state": core.validation_state.value,
        "actor_id": core.actor.actor_id,
        "provenance_id": core.provenance_id,
        "observed_at_us": core.observed_at_us,
        "asserted_at_us": core.asserted_at_us,
        "valid_from_us": core.valid_from_us,
        "valid_until_us": core.valid_until_us,
        "committed_at_us": core.committed_at_us,
        "recorded_at_us": core.recorded_at_us,
        "content_id": part_id(core.parts, PartKind.CONTENT),
        "provenance_content_id": part_id(core.parts, PartKind.PROVENANCE),
        "integrity_content_id": part_id(core.parts, PartKind.INTEGRITY),
    }


def refusal_of(outcome: Outcome, core: RelationshipCore) -> DomainError:
    """Returns what a change of a relationship that ended with Status.RELATIONSHIP is told as.

    A deleted target is a relationship_conflict (P-14-15), a deleted source is the caller's own object_deleted. Who knew
    nothing of the relationship learns nothing of it.
    """
    match outcome.detail["reason"]:
        case "exists":
            return InvalidRequest("relationship_id", "is taken")
        case "conflict":
            return VersionConflict(core.previous_version_id, str(outcome.detail["current_version_id"]))
        case "deleted":
            return ObjectDeleted(core.relationship_id)
        case "end_deleted" if outcome.detail["end"] == SOURCE:
            return ObjectDeleted(core.source_object_id)
        case "end_deleted":
            return RelationshipConflict()
        case _:
            return ObjectNotFound()
