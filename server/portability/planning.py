"""What an import would do here: what is new, what is there already, what may not come back, what clashes.

Decided on what stands now and decided again when that has moved by the commit. Nothing that stands here is ever
overwritten: neither a version, nor a tombstone, nor a hold (P-8.4-05; field reports A19, A21).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from authz.request import Touched
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import InvalidObject, LegalHold, VersionConflict
from server.portability import records
from server.portability.comparing import Fingerprint, Key, fingerprint_of, fingerprints_here
from server.portability.crossing import Crossings
from server.portability.derived import DerivedReader
from server.portability.reading import Thing, kind_of, versions_of
from server.portability.spool import Spool
from storage.commands import AlsoGuard
from storage.derivatives import load_spaces
from storage.imports import ObjectHere, objects_here, relationships_here, version_ids_here
from storage.model.identifiers import new_id
from storage.model.memory import VersionCore
from storage.model.relationship import RelationshipCore
from storage.objects import ObjectKey

TOMBSTONED: Final = "tombstoned"
IDENTICAL: Final = "identical"
CROSS_SCOPE: Final = "cross_scope"
_IDS_PER_STATEMENT: Final = 2000
# Records compared before other work of the loop gets its turn.
_RECORDS_PER_TURN: Final = 32


@dataclass(slots=True)
class ImportPlan:
    """Which things are left out, with why, and which get another id here; all others are stored as they came.

    `also` is the guard of the workspace that relationships reach into, None where they reach into none.
    """

    skipped: dict[Key, str] = field(default_factory=dict)
    renamed: dict[Key, str] = field(default_factory=dict)
    new_spaces: tuple[str, ...] = ()
    also: AlsoGuard | None = None

    def new_things(self, things: Mapping[Key, Thing]) -> Iterator[Thing]:
        """Yields what is to be stored."""
        return (thing for key, thing in things.items() if key not in self.skipped)


def renamed(core: VersionCore | RelationshipCore, plan: ImportPlan) -> VersionCore | RelationshipCore:
    """Returns a version as it is named here, its ends too."""

    def name(kind: str, thing_id: str) -> str:
        return plan.renamed.get((kind, thing_id), thing_id)

    if isinstance(core, VersionCore):
        return replace(core, object_id=name(records.MEMORY_OBJECT, core.object_id))
    return replace(
        core,
        relationship_id=name(records.RELATIONSHIP, core.relationship_id),
        source_object_id=name(records.MEMORY_OBJECT, core.source_object_id),
        target_object_id=(
            name(records.MEMORY_OBJECT, core.target_object_id)
            if core.target_scope == core.scope_id
            else core.target_object_id
        ),
    )


async def plan_import(
    call: Call, things: Mapping[Key, Thing], derived: DerivedReader, spool: Spool, *, remap: bool
) -> ImportPlan:
    """Returns what to do with each thing, and which embedding spaces are new here.

    Raises VersionConflict for other versions of what stands here, LegalHold where that is on hold, InvalidObject for
    version ids or ends that do not fit.
    """
    plan = ImportPlan()
    here = await _things_here(call, things)
    # Objects first: what they are called here is what relationships end in.
    for kind in (records.MEMORY_OBJECT, records.RELATIONSHIP):
        of_kind = {key: found for key, found in here.items() if key[0] == kind}
        await _compare(call, things, spool, of_kind, plan, remap=remap)
    await _check_version_ids(call, things, plan)
    await _check_ends(call, things, plan)
    plan.new_spaces = await _new_spaces(call, derived)
    return plan


async def _new_spaces(call: Call, derived: DerivedReader) -> tuple[str, ...]:
    """Returns the spaces that are not here; raises InvalidObject for one whose id another descriptor has here."""
    found = await load_spaces(call.services.database, call.tenant_id, call.scope_id, list(derived.spaces))
    for space_id, stored in found.items():
        came = derived.spaces[space_id]
        if replace(stored.space, created_at_us=0, created_by=None) != replace(came, created_at_us=0, created_by=None):
            place = f"records[{derived.space_numbers[space_id]}].embedding_space_id"
            raise InvalidObject(place, f"is another space here (embedding_space {space_id})")
    return tuple(space_id for space_id in derived.spaces if space_id not in found)


async def _things_here(call: Call, keys: Collection[Key]) -> dict[Key, ObjectHere]:
    found: dict[Key, ObjectHere] = {}
    for kind, load in ((records.MEMORY_OBJECT, objects_here), (records.RELATIONSHIP, relationships_here)):
        ids = [thing_id for thing_kind, thing_id in keys if thing_kind == kind]
        for start in range(0, len(ids), _IDS_PER_STATEMENT):
            part = ids[start : start + _IDS_PER_STATEMENT]
            rows = await load(call.services.database, call.tenant_id, call.scope_id, part)
            found.update(((kind, row.id), row) for row in rows)
    return found


# Comparing


async def _compare(
    call: Call,
    things: Mapping[Key, Thing],
    spool: Spool,
    here: Mapping[Key, ObjectHere],
    plan: ImportPlan,
    *,
    remap: bool,
) -> None:
    """Holds what stands here to what came: the same is skipped, another one under the id is renamed or refused."""
    plan.skipped.update((key, TOMBSTONED) for key, found in here.items() if found.deleted)
    standing = {key: found for key, found in here.items() if not found.deleted}
    if not standing:
        return
    local = await fingerprints_here(call, {(kind, found.id) for (kind, _), found in standing.items()})
    differing: set[Key] = set()
    for number, version in versions_of(spool, call.tenant_id, call.scope_id):
        if number % _RECORDS_PER_TURN == 0:
            await asyncio.sleep(0)
        key = (kind_of(version.core), version.id)
        if key in standing:
            found = standing[key]
            came = fingerprint_of(renamed(version.core, plan), version.plaintexts)
            if not _is_same(local[key[0], found.id].get(version.core.sequence), came, found):
                differing.add(key)
    clashing: list[Key] = []
    for key, found in standing.items():
        if key not in differing:
            plan.skipped[key] = IDENTICAL
            continue
        shared = {each.version_id for each in local[key[0], found.id].values()} & set(things[key].version_ids)
        if remap and not shared:
            clashing.append(key)
        elif found.retention_state == "legal_hold":
            raise LegalHold(found.id)
        else:
            raise _conflict(call, things[key], found)
    if clashing:
        await _rename(call, things, spool, clashing, plan)


async def _rename(
    call: Call, things: Mapping[Key, Thing], spool: Spool, clashing: Collection[Key], plan: ImportPlan
) -> None:
    """Gives another id here; what an earlier import gave one keeps it, and is held to what stands under that."""
    owners: dict[Key, set[str]] = {}
    of_version = {version_id: key for key in clashing for version_id in things[key].version_ids}
    taken = await version_ids_here(call.services.database, call.tenant_id, call.scope_id, list(of_version))
    for version_id, kind, owner_id in taken:
        key = of_version[version_id]
        if kind == key[0]:
            owners.setdefault(key, set()).add(owner_id)
    # The versions of one thing that lie in several here are no renaming of ours: their ids are refused later.
    earlier = {key: next(iter(ids)) for key, ids in owners.items() if len(ids) == 1}
    plan.renamed.update((key, earlier.get(key) or new_id()) for key in clashing)
    found = await _things_here(call, {(kind, earlier[kind, thing_id]) for kind, thing_id in earlier})
    here = {key: found[key[0], name] for key, name in earlier.items()}
    await _compare(call, things, spool, here, plan, remap=False)


def _conflict(call: Call, thing: Thing, found: ObjectHere) -> VersionConflict:
    """The current version is told to who may read it."""
    readable = isinstance(thing.last, VersionCore) and call.may_read(found.id, thing.last.object_type)
    return VersionConflict(thing.version_ids[-1], found.version_id if readable else None, found.id)


def _is_same(local: Fingerprint | None, came: Fingerprint, here: ObjectHere) -> bool:
    if local is None or (local.version_id, local.envelope) != (came.version_id, came.envelope):
        return False
    # What either side can't show whole is the same as far as anybody can tell.
    if local.whole is None or came.whole is None or here.availability_state != "available":
        return True
    return local.whole == came.whole


# What came, held to what stands here


async def _check_version_ids(call: Call, things: Mapping[Key, Thing], plan: ImportPlan) -> None:
    """Raises InvalidObject for a version id that another thing has here (P-8.3-01)."""
    owners = {version_id: thing for thing in plan.new_things(things) for version_id in thing.version_ids}
    if not owners:
        return
    taken = await version_ids_here(call.services.database, call.tenant_id, call.scope_id, list(owners))
    for version_id, kind, owner_id in taken:
        thing = owners[version_id]
        if (kind, owner_id) != (thing.kind, plan.renamed.get((thing.kind, thing.id), thing.id)):
            place = f"records[{thing.first_record}].version_id"
            raise InvalidObject(place, f"is the id of another version here ({thing.kind} {thing.id})")


async def _check_ends(call: Call, things: Mapping[Key, Thing], plan: ImportPlan) -> None:
    """Leaves out relationships of what may not come back, or into workspaces where the caller may not relate."""
    crossings = Crossings(call)
    for thing in [thing for thing in plan.new_things(things) if thing.kind == records.RELATIONSHIP]:
        core = thing.last
        assert isinstance(core, RelationshipCore)
        crosses = core.target_scope != call.scope_id
        ends = {"source_object_id": core.source_object_id}
        if not crosses:
            ends["target_object_id"] = core.target_object_id
        for name, object_id in ends.items():
            end = (records.MEMORY_OBJECT, object_id)
            if plan.skipped.get(end) == TOMBSTONED:
                plan.skipped[thing.kind, thing.id] = TOMBSTONED
            elif end not in things:
                found = await objects_here(call.services.database, call.tenant_id, call.scope_id, [object_id])
                if not found:
                    place = f"records[{thing.first_record}].{name}"
                    raise InvalidObject(place, f"names no object of the export ({thing.kind} {thing.id})")
                if found[0].deleted:
                    plan.skipped[thing.kind, thing.id] = TOMBSTONED
        if crosses and (thing.kind, thing.id) not in plan.skipped:
            source = await _touched(call, things, plan, core.source_object_id)
            if not await crossings.may_cross(core, source):
                plan.skipped[thing.kind, thing.id] = CROSS_SCOPE
    plan.also = crossings.guard


async def _touched(call: Call, things: Mapping[Key, Thing], plan: ImportPlan, object_id: str) -> Touched:
    """The end of a relationship in the call's workspace, with the id and the type that it will have here."""
    end = (records.MEMORY_OBJECT, object_id)
    if end in things:
        last = things[end].last
        assert isinstance(last, VersionCore)
        return Touched(plan.renamed.get(end, object_id), last.object_type)
    facts = await call.services.objects.get(call.tenant_id, ObjectKey(call.scope_id, object_id))
    if facts.standing is None:
        raise StaleFacts  # it was there a moment ago
    return Touched(object_id, facts.standing.object_type)
