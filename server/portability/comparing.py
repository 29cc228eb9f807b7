"""What versions say, as fingerprints: held in memory for a whole workspace where the versions themselves are not."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from server.call import Call
from server.memory.retrieval import open_rows
from server.memory.versions import Plaintexts
from server.portability import records
from server.relationships.retrieval import open_relationships
from storage.model.memory import VersionCore, core_bytes
from storage.model.provenance import integrity_bytes, provenance_bytes
from storage.model.relationship import RelationshipCore, relationship_core_bytes
from storage.portability import page_of_relationships, page_of_versions
from storage.row_filter import RowFilter

_IDS_PER_STATEMENT: Final = 2000
_BIGINT_MAX: Final = 2**63 - 1
_EVERYTHING: Final = RowFilter(frozenset({("*", "*")}), frozenset())

Key = tuple[str, str]
"""Kind and id of an object or a relationship."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a version says, its workspace aside: of its envelope, and of all of it (None: not all of it can be shown)."""

    version_id: str
    envelope: bytes
    whole: bytes | None


def fingerprint_of(core: VersionCore | RelationshipCore, plaintexts: Plaintexts) -> Fingerprint:
    """Returns what a version says: where its encrypted parts lie and what came before it aside."""
    if isinstance(core, VersionCore):
        written = core_bytes(replace(core, parts={}, previous_version_id=None))
    else:
        written = relationship_core_bytes(replace(core, parts={}, previous_version_id=None))
    envelope = hashlib.sha256(written).digest()
    if plaintexts.content is None or plaintexts.provenance is None or plaintexts.is_partial:
        return Fingerprint(core.version_id, envelope, None)
    whole = hashlib.sha256(envelope)
    integrity = b"" if plaintexts.integrity is None else integrity_bytes(plaintexts.integrity)
    for text in (plaintexts.content, provenance_bytes(plaintexts.provenance), integrity):
        whole.update(len(text).to_bytes(4, "big"))
        whole.update(text)
    return Fingerprint(core.version_id, envelope, whole.digest())


async def fingerprints_here(call: Call, standing: Collection[Key]) -> dict[Key, dict[int, Fingerprint]]:
    """Returns what the versions of these things say, as they stand in the call's workspace, by their numbers."""
    found: dict[Key, dict[int, Fingerprint]] = {key: {} for key in standing}
    object_ids = [thing_id for kind, thing_id in standing if kind == records.MEMORY_OBJECT]
    for start in range(0, len(object_ids), _IDS_PER_STATEMENT):
        async for core, plaintexts in _objects_here(call, object_ids[start : start + _IDS_PER_STATEMENT]):
            found[records.MEMORY_OBJECT, core.object_id][core.sequence] = fingerprint_of(core, plaintexts)
    if len(object_ids) < len(standing):
        async for relationship, plaintexts in _relationships_here(call):
            key = (records.RELATIONSHIP, relationship.relationship_id)
            if key in found:
                found[key][relationship.sequence] = fingerprint_of(relationship, plaintexts)
    return found


async def _objects_here(call: Call, object_ids: Sequence[str]) -> AsyncIterator[tuple[VersionCore, Plaintexts]]:
    after = ("", 0)
    while True:
        page = await page_of_versions(
            call.services.database,
            call.tenant_id,
            call.scope_id,
            bound=_BIGINT_MAX,
            after=after,
            review=_EVERYTHING,
            bytes_max=call.services.settings.page_bytes_max,
            object_ids=object_ids,
        )
        if page.heads is None or not page.rows:
            return
        opened = await open_rows(call, [(row.version, row.given) for row in page.rows], page.heads)
        for core, plaintexts in opened:
            yield core, plaintexts
        after = (page.rows[-1].version.object_id, page.rows[-1].version.sequence)


async def _relationships_here(call: Call) -> AsyncIterator[tuple[RelationshipCore, Plaintexts]]:
    after = ("", 0)
    while True:
        page = await page_of_relationships(
            call.services.database,
            call.tenant_id,
            call.scope_id,
            bound=_BIGINT_MAX,
            after=after,
            bytes_max=call.services.settings.page_bytes_max,
        )
        if page.heads is None or not page.rows:
            return
        heads = {call.scope_id: page.heads}
        for core, plaintexts in await open_relationships(call, [(row.version, row.given) for row in page.rows], heads):
            yield core, plaintexts
        after = (page.rows[-1].version.relationship_id, page.rows[-1].version.sequence)
