"""New versions of memory objects: encrypted, authenticated, and made into rows (memory.md, "Encrypted parts")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from server.call import Call
from storage.commands import ContentRow, VersionRow
from storage.encryption import seal_part
from storage.model.identifiers import new_id, new_uuid
from storage.model.memory import PartKind, PartRef, VersionCore, core_bytes, envelope_digest
from storage.model.provenance import Integrity, Provenance, integrity_bytes, provenance_bytes


@dataclass(slots=True)
class Plaintexts:
    """The readable parts of a version; None where it has none. `is_partial`: redactions are in force on them."""

    content: bytes | None = None
    provenance: Provenance | None = None
    integrity: Integrity | None = None
    is_partial: bool = False


@dataclass(slots=True)
class NewParts:
    """Encrypted parts ready to store, and the references a version's core names them by."""

    refs: dict[PartKind, PartRef] = field(default_factory=dict)
    rows: list[ContentRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version ready to commit: its core, the row, and the digest its events carry."""

    core: VersionCore
    row: VersionRow
    digest: str


def next_core(call: Call, before: VersionCore, now_us: int, **changes: Any) -> VersionCore:
    """Returns the version of this call after another; `changes` are fields of VersionCore that it does not carry on."""
    return replace(
        before,
        version_id=new_id(),
        previous_version_id=before.version_id,
        sequence=before.sequence + 1,
        committed_at_us=now_us,
        recorded_at_us=now_us,
        actor=call.actor_ref(),
        **changes,
    )


async def seal_parts(call: Call, object_id: str, plaintexts: Plaintexts) -> NewParts:
    """Returns the parts, each encrypted under a data key of its own. Raises KeyStoreUnavailable."""
    parts = NewParts()
    texts: list[tuple[PartKind, bytes]] = []
    if plaintexts.content is not None:
        texts.append((PartKind.CONTENT, plaintexts.content))
    if plaintexts.provenance is not None:
        texts.append((PartKind.PROVENANCE, provenance_bytes(plaintexts.provenance)))
    if plaintexts.integrity is not None:
        texts.append((PartKind.INTEGRITY, integrity_bytes(plaintexts.integrity)))
    for kind, text in texts:
        parts.refs[kind], row = await seal_text(call, object_id, kind, text)
        parts.rows.append(row)
    return parts


async def seal_text(call: Call, object_id: str, kind: PartKind, text: bytes) -> tuple[PartRef, ContentRow]:
    """Returns one part, encrypted under a data key of its own, and its reference. Raises KeyStoreUnavailable."""
    key_id, data_key = await call.services.key_ring.draw(call.tenant_id)
    content_id = new_uuid()
    place = {"tenant_id": call.tenant_id, "scope_id": call.scope_id, "object_id": object_id}
    sealed = seal_part(data_key, text, **place, content_id=content_id)
    row = ContentRow(
        object_id, content_id, kind.value, key_id.page_id, key_id.slot, sealed.ciphertext, sealed.commitment
    )
    return PartRef(content_id, sealed.commitment), row


COLUMNS: Final = (
    "object_type",
    "schema_id",
    "lifecycle_state",
    "availability_state",
    "retention_state",
    "validation_state",
    "actor_id",
    "provenance_id",
    "observed_at_us",
    "asserted_at_us",
    "valid_from_us",
    "valid_until_us",
    "committed_at_us",
    "recorded_at_us",
    "content_id",
    "provenance_content_id",
    "integrity_content_id",
)
"""The columns that repeat a core for filtering; times are microseconds."""


def column_values(core: VersionCore) -> tuple[object, ...]:
    """Returns the values of COLUMNS, in their order, that belong to a core. States are strings that compare as such."""
    parts = core.parts
    return (
        core.object_type,
        core.schema_id,
        core.lifecycle_state,
        core.availability_state,
        core.retention_state,
        core.validation_state,
        core.actor.actor_id,
        core.provenance_id,
        core.observed_at_us,
        core.asserted_at_us,
        core.valid_from_us,
        core.valid_until_us,
        core.committed_at_us,
        core.recorded_at_us,
        part_id(parts, PartKind.CONTENT),
        part_id(parts, PartKind.PROVENANCE),
        part_id(parts, PartKind.INTEGRITY),
    )


def part_id(parts: Mapping[PartKind, PartRef], kind: PartKind) -> UUID | None:
    """Returns where a part lies, None when the version has none."""
    part = parts.get(kind)
    return None if part is None else part.content_id


def new_version(call: Call, core: VersionCore, integrity: Integrity | None, event_position: int = 1) -> NewVersion:
    """Returns the version's row. `event_position` is the place of its primary event among the command's events."""
    keys = call.services.keys
    written = core_bytes(core)
    lookup = None if integrity is None else keys.lookup("integrity_digest", integrity.digest, tenant_id=call.tenant_id)
    values = (str(value) if isinstance(value, UUID) else value for value in column_values(core))
    row = VersionRow(
        object_id=core.object_id,
        sequence=core.sequence,
        version_id=core.version_id,
        event_position=event_position,
        columns=dict(zip(COLUMNS, values, strict=True)),
        integrity_lookup=lookup,
        core=written,
        mac=keys.mac(written),
        mac_key_id=keys.key_id,
    )
    return NewVersion(core, row, envelope_digest(written))
