"""One redaction of an object: the new version, what it masks or erases, and the job that tells what follows (P-10.9-*).

Both modes make a version in `partially_redacted` or `redacted`. What a suppression masks stays encrypted and comes back
when the object is restored; what an erasure takes is replaced in every version and its keys are destroyed (Q16, Q17).
Redactions add up: a later one keeps what an earlier one took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from authz.permissions import REVIEW
from remit.v1 import memory_pb2
from server.call import Call, Change
from server.domain_errors import InvalidRequest, InvalidStateTransition
from server.memory.authenticity import authenticated_core
from server.memory.disposal import demand_disposable
from server.memory.erasing import erase
from server.memory.lookups import LOOKUP_FIELDS, lookups_changed, lookups_of
from server.memory.mutations import committed
from server.memory.provenances import lacks_run, provenance_or_default
from server.memory.redactions import mask_provenance, masked, redaction_of, without_erased
from server.memory.retrieval import Loaded, held_at, open_rows
from server.memory.state_rules import demand_admitted_move
from server.memory.versions import NewVersion, Plaintexts, new_version, next_core, seal_parts, seal_text
from server.wire.json_masks import mask_json
from storage.commands import ColdChange, ContentRow, EventRow, ObjectMove, Status
from storage.derivatives import dropped
from storage.model.events import ObjectRedacted, PropagationJobOpened, ProvenanceUpdated
from storage.model.identifiers import new_id
from storage.model.memory import PartKind, PartRef, VersionCore
from storage.model.redaction import Redaction, redaction_bytes
from storage.model.states import AvailabilityState, Dimension, is_legal

SUPPRESS: Final = "suppress"
ERASE: Final = "erase"
POINTERS_IN_FORCE_MAX: Final = 1000
"""Most pointers that may be redacted of one object at a time."""

_MODES: Final = {memory_pb2.REDACTION_MODE_SUPPRESS: SUPPRESS, memory_pb2.REDACTION_MODE_ERASE: ERASE}


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be redacted: everything, or pointers into the content and into the provenance."""

    mode: str
    whole: bool
    pointers: tuple[str, ...] = ()
    provenance_pointers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redacted:
    """What a redaction left; `replayed` is what an idempotency key answered meanwhile instead."""

    core: VersionCore
    plaintexts: Plaintexts
    events: Sequence[EventRow]
    job_id: str
    redaction: Redaction | None
    replayed: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Work:
    """The redactions then in force, the parts of the new version, new rows and what goes."""

    redaction: Redaction | None
    refs: dict[PartKind, PartRef]
    shown: Plaintexts
    rows: list[ContentRow] = field(default_factory=list)
    erased_content_ids: list[str] = field(default_factory=list)


def target_of(request: memory_pb2.RedactRequest) -> Target:
    """Returns the target of a request whose pointers were found to be well formed.

    Raises InvalidRequest when it names nothing, or everything and parts.
    """
    target = Target(
        _MODES[request.mode],
        request.target.whole,
        tuple(request.target.json_pointers),
        tuple(request.target.provenance_pointers),
    )
    names_parts = bool(target.pointers or target.provenance_pointers)
    if target.whole == names_parts:
        raise InvalidRequest("target", "names either all of the object or parts of it")
    return target


async def redact_object(call: Call, request: memory_pb2.RedactRequest, target: Target, loaded: Loaded) -> Redacted:
    """Commits the redaction. Raises ObjectDeleted, VersionConflict, LegalHold, RetentionRestriction, InvalidRequest,
    InvalidStateTransition, StaleFacts."""
    await demand_disposable(call, loaded, request.expected_version_id)
    before = authenticated_core(call, loaded.version)
    in_force = await redaction_of(call, before.object_id) if PartKind.REDACTION in before.parts else None
    to_state = AvailabilityState.REDACTED if target.whole else AvailabilityState.PARTIALLY_REDACTED
    _demand_move(call, before, to_state, target, in_force)
    work = await _work(call, loaded, before, target, in_force)
    now_us = await call.version_time_us()
    provenance_id = before.provenance_id
    erases_all = target.whole and target.mode == ERASE
    if request.HasField("provenance") or erases_all or lacks_run(call, work.shown.provenance):
        provenance = await provenance_or_default(
            call, request, before.object_type, before.object_id, "redacted", now_us
        )
        provenance_id = provenance.provenance_id
        written = without_erased(Plaintexts(provenance=provenance), work.redaction)
        parts = await seal_parts(call, before.object_id, written)
        work.refs |= parts.refs
        work.rows += parts.rows
        if not target.whole:
            work.shown.provenance = masked(written, work.redaction).provenance
    if work.redaction is not None and work.redaction != in_force:
        text = redaction_bytes(work.redaction)
        work.refs[PartKind.REDACTION], row = await seal_text(call, before.object_id, PartKind.REDACTION, text)
        work.rows.append(row)
    core = next_core(
        call,
        before,
        now_us,
        availability_state=to_state,
        provenance_id=provenance_id,
        parts=work.refs,
        quality_signals=None if erases_all else before.quality_signals,
    )
    is_open = loaded.standing.verdict == "open" or held_at(
        call, loaded.heads, REVIEW, before.object_type, before.object_id
    )
    redacted = await _commit(call, request, target, work, before, new_version(call, core, None))
    # What the gate keeps from the caller, for the object waits to be deleted, is not told by redacting it.
    return redacted if is_open else replace(redacted, plaintexts=Plaintexts())


def _demand_move(
    call: Call, before: VersionCore, to_state: AvailabilityState, target: Target, in_force: Redaction | None
) -> None:
    from_state = before.availability_state
    more_of_it = from_state is to_state is AvailabilityState.PARTIALLY_REDACTED
    # What is only hidden may still be erased; what is erased can't be again.
    is_suppressed = from_state is AvailabilityState.REDACTED and not (in_force is not None and in_force.whole_erased)
    ends_it = is_suppressed and to_state is AvailabilityState.REDACTED and target.mode == ERASE
    if not (more_of_it or ends_it or is_legal(Dimension.AVAILABILITY, from_state, to_state)):
        raise InvalidStateTransition(Dimension.AVAILABILITY.value, from_state.value, to_state.value)
    demand_admitted_move(call, before.object_type, Dimension.AVAILABILITY, from_state.value, to_state.value)


async def _work(call: Call, loaded: Loaded, before: VersionCore, target: Target, in_force: Redaction | None) -> _Work:
    refs = _without_integrity(before.parts)
    if target.whole:
        if target.mode == ERASE:
            # Nothing is left to stand for, and the pointers of before may tell something themselves.
            return _Work(Redaction(whole_erased=True), {}, Plaintexts())
        return _Work(in_force, refs, Plaintexts())
    [(_, current)] = await open_rows(call, [(loaded.version, True)], loaded.heads, unmasked=True)
    _demand_places(target, current)
    base = in_force or Redaction()
    if target.mode == SUPPRESS:
        redaction = base.suppressing(target.pointers, target.provenance_pointers)
        _demand_room(redaction)
        superseded = [str(before.parts[PartKind.REDACTION].content_id)] if in_force is not None else []
        if redaction == in_force:
            superseded = []
        return _Work(redaction, refs, masked(current, redaction), erased_content_ids=superseded)
    redaction = base.erasing(target.pointers, target.provenance_pointers)
    _demand_room(redaction)
    erasure = await erase(call, before, redaction, loaded.heads)
    erased = sorted(str(content_id) for content_id in erasure.erased_content_ids)
    shown = masked(current, erasure.redaction)
    return _Work(erasure.redaction, _without_integrity(erasure.refs), shown, erasure.rows, erased)


def _without_integrity(parts: Mapping[PartKind, PartRef]) -> dict[PartKind, PartRef]:
    """Returns the parts that a redacted version carries on: integrity metadata covers the version it came with."""
    refs = dict(parts)
    refs.pop(PartKind.INTEGRITY, None)
    return refs


def _demand_places(target: Target, current: Plaintexts) -> None:
    """Raises InvalidRequest for the first pointer that names nothing in the current version."""
    found: set[str] = set()
    if current.content is not None:
        found.update(mask_json(current.content, target.pointers)[1])
    for index, pointer in enumerate(target.pointers):
        if pointer not in found:
            raise InvalidRequest(f"target.json_pointers[{index}]", "names nothing in the current version")
    named: frozenset[str] = frozenset()
    if current.provenance is not None:
        named = mask_provenance(current.provenance, target.provenance_pointers)[1]
    for index, pointer in enumerate(target.provenance_pointers):
        if pointer not in named:
            raise InvalidRequest(f"target.provenance_pointers[{index}]", "names nothing in the current version")


def _demand_room(redaction: Redaction) -> None:
    if len(redaction.content_pointers) + len(redaction.provenance_pointers) > POINTERS_IN_FORCE_MAX:
        raise InvalidRequest("target", f"would redact more than {POINTERS_IN_FORCE_MAX} places of the object")


async def _commit(
    call: Call,
    request: memory_pb2.RedactRequest,
    target: Target,
    work: _Work,
    before: VersionCore,
    version: NewVersion,
) -> Redacted:
    core = version.core
    job_id = new_id()
    named = {"object_id": core.object_id, "version_id": core.version_id}
    projections = None if work.redaction is None else work.redaction.projections_digest()
    event = ObjectRedacted(
        object_sequence=core.sequence,
        envelope_digest=version.digest,
        mode=target.mode,
        from_state=before.availability_state.value,
        to_state=core.availability_state.value,
        policy_basis=request.policy_basis,
        pointer_count=len(target.pointers) + len(target.provenance_pointers),
        pointer_commitments=_commitments(call, core.object_id, target),
        projections_digest=projections,
        job_id=job_id,
    )
    events = [call.event(event, **named)]
    if core.provenance_id != before.provenance_id:
        events.append(call.event(ProvenanceUpdated(provenance_id=core.provenance_id), **named))
    kind = "erasure" if target.mode == ERASE else "suppression"
    events.append(call.event(PropagationJobOpened(job_id=job_id, kind=kind), object_id=core.object_id))
    opening = {
        "job_id": job_id,
        "object_id": core.object_id,
        "kind": kind,
        "whole": target.whole and target.mode == ERASE,
        "erased_content_ids": work.erased_content_ids,
    }
    findable = [] if target.whole else lookups_of(call, core.object_type, work.shown, core.parts)
    outcome = await call.commit(
        Change(
            events=events,
            result=committed(core, events, job_id),
            moves=[
                ObjectMove(
                    core.object_id, request.expected_version_id, core.object_type, core.version_id, core.sequence
                )
            ],
            versions=[version.row],
            contents=work.rows,
            colds=[
                ColdChange("redaction.open", opening),
                *lookups_changed(core.object_id, findable, LOOKUP_FIELDS),
                dropped(core.object_id),
            ],
            bump=["removal"],
        )
    )
    replayed = outcome.detail if outcome.status is Status.REPLAYED else None
    if replayed is None:
        call.services.erasures.wake(call.tenant_id)
    return Redacted(core, work.shown, events, job_id, work.redaction, replayed)


def _commitments(call: Call, object_id: str, target: Target) -> tuple[str, ...]:
    """Returns a keyed commitment to each pointer: pointers may hold content, so the ledger never has their text."""
    named = [("content", pointer) for pointer in target.pointers]
    named += [("provenance", pointer) for pointer in target.provenance_pointers]
    keys, tenant_id = call.services.keys, call.tenant_id
    return tuple(
        keys.lookup("redaction_pointer", f"{object_id} {part} {pointer}", tenant_id=tenant_id).hex()
        for part, pointer in named
    )
