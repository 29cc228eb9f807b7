"""What a promotion makes: the new object, the superseded source, and the relationship between them (PAMSPEC 10.10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from remit.v1 import memory_pb2
from server.call import Call
from server.domain_errors import InvalidRequest
from server.memory.authenticity import authenticated_core
from server.memory.creating import creation_events, first_core
from server.memory.provenances import lacks_run, own_provenance, provenance_from
from server.memory.retrieval import Loaded, open_rows
from server.memory.versions import NewParts, NewVersion, Plaintexts, new_version, next_core, seal_parts
from server.relationships.relating import NewRelationship, RelationshipDraft, new_relationship
from server.wire.inputs import signals_from
from storage.commands import EventRow
from storage.model.events import LifecycleTransitioned, ProvenanceUpdated, WorkingMemoryPromoted
from storage.model.identifiers import new_id
from storage.model.memory import PartKind, VersionCore
from storage.model.provenance import Provenance
from storage.model.states import LifecycleState, States

DERIVED_FROM: Final = "derived_from"
_BASIS: Final = "promotion"


@dataclass(frozen=True, slots=True)
class NewTarget:
    """The object that a promotion creates."""

    version: NewVersion
    plaintexts: Plaintexts
    parts: NewParts


@dataclass(frozen=True, slots=True)
class Promotion:
    """Everything that one promotion commits, ready to hand over."""

    target: NewTarget
    source: NewVersion
    source_plaintexts: Plaintexts
    source_parts: NewParts
    relationship: NewRelationship
    events: list[EventRow]


async def promotion(
    call: Call,
    request: memory_pb2.PromoteRequest,
    loaded: Loaded,
    target_object_id: str,
    states: States,
    tool_outcome: str | None,
) -> Promotion:
    """Returns the versions, the relationship and the events of a promotion that was found to be allowed.

    The target's events come first, then the source's. Raises InvalidRequest for a transformation parent other than the
    source's version, PolicyDenied as `provenance_from`, KeyStoreUnavailable.
    """
    before = authenticated_core(call, loaded.version)
    [(_, carried)] = await open_rows(call, [(loaded.version, True)], loaded.heads)
    now_us = await call.version_time_us()
    target = await _target(call, request, before, target_object_id, states, now_us)
    core = target.version.core
    events = creation_events(call, core, target.version.digest, tool_outcome)
    source_parts = NewParts()
    if lacks_run(call, carried.provenance):
        carried = replace(carried, provenance=own_provenance(call, "superseded", now_us))
        source_parts = await seal_parts(call, before.object_id, Plaintexts(provenance=carried.provenance))
    superseded = _superseded(call, before, carried, source_parts, now_us)
    source = new_version(call, superseded, None, event_position=len(events) + 1)
    moved = LifecycleTransitioned(
        object_sequence=superseded.sequence,
        envelope_digest=source.digest,
        from_state=before.lifecycle_state.value,
        to_state=superseded.lifecycle_state.value,
        policy_basis=request.policy_basis or _BASIS,
        via="promote",
    )
    named = {"object_id": superseded.object_id, "version_id": superseded.version_id}
    events.append(call.event(moved, **named))
    if source_parts.rows:
        events.append(call.event(ProvenanceUpdated(provenance_id=superseded.provenance_id), **named))
    draft = RelationshipDraft(
        relationship_id=new_id(),
        relationship_type=DERIVED_FROM,
        source_object_id=core.object_id,
        target_object_id=before.object_id,
        # Nothing of what the client said of the target: a removal there would leave it standing here.
        provenance=replace(own_provenance(call, "promoted", now_us), transformation_parent=before.version_id),
        policy_basis=request.policy_basis or None,
    )
    # One end is made by the same command, and the other is guarded by it.
    relationship = await new_relationship(call, draft, now_us, event_position=len(events) + 1, standing_ends=())
    events.append(relationship.event)
    promoted = WorkingMemoryPromoted(
        source_object_id=before.object_id,
        source_version_id=before.version_id,
        superseding_version_id=superseded.version_id,
        target_object_id=core.object_id,
        target_version_id=core.version_id,
        relationship_id=draft.relationship_id,
    )
    # An event of the relationship too: it names both ends, so who may know of only one is not given it.
    named = {"object_id": core.object_id, "version_id": core.version_id, "relationship_id": draft.relationship_id}
    events.append(call.event(promoted, **named))
    return Promotion(target, source, replace(carried, integrity=None), source_parts, relationship, events)


def _superseded(call: Call, before: VersionCore, carried: Plaintexts, parts: NewParts, now_us: int) -> VersionCore:
    """Returns the source's last version; `parts` are those that are new in it."""
    refs = dict(before.parts)
    # Integrity metadata covers the version it came with; the superseded version is another one.
    refs.pop(PartKind.INTEGRITY, None)
    return next_core(
        call,
        before,
        now_us,
        lifecycle_state=LifecycleState.SUPERSEDED,
        provenance_id=before.provenance_id if not parts.refs else _provenance_of(carried).provenance_id,
        parts=refs | parts.refs,
    )


async def _target(
    call: Call,
    request: memory_pb2.PromoteRequest,
    source: VersionCore,
    object_id: str,
    states: States,
    now_us: int,
) -> NewTarget:
    given = request.provenance.transformation_parent
    if given and given != source.version_id:
        raise InvalidRequest("provenance.transformation_parent", "is the source's version")
    provenance = replace(
        await provenance_from(call, request.provenance, request.target_object_type, object_id, now_us),
        transformation_parent=source.version_id,
    )
    plaintexts = Plaintexts(request.target_canonical_content, provenance)
    parts = await seal_parts(call, object_id, plaintexts)
    core = first_core(
        call,
        object_id,
        request.target_object_type,
        states,
        now_us,
        provenance,
        parts=parts.refs,
        schema_id=request.target_schema_id or None,
        quality_signals=signals_from(request),
    )
    return NewTarget(new_version(call, core, None), plaintexts, parts)


def _provenance_of(plaintexts: Plaintexts) -> Provenance:
    assert plaintexts.provenance is not None
    return plaintexts.provenance
