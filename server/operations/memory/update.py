"""Update (PAMSPEC 10.3; P-10.3-01 to P-10.3-05)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from remit.v1 import memory_pb2
from server.call import Call, Change
from server.domain_errors import InvalidObject, InvalidRequest, VersionConflict
from server.memory.lookups import lookups_changed, lookups_of
from server.memory.mutations import answer, committed, replay_of
from server.memory.provenances import provenance_from
from server.memory.redactions import masked, redaction_of, without_erased
from server.memory.retrieval import demand_open, load, open_rows
from server.memory.versions import Plaintexts, new_version, next_core, part_id, seal_parts
from server.wire.content_schemas import check_content, check_object_type
from server.wire.inputs import integrity_from, signals_from, time_us
from storage.commands import ObjectMove, Status
from storage.derivatives import outdated
from storage.model.events import ObjectUpdated, ProvenanceUpdated
from storage.model.memory import PartKind, VersionCore

_TIMES: Final = ("observed_at", "asserted_at", "valid_from", "valid_until")
_FIELDS: Final = frozenset({"canonical_content", "schema_id", *_TIMES, "provenance", "integrity", "quality_signals"})


async def handle(call: Call, request: memory_pb2.UpdateRequest) -> memory_pb2.UpdateResponse:
    """Writes a new version with the fields named by the mask, or present in the request.

    Integrity metadata is bound to the version it came with and is never carried on (P-8.1-21). Raises VersionConflict,
    ObjectDeleted, RetentionRestriction, InvalidRequest for a mask that names something else.
    """
    earlier = call.replayed()
    if earlier is not None:
        return memory_pb2.UpdateResponse(result=await replay_of(call, earlier))
    changed = _changed_fields(request)
    loaded = await load(call, request.object_id)
    demand_open(loaded.standing, request.object_id)
    move = ObjectMove(request.object_id, request.expected_version_id, loaded.standing.object_type)
    if loaded.standing.version_id != request.expected_version_id:
        current = loaded.standing.version_id if call.may_read(request.object_id, loaded.standing.object_type) else None
        raise VersionConflict(request.expected_version_id, current, request.object_id)
    [(before, old)] = await open_rows(call, [(loaded.version, True)], loaded.heads)
    schema_id = (request.schema_id or None) if "schema_id" in changed else before.schema_id
    check_object_type(before.object_type, schema_id or "", call.view.workspace.policy.extension_types)
    content = request.canonical_content if "canonical_content" in changed else None
    if content is not None:
        check_content(before.object_type, content)
    now_us = await call.version_time_us()
    provenance = await provenance_from(call, request.provenance, before.object_type, before.object_id, now_us)
    redaction = await redaction_of(call, before.object_id) if PartKind.REDACTION in before.parts else None
    written = without_erased(Plaintexts(content, provenance, integrity_from(request)), redaction)
    parts = await seal_parts(call, before.object_id, written)
    # Redactions in force stay so; content that is not written anew is carried on.
    carried = {PartKind.REDACTION} if content is not None else {PartKind.REDACTION, PartKind.CONTENT}
    refs = {kind: ref for kind, ref in before.parts.items() if kind in carried} | parts.refs
    core = next_core(
        call,
        before,
        now_us,
        schema_id=schema_id,
        provenance_id=provenance.provenance_id,
        parts=refs,
        **_metadata(request, changed, before),
    )
    shown = masked(written, redaction)
    version = new_version(call, core, written.integrity)
    named = {"object_id": core.object_id, "version_id": core.version_id}
    updated = ObjectUpdated(
        object_sequence=core.sequence, envelope_digest=version.digest, changed_fields=tuple(sorted(changed))
    )
    events = [call.event(updated, **named)]
    events.append(call.event(ProvenanceUpdated(provenance_id=provenance.provenance_id), **named))
    outcome = await call.commit(
        Change(
            events=events,
            result=committed(core, events),
            moves=[replace(move, version_id=core.version_id, sequence=core.sequence)],
            versions=[version.row],
            contents=parts.rows,
            colds=[
                *lookups_changed(core.object_id, lookups_of(call, core.object_type, shown, parts.refs)),
                *([] if content is None else [outdated(core.object_id, part_id(core.parts, PartKind.CONTENT))]),
            ],
        )
    )
    if outcome.status is Status.REPLAYED:
        return memory_pb2.UpdateResponse(result=await replay_of(call, outcome.detail))
    if content is None:
        shown.content = old.content
    return memory_pb2.UpdateResponse(result=answer(call, core, shown, events))


def _changed_fields(request: memory_pb2.UpdateRequest) -> frozenset[str]:
    if request.update_mask:
        for index, name in enumerate(request.update_mask):
            if name not in _FIELDS:
                raise InvalidRequest(f"update_mask[{index}]", "names no field that can be updated")
        changed = frozenset(request.update_mask)
        if "canonical_content" in changed and not request.canonical_content:
            raise InvalidObject("canonical_content", "is required")
        present = {name for name in _FIELDS if _is_present(request, name)}
        if present - changed - {"provenance"}:
            raise InvalidRequest(sorted(present - changed - {"provenance"})[0], "is present and not in update_mask")
        return changed | {"provenance"}
    return frozenset(name for name in _FIELDS if _is_present(request, name))


def _is_present(request: Any, name: str) -> bool:
    descriptor = request.DESCRIPTOR.fields_by_name[name]
    return request.HasField(name) if descriptor.has_presence else bool(getattr(request, name))


def _metadata(request: memory_pb2.UpdateRequest, changed: frozenset[str], before: VersionCore) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for name in _TIMES:
        metadata[f"{name}_us"] = time_us(request, name) if name in changed else getattr(before, f"{name}_us")
    if "quality_signals" in changed:
        metadata["quality_signals"] = signals_from(request)
    return metadata
