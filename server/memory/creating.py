"""The events of a new object, whatever operation makes it (P-10.1-04, P-10.1-09)."""

from __future__ import annotations

from typing import Any

from server.call import Call
from storage.commands import EventRow
from storage.model.events import ObjectCreated, ToolCompleted, ToolInvoked
from storage.model.identifiers import new_id
from storage.model.memory import VersionCore
from storage.model.provenance import Provenance
from storage.model.states import States


def creation_events(call: Call, core: VersionCore, digest: str, tool_outcome: str | None) -> list[EventRow]:
    """Returns the events of an object's first version; `tool_outcome` is what a tool_result states."""
    named = {"object_id": core.object_id, "version_id": core.version_id}
    events = [call.event(object_created(call, core, digest), **named)]
    if core.object_type == "tool_invocation":
        events.append(call.event(ToolInvoked(), **named))
    elif core.object_type == "tool_result":
        events.append(call.event(ToolCompleted(outcome=tool_outcome or ""), **named))
    return events


def first_core(
    call: Call, object_id: str, object_type: str, states: States, now_us: int, provenance: Provenance, **more: Any
) -> VersionCore:
    """Returns the core of an object's first version by this call; `more` are its other fields."""
    return VersionCore(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        object_id=object_id,
        version_id=new_id(),
        sequence=1,
        object_type=object_type,
        lifecycle_state=states.lifecycle,
        availability_state=states.availability,
        retention_state=states.retention,
        validation_state=states.validation,
        committed_at_us=now_us,
        recorded_at_us=now_us,
        actor=call.actor_ref(),
        provenance_id=provenance.provenance_id,
        **more,
    )


def object_created(call: Call, core: VersionCore, digest: str) -> ObjectCreated:
    """Returns the event that makes an object's first version; `digest` is that of its core."""
    return ObjectCreated(
        object_sequence=core.sequence,
        envelope_digest=digest,
        object_type=core.object_type,
        lifecycle_state=core.lifecycle_state,
        availability_state=core.availability_state,
        retention_state=core.retention_state,
        validation_state=core.validation_state,
        policy_revision=call.view.enforcer.policy_revision,
    )
