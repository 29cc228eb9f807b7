"""What every change of an object answers, first time and on replay (P-10.1-04, P-10.1-06)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from remit.v1 import common_pb2

from server.call import Call
from server.retrieval import TOMBSTONE_CONTENT, load, open_versions
from server.versions import Plaintexts
from server.wire.envelopes import envelope_of
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


def answer(
    call: Call, core: VersionCore, plaintexts: Plaintexts, events: Sequence[EventRow], job_id: str | None = None
) -> common_pb2.MutationResult:
    """Returns the result of a change that was just committed."""
    return common_pb2.MutationResult(
        object_id=core.object_id,
        version_id=core.version_id,
        sequence=core.sequence,
        scope_id=core.scope_id,
        envelope=envelope_of(core, readable(core, plaintexts)),
        event_ids=[*(event.event_id for event in events), *call.exercise_event_ids],
        propagation_job_id=job_id or "",
        operation_id=call.operation_id,
    )


def readable(core: VersionCore, plaintexts: Plaintexts) -> Plaintexts:
    """Returns the parts with a tombstone's content filled in."""
    if core.availability_state is AvailabilityState.DELETED:
        return Plaintexts(TOMBSTONE_CONTENT, plaintexts.provenance, plaintexts.integrity)
    return plaintexts


async def replay_of(call: Call, earlier: Mapping[str, Any]) -> common_pb2.MutationResult:
    """Returns the original result of an idempotent request, rebuilt through the gate.

    What was removed since stays withheld: the envelope then comes without its parts.
    """
    loaded = await load(call, str(earlier["object_id"]), str(earlier["version_id"]))
    removed = loaded.standing.verdict != "open" and loaded.version.sequence != loaded.standing.sequence
    withheld = removed or loaded.standing.verdict == "redacted"
    [(core, plaintexts)] = await open_versions(call, [(loaded.version, not withheld)])
    return common_pb2.MutationResult(
        object_id=core.object_id,
        version_id=core.version_id,
        sequence=core.sequence,
        scope_id=core.scope_id,
        envelope=envelope_of(core, readable(core, plaintexts)),
        event_ids=[str(event_id) for event_id in earlier["event_ids"]],
        replayed=True,
        propagation_job_id=str(earlier.get("job_id") or ""),
        operation_id=str(earlier["operation_id"]),
    )
