"""Relate (PAMSPEC 10.5 and 8.5; P-10.5-01 to P-10.5-03, P-8.5-01 to P-8.5-08)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from remit.v1 import memory_pb2
from server.call import Call, Change
from server.domain_errors import (
    DomainError,
    InvalidRequest,
    ObjectDeleted,
    ObjectNotFound,
    ObjectRedacted,
    PolicyDenied,
    RelationshipConflict,
    RetentionRestriction,
    VersionConflict,
)
from server.memory.provenances import provenance_from
from server.memory.versions import Plaintexts, part_id
from server.relationships.ends import RelationEnds, demand_ends, may_read_ends
from server.relationships.moves import demanded_moves, initial_states, removes
from server.relationships.relating import (
    DEFAULT_STATES,
    NULL_CONTENT,
    SOURCE,
    TARGET,
    NewRelationship,
    RelationshipDraft,
    new_relationship,
    next_relationship,
    refusal_of,
)
from server.relationships.retrieval import End, authenticated_relationship, open_relationships, readable_relationship
from server.wire.inputs import integrity_from, time_us
from server.wire.relationships import directionality_of
from storage.commands import ColdChange, EventRow, Outcome, Status
from storage.model.events import PropagationJobOpened
from storage.model.identifiers import new_id
from storage.model.memory import PartKind
from storage.model.relationship import RelationshipCore, content_owner
from storage.model.states import AvailabilityState, RetentionState
from storage.relationships import RelationshipFacts, load_relationship

_TIMES: Final = ("observed_at", "asserted_at", "valid_from", "valid_until")
# What is removed, or shown again, by a move of these two is judged anew by whoever reads (authority.md, second check).
_GATED: Final = frozenset({"availability_state", "retention_state"})


async def handle(call: Call, request: memory_pb2.RelateRequest) -> memory_pb2.RelateResponse:
    """Creates a relationship, or writes a new version of one where an expected version is given.

    The ends and the workspaces of a relationship never change, and neither end gets a version by it. Raises PolicyDenied
    and Refused for a target that may not be reached, ObjectNotFound, ObjectDeleted (the source), RelationshipConflict
    (the target is deleted, or the id is another relationship's), VersionConflict.
    """
    if request.target_scope_id and not request.policy_basis:
        raise PolicyDenied("a relationship that names a target workspace needs a basis", field="policy_basis")
    target_scope_id = None if request.target_scope_id in ("", call.scope_id) else request.target_scope_id
    ends = await demand_ends(
        call,
        request.source_object_id,
        request.target_object_id,
        target_scope_id,
        request.policy_basis,
        removes=removes(request),
    )
    earlier = call.replayed()
    if earlier is not None:
        return await _replay(call, earlier, ends)
    ends.demand_present()
    if request.expected_version_id:
        return await _update(call, request, ends)
    return await _create(call, request, ends)


async def _create(call: Call, request: memory_pb2.RelateRequest, ends: RelationEnds) -> memory_pb2.RelateResponse:
    ends.demand_live()
    states = initial_states(call, request)
    if states != DEFAULT_STATES:
        refusal = PolicyDenied(
            "initial states other than the defaults need the right to assert them", field="lifecycle_state"
        )
        await call.demand_right("assert_state", ends.source_type, ends.source_object_id, refusal)
    now_us = await call.version_time_us()
    draft = RelationshipDraft(
        relationship_id=request.relationship_id or new_id(),
        relationship_type=request.relationship_type,
        source_object_id=ends.source_object_id,
        target_object_id=ends.target_object_id,
        provenance=await provenance_from(call, request.provenance, ends.source_type, ends.source_object_id, now_us),
        directionality=directionality_of(request.directionality),
        content=request.canonical_content or NULL_CONTENT,
        states=states,
        integrity=integrity_from(request),
        target_scope_id=ends.target_scope_id,
        policy_basis=request.policy_basis or None,
        observed_at_us=time_us(request, "observed_at"),
        asserted_at_us=time_us(request, "asserted_at"),
        valid_from_us=time_us(request, "valid_from"),
        valid_until_us=time_us(request, "valid_until"),
    )
    made = await new_relationship(call, draft, now_us)
    return await _commit(call, ends, made, [made.event], [made.change], bump=())


async def _update(call: Call, request: memory_pb2.RelateRequest, ends: RelationEnds) -> memory_pb2.RelateResponse:
    if not request.relationship_id:
        raise InvalidRequest("relationship_id", "is required with an expected version")
    facts = await load_relationship(call.services.database, call.tenant_id, call.scope_id, request.relationship_id)
    call.confirm(facts.heads)
    before, old = await _standing(call, request, ends, facts)
    if request.canonical_content:
        ends.demand_live()
        if facts.verdict == "retention_restricted":
            raise RetentionRestriction
        if facts.verdict == "redacted":
            raise ObjectRedacted
    moved = await demanded_moves(call, request, before, ends.source_type)
    now_us = await call.version_time_us()
    said = _said(request, before)
    if said or moved.keys() != {"availability_state"}:
        ends.demand_permitted()  # a removal that is more than one
    changed = replace(before, committed_at_us=now_us, recorded_at_us=now_us, **said, **moved)
    provenance = await provenance_from(call, request.provenance, ends.source_type, ends.source_object_id, now_us)
    integrity = integrity_from(request)
    deletes = moved.get("availability_state") is AvailabilityState.DELETED
    if deletes:
        changed = replace(changed, parts={})
    content = request.canonical_content or None
    plaintexts = Plaintexts(None if deletes else content, provenance, None if deletes else integrity)
    parts_named = {"canonical_content": content, "integrity": integrity, "provenance": provenance}
    fields = sorted({*said, *moved, *(name for name, value in parts_named.items() if value is not None)})
    made = await next_relationship(
        call,
        before,
        changed,
        plaintexts,
        [name.removesuffix("_us") for name in fields],
        standing_ends=(SOURCE, TARGET) if request.canonical_content else (),
    )
    events, changes = [made.event], [made.change]
    if deletes:
        _erase(call, made, events, changes)
    shown = Plaintexts(old.content if content is None else content, provenance, integrity)
    made = replace(made, plaintexts=shown if _is_shown(made.core) else Plaintexts())
    return await _commit(call, ends, made, events, changes, bump=("removal",) if _GATED & moved.keys() else ())


async def _standing(
    call: Call, request: memory_pb2.RelateRequest, ends: RelationEnds, facts: RelationshipFacts
) -> tuple[RelationshipCore, Plaintexts]:
    """Returns the current version, which must be the expected one of a relationship between these very ends."""
    if facts.version is None or facts.heads is None:
        raise ObjectNotFound
    before = authenticated_relationship(call, facts.version)
    if not _joins(before, ends):
        if _may_know(call, before, facts):
            raise RelationshipConflict
        raise ObjectNotFound
    if facts.verdict == "deleted":
        raise ObjectDeleted(request.relationship_id)
    if before.version_id != request.expected_version_id:
        current = before.version_id if may_read_ends(call, ends) else None
        raise VersionConflict(request.expected_version_id, current, request.relationship_id)
    [(_, old)] = await open_relationships(call, [(facts.version, True)], {call.scope_id: facts.heads})
    return before, old


def _is_shown(core: RelationshipCore) -> bool:
    """Returns whether the gate gives the content of this version, or the tombstone that it is."""
    if core.availability_state is AvailabilityState.REDACTED:
        return False
    return core.retention_state is not RetentionState.PENDING_DELETION


def _joins(core: RelationshipCore, ends: RelationEnds) -> bool:
    return (core.source_object_id, core.target_object_id, core.target_scope_id) == (
        ends.source_object_id,
        ends.target_object_id,
        ends.target_scope_id,
    )


def _may_know(call: Call, core: RelationshipCore, facts: RelationshipFacts) -> bool:
    """Returns whether the caller may know of a relationship between other ends than it named: it may read both here."""
    if core.target_scope_id is not None:
        return False
    ends = ((core.source_object_id, facts.source.object_type), (core.target_object_id, facts.target.object_type))
    return all(kind is not None and call.may_read(object_id, kind) for object_id, kind in ends)


def _said(request: memory_pb2.RelateRequest, before: RelationshipCore) -> dict[str, Any]:
    """Returns what the request says anew, but states and parts, by the core's field."""
    said: dict[str, Any] = {
        "relationship_type": request.relationship_type,
        "directionality": directionality_of(request.directionality),
        "policy_basis": request.policy_basis or before.policy_basis,
    }
    said |= {f"{name}_us": time_us(request, name) for name in _TIMES if request.HasField(name)}
    return {name: value for name, value in said.items() if value != getattr(before, name)}


def _erase(call: Call, made: NewRelationship, events: list[EventRow], changes: list[ColdChange]) -> None:
    """Lets the keys of all that the relationship said be destroyed, but those of the tombstone's own provenance."""
    job_id = new_id()
    kept = str(part_id(made.core.parts, PartKind.PROVENANCE))
    owner = content_owner(made.core.relationship_id)
    changes.append(ColdChange("erasure_open", {"job_id": job_id, "object_id": owner, "kept_content_ids": [kept]}))
    events.append(call.event(PropagationJobOpened(job_id=job_id), relationship_id=made.core.relationship_id))


async def _commit(
    call: Call,
    ends: RelationEnds,
    made: NewRelationship,
    events: Sequence[EventRow],
    changes: Sequence[ColdChange],
    bump: Sequence[str],
) -> memory_pb2.RelateResponse:
    core = made.core
    outcome = await call.commit(
        Change(
            events=events,
            result={
                "relationship_id": core.relationship_id,
                "version_id": core.version_id,
                "event_ids": [event.event_id for event in events],
            },
            colds=changes,
            contents=made.contents,
            bump=bump,
            also=ends.also,
            exercised_object_id=ends.source_object_id,
        )
    )
    if outcome.status is Status.REPLAYED:
        return await _replay(call, outcome.detail, ends)
    if outcome.status is Status.RELATIONSHIP:
        raise await _refusal(call, outcome, core, ends)
    if len(changes) > 1:
        call.services.erasures.wake(call.tenant_id)
    return memory_pb2.RelateResponse(
        relationship=readable_relationship(call, core, _echoed(call, made.plaintexts, ends), _judged(call, ends)),
        event_ids=[*(event.event_id for event in events), *call.exercise_event_ids],
        operation_id=call.operation_id,
    )


def _judged(call: Call, ends: RelationEnds) -> list[End]:
    """The ends as provenance is judged by them."""
    places = ((call.view, ends.source, ends.source_object_id), (ends.target_view, ends.target, ends.target_object_id))
    return [
        (view or call.view, facts.standing.object_type, object_id)
        for view, facts, object_id in places
        if facts.standing is not None
    ]


def _echoed(call: Call, plaintexts: Plaintexts, ends: RelationEnds) -> Plaintexts:
    """Returns what the caller sent itself, and what was carried on where the caller may read both ends."""
    if may_read_ends(call, ends):
        return plaintexts
    sent = {field.name for field, _ in call.request.ListFields()}
    return Plaintexts(
        plaintexts.content if "canonical_content" in sent else None,
        plaintexts.provenance if "provenance" in sent else None,
        plaintexts.integrity if "integrity" in sent else None,
    )


async def _refusal(call: Call, outcome: Outcome, core: RelationshipCore, ends: RelationEnds) -> DomainError:
    """Returns what a change that was refused under the lock is told as, in full to who may know the relationship."""
    refusal = refusal_of(outcome, core)
    if isinstance(refusal, VersionConflict) and not may_read_ends(call, ends):
        return VersionConflict(core.previous_version_id, None, core.relationship_id)
    if outcome.detail["reason"] != "exists":
        return refusal
    facts = await load_relationship(call.services.database, call.tenant_id, call.scope_id, core.relationship_id)
    if facts.version is None:
        return refusal
    standing = authenticated_relationship(call, facts.version)
    if not _joins(standing, ends):
        return RelationshipConflict() if _may_know(call, standing, facts) else refusal
    if not may_read_ends(call, ends):
        return refusal
    if facts.verdict == "deleted":
        return ObjectDeleted(core.relationship_id)
    return InvalidRequest("expected_version_id", "is required to change a relationship")


async def _replay(call: Call, earlier: Mapping[str, Any], ends: RelationEnds) -> memory_pb2.RelateResponse:
    """Returns the original result of an idempotent request, rebuilt through the gate: what was removed stays withheld."""
    facts = await load_relationship(
        call.services.database,
        call.tenant_id,
        call.scope_id,
        str(earlier["relationship_id"]),
        str(earlier["version_id"]),
    )
    call.confirm(facts.heads)
    if facts.version is None or facts.heads is None:
        raise ObjectNotFound
    is_current = facts.version.sequence == facts.current_sequence
    given = facts.verdict == "open" or (facts.verdict == "deleted" and is_current)
    [(core, plaintexts)] = await open_relationships(call, [(facts.version, given)], {call.scope_id: facts.heads})
    return memory_pb2.RelateResponse(
        relationship=readable_relationship(call, core, _echoed(call, plaintexts, ends), _judged(call, ends)),
        event_ids=[str(event_id) for event_id in earlier["event_ids"]],
        replayed=True,
        operation_id=str(earlier["operation_id"]),
    )
