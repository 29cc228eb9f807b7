"""TraverseRelationships (P-8.5-07, P-13-03, P-15.7-01, P-18.9-01)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from authz.permissions import QUERY, REVIEW
from remit.v1 import memory_pb2
from server.authority.row_authority import confirmed
from server.call import Call
from server.domain_errors import InvalidRequest, ObjectDeleted, ObjectNotFound, ResourceExhausted, RetentionRestriction
from server.memory.retrieval import Loaded, held_at, load
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.relationships.reach import Reaches
from server.relationships.retrieval import End, authenticated_relationship, open_relationships, readable_relationship
from server.snapshots.reading import SnapshotBound, snapshot_bound
from server.wire.enum_numbers import AVAILABILITY_NUMBERS
from storage.cursors import Cursor
from storage.encryption import IntegrityViolation
from storage.objects import Heads
from storage.relationships import StoredRelationship
from storage.traversal import Place, Step, StepQuery, load_steps, next_steps
from storage.workspaces import load_heads

OBJECTS_MAX: Final = 10_000
STEPS_MAX: Final = 20_000
"""Objects that one walk goes on from, and relationships of one depth. A wider walk is refused, for it would have to be
kept whole to be paged; one of depth 1 may be of any width."""

_OUTGOING: Final = memory_pb2.TRAVERSAL_DIRECTION_OUTGOING
_INCOMING: Final = memory_pb2.TRAVERSAL_DIRECTION_INCOMING
_ANY: Final = memory_pb2.TRAVERSAL_DIRECTION_ANY


@dataclass(frozen=True, slots=True)
class _Walk:
    """Where the walk stands: at most this far, from this place on, at this sequence of its workspace's ledger."""

    depth_max: int
    pinned_sequence: int
    bound: SnapshotBound | None
    after: tuple[int, str, str] | None
    size: int


async def handle(
    call: Call, request: memory_pb2.TraverseRelationshipsRequest
) -> memory_pb2.TraverseRelationshipsResponse:
    """Returns one page of the relationships that lead on from an object, breadth first, each once.

    An end that is deleted is told as a tombstone, and nothing is reached through it; nothing at all is told of what the
    caller may not find, nor reached through it. Within a depth, steps come by workspace and relationship id. Raises
    ObjectNotFound, ObjectDeleted, SnapshotNotFound, InvalidRequest, ResourceExhausted.
    """
    reaches = Reaches(call, QUERY)
    loaded = await load(call, request.start_object_id)
    reaches.own()
    bound = await snapshot_bound(call, request.snapshot_id)
    if bound is not None and not bound.holds(request.start_object_id):
        raise ObjectNotFound
    _demand_findable(call, loaded)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    walk = _Walk(
        depth_max=request.max_depth if request.HasField("max_depth") else 1,
        pinned_sequence=_pinned(bound, place, loaded.heads),
        bound=bound,
        after=None if place is None else _step_key(place),
        size=call.page_size(),
    )
    # The stored type of each object met; a relationship is shown as both its ends allow.
    types: dict[Place, str] = {(call.scope_id, request.start_object_id): loaded.standing.object_type}
    found = await _walk(call, request, reaches, walk, types)
    steps = found[: walk.size]
    rows = await load_steps(call.services.database, call.tenant_id, [step for _, step in steps])
    [now] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    heads = confirmed(call, now, limited=True)
    await reaches.confirm()
    messages = fitting(call, await _messages(call, steps, rows, heads, reaches, types), walk.size)
    cursor = ""
    if len(found) > len(messages):
        depth, last = steps[len(messages) - 1]
        cursor = next_cursor(call, binding, (depth, *last.key), walk.pinned_sequence)
    await call.exercise_read(heads, request.start_object_id)
    return memory_pb2.TraverseRelationshipsResponse(
        steps=messages, cursor=cursor, operation_id=call.operation_id, event_ids=call.exercise_event_ids
    )


def _demand_findable(call: Call, loaded: Loaded) -> None:
    """Raises what a read of the start would answer where a walk can't begin: at a tombstone, or what is to be deleted."""
    standing, object_id = loaded.standing, loaded.version.object_id
    if standing.verdict == "deleted":
        raise ObjectDeleted(object_id)
    is_restricted = standing.verdict == "retention_restricted"
    if is_restricted and not held_at(call, loaded.heads, REVIEW, standing.object_type, object_id):
        raise RetentionRestriction(object_id)


def _pinned(bound: SnapshotBound | None, place: Cursor | None, heads: Heads) -> int:
    if bound is not None:
        return bound.sequence
    return heads.sequence if place is None else place.pinned_sequence


def _step_key(place: Cursor) -> tuple[int, str, str]:
    depth, scope_id, relationship_id = place.last_key
    if not isinstance(depth, int) or not isinstance(scope_id, str) or not isinstance(relationship_id, str):
        raise InvalidRequest("cursor", "is not a cursor of this listing")
    return depth, scope_id, relationship_id


async def _walk(
    call: Call,
    request: memory_pb2.TraverseRelationshipsRequest,
    reaches: Reaches,
    walk: _Walk,
    types: dict[Place, str],
) -> list[tuple[int, Step]]:
    """Returns the steps behind the last page with their depths, one more than a page where there are more."""
    followed: set[Place] = set()
    frontier: list[Place] = list(types)
    found: list[tuple[int, Step]] = []
    for depth in range(1, walk.depth_max + 1):
        reached: list[Place] = []
        steps = await _next(call, request, reaches, walk, frontier)
        if len(steps) > STEPS_MAX:
            raise ResourceExhausted("relationships of a walk")
        for step in steps:
            if step.key in followed:
                continue
            followed.add(step.key)
            if walk.after is None or (depth, *step.key) > walk.after:
                found.append((depth, step))
            if step.other not in types:
                types[step.other] = step.object_type
                if step.availability_state != "deleted":
                    reached.append(step.other)
        if len(types) > OBJECTS_MAX:
            raise ResourceExhausted("objects of a walk")
        if len(found) > walk.size or not reached:
            break
        frontier = reached
    return found[: walk.size + 1]


async def _next(
    call: Call,
    request: memory_pb2.TraverseRelationshipsRequest,
    reaches: Reaches,
    walk: _Walk,
    frontier: list[Place],
) -> tuple[Step, ...]:
    """Returns the steps from these places; asks again when they lead to workspaces that were not judged yet."""
    direction = request.direction or _OUTGOING
    while True:
        query = StepQuery(
            scope_id=call.scope_id,
            pinned_sequence=walk.pinned_sequence,
            places=frontier,
            reaches=reaches.all(),
            permitted=reaches.permitted(),
            outgoing=direction in (_OUTGOING, _ANY),
            incoming=direction in (_INCOMING, _ANY),
            relationship_types=request.relationship_types,
            in_snapshot=walk.bound is not None,
            member_ids=None if walk.bound is None else walk.bound.object_ids,
            # From a single object each relationship comes once, so that a page of them is a page of the walk.
            after=walk.after[1:] if walk.depth_max == 1 and walk.after is not None else None,
            limit=walk.size + 1 if walk.depth_max == 1 else STEPS_MAX + 1,
        )
        page = await next_steps(call.services.database, call.tenant_id, query)
        if not page.unknown_scopes:
            return page.steps
        await reaches.meet(page.unknown_scopes)


async def _messages(
    call: Call,
    steps: list[tuple[int, Step]],
    rows: list[StoredRelationship | None],
    heads: Heads,
    reaches: Reaches,
    types: Mapping[Place, str],
) -> list[memory_pb2.TraversalStep]:
    stored: list[tuple[StoredRelationship, bool]] = []
    for (_, step), row in zip(steps, rows, strict=True):
        if row is None:
            raise IntegrityViolation(f"relationships:{step.relationship_id}", "VERSION_MISSING")
        core = authenticated_relationship(call, row)
        walked = (step.source_object_id, step.target_object_id, step.target_scope_id)
        if (core.source_object_id, core.target_object_id, core.target_scope) != walked:
            raise IntegrityViolation(f"relationships:{step.relationship_id}", "COLUMNS")
        stored.append((row, step.given))
    opened = await open_relationships(call, stored, {call.scope_id: heads})
    return [
        memory_pb2.TraversalStep(
            depth=depth,
            relationship=readable_relationship(call, core, plaintexts, _ends(step, reaches, types)),
            object=memory_pb2.ObjectRef(
                scope_id=step.other_scope_id,
                object_id=step.other_object_id,
                object_type=step.object_type,
                version_id=step.version_id,
                availability_state=AVAILABILITY_NUMBERS[step.availability_state],
            ),
        )
        for (depth, step), (core, plaintexts) in zip(steps, opened, strict=True)
    ]


def _ends(step: Step, reaches: Reaches, types: Mapping[Place, str]) -> list[End]:
    places = ((step.scope_id, step.source_object_id), (step.target_scope_id, step.target_object_id))
    return [(reaches.views[place[0]], types[place], place[1]) for place in places]
