"""Read (PAMSPEC 10.2; P-10.2-01 to P-10.2-05)."""

from __future__ import annotations

from typing import Any, Final

from authz.permissions import INSPECT_HISTORY, REVIEW
from remit.v1 import common_pb2, memory_pb2
from server.call import Call
from server.domain_errors import InvalidRequest
from server.memory.mutations import content_state, readable
from server.memory.retrieval import Loaded, demand_open, held_at, open_rows
from server.relationships.refs import relationship_refs
from server.snapshots.reading import load_in, newest_in, snapshot_bound
from server.wire.envelopes import write_envelope
from storage.commands import EventRow
from storage.model.memory import VersionCore
from storage.model.snapshot_events import ObjectRead

_ENVELOPE_FIELDS: Final[frozenset[Any]] = frozenset(common_pb2.MemoryEnvelope.DESCRIPTOR.fields_by_name)
_ALWAYS_GIVEN: Final = frozenset(
    {
        "object_id",
        "version_id",
        "scope_id",
        "lifecycle_state",
        "availability_state",
        "retention_state",
        "validation_state",
    }
)


async def handle(call: Call, request: memory_pb2.ReadRequest) -> memory_pb2.ReadResponse:
    """Returns a version of an object.

    Raises ObjectNotFound, SnapshotNotFound, ObjectDeleted, ObjectRedacted, RetentionRestriction, InvalidRequest. With
    `allow_tombstone` and the right to inspect history a removed object is a content-free envelope instead (Q18). A
    field mask takes away what it does not name, after the gate has judged. References to relationships stand beside the
    envelope, which they are no part of (Q02).
    """
    _check_mask(request)
    loaded = await load_in(call, request.snapshot_id, request.object_id, request.version_id or None)
    given = _given(call, request, loaded)
    [(core, plaintexts)] = await open_rows(call, [(loaded.version, given)], loaded.heads)
    refs, more_refs = await _refs(call, request, loaded)
    audited = _audited(call, core)
    await call.exercise_read(loaded.heads, request.object_id, audited)
    response = memory_pb2.ReadResponse(
        content_state=content_state(given, plaintexts),
        operation_id=call.operation_id,
        event_ids=[*(event.event_id for event in audited), *call.exercise_event_ids],
        relationship_refs=refs,
        more_relationship_refs=more_refs,
    )
    write_envelope(response.envelope, core, readable(call, core, plaintexts))
    if request.field_mask:
        for field in _ENVELOPE_FIELDS - _ALWAYS_GIVEN - {*request.field_mask}:
            response.envelope.ClearField(field)
    if request.history_hint:
        newest = await newest_in(call, request.snapshot_id, request.object_id, loaded)
        response.history.current_version_id, response.history.version_count = newest
    return response


async def _refs(call: Call, request: memory_pb2.ReadRequest, loaded: Loaded) -> tuple[list[str], bool]:
    if not loaded.standing.related:
        return [], False
    bound = await snapshot_bound(call, request.snapshot_id)
    return await relationship_refs(call, request.object_id, loaded.heads, bound)


def _check_mask(request: memory_pb2.ReadRequest) -> None:
    for index, name in enumerate(request.field_mask):
        if name not in _ENVELOPE_FIELDS:
            raise InvalidRequest(f"field_mask[{index}]", "is not a field of the envelope")


def _audited(call: Call, core: VersionCore) -> list[EventRow]:
    """Returns the event of this read where the workspace audits reads, recorded before the answer (P-10.2-04)."""
    if not call.view.workspace.policy.audit_reads:
        return []
    return [call.event(ObjectRead(read_version_id=core.version_id), object_id=core.object_id)]


def _given(call: Call, request: memory_pb2.ReadRequest, loaded: Loaded) -> bool:
    verdict = loaded.standing.verdict
    if verdict == "open":
        return True
    object_type, object_id = loaded.standing.object_type, request.object_id
    if verdict == "retention_restricted" and held_at(call, loaded.heads, REVIEW, object_type, object_id):
        return True
    may_see_tombstone = request.allow_tombstone and held_at(call, loaded.heads, INSPECT_HISTORY, object_type, object_id)
    if not may_see_tombstone:
        demand_open(loaded.standing, object_id)
    return False
