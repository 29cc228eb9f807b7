"""Provenance records of new versions: the client's claims, with the server's id, actor and time (P-8.6-*)."""

from __future__ import annotations

from typing import Any

from remit.v1 import common_pb2
from server.call import Call
from server.domain_errors import PolicyDenied
from server.wire.inputs import check_actor_block, shown_by, time_us
from storage.model.actor import ActorRef
from storage.model.identifiers import new_id
from storage.model.provenance import Provenance


async def provenance_from(
    call: Call, given: common_pb2.ProvenanceInput, object_type: str, object_id: str, now_us: int
) -> Provenance:
    """Returns the provenance record of a new version: the client's claims with the server's id, actor and time.

    Raises PolicyDenied when it names another actor than the caller, who does not hold `provenance.attribute` on the
    object, and as `check_actor_block`.
    """
    actor = call.actor_ref()
    if given.HasField("actor"):
        check_actor_block(given.actor, "provenance.actor")
    if given.HasField("actor") and given.actor.actor_id != call.actor_id:
        refusal = PolicyDenied("attributing provenance to another actor needs a right of its own", "provenance.actor")
        await call.demand_right("provenance.attribute", object_type, object_id, refusal)
        display_name, attestation = shown_by(given.actor)
        actor = ActorRef(
            given.actor.actor_id, given.actor.actor_kind or "unknown", display_name, None, None, attestation
        )
    return Provenance(
        provenance_id=new_id(),
        actor=actor,
        activity=given.activity,
        recorded_at_us=now_us,
        source_ref=given.source_ref or None,
        evidence_refs=tuple(given.evidence_refs),
        observed_at_us=time_us(given, "observed_at"),
        transformation_parent=given.transformation_parent or None,
        source_confidence=given.source_confidence if given.HasField("source_confidence") else None,
        integrity_ref=given.integrity_ref or None,
        evaluation_run_id=call.evaluation_run_id,
    )


async def provenance_or_default(
    call: Call, request: Any, object_type: str, object_id: str, activity: str, now_us: int
) -> Provenance:
    """Returns the provenance given, or the call's own."""
    if request.HasField("provenance"):
        return await provenance_from(call, request.provenance, object_type, object_id, now_us)
    return own_provenance(call, activity, now_us)


def own_provenance(call: Call, activity: str, now_us: int) -> Provenance:
    """Returns a record that says no more than who did what when."""
    return Provenance(
        provenance_id=new_id(),
        actor=call.actor_ref(),
        activity=activity,
        recorded_at_us=now_us,
        evaluation_run_id=call.evaluation_run_id,
    )


def lacks_run(call: Call, carried: Provenance | None) -> bool:
    """Returns whether a record carried on from an earlier version would not name the run that makes the new one."""
    run_id = call.evaluation_run_id
    return run_id is not None and (carried is None or carried.evaluation_run_id != run_id)
