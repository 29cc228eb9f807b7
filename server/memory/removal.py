"""Deletion of an object: the tombstone, and the job that erases what it hides (P-10.11-*, Q15, Q52)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from server.call import Call, Change
from server.memory.authenticity import authenticated_core
from server.memory.disposal import demand_disposable
from server.memory.lookups import LOOKUP_FIELDS, lookups_changed
from server.memory.mutations import committed
from server.memory.provenances import provenance_or_default
from server.memory.retrieval import Loaded
from server.memory.state_rules import demand_admitted_move
from server.memory.versions import Plaintexts, new_version, next_core, part_id, seal_parts
from storage.commands import ColdChange, EventRow, ObjectMove, Status
from storage.derivatives import dropped
from storage.model.events import AvailabilityTransitioned, PropagationJobOpened
from storage.model.events import ObjectDeleted as ObjectDeletedEvent
from storage.model.identifiers import new_id
from storage.model.memory import PartKind, VersionCore
from storage.model.states import AvailabilityState, Dimension


@dataclass(frozen=True, slots=True)
class Removed:
    """What a deletion left: the tombstone and its job; or what an idempotency key answered meanwhile."""

    core: VersionCore
    plaintexts: Plaintexts
    events: Sequence[EventRow]
    job_id: str
    replayed: Mapping[str, Any] | None = None


async def delete_object(call: Call, request: Any, loaded: Loaded, *, as_transition: bool = False) -> Removed:
    """Commits the tombstone of an object; `as_transition` records the availability move as well (Q15).

    `request` is a Delete or Transition request. Raises ObjectDeleted, VersionConflict, LegalHold, RetentionRestriction,
    InvalidStateTransition.
    """
    await demand_disposable(call, loaded, request.expected_version_id)
    move = ObjectMove(request.object_id, request.expected_version_id, loaded.standing.object_type)
    before = authenticated_core(call, loaded.version)
    from_state = before.availability_state.value
    demand_admitted_move(call, before.object_type, Dimension.AVAILABILITY, from_state, AvailabilityState.DELETED)
    now_us = await call.version_time_us()
    provenance = await provenance_or_default(call, request, before.object_type, before.object_id, "deleted", now_us)
    parts = await seal_parts(call, before.object_id, Plaintexts(provenance=provenance))
    core = next_core(
        call,
        before,
        now_us,
        availability_state=AvailabilityState.DELETED,
        provenance_id=provenance.provenance_id,
        parts=parts.refs,
        quality_signals=None,
    )
    version = new_version(call, core, None)
    job_id = new_id()
    named = {"object_id": core.object_id, "version_id": core.version_id}
    deleted = ObjectDeletedEvent(
        object_sequence=core.sequence,
        envelope_digest=version.digest,
        from_state=from_state,
        policy_basis=request.policy_basis,
        job_id=job_id,
    )
    events = [call.event(deleted, **named)]
    if as_transition:
        moved = AvailabilityTransitioned(
            object_sequence=core.sequence,
            envelope_digest=version.digest,
            from_state=from_state,
            to_state="deleted",
            policy_basis=request.policy_basis,
            via="delete",
        )
        events.append(call.event(moved, **named))
    events.append(call.event(PropagationJobOpened(job_id=job_id), object_id=core.object_id))
    kept = part_id(core.parts, PartKind.PROVENANCE)
    erasure = {"job_id": job_id, "object_id": core.object_id, "kept_content_ids": [str(kept)]}
    outcome = await call.commit(
        Change(
            events=events,
            result=committed(core, events, job_id),
            moves=[replace(move, version_id=core.version_id, sequence=core.sequence, deleted=True)],
            versions=[version.row],
            contents=parts.rows,
            colds=[
                ColdChange("erasure_open", erasure),
                dropped(core.object_id),
                *lookups_changed(core.object_id, (), LOOKUP_FIELDS),
            ],
            bump=["removal"],
        )
    )
    replayed = outcome.detail if outcome.status is Status.REPLAYED else None
    if replayed is None:
        call.services.erasures.wake(call.tenant_id)
    return Removed(core, Plaintexts(provenance=provenance), events, job_id, replayed)
