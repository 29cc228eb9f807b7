"""Transition (PAMSPEC 10.4; P-9.5-*, P-10.4-01 to P-10.4-03; Q13, Q15)."""

from __future__ import annotations

from typing import Any, Final

from authz.permissions import DELETE, REDACT, RESTORE, REVIEW
from authz.request import Touched
from remit.v1 import memory_pb2
from server.authority import denials
from server.authority.refusals import Refused
from server.call import Call, Change
from server.domain_errors import (
    InvalidRequest,
    InvalidStateTransition,
    LegalHold,
    ObjectDeleted,
    PolicyDenied,
    RetentionRestriction,
    VersionConflict,
)
from server.memory.disposal import demand_disposable
from server.memory.lookups import LOOKUP_FIELDS, lookups_changed, lookups_of
from server.memory.mutations import answer, committed, replay_of
from server.memory.provenances import lacks_run, provenance_or_default
from server.memory.redactions import masked, redaction_of, without_erased
from server.memory.removal import delete_object
from server.memory.retrieval import Loaded, held_at, load, open_rows
from server.memory.state_rules import demand_admitted_move
from server.memory.versions import NewVersion, Plaintexts, new_version, next_core, seal_parts
from storage.commands import EventRow, ObjectMove, Status
from storage.derivatives import dropped
from storage.model.events import (
    AvailabilityTransitioned,
    LifecycleTransitioned,
    ObjectRedacted,
    ProvenanceUpdated,
    RetentionTransitioned,
    StateTransitioned,
    ValidationTransitioned,
)
from storage.model.memory import PartKind
from storage.model.provenance import Provenance
from storage.model.states import AvailabilityState, Dimension, MissingRight, condition_of, is_legal, parse_state

_DIMENSIONS: Final = {
    memory_pb2.DIMENSION_LIFECYCLE: (Dimension.LIFECYCLE, LifecycleTransitioned),
    memory_pb2.DIMENSION_AVAILABILITY: (Dimension.AVAILABILITY, AvailabilityTransitioned),
    memory_pb2.DIMENSION_RETENTION: (Dimension.RETENTION, RetentionTransitioned),
    memory_pb2.DIMENSION_VALIDATION: (Dimension.VALIDATION, ValidationTransitioned),
}


async def handle(call: Call, request: memory_pb2.TransitionRequest) -> memory_pb2.TransitionResponse:
    """Moves one dimension of an object's state; the other three keep their values.

    A move off the table is InvalidStateTransition even with rights; a conditional move without its right is what
    `storage.model.states` says (PolicyDenied, LegalHold, a denial). To `deleted` it takes the path of Delete.
    """
    earlier = call.replayed()
    if earlier is not None:
        return memory_pb2.TransitionResponse(result=await replay_of(call, earlier, *_also_needed(request)))
    dimension, event_class = _DIMENSIONS[request.dimension]
    loaded = await load(call, request.object_id)
    target = request.target_state
    from_state = str(getattr(loaded.standing, dimension.column))
    if loaded.standing.verdict == "deleted":
        raise ObjectDeleted(request.object_id)
    if loaded.standing.version_id != request.expected_version_id:
        current = loaded.standing.version_id if call.may_read(request.object_id, loaded.standing.object_type) else None
        raise VersionConflict(request.expected_version_id, current, request.object_id)
    if parse_state(dimension, target) is None or not is_legal(dimension, from_state, target):
        raise InvalidStateTransition(dimension.value, from_state, target)
    demand_admitted_move(call, loaded.standing.object_type, dimension, from_state, target)
    if loaded.standing.verdict == "retention_restricted" and dimension in (Dimension.LIFECYCLE, Dimension.VALIDATION):
        raise RetentionRestriction(request.object_id)
    for action in _also_needed(request):
        call.demand([Touched(request.object_id, loaded.standing.object_type)], action=action)
    await _demand_condition(call, request, loaded, dimension, from_state)
    if (dimension, target) == (Dimension.AVAILABILITY, "deleted"):
        removed = await delete_object(call, request, loaded, as_transition=True)
        if removed.replayed is not None:
            return memory_pb2.TransitionResponse(result=await replay_of(call, removed.replayed))
        return memory_pb2.TransitionResponse(
            result=answer(call, removed.core, removed.plaintexts, removed.events, removed.job_id)
        )
    return await _move(call, request, loaded, dimension, event_class)


def _also_needed(request: memory_pb2.TransitionRequest) -> tuple[str, ...]:
    """Returns the right that a removal by Transition needs besides its own (Q15)."""
    if request.dimension != memory_pb2.DIMENSION_AVAILABILITY:
        return ()
    return {"deleted": (DELETE,), "redacted": (REDACT,)}.get(request.target_state, ())


async def _demand_condition(
    call: Call, request: memory_pb2.TransitionRequest, loaded: Loaded, dimension: Dimension, from_state: str
) -> None:
    if dimension is Dimension.AVAILABILITY and request.target_state == "partially_redacted":
        raise InvalidRequest("target_state", "needs a redaction, which names what is removed")
    if dimension is Dimension.AVAILABILITY and request.target_state == "redacted":
        await demand_disposable(call, loaded, request.expected_version_id)
    if dimension is Dimension.AVAILABILITY and request.target_state == "available":
        await _demand_restorable(call, request, loaded)
    condition = condition_of(dimension, from_state, request.target_state)
    if condition is None:
        return
    if condition.new_provenance and not request.HasField("provenance"):
        raise PolicyDenied("this move needs new provenance", field="provenance")
    if condition.action is None:
        return
    object_type, object_id = loaded.standing.object_type, request.object_id
    match condition.refusal:
        case MissingRight.ACCESS_DENIED:
            await call.demand_right(
                condition.action, object_type, object_id, Refused(denials.CONDITIONAL_RIGHT, object_id)
            )
        case MissingRight.LEGAL_HOLD:
            await call.demand_right(condition.action, object_type, object_id, LegalHold(object_id))
        case _:
            refusal = PolicyDenied("this move needs a right of its own", field="target_state")
            await call.demand_right(condition.action, object_type, object_id, refusal)


async def _demand_restorable(call: Call, request: memory_pb2.TransitionRequest, loaded: Loaded) -> None:
    """Raises PolicyDenied without the right to restore, whatever was redacted, and for what is gone for good (Q16)."""
    refusal = PolicyDenied("restoring what was redacted needs a right of its own", field="target_state")
    await call.demand_right(RESTORE, loaded.standing.object_type, request.object_id, refusal)
    redaction = await redaction_of(call, request.object_id)
    if redaction is not None and redaction.is_erasure:
        raise PolicyDenied("what was erased can't be restored", field="target_state")
    is_partial = loaded.standing.availability_state == AvailabilityState.PARTIALLY_REDACTED
    if loaded.version.content_id is None or (is_partial and redaction is None):
        # It was imported without what another service had redacted.
        raise PolicyDenied("what was redacted is not kept here", field="target_state")


async def _move(
    call: Call,
    request: memory_pb2.TransitionRequest,
    loaded: Loaded,
    dimension: Dimension,
    event_class: type[StateTransitioned],
) -> memory_pb2.TransitionResponse:
    target: Any = parse_state(dimension, request.target_state)
    is_shown = _is_shown_after(call, loaded, dimension, request.target_state)
    is_restored = (dimension, request.target_state) == (Dimension.AVAILABILITY, "available")
    [(before, old)] = await open_rows(call, [(loaded.version, is_shown)], loaded.heads, unmasked=is_restored)
    now_us = await call.version_time_us()
    provenance: Provenance | None = old.provenance
    refs, contents = dict(before.parts), []
    # Integrity metadata covers the version it came with; the moved version is another one.
    refs.pop(PartKind.INTEGRITY, None)
    if is_restored:
        refs.pop(PartKind.REDACTION, None)
    provenance_id = before.provenance_id
    if request.HasField("provenance") or lacks_run(call, old.provenance):
        place = (before.object_type, before.object_id)
        given = await provenance_or_default(call, request, *place, "transitioned", now_us)
        redaction = await redaction_of(call, before.object_id) if PartKind.REDACTION in refs else None
        written = without_erased(Plaintexts(provenance=given), redaction)
        provenance_id = given.provenance_id
        provenance = masked(written, redaction).provenance
        parts = await seal_parts(call, before.object_id, written)
        refs |= parts.refs
        contents = parts.rows
    core = next_core(
        call,
        before,
        now_us,
        provenance_id=provenance_id,
        parts=refs,
        **{dimension.column: target},
    )
    version = new_version(call, core, None)
    events = _events(call, request, event_class, str(getattr(before, dimension.column)), version)
    if contents:
        rewritten = ProvenanceUpdated(provenance_id=provenance_id)
        events.append(call.event(rewritten, object_id=core.object_id, version_id=core.version_id))
    shown = Plaintexts(old.content, provenance) if is_shown else Plaintexts()
    is_hidden = core.availability_state is AvailabilityState.REDACTED
    findable = []
    if not is_hidden and (is_restored or contents):
        findable = lookups_of(call, core.object_type, Plaintexts(old.content, provenance), refs)
    move = ObjectMove(core.object_id, request.expected_version_id, core.object_type, core.version_id, core.sequence)
    outcome = await call.commit(
        Change(
            events=events,
            result=committed(core, events),
            moves=[move],
            versions=[version.row],
            contents=contents,
            colds=[
                *lookups_changed(core.object_id, findable, LOOKUP_FIELDS if is_hidden else ()),
                *([dropped(core.object_id)] if is_hidden else []),
            ],
            bump=["removal"],
        )
    )
    if outcome.status is Status.REPLAYED:
        return memory_pb2.TransitionResponse(result=await replay_of(call, outcome.detail))
    return memory_pb2.TransitionResponse(result=answer(call, core, shown, events))


def _is_shown_after(call: Call, loaded: Loaded, dimension: Dimension, target: str) -> bool:
    """Returns whether the gate gives content once the move is made."""
    standing = loaded.standing
    availability = target if dimension is Dimension.AVAILABILITY else standing.availability_state
    retention = target if dimension is Dimension.RETENTION else standing.retention_state
    if availability == "redacted":
        return False
    place = (standing.object_type, loaded.version.object_id)
    return retention != "pending_deletion" or held_at(call, loaded.heads, REVIEW, *place)


def _events(
    call: Call,
    request: memory_pb2.TransitionRequest,
    event_class: type[StateTransitioned],
    from_state: str,
    version: NewVersion,
) -> list[EventRow]:
    core = version.core
    named = {"object_id": core.object_id, "version_id": core.version_id}
    moved = event_class(
        object_sequence=core.sequence,
        envelope_digest=version.digest,
        from_state=from_state,
        to_state=request.target_state,
        policy_basis=request.policy_basis,
    )
    events = [call.event(moved, **named)]
    if event_class is AvailabilityTransitioned and request.target_state == AvailabilityState.REDACTED:
        suppressed = ObjectRedacted(
            object_sequence=core.sequence,
            envelope_digest=version.digest,
            mode="suppress",
            from_state=from_state,
            to_state=request.target_state,
            policy_basis=request.policy_basis,
        )
        events.append(call.event(suppressed, **named))
    return events
