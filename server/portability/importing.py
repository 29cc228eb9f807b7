"""An import that was judged: stored by one change, or answered as the one before (surface.md, section 5; A48)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from remit.v1 import portability_pb2
from server.authority.refusals import Refused, StaleFacts
from server.call import Call, Change
from server.portability import records
from server.portability.planning import CROSS_SCOPE, TOMBSTONED, ImportPlan
from server.portability.reading import ExportReader, Thing
from server.portability.spool import Spool
from server.portability.staging import Staging, stage_derived, stage_history, stage_memory
from storage.commands import AlsoGuard, ColdChange, Status
from storage.errors import StorageError
from storage.imports import objects_here
from storage.model.identifiers import new_id
from storage.model.portability_events import WorkspaceImported
from storage.model.states import AvailabilityState

_IDS_PER_STATEMENT: Final = 2000
_COUNTS: Final = ("objects", "versions", "relationships", "delegations", "foreign_events", "derived")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A whole export that was judged: the first request with its header, what was read, and the records themselves."""

    request: portability_pb2.ImportWorkspaceRequest
    reader: ExportReader
    spool: Spool

    @property
    def source(self) -> tuple[str, str]:
        """Tenant and workspace that it was made of."""
        return self.request.header.tenant_id, self.request.header.scope_id


def _response(call: Call, incoming: Incoming, plan: ImportPlan) -> portability_pb2.ImportWorkspaceResponse:
    """The answer of an import that stores what the plan leaves in."""
    reader, things = incoming.reader, incoming.reader.things
    new = list(plan.new_things(things))
    objects = [thing for thing in new if thing.kind == records.MEMORY_OBJECT]
    skipped = sorted(plan.skipped.items(), key=lambda item: things[item[0]].first_record)
    return portability_pb2.ImportWorkspaceResponse(
        objects=len(objects),
        versions=sum(len(thing.version_ids) for thing in objects),
        relationships=len(new) - len(objects),
        delegations=reader.delegations,
        foreign_events=reader.foreign_events,
        derived=reader.derived.count,
        id_map=_id_map(call, incoming, plan),
        refusals=[_refusal(things[key], reason) for key, reason in skipped],
        operation_id=call.operation_id,
        scope_id=call.scope_id,
    )


def _id_map(call: Call, incoming: Incoming, plan: ImportPlan) -> list[portability_pb2.IdMapping]:
    source_scope_id = incoming.request.header.scope_id
    found = [
        portability_pb2.IdMapping(kind=kind, source_id=source_id, id=new)
        for (kind, source_id), new in plan.renamed.items()
    ]
    if source_scope_id != call.scope_id:
        found.insert(0, portability_pb2.IdMapping(kind="scope", source_id=source_scope_id, id=call.scope_id))
    return found


def _refusal(thing: Thing, reason: str) -> portability_pb2.RecordRefusal:
    return portability_pb2.RecordRefusal(record_number=thing.first_record, kind=thing.kind, id=thing.id, reason=reason)


def dry_answer(call: Call, incoming: Incoming, plan: ImportPlan) -> portability_pb2.ImportWorkspaceResponse:
    """Returns what the import would have done; nothing was written."""
    response = _response(call, incoming, plan)
    response.dry_run = True
    return response


async def store(
    call: Call, incoming: Incoming, plan: ImportPlan, *, imports_seen: int
) -> portability_pb2.ImportWorkspaceResponse:
    """Stores what the plan leaves in, by one change, and returns what was done.

    Raises StaleFacts when what the plan stands on has moved, Refused.
    """
    response = _response(call, incoming, plan)
    staging = Staging(call, new_id())
    try:
        reader, spool = incoming.reader, incoming.spool
        basis = incoming.request.policy_basis
        await stage_memory(staging, reader.things, spool, plan, basis, derived=bool(reader.derived.spaces))
        response.derived = await stage_derived(staging, reader.derived.spaces, spool, plan.new_spaces)
        await stage_history(staging, spool)
        await staging.flush()
        return await _apply(call, incoming, staging, response, imports_seen, plan.also)
    except (StaleFacts, Refused, StorageError, asyncio.CancelledError):
        # A caller that hangs up leaves nothing behind either; what was sent by then stands or falls as a whole.
        await _discard(staging)
        raise


async def _discard(staging: Staging) -> None:
    try:
        await staging.discard()
    except (StaleFacts, Refused, StorageError):
        return  # a later import drops it; until then nothing can read it


async def _apply(
    call: Call,
    incoming: Incoming,
    staging: Staging,
    response: portability_pb2.ImportWorkspaceResponse,
    imports_seen: int,
    also: AlsoGuard | None,
) -> portability_pb2.ImportWorkspaceResponse:
    request, reader = incoming.request, incoming.reader
    remapped = incoming.source != (call.tenant_id, call.scope_id)
    event = call.event(
        WorkspaceImported(
            import_id=staging.import_id,
            source_scope_id=request.header.scope_id,
            export_digest=reader.digest.whole.hex(),
            record_count=reader.digest.count,
            objects=response.objects,
            versions=response.versions,
            relationships=response.relationships,
            policy_basis=request.policy_basis,
            remapped=remapped,
        )
    )
    response.import_id = staging.import_id
    response.event_ids.append(event.event_id)
    fields: dict[str, Any] = {
        "import_id": staging.import_id,
        "export_digest": reader.digest.whole.hex(),
        "source_tenant_id": incoming.source[0],
        "source_scope_id": incoming.source[1],
        "remapped": remapped,
        "policy_basis": request.policy_basis,
        "imports_seen": imports_seen,
        "rows_staged": staging.rows_staged,
        "event": 1,
        "result": _kept(response),
    }
    change = Change(events=[event, *staging.events], colds=[ColdChange("import.apply", fields)], also=also)
    outcome = await call.commit(change)
    if outcome.status is Status.UNCHANGED:
        await _discard(staging)
        return await answer_of_earlier(call, incoming, outcome.detail)
    return response


def _kept(response: portability_pb2.ImportWorkspaceResponse) -> dict[str, Any]:
    """What is kept of an answer, to be given again: ids and counts."""
    return {
        **{name: getattr(response, name) for name in _COUNTS},
        "import_id": response.import_id,
        "event_ids": list(response.event_ids),
        "id_map": [[each.kind, each.source_id, each.id] for each in response.id_map],
        "cross_scope": [each.id for each in response.refusals if each.reason == CROSS_SCOPE],
    }


async def answer_of_earlier(
    call: Call, incoming: Incoming, result: Mapping[str, Any]
) -> portability_pb2.ImportWorkspaceResponse:
    """Returns the answer of the import of the same export before; what was deleted here since stays deleted (A19)."""
    response = portability_pb2.ImportWorkspaceResponse(
        **{name: result[name] for name in _COUNTS},
        import_id=result["import_id"],
        event_ids=result["event_ids"],
        id_map=[{"kind": kind, "source_id": source, "id": new} for kind, source, new in result["id_map"]],
        replayed=True,
        dry_run=incoming.request.dry_run,
        operation_id=call.operation_id,
        scope_id=call.scope_id,
    )
    things = incoming.reader.things
    for relationship_id in result["cross_scope"]:
        response.refusals.append(_refusal(things[records.RELATIONSHIP, relationship_id], CROSS_SCOPE))
    renamed = {(kind, source): new for kind, source, new in result["id_map"]}
    here = {
        renamed.get(key, thing.id): thing
        for key, thing in things.items()
        if thing.kind == records.MEMORY_OBJECT and thing.last.availability_state is not AvailabilityState.DELETED
    }
    ids = list(here)
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        part = ids[start : start + _IDS_PER_STATEMENT]
        for found in await objects_here(call.services.database, call.tenant_id, call.scope_id, part):
            if found.deleted:
                response.refusals.append(_refusal(here[found.id], TOMBSTONED))
    return response
