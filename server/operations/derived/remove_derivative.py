"""RemoveDerivative (PAMSPEC 7.6 and 16.6; P-7.6-02, P-16.6-01)."""

from __future__ import annotations

from collections.abc import Sequence

from authz.request import ABSENT, Touched
from remit.v1 import derived_pb2
from server.call import Call, Change
from storage.commands import Status
from storage.derivatives import Artifact, load_artifact, removed
from storage.model.derived_events import DerivativeRemoved
from storage.object_types import load_object_types


async def handle(call: Call, request: derived_pb2.RemoveDerivativeRequest) -> derived_pb2.RemoveDerivativeResponse:
    """Removes an artifact with its vector and lineage; canonical state stays as it is.

    Needs the right over every object the artifact was derived from; where there is none, over all.
    """
    artifact = Artifact(request.artifact_type, request.artifact_id, request.store_id, request.artifact_version)
    heads, rows = await load_artifact(call.services.database, call.tenant_id, call.scope_id, artifact)
    call.confirm(heads)
    earlier = call.replayed()
    object_ids = sorted({row.object_id for row in rows} if earlier is None else set(earlier["object_ids"]))
    await _demand(call, object_ids)
    if earlier is not None:
        return _answer(earlier["event_ids"], str(earlier["operation_id"]), replayed=True)
    if not object_ids:
        return _answer([], call.operation_id)
    event = DerivativeRemoved(
        artifact_type=artifact.artifact_type,
        artifact_id=artifact.artifact_id,
        store_id=artifact.store_id,
        artifact_version=artifact.artifact_version or None,
    )
    events = [call.event(event, object_id=object_id) for object_id in object_ids]
    event_ids = [row.event_id for row in events]
    outcome = await call.commit(
        Change(
            events=events,
            result={"event_ids": event_ids, "object_ids": object_ids},
            colds=[removed(artifact, object_ids)],
        )
    )
    match outcome.status:
        case Status.REPLAYED:
            return _answer(outcome.detail["event_ids"], str(outcome.detail["operation_id"]), replayed=True)
        case Status.UNCHANGED:
            return _answer([], call.operation_id)
        case _:
            return _answer(event_ids, call.operation_id)


async def _demand(call: Call, object_ids: Sequence[str]) -> None:
    types = await load_object_types(call.services.database, call.tenant_id, call.scope_id, object_ids)
    call.demand([Touched(object_id, types.get(object_id, ABSENT)) for object_id in object_ids])


def _answer(
    event_ids: Sequence[str], operation_id: str, *, replayed: bool = False
) -> derived_pb2.RemoveDerivativeResponse:
    return derived_pb2.RemoveDerivativeResponse(
        removed=bool(event_ids), event_ids=event_ids, replayed=replayed, operation_id=operation_id
    )
