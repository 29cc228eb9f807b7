"""Sealed snapshots as calls use them: authenticated, and as the bound of what a read sees (P-10.2-05, P-14-17, Q46)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authz.decision import Allowed
from authz.permissions import INSPECT_HISTORY, READ
from authz.request import ABSENT, Absence, Touched
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import ObjectNotFound
from server.memory.retrieval import Loaded, load
from server.snapshots.sealed import sealed_snapshot
from storage.model.snapshot import Snapshot
from storage.object_types import load_object_types
from storage.snapshots import version_at
from storage.workspaces import load_heads


@dataclass(frozen=True, slots=True)
class SnapshotBound:
    """What a read in a snapshot sees: versions up to a ledger sequence, of its members (None: of all objects).

    `sequence` is the high watermark; `seed` decides ties, where the snapshot has one.
    """

    snapshot_id: str
    sequence: int
    object_ids: tuple[str, ...] | None
    embedding_space_ids: tuple[str, ...] | None
    seed: int | None

    def holds(self, object_id: str) -> bool:
        """Returns whether the object is a member."""
        return self.object_ids is None or object_id in self.object_ids


async def snapshot_of(call: Call, snapshot_id: str) -> Snapshot:
    """Returns a snapshot of the call's workspace. Raises as `sealed_snapshot`, whose warning holds here too."""
    return await sealed_snapshot(call.services, call.tenant_id, call.scope_id, snapshot_id)


async def demand_members(call: Call, object_ids: Sequence[str]) -> None:
    """Judges the chosen members of a snapshot: each must be one that the caller may read or whose history it may inspect.

    An absent one is judged like one out of bounds. Raises Refused.
    """
    types = await load_object_types(call.services.database, call.tenant_id, call.scope_id, object_ids)
    for object_id in object_ids:
        object_type = types.get(object_id, ABSENT)
        if not _may_see(call, object_id, object_type):
            call.demand([Touched(object_id, object_type)], action=READ)


async def shown(call: Call, snapshot: Snapshot) -> Snapshot:
    """Returns the snapshot with those of its chosen members only that the caller may read or inspect. Raises StaleFacts."""
    chosen = snapshot.included_object_ids or ()
    types = await load_object_types(call.services.database, call.tenant_id, call.scope_id, chosen)
    visible = tuple(object_id for object_id in chosen if _may_see(call, object_id, types.get(object_id, ABSENT)))
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    call.confirm(heads)
    if len(visible) == len(chosen):
        return snapshot
    # What a right just given shows is never left out.
    if heads is None or heads.policy_revision != call.view.enforcer.policy_revision:
        raise StaleFacts
    return replace(snapshot, included_object_ids=visible)


def _may_see(call: Call, object_id: str, object_type: str | Absence) -> bool:
    touched = [Touched(object_id, object_type)]
    return any(isinstance(call.evaluate(action, touched), Allowed) for action in (READ, INSPECT_HISTORY))


async def snapshot_bound(call: Call, snapshot_id: str) -> SnapshotBound | None:
    """Returns the bound of a snapshot of the call's workspace, None when none is named. Raises as `snapshot_of`."""
    if not snapshot_id:
        return None
    snapshot = await snapshot_of(call, snapshot_id)
    return SnapshotBound(
        snapshot.snapshot_id,
        snapshot.high_watermark,
        snapshot.included_object_ids,
        snapshot.included_embedding_space_ids,
        snapshot.seed,
    )


async def load_in(call: Call, snapshot_id: str, object_id: str, version_id: str | None = None) -> Loaded:
    """Returns an object with the version that a snapshot has of it, or the one asked for, if that stood by then.

    Without a snapshot, as `load`. The standing is the one of now, whose verdict decides what is given (Q46). Raises
    as `load` and `snapshot_of`; ObjectNotFound for what is not in the snapshot.
    """
    if not snapshot_id:
        return await load(call, object_id, version_id)
    await load(call, object_id)  # what the caller may not touch is refused before a snapshot is looked up
    bound = await snapshot_bound(call, snapshot_id)
    if bound is None or not bound.holds(object_id):
        raise ObjectNotFound
    seen = await version_at(
        call.services.database, call.tenant_id, call.scope_id, object_id, version_id, bound.sequence
    )
    if seen is None:
        raise ObjectNotFound
    return await load(call, object_id, seen[0])


async def newest_in(call: Call, snapshot_id: str, object_id: str, loaded: Loaded) -> tuple[str, int]:
    """Returns a loaded object's newest version id and the number of its versions; in a snapshot, as that has them."""
    if not snapshot_id:
        return loaded.standing.version_id, loaded.standing.sequence
    bound = await snapshot_of(call, snapshot_id)
    newest = await version_at(
        call.services.database, call.tenant_id, call.scope_id, object_id, None, bound.high_watermark
    )
    if newest is None:
        raise ObjectNotFound
    return newest
