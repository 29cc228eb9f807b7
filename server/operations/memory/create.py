"""Create (PAMSPEC 10.1; P-10.1-01 to P-10.1-09)."""

from __future__ import annotations

from remit.v1 import memory_pb2
from server.call import Call, Change
from server.derived.derivation import demand_may_derive, raise_taken, requested
from server.domain_errors import DomainError, InvalidRequest, ObjectDeleted, PolicyDenied, VersionConflict
from server.memory.creating import creation_events, first_core
from server.memory.lookups import lookups_changed, lookups_of
from server.memory.mutations import answer, committed, replay_of
from server.memory.provenances import provenance_from
from server.memory.state_rules import demand_admitted_start
from server.memory.versions import Plaintexts, new_version, seal_parts
from server.wire import states as wire_states
from server.wire.content_schemas import check_content, check_object_type
from server.wire.inputs import integrity_from, signals_from, time_us
from storage.commands import ObjectMove, Outcome, Status
from storage.model.identifiers import new_id
from storage.model.states import AvailabilityState, RetentionState, States, default_states


async def handle(call: Call, request: memory_pb2.CreateRequest) -> memory_pb2.CreateResponse:
    """Creates an object with its first version.

    Raises InvalidRequest when the id is taken (VersionConflict with `expect_absent`), ObjectDeleted when it was, and
    PolicyDenied when initial states other than the defaults are asked for without `assert_state` (Q07, Q11), Refused when
    vectors come with it and the caller may not register derivatives.
    """
    await demand_may_derive(call, request)
    earlier = call.replayed()
    if earlier is not None:
        return memory_pb2.CreateResponse(result=await replay_of(call, earlier))
    check_object_type(request.object_type, request.schema_id, call.view.workspace.policy.extension_types)
    tool_outcome = check_content(request.object_type, request.canonical_content)
    object_id = request.object_id or new_id()
    states = _states(request)
    await _demand_start(call, request, object_id, states)
    now_us = await call.version_time_us()
    provenance = await provenance_from(call, request.provenance, request.object_type, object_id, now_us)
    integrity = integrity_from(request)
    plaintexts = Plaintexts(request.canonical_content, provenance, integrity)
    parts = await seal_parts(call, object_id, plaintexts)
    core = first_core(
        call,
        object_id,
        request.object_type,
        states,
        now_us,
        provenance,
        parts=parts.refs,
        schema_id=request.schema_id or None,
        observed_at_us=time_us(request, "observed_at"),
        asserted_at_us=time_us(request, "asserted_at"),
        valid_from_us=time_us(request, "valid_from"),
        valid_until_us=time_us(request, "valid_until"),
        quality_signals=signals_from(request),
    )
    version = new_version(call, core, integrity)
    events = creation_events(call, core, version.digest, tool_outcome)
    registrations, derived_events = await requested(call, request.derived_requests, core, len(events) + 1)
    events += derived_events
    move = ObjectMove(object_id, None, request.object_type, core.version_id, 1)
    outcome = await call.commit(
        Change(
            events=events,
            result=committed(core, events),
            moves=[move],
            versions=[version.row],
            contents=parts.rows,
            colds=[
                *lookups_changed(object_id, lookups_of(call, core.object_type, plaintexts, parts.refs)),
                *registrations,
            ],
        )
    )
    raise_taken(outcome, "derived_requests.")
    if outcome.status in (Status.EXISTS, Status.DELETED):
        raise _taken(call, request, outcome)
    if outcome.status is Status.REPLAYED:
        return memory_pb2.CreateResponse(result=await replay_of(call, outcome.detail))
    return memory_pb2.CreateResponse(result=answer(call, core, plaintexts, events))


async def _demand_start(call: Call, request: memory_pb2.CreateRequest, object_id: str, states: States) -> None:
    demand_admitted_start(call, request.object_type, states)
    if states != default_states(request.object_type):
        await call.demand_right(
            "assert_state",
            request.object_type,
            object_id,
            PolicyDenied(
                "initial states other than the defaults need the right to assert them", field="lifecycle_state"
            ),
        )


def _states(request: memory_pb2.CreateRequest) -> States:
    defaults = default_states(request.object_type)
    states = States(
        wire_states.lifecycle(request.lifecycle_state) or defaults.lifecycle,
        wire_states.availability(request.availability_state) or defaults.availability,
        wire_states.retention(request.retention_state) or defaults.retention,
        wire_states.validation(request.validation_state) or defaults.validation,
    )
    if states.availability is not AvailabilityState.AVAILABLE:
        raise InvalidRequest("availability_state", "must be available at creation")
    if states.retention is not RetentionState.RETAINED:
        raise InvalidRequest("retention_state", "must be retained at creation")
    return states


def _taken(call: Call, request: memory_pb2.CreateRequest, outcome: Outcome) -> DomainError:
    # A caller that may not read the object learns only that it can't have the id, whether the object lives or is gone.
    readable = call.may_read(request.object_id, str(outcome.detail["object_type"]))
    if readable and outcome.status is Status.DELETED:
        return ObjectDeleted(request.object_id)
    if request.expect_absent:
        current = str(outcome.detail["current_version_id"]) if readable else None
        return VersionConflict(None, current, request.object_id if readable else None)
    return InvalidRequest("object_id", "is taken")
