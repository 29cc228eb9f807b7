"""Moves of a relationship's four states: the same tables and conditions as those of objects (P-9.5-*, Q13, Q15)."""

from __future__ import annotations

from typing import Any, Final

from authz.permissions import DELETE, REDACT
from authz.request import Touched
from remit.v1 import memory_pb2
from server.authority import denials
from server.authority.refusals import Refused
from server.call import Call
from server.domain_errors import (
    InvalidRequest,
    InvalidStateTransition,
    LegalHold,
    PolicyDenied,
    RetentionRestriction,
)
from server.memory.state_rules import demand_admitted_move, demand_admitted_start
from server.memory.versions import part_id
from server.relationships.relating import DEFAULT_STATES
from server.wire import states as wire_states
from storage.model.memory import PartKind
from storage.model.relationship import RelationshipCore
from storage.model.states import (
    AvailabilityState,
    Dimension,
    MissingRight,
    RetentionState,
    States,
    condition_of,
    is_legal,
)
from storage.relationships import content_kept_since

RELATIONSHIP: Final = "relationship"
"""What a workspace's rules on states call a relationship; no object has this type (Q01)."""
_MICROSECONDS: Final = 1_000_000
_READERS: Final = {
    Dimension.LIFECYCLE: wire_states.lifecycle,
    Dimension.AVAILABILITY: wire_states.availability,
    Dimension.RETENTION: wire_states.retention,
    Dimension.VALIDATION: wire_states.validation,
}
# What a move of the availability also needs, beside the right to relate (Q15).
_REMOVAL_RIGHTS: Final = {AvailabilityState.DELETED.value: DELETE, AvailabilityState.REDACTED.value: REDACT}


def initial_states(call: Call, request: memory_pb2.RelateRequest) -> States:
    """Returns the states of a new relationship (Q07, Q08).

    Raises InvalidRequest for one that is removed already, PolicyDenied where the workspace rules a state out.
    """
    states = States(
        wire_states.lifecycle(request.lifecycle_state) or DEFAULT_STATES.lifecycle,
        wire_states.availability(request.availability_state) or DEFAULT_STATES.availability,
        wire_states.retention(request.retention_state) or DEFAULT_STATES.retention,
        wire_states.validation(request.validation_state) or DEFAULT_STATES.validation,
    )
    if states.availability is not AvailabilityState.AVAILABLE:
        raise InvalidRequest("availability_state", "must be available at creation")
    if states.retention is not RetentionState.RETAINED:
        raise InvalidRequest("retention_state", "must be retained at creation")
    demand_admitted_start(call, RELATIONSHIP, states)
    return states


def removes(request: memory_pb2.RelateRequest) -> bool:
    """Returns whether the request is to remove a relationship, or what it says, and says no content anew."""
    target = wire_states.availability(request.availability_state)
    is_removal = target is not None and target.value in _REMOVAL_RIGHTS
    return is_removal and bool(request.expected_version_id) and not request.canonical_content


async def demanded_moves(
    call: Call, request: memory_pb2.RelateRequest, before: RelationshipCore, source_type: str
) -> dict[str, Any]:
    """Returns the states that the request moves, by field, after what each move needs was judged.

    Rights are those on the source. Raises InvalidStateTransition, InvalidRequest, LegalHold, RetentionRestriction,
    PolicyDenied, Refused.
    """
    moved: dict[str, Any] = {}
    for dimension, read in _READERS.items():
        target = read(getattr(request, dimension.column))
        current = str(getattr(before, dimension.column))
        if target is None or target.value == current:
            continue
        if not is_legal(dimension, current, target.value):
            raise InvalidStateTransition(dimension.value, current, target.value)
        demand_admitted_move(call, RELATIONSHIP, dimension, current, target.value)
        await _demand_move(call, before, source_type, dimension, current, target.value)
        moved[dimension.column] = target
    return moved


async def _demand_move(
    call: Call, before: RelationshipCore, source_type: str, dimension: Dimension, current: str, target: str
) -> None:
    source_id = before.source_object_id
    if dimension is Dimension.AVAILABILITY:
        if target == AvailabilityState.PARTIALLY_REDACTED:
            raise InvalidRequest("availability_state", "of a relationship is all or nothing")
        if target in _REMOVAL_RIGHTS:
            call.demand([Touched(source_id, source_type)], action=_REMOVAL_RIGHTS[target])
            if before.retention_state is RetentionState.LEGAL_HOLD:
                raise LegalHold
            await _demand_kept_long_enough(call, before)
    condition = condition_of(dimension, current, target)
    if condition is None or condition.action is None:
        return
    refusals: dict[MissingRight, Exception] = {
        MissingRight.ACCESS_DENIED: Refused(denials.CONDITIONAL_RIGHT, source_id),
        MissingRight.LEGAL_HOLD: LegalHold(),
        MissingRight.POLICY_DENIED: PolicyDenied("this move needs a right of its own", field=dimension.column),
    }
    await call.demand_right(condition.action, source_type, source_id, refusals[condition.refusal])


async def _demand_kept_long_enough(call: Call, before: RelationshipCore) -> None:
    """Raises RetentionRestriction while the workspace demands that the content is kept (P-9.4-04)."""
    seconds = call.view.workspace.policy.minimum_retention_seconds
    if not seconds:
        return
    content_id = part_id(before.parts, PartKind.CONTENT)
    kept_since_us, now_us = await content_kept_since(
        call.services.database, call.tenant_id, call.scope_id, before.relationship_id, content_id
    )
    if now_us < kept_since_us + seconds * _MICROSECONDS:
        raise RetentionRestriction(before.relationship_id)
