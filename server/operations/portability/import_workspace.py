"""ImportWorkspace (P-7.5-07, P-8.2-05, P-8.3-01, P-8.4-05, P-8.6-01, P-17.1-01, P-18.1-07; field reports A19, A21, A48)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from authz.permissions import IMPORT
from remit.v1 import portability_pb2
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import DomainError, InvalidObject, InvalidRequest, ServiceUnavailable
from server.portability.importing import Incoming, answer_of_earlier, dry_answer, store
from server.portability.planning import plan_import
from server.portability.reading import ExportReader, check_header
from server.portability.rights import demand_still, demand_whole
from server.portability.spool import Spool, spooling
from server.wire.limits import Limits
from storage.imports import earlier_import
from storage.workspaces import load_heads

_ATTEMPTS_MAX: Final = 3
# Records judged before other work of the loop gets its turn.
_RECORDS_PER_TURN: Final = 32


async def handle(
    call: Call, request: portability_pb2.ImportWorkspaceRequest
) -> portability_pb2.ImportWorkspaceResponse:
    """Takes an export, all of it or nothing; the same one again stores nothing.

    Everything is judged before anything is written. Raises InvalidRequest, InvalidObject naming the record,
    PolicyDenied, VersionConflict, LegalHold, ResourceExhausted.
    """
    demand = partial(demand_whole, call, (IMPORT,), reading=False)
    demand()
    if not request.policy_basis:
        raise InvalidRequest("policy_basis", "is required")
    if not request.HasField("header"):
        raise InvalidRequest("header", "is required")
    check_header(request.header, call.tenant_id, call.scope_id, remap=request.remap)
    settings = call.services.settings
    try:
        with spooling(records_max=settings.import_records_max, bytes_max=settings.import_bytes_max) as spool:
            incoming = await _read(call, request, spool)
            return await _take_in(call, incoming, demand)
    except DomainError:
        # The stream can't be read again, so what is wrong with it is told here, to who may import now.
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        await demand_still(call, heads, demand)
        raise
    except StaleFacts:
        raise ServiceUnavailable(retry_after_ms=100) from None
    except OSError as error:
        # The temporary folder is full or gone: nothing was written.
        raise ServiceUnavailable from error


async def _read(call: Call, request: portability_pb2.ImportWorkspaceRequest, spool: Spool) -> Incoming:
    settings = call.services.settings
    limits = Limits(content_bytes_max=settings.content_bytes_max, json_depth_max=settings.json_depth_max)
    reader = ExportReader(request.header, (call.tenant_id, call.scope_id), call.view.workspace.policy, limits)
    trailer: portability_pb2.ExportTrailer | None = None
    async for message in _messages(call, request):
        if trailer is not None:
            raise InvalidRequest("trailer", "must come last")
        for record in message.records:
            reader.take(record.kind, record.record)
            spool.put(record.kind, record.record)
            if spool.count % _RECORDS_PER_TURN == 0:
                await asyncio.sleep(0)
        if message.HasField("trailer"):
            trailer = message.trailer
    if trailer is None:
        raise InvalidObject("trailer", "is missing: the export is cut")
    reader.close(trailer)
    return Incoming(request, reader, spool)


async def _messages(
    call: Call, request: portability_pb2.ImportWorkspaceRequest
) -> AsyncIterator[portability_pb2.ImportWorkspaceRequest]:
    yield request
    if call.later_requests is None:
        return
    async for message in call.later_requests:
        if message.scope_id != call.scope_id:
            raise InvalidRequest("scope_id", "must be the same in all messages")
        for name, given in (
            ("header", message.HasField("header")),
            ("remap", message.remap),
            ("dry_run", message.dry_run),
        ):
            if given:
                raise InvalidRequest(name, "comes with the first message alone")
        yield message


async def _take_in(call: Call, incoming: Incoming, demand: partial[None]) -> portability_pb2.ImportWorkspaceResponse:
    """Decides on what stands here and stores it; where that has moved by the commit, all of it is done again."""
    database = call.services.database
    for _ in range(_ATTEMPTS_MAX):
        try:
            earlier = await earlier_import(
                database, call.tenant_id, call.scope_id, incoming.reader.digest.whole, incoming.source
            )
            if earlier.result is not None:
                return await answer_of_earlier(call, incoming, earlier.result)
            plan = await plan_import(
                call,
                incoming.reader.things,
                incoming.reader.derived,
                incoming.spool,
                remap=incoming.request.remap,
            )
            if incoming.request.dry_run:
                return dry_answer(call, incoming, plan)
            return await store(call, incoming, plan, imports_seen=earlier.imports)
        except StaleFacts:
            await demand_still(call, None, demand)
    raise StaleFacts
