"""SealSnapshot (PAMSPEC 12 and 18.11; P-12-09, P-18.11-01, P-18.11-02).

The boundary is a ledger sequence that was committed: a command's rows and events become visible together, so a head that
was read is never within one, and what stood at it never changes. The digest is therefore computed before anything is
locked, however large the workspace is, and the ledger's lock is held no longer than for any other change.
"""

from __future__ import annotations

from typing import Final

from remit.v1 import snapshot_pb2
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from server.domain_errors import InvalidRequest, InvalidStateTransition, ObjectNotFound
from server.snapshots.reading import demand_members, shown, snapshot_of
from server.wire.snapshots import snapshot_message
from server.wire.times import microseconds_of
from storage.commands import ColdChange, Status
from storage.derivatives import load_spaces
from storage.model.identifiers import new_id
from storage.model.snapshot import DeterministicClock, MemberDigest, Snapshot, snapshot_bytes
from storage.model.snapshot_events import SnapshotSealed
from storage.objects import Heads
from storage.snapshots import list_members
from storage.workspaces import load_heads

_TICK_MS_DEFAULT: Final = 1
_MEMBERS_AT_ONCE: Final = 5_000


async def handle(call: Call, request: snapshot_pb2.SealSnapshotRequest) -> snapshot_pb2.SealSnapshotResponse:
    """Seals the workspace, or chosen objects of it, as it stands.

    Raises Refused for a member that the caller may not see, InvalidRequest, ObjectNotFound for one that is not there,
    InvalidStateTransition when the id is a snapshot's already: a sealed snapshot takes nothing more.
    """
    earlier = call.replayed()
    if earlier is not None:
        return await _answer(call, str(earlier["snapshot_id"]), earlier["event_ids"], str(earlier["operation_id"]))
    if request.HasField("sealed") and not request.sealed:
        raise InvalidRequest("sealed", "must be true: there are no open snapshots")
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    call.confirm(heads)
    if heads is None:
        raise StaleFacts
    await demand_members(call, request.included_object_ids)
    await _demand_spaces(call, request)
    snapshot = await _described(call, request, heads)
    core = snapshot_bytes(snapshot)
    keys = call.services.keys
    event = call.event(
        SnapshotSealed(
            snapshot_id=snapshot.snapshot_id,
            ledger_sequence_high_watermark=snapshot.high_watermark,
            member_count=snapshot.member_count,
            snapshot_digest=snapshot.digest,
            sealed_run_id=snapshot.evaluation_run_id,
        )
    )
    fields = {
        "snapshot_id": snapshot.snapshot_id,
        "high_watermark": snapshot.high_watermark,
        "epoch": heads.epoch,
        "mac_key_id": keys.key_id,
    }
    outcome = await call.commit(
        Change(
            events=[event],
            result={"snapshot_id": snapshot.snapshot_id, "event_ids": [event.event_id]},
            colds=[ColdChange("snapshot.seal", fields, {"core": core, "mac": keys.mac(core)})],
        )
    )
    if outcome.status is Status.SEALED:
        raise InvalidStateTransition("snapshot", "sealed", "open")
    if outcome.status is Status.REPLAYED:
        kept = outcome.detail
        return await _answer(call, str(kept["snapshot_id"]), kept["event_ids"], str(kept["operation_id"]))
    return snapshot_pb2.SealSnapshotResponse(
        snapshot=snapshot_message(snapshot), event_ids=[event.event_id], operation_id=call.operation_id
    )


async def _described(call: Call, request: snapshot_pb2.SealSnapshotRequest, heads: Heads) -> Snapshot:
    object_ids = tuple(sorted(request.included_object_ids)) or None
    digest = MemberDigest()
    after = ""
    while True:
        members = await list_members(
            call.services.database,
            call.tenant_id,
            call.scope_id,
            watermark=heads.sequence,
            object_ids=object_ids,
            after=after,
            limit=_MEMBERS_AT_ONCE,
        )
        digest.add(members)
        if len(members) < _MEMBERS_AT_ONCE:
            break
        after = members[-1][0]
    if object_ids is not None and digest.count != len(object_ids):
        raise ObjectNotFound
    return Snapshot(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        snapshot_id=request.snapshot_id or new_id(),
        created_at_us=await call.services.clock.now_us(),
        created_by_actor_id=call.actor_id,
        high_watermark=heads.sequence,
        member_count=digest.count,
        digest=digest.hexdigest(),
        included_object_ids=object_ids,
        included_embedding_space_ids=tuple(sorted(request.included_embedding_space_ids)) or None,
        clock=_clock(request),
        seed=request.deterministic_rng_seed if request.HasField("deterministic_rng_seed") else None,
        evaluation_run_id=request.evaluation_run_id or None,
    )


async def _demand_spaces(call: Call, request: snapshot_pb2.SealSnapshotRequest) -> None:
    asked = list(request.included_embedding_space_ids)
    known = await load_spaces(call.services.database, call.tenant_id, call.scope_id, asked)
    for index, space_id in enumerate(asked):
        if space_id not in known:
            raise InvalidRequest(f"included_embedding_space_ids[{index}]", "is not an embedding space of the workspace")


def _clock(request: snapshot_pb2.SealSnapshotRequest) -> DeterministicClock | None:
    if not request.HasField("deterministic_clock"):
        return None
    given = request.deterministic_clock
    tick_ms = given.tick_ms if given.HasField("tick_ms") else _TICK_MS_DEFAULT
    return DeterministicClock(given.clock_ref, microseconds_of(given.start_at), tick_ms)


async def _answer(
    call: Call, snapshot_id: str, event_ids: list[str], operation_id: str
) -> snapshot_pb2.SealSnapshotResponse:
    """The answer that an idempotency key keeps: a descriptor never changes, but what the caller may see of it may."""
    snapshot = await shown(call, await snapshot_of(call, snapshot_id))
    return snapshot_pb2.SealSnapshotResponse(
        snapshot=snapshot_message(snapshot), event_ids=event_ids, replayed=True, operation_id=operation_id
    )
