"""ExportWorkspace (P-7.5-07, P-8.1-01, P-8.2-05, P-16.6-01, P-17.1-01; Q04 to Q06)."""

from __future__ import annotations

from collections.abc import AsyncIterator

from remit.v1 import portability_pb2
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from server.domain_errors import SnapshotNotFound
from server.portability.exporting import ExportPlan, records_of
from server.portability.records import FORMAT, ExportDigest
from server.portability.rights import demand_whole
from server.snapshots.reading import snapshot_bound
from storage.model.memory import SPEC_VERSION
from storage.model.portability_events import WorkspaceExported
from storage.portability import load_bound


async def handle(
    call: Call, request: portability_pb2.ExportWorkspaceRequest
) -> AsyncIterator[portability_pb2.ExportWorkspaceResponse]:
    """Streams the workspace as of one ledger sequence, or of a snapshot's: header, records, trailer.

    Deleted and redacted objects come without content. The ledger holds the export's digest before its trailer leaves.
    Raises Refused unless the caller's right reaches everything, SnapshotNotFound.
    """
    parts = {
        "include_derived": request.include_derived,
        "include_ledger": request.include_ledger,
        "include_delegations": request.include_delegations,
    }
    # Before the snapshot is looked up: who is refused does not learn whether there is one.
    probe = await load_bound(call.services.database, call.tenant_id, call.scope_id, None)
    if probe is None:
        raise StaleFacts
    plan = ExportPlan(bound=probe, object_ids=None, **parts)
    demand_whole(call, plan.actions(), reading=True)
    call.confirm(probe.heads)
    snapshot = await snapshot_bound(call, request.snapshot_id)
    if snapshot is not None:
        bound = await load_bound(call.services.database, call.tenant_id, call.scope_id, snapshot.sequence)
        if bound is None:
            raise SnapshotNotFound
        plan = ExportPlan(bound=bound, object_ids=snapshot.object_ids, **parts)
    return _stream(call, request, plan)


async def _stream(
    call: Call, request: portability_pb2.ExportWorkspaceRequest, plan: ExportPlan
) -> AsyncIterator[portability_pb2.ExportWorkspaceResponse]:
    header = portability_pb2.ExportHeader(
        format=FORMAT,
        spec_version=SPEC_VERSION,
        scope_id=call.scope_id,
        ledger_sequence=plan.bound.sequence,
        ledger_chain_hash=plan.bound.chain_hash,
        includes_derived=plan.include_derived,
        includes_ledger=plan.include_ledger,
        includes_delegations=plan.include_delegations,
        snapshot_id=request.snapshot_id,
        tenant_id=call.tenant_id,
    )
    yield portability_pb2.ExportWorkspaceResponse(header=header, operation_id=call.operation_id)
    digest = ExportDigest()
    async for kind, record in records_of(call, plan):
        digest.take(kind, record)
        yield portability_pb2.ExportWorkspaceResponse(record={"kind": kind, "record": record})
    exported = WorkspaceExported(
        export_digest=digest.whole.hex(),
        record_count=digest.count,
        bound_sequence=plan.bound.sequence,
        includes_derived=plan.include_derived,
        includes_ledger=plan.include_ledger,
        includes_delegations=plan.include_delegations,
    )
    await call.commit(Change(events=[call.event(exported)]))
    trailer = portability_pb2.ExportTrailer(record_count=digest.count, digest=digest.whole, memory_digest=digest.memory)
    yield portability_pb2.ExportWorkspaceResponse(trailer=trailer, operation_id=call.operation_id)
