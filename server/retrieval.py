"""Stored versions -> what may be given: authenticated, decrypted, and withheld where the gate says so.

A row edited, moved, replayed under another id or forged behind the service's back is refused here (memory.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from authz.request import ABSENT, Touched
from server.call import Call
from server.domain_errors import (
    ObjectDeleted,
    ObjectNotFound,
    ObjectRedacted,
    RetentionRestriction,
)
from server.refusals import StaleFacts
from server.versions import COLUMNS, Plaintexts, column_values
from storage.encryption import IntegrityViolation, open_part
from storage.keystore import KeyId
from storage.model.canonical import MalformedCanonical
from storage.model.memory import PartKind, PartRef, VersionCore, parse_core
from storage.model.provenance import parse_integrity, parse_provenance
from storage.objects import Heads, ObjectFacts, ObjectKey, Standing, StoredPart, StoredVersion
from storage.workspaces import load_heads

TOMBSTONE_CONTENT = b'{"tombstone":true}'
# Versions opened before other work of the loop gets its turn.
_VERSIONS_PER_TURN = 64
_columns_of = attrgetter(*COLUMNS)


@dataclass(frozen=True, slots=True)
class Loaded:
    """An object the caller may touch: where it stands, the version asked for, and the head it was read at."""

    standing: Standing
    version: StoredVersion
    heads: Heads


async def load(call: Call, object_id: str, version_id: str | None = None, action: str | None = None) -> Loaded:
    """Returns an object after deciding on its stored type; an absent one is decided like one out of bounds.

    Raises StaleFacts, Refused, ObjectNotFound.
    """
    facts: ObjectFacts = await call.services.objects.get(
        call.tenant_id, ObjectKey(call.scope_id, object_id, version_id)
    )
    call.confirm(facts.heads)
    standing = facts.standing
    call.demand([Touched(object_id, ABSENT if standing is None else standing.object_type)], action=action)
    if standing is None or facts.version is None:
        raise ObjectNotFound
    if standing.object_type != facts.version.object_type:
        # The type that was just decided on is not the one the version was written with.
        raise IntegrityViolation(f"memory_objects:{object_id}", "COLUMNS")
    assert facts.heads is not None
    return Loaded(standing, facts.version, facts.heads)


def held_at(call: Call, heads: Heads, action: str, object_type: str, object_id: str) -> bool:
    """Returns whether the caller holds an action by rule, judged no earlier than what was read at `heads`.

    Raises StaleFacts when it does not and the policy has moved since: it may just have got the right.
    """
    if call.holds(action, object_type, object_id):
        return True
    if heads.policy_revision != call.view.enforcer.policy_revision:
        raise StaleFacts
    return False


def demand_open(standing: Standing, object_id: str) -> None:
    """Raises what the gate's verdict answers when it is not to give content (Q18, Q19)."""
    match standing.verdict:
        case "deleted":
            raise ObjectDeleted(object_id)
        case "redacted":
            raise ObjectRedacted(object_id)
        case "retention_restricted":
            raise RetentionRestriction(object_id)
        case _:
            return


def authenticated_core(call: Call, stored: StoredVersion) -> VersionCore:
    """Returns the core of a stored version; raises IntegrityViolation unless it is what the service wrote there."""
    place = f"memory_versions:{stored.version_id}"
    call.services.keys.verify_mac(stored.core, stored.mac, key_id=stored.mac_key_id, place=place)
    try:
        core = parse_core(stored.core)
    except MalformedCanonical:
        raise IntegrityViolation(place, "CORE") from None
    written = (core.tenant_id, core.scope_id, core.object_id, core.sequence, core.version_id)
    if written != (call.tenant_id, call.scope_id, stored.object_id, stored.sequence, stored.version_id):
        raise IntegrityViolation(place, "MOVED")
    if _columns_of(stored) != column_values(core):
        raise IntegrityViolation(place, "COLUMNS")
    return core


async def open_versions(
    call: Call, versions: Sequence[tuple[StoredVersion, bool]]
) -> list[tuple[VersionCore, Plaintexts]]:
    """Returns core and readable parts of each (version, whether its parts may be given).

    Raises IntegrityViolation; a part whose key is destroyed or whose row is gone while it may be given is one too.
    """
    cores = [(authenticated_core(call, stored), stored, given) for stored, given in versions]
    wanted = [
        KeyId(part.key_page, part.key_slot)
        for _, stored, given in cores
        if given
        for part in (stored.content, stored.provenance, stored.integrity)
        if part is not None
    ]
    data_keys = await call.services.key_ring.keys(call.tenant_id, wanted) if wanted else {}
    opened = []
    for core, stored, given in cores:
        if not given:
            opened.append((core, Plaintexts()))
            continue
        texts: dict[PartKind, bytes] = {}
        parts = ((PartKind.CONTENT, stored.content), (PartKind.PROVENANCE, stored.provenance))
        for kind, part in (*parts, (PartKind.INTEGRITY, stored.integrity)):
            ref = core.parts.get(kind)
            if ref is not None:
                data_key = None if part is None else data_keys.get(KeyId(part.key_page, part.key_slot))
                texts[kind] = _open(call, core, ref, part, data_key)
        opened.append((core, _plaintexts(core, texts)))
    return opened


async def open_rows(
    call: Call, versions: Sequence[tuple[StoredVersion, bool]], heads: Heads
) -> list[tuple[VersionCore, Plaintexts]]:
    """Returns what `open_versions` does, for versions that one statement read together with the head.

    Raises StaleFacts, and not IntegrityViolation, when a part is missing because something was removed since.
    """
    opened: list[tuple[VersionCore, Plaintexts]] = []
    try:
        for start in range(0, len(versions), _VERSIONS_PER_TURN):
            if start:
                await asyncio.sleep(0)
            opened += await open_versions(call, versions[start : start + _VERSIONS_PER_TURN])
    except IntegrityViolation as violation:
        if violation.kind == "PART_MISSING":
            [now] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
            if now is None or now.removal_revision != heads.removal_revision:
                raise StaleFacts from None
        raise
    return opened


def _open(call: Call, core: VersionCore, ref: PartRef, part: StoredPart | None, data_key: bytes | None) -> bytes:
    place = f"memory_contents:{ref.content_id}"
    if part is None or data_key is None:
        raise IntegrityViolation(place, "PART_MISSING")
    if part.content_id != ref.content_id or part.commitment != ref.commitment:
        raise IntegrityViolation(place, "COMMITMENT")
    return open_part(
        data_key,
        part.ciphertext,
        ref.commitment,
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        object_id=core.object_id,
        content_id=ref.content_id,
    )


def _plaintexts(core: VersionCore, texts: dict[PartKind, bytes]) -> Plaintexts:
    try:
        provenance = texts.get(PartKind.PROVENANCE)
        integrity = texts.get(PartKind.INTEGRITY)
        return Plaintexts(
            texts.get(PartKind.CONTENT),
            None if provenance is None else parse_provenance(provenance),
            None if integrity is None else parse_integrity(integrity),
        )
    except MalformedCanonical:
        raise IntegrityViolation(f"memory_versions:{core.version_id}", "PART") from None
