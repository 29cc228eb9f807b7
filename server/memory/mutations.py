"""What every change of an object answers, first time and on replay (P-10.1-04, P-10.1-06)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from authz.permissions import PROVENANCE_READ, REVIEW
from authz.request import Touched
from remit.v1 import common_pb2, memory_pb2
from server.call import Call
from server.memory.retrieval import TOMBSTONE_CONTENT, Loaded, held_at, load, open_rows
from server.memory.versions import Plaintexts
from server.wire.envelopes import write_envelope
from storage.commands import EventRow
from storage.model.memory import VersionCore
from storage.model.states import AvailabilityState


def committed(core: VersionCore, events: Sequence[EventRow], job_id: str | None = None) -> dict[str, Any]:
    """Returns what an idempotency key keeps of a change: ids only, never the answer."""
    return {
        "object_id": core.object_id,
        "version_id": core.version_id,
        "event_ids": [event.event_id for event in events],
        "job_id": job_id,
    }


class EchoedFields(NamedTuple):
    """The fields of a request that hold content, provenance and integrity of the object answered; '' for none."""

    content: str = "canonical_content"
    provenance: str = "provenance"
    integrity: str = "integrity"


_SENT: Final = EchoedFields()


def answer(
    call: Call,
    core: VersionCore,
    plaintexts: Plaintexts,
    events: Sequence[EventRow],
    job_id: str | None = None,
    *,
    echoed: EchoedFields = _SENT,
) -> common_pb2.MutationResult:
    """Returns the result of a change that was just committed; `plaintexts` are what the new version may show."""
    result = _result_of(call, core, plaintexts, echoed)
    result.event_ids.extend([*(event.event_id for event in events), *call.exercise_event_ids])
    result.propagation_job_id = job_id or ""
    result.operation_id = call.operation_id
    return result


def _result_of(
    call: Call, core: VersionCore, plaintexts: Plaintexts, echoed: EchoedFields
) -> common_pb2.MutationResult:
    result = common_pb2.MutationResult(
        object_id=core.object_id, version_id=core.version_id, sequence=core.sequence, scope_id=core.scope_id
    )
    write_envelope(result.envelope, core, readable(call, core, _echoed(call, core, plaintexts, echoed)))
    return result


def content_state(given: bool, plaintexts: Plaintexts) -> memory_pb2.ContentState:
    """Returns how much of a version's parts is given: all, what redactions leave, or nothing (P-9.3-01 to P-9.3-03)."""
    if not given:
        return memory_pb2.CONTENT_STATE_WITHHELD
    return memory_pb2.CONTENT_STATE_PARTIAL if plaintexts.is_partial else memory_pb2.CONTENT_STATE_PRESENT


def _is_shown(call: Call, loaded: Loaded) -> bool:
    match loaded.standing.verdict:
        case "open":
            return True
        case "deleted":
            # The tombstone itself holds nothing that was deleted.
            return loaded.version.sequence == loaded.standing.sequence
        case "retention_restricted":
            return held_at(call, loaded.heads, REVIEW, loaded.standing.object_type, loaded.version.object_id)
        case _:
            return False


def _echoed(call: Call, core: VersionCore, plaintexts: Plaintexts, fields: EchoedFields) -> Plaintexts:
    """Returns what the caller sent itself, and what the version carried on where the caller may read it.

    Who may change an object but not read it learns nothing by changing it.
    """
    if call.may_read(core.object_id, core.object_type):
        return plaintexts
    sent = {field.name for field, _ in call.request.ListFields()}
    return Plaintexts(
        plaintexts.content if fields.content in sent else None,
        plaintexts.provenance if fields.provenance in sent else None,
        plaintexts.integrity if fields.integrity in sent else None,
    )


def readable(call: Call, core: VersionCore, plaintexts: Plaintexts) -> Plaintexts:
    """Returns the parts with a tombstone's content filled in, and without provenance where a rule denies reading it.

    Who may read content may read its provenance too, unless a deny of `provenance.read` says otherwise (P-8.6-05).
    """
    content, provenance = plaintexts.content, plaintexts.provenance
    if core.availability_state is AvailabilityState.DELETED:
        content = TOMBSTONE_CONTENT
    if provenance is not None and _is_provenance_denied(call, core):
        provenance = None
    return Plaintexts(content, provenance, plaintexts.integrity)


def _is_provenance_denied(call: Call, core: VersionCore) -> bool:
    denies = call.view.enforcer.denies
    return any(
        denies(actor_id, PROVENANCE_READ, core.object_type, core.object_id) is not None
        for actor_id in call.standing_actor_ids()
    )


async def replay_of(
    call: Call, earlier: Mapping[str, Any], *more_actions: str, echoed: EchoedFields = _SENT
) -> common_pb2.MutationResult:
    """Returns the original result of an idempotent request, rebuilt through the gate.

    The caller must hold, now, the call's action and `more_actions`. What was removed since stays withheld: the envelope
    then comes without its parts.
    """
    loaded = await load(call, str(earlier["object_id"]), str(earlier["version_id"]))
    for action in more_actions:
        call.demand([Touched(str(earlier["object_id"]), loaded.standing.object_type)], action=action)
    [(core, plaintexts)] = await open_rows(call, [(loaded.version, _is_shown(call, loaded))], loaded.heads)
    result = _result_of(call, core, plaintexts, echoed)
    result.event_ids.extend(str(event_id) for event_id in earlier["event_ids"])
    result.replayed = True
    result.propagation_job_id = str(earlier.get("job_id") or "")
    result.operation_id = str(earlier["operation_id"])
    return result
