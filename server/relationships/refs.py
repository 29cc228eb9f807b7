"""References to an object's relationships: computed for each answer, never part of the envelope (P-8.1-20, Q02)."""

from __future__ import annotations

from typing import Final

from authz.permissions import READ
from server.authority.row_authority import confirmed
from server.call import Call
from server.relationships.reach import Reaches
from server.snapshots.reading import SnapshotBound
from storage.objects import Heads
from storage.traversal import StepQuery, next_steps
from storage.workspaces import load_heads

REFS_MAX: Final = 100


async def relationship_refs(
    call: Call, object_id: str, heads: Heads, bound: SnapshotBound | None
) -> tuple[list[str], bool]:
    """Returns the ids of relationships that lie in the workspace, start or end at the object, and whose other end the
    caller may read: the first REFS_MAX by id, and whether there are more.

    `heads` are those the object was read at; with a snapshot, relationships are those it has. Raises StaleFacts.
    """
    reaches = Reaches(call, READ)
    reaches.own()
    while True:
        query = StepQuery(
            scope_id=call.scope_id,
            pinned_sequence=heads.sequence if bound is None else bound.sequence,
            places=[(call.scope_id, object_id)],
            reaches=reaches.all(),
            permitted=reaches.permitted(),
            outgoing=True,
            incoming=True,
            relationship_types=(),
            in_snapshot=bound is not None,
            member_ids=None if bound is None else bound.object_ids,
            own_only=True,
            limit=REFS_MAX + 1,
        )
        page = await next_steps(call.services.database, call.tenant_id, query)
        if not page.unknown_scopes:
            break
        await reaches.meet(page.unknown_scopes)
    [now] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    confirmed(call, now, limited=True)
    await reaches.confirm()
    ids = [step.relationship_id for step in page.steps]
    return ids[:REFS_MAX], len(ids) > REFS_MAX
