"""Promote (PAMSPEC 10.10; P-10.10-01 to P-10.10-09; Q14, Q60)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from authz.request import Touched
from remit.v1 import memory_pb2
from server.call import Call, Change
from server.domain_errors import (
    DomainError,
    InvalidObject,
    InvalidRequest,
    InvalidStateTransition,
    ObjectDeleted,
    PolicyDenied,
    VersionConflict,
)
from server.memory.lookups import lookups_changed, lookups_of
from server.memory.mutations import EchoedFields, answer, committed, replay_of
from server.memory.promoting import Promotion, promotion
from server.memory.retrieval import Loaded, demand_open, load
from server.memory.state_rules import demand_admitted_move, demand_admitted_start
from server.wire import states as wire_states
from server.wire.content_schemas import check_content, check_object_type
from storage.commands import ObjectMove, Outcome, Status
from storage.model.identifiers import new_id
from storage.model.states import Dimension, LifecycleState, States, default_states

PROMOTED_FROM: Final = (LifecycleState.SCRATCH, LifecycleState.CANDIDATE, LifecycleState.ACTIVE)
"""Lifecycles of working memory that may be promoted: the one way to superseded that is not in the table (Q14)."""

_WORKING_MEMORY: Final = "working_memory"
# What of the request each of the two answers may show to who sent it but may not read.
_OF_TARGET: Final = EchoedFields("target_canonical_content", "provenance", "")
_OF_SOURCE: Final = EchoedFields("", "", "")


async def handle(call: Call, request: memory_pb2.PromoteRequest) -> memory_pb2.PromoteResponse:
    """Makes an object of lasting type from working memory and supersedes the source, in one transaction.

    Raises InvalidRequest for a source that is no working memory and for a target id that is taken, InvalidObject,
    VersionConflict, InvalidStateTransition, ObjectDeleted, and PolicyDenied for states that need `assert_state`.
    """
    earlier = call.replayed()
    if earlier is not None:
        return await _replay(call, earlier)
    loaded = await load(call, request.source_object_id)
    target_object_id = request.target_object_id or new_id()
    standing = loaded.standing
    touched = Touched(request.source_object_id, standing.object_type)
    call.demand([touched, Touched(request.target_object_id or None, request.target_object_type, new=True)])
    tool_outcome = _check_target(call, request)
    _demand_promotable(call, request, loaded)
    states = await _states(call, request, target_object_id)
    made = await promotion(call, request, loaded, target_object_id, states, tool_outcome)
    outcome = await _commit(call, request, made)
    if outcome.status in (Status.EXISTS, Status.DELETED):
        raise _taken(call, request, outcome)
    if outcome.status is Status.REPLAYED:
        return await _replay(call, outcome.detail)
    target, source = made.target.version.core, made.source.core
    return memory_pb2.PromoteResponse(
        target=answer(call, target, made.target.plaintexts, made.events, echoed=_OF_TARGET),
        source=answer(call, source, made.source_plaintexts, made.events, echoed=_OF_SOURCE),
        relationship_id=made.relationship.core.relationship_id,
        relationship_version_id=made.relationship.core.version_id,
    )


def _check_target(call: Call, request: memory_pb2.PromoteRequest) -> str | None:
    if not request.target_canonical_content:
        raise InvalidRequest("target_canonical_content", "is required")
    if not request.HasField("provenance"):
        raise InvalidRequest("provenance", "is required")
    if request.target_object_type == _WORKING_MEMORY:
        raise InvalidRequest("target_object_type", "is no type that working memory is promoted to")
    try:
        check_object_type(
            request.target_object_type, request.target_schema_id, call.view.workspace.policy.extension_types
        )
        return check_content(request.target_object_type, request.target_canonical_content)
    except InvalidObject as error:
        raise InvalidObject(f"target_{error.field}", error.problem) from None


def _demand_promotable(call: Call, request: memory_pb2.PromoteRequest, loaded: Loaded) -> None:
    standing, object_id = loaded.standing, request.source_object_id
    if standing.object_type != _WORKING_MEMORY:
        raise InvalidRequest("source_object_id", "is no working memory")
    demand_open(standing, object_id)
    if standing.version_id != request.expected_version_id:
        current = standing.version_id if call.may_read(object_id, standing.object_type) else None
        raise VersionConflict(request.expected_version_id, current, object_id)
    if standing.lifecycle_state not in PROMOTED_FROM:
        raise InvalidStateTransition("lifecycle", standing.lifecycle_state, "superseded")
    demand_admitted_move(call, _WORKING_MEMORY, Dimension.LIFECYCLE, standing.lifecycle_state, "superseded")


async def _states(call: Call, request: memory_pb2.PromoteRequest, target_object_id: str) -> States:
    object_type = request.target_object_type
    defaults = default_states(object_type)
    states = States(
        wire_states.lifecycle(request.target_lifecycle_state) or defaults.lifecycle,
        defaults.availability,
        defaults.retention,
        wire_states.validation(request.target_validation_state) or defaults.validation,
    )
    demand_admitted_start(call, object_type, states, "target_")
    if states != defaults:
        is_lifecycle = states.lifecycle is not defaults.lifecycle
        field = "target_lifecycle_state" if is_lifecycle else "target_validation_state"
        refusal = PolicyDenied("initial states other than the defaults need the right to assert them", field=field)
        await call.demand_right("assert_state", object_type, target_object_id, refusal)
    return states


async def _commit(call: Call, request: memory_pb2.PromoteRequest, made: Promotion) -> Outcome:
    target, source = made.target.version, made.source
    result = committed(target.core, made.events) | {
        "source_object_id": source.core.object_id,
        "source_version_id": source.core.version_id,
        "relationship_id": made.relationship.core.relationship_id,
        "relationship_version_id": made.relationship.core.version_id,
    }
    found = lookups_of(call, target.core.object_type, made.target.plaintexts, target.core.parts)
    return await call.commit(
        Change(
            events=made.events,
            result=result,
            moves=[
                ObjectMove(
                    source.core.object_id,
                    request.expected_version_id,
                    source.core.object_type,
                    source.core.version_id,
                    source.core.sequence,
                ),
                ObjectMove(target.core.object_id, None, target.core.object_type, target.core.version_id, 1),
            ],
            versions=[target.row, source.row],
            contents=[*made.target.parts.rows, *made.source_parts.rows, *made.relationship.contents],
            colds=[made.relationship.change, *lookups_changed(target.core.object_id, found)],
            bump=["removal"],
            exercised_object_id=source.core.object_id,
        )
    )


def _taken(call: Call, request: memory_pb2.PromoteRequest, outcome: Outcome) -> DomainError:
    # As Create: who may not read the object learns only that it can't have the id, whether it lives or is gone.
    readable = call.may_read(request.target_object_id, str(outcome.detail["object_type"]))
    if readable and outcome.status is Status.DELETED:
        return ObjectDeleted(request.target_object_id)
    return InvalidRequest("target_object_id", "is taken")


async def _replay(call: Call, earlier: Mapping[str, Any]) -> memory_pb2.PromoteResponse:
    """Rebuilds the original answer; the caller must hold the action on both objects now."""
    of_source = {"object_id": earlier["source_object_id"], "version_id": earlier["source_version_id"]}
    return memory_pb2.PromoteResponse(
        target=await replay_of(call, earlier, echoed=_OF_TARGET),
        source=await replay_of(call, {**earlier, **of_source}, echoed=_OF_SOURCE),
        relationship_id=str(earlier["relationship_id"]),
        relationship_version_id=str(earlier["relationship_version_id"]),
    )
