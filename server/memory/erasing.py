"""Erasing parts of an object for good: projections of every version, and what they replace (P-10.9-*, Q16, Q17).

Nothing is written here. The redaction is committed with the projections as one change, under the guard that the object
is still at the version it was worked out on; the job it opens then destroys keys and rows of what was replaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final
from uuid import UUID

from server.authority.refusals import StaleFacts
from server.call import Call
from server.memory.authenticity import core_alone, data_keys_of, opened
from server.memory.redactions import mask_provenance
from server.memory.versions import seal_text
from server.wire.json_masks import mask_json
from storage.commands import ContentRow
from storage.encryption import IntegrityViolation
from storage.model.memory import PartKind, PartRef, VersionCore
from storage.model.provenance import parse_provenance, provenance_bytes
from storage.model.redaction import Redaction
from storage.objects import Heads
from storage.redactions import load_cores, load_parts
from storage.workspaces import load_heads

# Parts held in the clear at once.
_PARTS_AT_ONCE: Final = 16


@dataclass(slots=True)
class Erasure:
    """What erasing makes: the redactions then in force, the current version's parts, new rows, and what must go."""

    redaction: Redaction
    refs: dict[PartKind, PartRef]
    rows: list[ContentRow] = field(default_factory=list)
    erased_content_ids: set[UUID] = field(default_factory=set)


async def erase(call: Call, current: VersionCore, redaction: Redaction, heads: Heads) -> Erasure:
    """Returns the erasure, in every version, of the pointers that `redaction` says are erased.

    `redaction` holds the projections of earlier erasures. Raises StaleFacts when something was removed meanwhile,
    IntegrityViolation, KeyStoreUnavailable.
    """
    stored = await load_cores(call.services.database, call.tenant_id, call.scope_id, current.object_id)
    cores = [core_alone(call, version) for version in stored]
    if not cores or cores[-1].version_id != current.version_id:
        raise StaleFacts
    try:
        return await _erase(call, current, cores, redaction)
    except IntegrityViolation as violation:
        if violation.kind == "PART_MISSING":
            [now] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
            if now is None or now.removal_revision != heads.removal_revision:
                raise StaleFacts from None
        raise


async def _erase(call: Call, current: VersionCore, cores: Sequence[VersionCore], redaction: Redaction) -> Erasure:
    places = _places(cores, redaction)
    erasure = Erasure(redaction, dict(current.parts))
    projections = dict(redaction.projections)
    changed: set[UUID] = set()
    for chunk in _chunks(places):
        parts = await load_parts(
            call.services.database, call.tenant_id, call.scope_id, [(current.object_id, key) for key in chunk]
        )
        data_keys = await data_keys_of(call, parts.values())
        for content_id, place in chunk.items():
            part = parts.get((current.object_id, content_id))
            text = opened(call, current.object_id, place.ref, part, data_keys)
            projected = _projected(place.kind, text, redaction)
            if projected is text:
                continue
            ref, row = await seal_text(call, current.object_id, place.kind, projected)
            erasure.rows.append(row)
            erasure.erased_content_ids.add(content_id)
            projections |= dict.fromkeys(place.named_by, ref)
            changed |= place.named_by
        await asyncio.sleep(0)
    removed = set(redaction.removed)
    for core in cores:
        named = {core.parts[kind].content_id for kind in (PartKind.CONTENT, PartKind.PROVENANCE) if kind in core.parts}
        if named & changed and PartKind.INTEGRITY in core.parts:
            # A digest that a client gave covers what was erased and would confirm a guess of it.
            removed.add(core.parts[PartKind.INTEGRITY].content_id)
        if PartKind.REDACTION in core.parts:
            erasure.erased_content_ids.add(core.parts[PartKind.REDACTION].content_id)
    erasure.erased_content_ids |= removed - redaction.removed
    for kind in (PartKind.CONTENT, PartKind.PROVENANCE):
        if kind in erasure.refs:
            erasure.refs[kind] = projections.get(erasure.refs[kind].content_id, erasure.refs[kind])
    erasure.redaction = replace(redaction, projections=projections, removed=frozenset(removed))
    return erasure


@dataclass(slots=True)
class _Place:
    """A part that is there, and the content ids by which versions name it."""

    kind: PartKind
    ref: PartRef
    named_by: set[UUID] = field(default_factory=set)


def _places(cores: Sequence[VersionCore], redaction: Redaction) -> dict[UUID, _Place]:
    """Returns the content and provenance of all versions, each part once, by where it lies now."""
    places: dict[UUID, _Place] = {}
    for core in cores:
        for kind in (PartKind.CONTENT, PartKind.PROVENANCE):
            named = core.parts.get(kind)
            if named is not None:
                ref = redaction.projections.get(named.content_id, named)
                places.setdefault(ref.content_id, _Place(kind, ref)).named_by.add(named.content_id)
    return places


def _projected(kind: PartKind, text: bytes, redaction: Redaction) -> bytes:
    """Returns the part without what is erased; the very bytes when there is nothing of it."""
    if kind is PartKind.CONTENT:
        masked, found = mask_json(text, redaction.erased)
        return masked if found else text
    provenance, matched = mask_provenance(parse_provenance(text), redaction.erased_provenance)
    return provenance_bytes(provenance) if matched else text


def _chunks(places: Mapping[UUID, _Place]) -> Iterator[dict[UUID, _Place]]:
    remaining = iter(places.items())
    while chunk := dict(islice(remaining, _PARTS_AT_ONCE)):
        yield chunk
