"""An import's rows, encrypted under keys of this deployment and put aside, until one change makes them the workspace's.

Rows are staged some at a time, so that no more than a batch of them is ever held; nobody sees a staged row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from server.call import Call, Change
from server.memory.lookups import lookups_of
from server.memory.versions import Plaintexts, new_version, seal_parts
from server.portability import records
from server.portability.derived import vector_of_record
from server.portability.history import kept_entry
from server.portability.incoming import IncomingVersion
from server.portability.planning import ImportPlan, renamed
from server.portability.reading import Thing, kind_of, versions_of
from server.portability.spool import Spool
from server.portability.version_events import primary_event
from server.relationships.relating import relationship_columns
from storage.commands import ColdChange, ContentRow, EventRow
from storage.model.embedding import EmbeddingSpace, vector_text
from storage.model.memory import PartKind, PartRef, VersionCore, envelope_digest
from storage.model.relationship import RelationshipCore, content_owner, relationship_core_bytes
from storage.model.states import AvailabilityState
from storage.model.times import iso_text
from storage.portable_vectors import artifacts_here

_ROWS_PER_BATCH: Final = 500
_BYTES_PER_BATCH: Final = 2 << 20
# Records made into rows before other work of the loop gets its turn.
_RECORDS_PER_TURN: Final = 32
_FIRST_BLOB: Final = "b0"
_DESCRIPTOR: Final = (
    *("embedding_space_id", "provider", "model", "model_revision", "dimensions", "distance_metric", "normalization"),
    *("preprocessing_profile", "embedding_kind", "canonicalization_rules"),
)


@dataclass(slots=True)
class _Previous:
    """The version staged last: what the next one of its thing may share with it."""

    key: tuple[str, str]
    core: VersionCore | RelationshipCore
    plaintexts: Plaintexts
    refs: Mapping[PartKind, PartRef]


@dataclass(slots=True)
class Staging:
    """The staged rows of one import: how many of them there are, and the events of the versions among them.

    `sources` are the versions by id that something may have been derived of, kept where the export has derived state.
    """

    call: Call
    import_id: str
    events: list[EventRow] = field(default_factory=list)
    rows_staged: int = 0
    sources: dict[str, VersionCore] = field(default_factory=dict)
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _blobs: list[bytes] = field(default_factory=list)
    _bytes: int = 0

    async def add(self, kind: str, fields: Mapping[str, Any], *blobs: bytes | None) -> None:
        """Puts a row aside with up to three columns of bytes. Raises StaleFacts, Refused."""
        row: dict[str, Any] = {"kind": kind, "number": self.rows_staged + len(self._rows) + 1, "fields": fields}
        for name, blob in zip(("first", "second", "third"), blobs, strict=False):
            if blob is not None:
                row[name] = len(self._blobs)
                self._blobs.append(blob)
                self._bytes += len(blob)
        self._rows.append(row)
        if len(self._rows) >= _ROWS_PER_BATCH or self._bytes >= _BYTES_PER_BATCH:
            await self.flush()

    async def flush(self) -> None:
        """Hands over what was added."""
        if not self._rows:
            return
        blobs = {f"b{number}": blob for number, blob in enumerate(self._blobs)} or {_FIRST_BLOB: b""}
        fields = {"import_id": self.import_id, "rows": self._rows}
        await self.call.commit(Change(events=(), colds=[ColdChange("import.stage", fields, blobs)]))
        self.rows_staged += len(self._rows)
        self._rows, self._blobs, self._bytes = [], [], 0

    async def discard(self) -> None:
        """Drops what was staged."""
        await self.call.commit(Change(events=(), colds=[ColdChange("import.discard", {"import_id": self.import_id})]))


async def stage_memory(
    staging: Staging,
    things: Mapping[tuple[str, str], Thing],
    spool: Spool,
    plan: ImportPlan,
    policy_basis: str,
    *,
    derived: bool,
) -> None:
    """Stages every version that the plan stores, with its event. Raises KeyStoreUnavailable, StaleFacts, Refused."""
    call = staging.call
    previous: _Previous | None = None
    for number, version in versions_of(spool, call.tenant_id, call.scope_id):
        if number % _RECORDS_PER_TURN == 0:
            await asyncio.sleep(0)
        key = (kind_of(version.core), version.id)
        if key in plan.skipped:
            continue
        if previous is not None and previous.key != key:
            previous = None
        last = things[key].last
        version = _kept(version, last)
        core = renamed(version.core, plan)
        owner = core.object_id if isinstance(core, VersionCore) else content_owner(core.relationship_id)
        refs = await _sealed(staging, owner, version, previous)
        before = None if previous is None else previous.core
        core = replace(core, parts=refs, previous_version_id=None if before is None else before.version_id)
        if derived and isinstance(core, VersionCore) and _may_be_derived_of(core, last):
            staging.sources[core.version_id] = core
        await _stage_version(staging, core, version, before, policy_basis)
        if core.version_id == last.version_id:
            await _stage_pointer(staging, core)
        previous = _Previous(key, core, version.plaintexts, refs)


def _kept(version: IncomingVersion, last: VersionCore | RelationshipCore) -> IncomingVersion:
    """Returns what is kept of a version: once the last one is a tombstone, no encrypted part of those before it.

    So it is here after a deletion, when its job has closed; and nothing could ever erase what a tombstone came with.
    """
    if last.availability_state is AvailabilityState.DELETED and version.core.version_id != last.version_id:
        return replace(version, plaintexts=Plaintexts())
    return version


def _may_be_derived_of(core: VersionCore, last: VersionCore | RelationshipCore) -> bool:
    """Returns whether RegisterDerivative would take an artifact of the version, `last` being its object's current one."""
    if last.availability_state is AvailabilityState.PARTIALLY_REDACTED:
        return core.version_id == last.version_id  # what was redacted since may be in a vector of the version before
    return last.availability_state is AvailabilityState.AVAILABLE


async def _sealed(
    staging: Staging, owner: str, version: IncomingVersion, previous: _Previous | None
) -> dict[PartKind, PartRef]:
    """Stages the encrypted parts that are new and returns where all of them lie; equal content is shared."""
    given = version.plaintexts
    shared: dict[PartKind, PartRef] = {}
    if previous is not None and given.content is not None and given.content == previous.plaintexts.content:
        shared[PartKind.CONTENT] = previous.refs[PartKind.CONTENT]
    content = None if PartKind.CONTENT in shared else given.content
    parts = await seal_parts(staging.call, owner, Plaintexts(content, given.provenance, given.integrity))
    for row in parts.rows:
        await _stage_content(staging, row)
    refs = {**shared, **parts.refs}
    if isinstance(version.core, VersionCore) and version.core.availability_state is not AvailabilityState.DELETED:
        found = Plaintexts(content, given.provenance, None)
        for lookup in lookups_of(staging.call, version.core.object_type, found, refs):
            await staging.add("lookup", {"object_id": owner, **lookup})
    return refs


async def _stage_content(staging: Staging, row: ContentRow) -> None:
    fields = {
        "object_id": row.object_id,
        "content_id": str(row.content_id),
        "part": row.part,
        "key_page": str(row.key_page),
        "key_slot": row.key_slot,
    }
    await staging.add("content", fields, row.ciphertext, row.commitment)


async def _stage_version(
    staging: Staging,
    core: VersionCore | RelationshipCore,
    version: IncomingVersion,
    before: VersionCore | RelationshipCore | None,
    policy_basis: str,
) -> None:
    call, keys = staging.call, staging.call.services.keys
    integrity = version.plaintexts.integrity
    # The import's own event comes first.
    fields: dict[str, Any] = {
        "sequence": core.sequence,
        "version_id": core.version_id,
        "event": len(staging.events) + 2,
    }
    if isinstance(core, VersionCore):
        made = new_version(call, core, integrity)
        fields |= {"object_id": core.object_id, "mac_key_id": made.row.mac_key_id, **_columns(made.row.columns)}
        if version.relationship_refs is not None:
            fields["relationship_refs"] = list(version.relationship_refs)
        digest = made.digest
        await staging.add("version", fields, made.row.core, made.row.mac, made.row.integrity_lookup)
    else:
        written = relationship_core_bytes(core)
        lookup = None
        if integrity is not None:
            lookup = keys.lookup("integrity_digest", integrity.digest, tenant_id=call.tenant_id)
        fields |= {
            "relationship_id": core.relationship_id,
            "mac_key_id": keys.key_id,
            **_columns(relationship_columns(core)),
        }
        digest = envelope_digest(written)
        await staging.add("relationship_version", fields, written, keys.mac(written), lookup)
    staging.events.append(primary_event(call, core, digest, before, policy_basis))


async def _stage_pointer(staging: Staging, core: VersionCore | RelationshipCore) -> None:
    fields: dict[str, Any] = {"version_id": core.version_id, "sequence": core.sequence}
    if isinstance(core, VersionCore):
        deleted = core.availability_state is AvailabilityState.DELETED
        fields |= {"object_id": core.object_id, "object_type": core.object_type, "deleted": deleted}
        await staging.add("object", fields)
        return
    fields |= {"relationship_id": core.relationship_id, **_columns(relationship_columns(core))}
    await staging.add("relationship", fields)


def _columns(columns: Mapping[str, object]) -> dict[str, Any]:
    """Columns as a staged row names them: times as text, an absent one left out."""
    found: dict[str, Any] = {}
    for name, value in columns.items():
        if value is None:
            continue
        if name.endswith("_us"):
            assert isinstance(value, int)
            found[name.removesuffix("_us")] = iso_text(value)
        else:
            found[name] = str(value) if isinstance(value, UUID) else value
    return found


async def stage_history(staging: Staging, spool: Spool) -> None:
    """Stages grants and ledgers of another origin as they came, of entries without a chain only what events say.

    Raises StaleFacts, Refused.
    """
    begun = chained = False
    for kind, record in spool:
        own = kind.removeprefix(records.HISTORY)
        if own.removesuffix(records.SIDE) == records.DELEGATION:
            await staging.add("delegation", {"kind": own}, record)
        elif own.removesuffix(records.SIDE) in (records.LEDGER, records.EVENT):
            if own == records.LEDGER:
                chained = records.LEDGER_ID in records.parsed(record)
            if kind == records.EVENT and not begun:
                first = records.chainless_ledger(records.parsed(record)["scope_id"])
                await staging.add("ledger", {"kind": records.LEDGER}, first)
                chained = False
            begun = begun or kind in (records.LEDGER, records.EVENT)
            kept = record if chained or own != records.EVENT else kept_entry(record)
            await staging.add("ledger", {"kind": own}, kept)


async def stage_derived(
    staging: Staging, spaces: Mapping[str, EmbeddingSpace], spool: Spool, new_spaces: Collection[str]
) -> int:
    """Stages embedding spaces that are new here, and vectors of versions that are; returns how many of both.

    An artifact of a vector's name that is here already stays what it is.
    """
    count = 0
    for space_id in new_spaces:
        space = spaces[space_id]
        fields: dict[str, Any] = {name: getattr(space, name) for name in _DESCRIPTOR}
        created_by = space.created_by or staging.call.actor_ref()
        fields |= {"created_at": iso_text(space.created_at_us), "created_by": created_by.for_core()}
        await staging.add("space", fields)
        count += 1
    batch: list[tuple[dict[str, Any], bytes]] = []
    for kind, record in spool:
        if kind != records.VECTOR:
            continue
        vector = vector_of_record(records.parsed(record))
        source = staging.sources.get(vector.version_id)
        if source is None:
            continue  # its object is not stored by this import
        content = source.parts.get(PartKind.CONTENT)
        fields = {
            "artifact_type": vector.artifact_type,
            "artifact_id": vector.artifact_id,
            "artifact_version": vector.artifact_version,
            "embedding_space_id": vector.embedding_space_id,
            "object_id": source.object_id,
            "object_type": source.object_type,
            "version_id": source.version_id,
            "sequence": source.sequence,
            "content_id": None if content is None else str(content.content_id),
        }
        batch.append((fields, vector_text(vector.vector)))
        if len(batch) == _RECORDS_PER_TURN:
            count += await _stage_vectors(staging, batch)
            batch = []
    return count + await _stage_vectors(staging, batch)


async def _stage_vectors(staging: Staging, batch: Sequence[tuple[dict[str, Any], bytes]]) -> int:
    """Stages the vectors whose names are free here; returns how many."""
    call = staging.call
    names = [(fields["artifact_type"], fields["artifact_id"], fields["artifact_version"]) for fields, _ in batch]
    taken = await artifacts_here(call.services.database, call.tenant_id, call.scope_id, names)
    free = [vector for name, vector in zip(names, batch, strict=True) if name not in taken]
    for fields, vector in free:
        await staging.add("vector", fields, vector)
    return len(free)
