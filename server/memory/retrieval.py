"""Stored versions -> what may be given: authenticated, decrypted, and withheld where the gate or a redaction says so.

Every path that gives parts of versions comes through here (memory.md, "One retrieval gate").
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from authz.request import ABSENT, Touched
from server.authority.refusals import StaleFacts
from server.call import Call
from server.domain_errors import (
    ObjectDeleted,
    ObjectNotFound,
    ObjectRedacted,
    RetentionRestriction,
)
from server.memory.authenticity import authenticated_core, data_keys_of, opened
from server.memory.redactions import masked, rulings_over
from server.memory.versions import Plaintexts
from storage.encryption import IntegrityViolation
from storage.model.canonical import MalformedCanonical
from storage.model.memory import PartKind, PartRef, VersionCore
from storage.model.provenance import parse_integrity, parse_provenance
from storage.model.redaction import Redaction
from storage.model.states import AvailabilityState
from storage.objects import Heads, ObjectFacts, ObjectKey, Standing, StoredPart, StoredVersion
from storage.redactions import load_parts
from storage.workspaces import load_heads

TOMBSTONE_CONTENT = b'{"tombstone":true}'
# Versions opened before other work of the loop gets its turn.
_VERSIONS_PER_TURN = 64
_GIVEN_KINDS: Final = (PartKind.CONTENT, PartKind.PROVENANCE, PartKind.INTEGRITY)


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


async def open_versions(
    call: Call, versions: Sequence[tuple[StoredVersion, bool]], *, unmasked: bool = False
) -> list[tuple[VersionCore, Plaintexts]]:
    """Returns core and readable parts of each (version, whether its parts may be given), less what is redacted.

    `unmasked` leaves suppressed parts readable: for who lifts the suppression. Raises IntegrityViolation; a part whose
    key is destroyed or whose row is gone while it may be given is one too. Raises StaleFacts.
    """
    cores = [(authenticated_core(call, stored), stored, given) for stored, given in versions]
    shown = [(core, stored) for core, stored, given in cores if given]
    redactions = await rulings_over(call, shown, hidden_too=unmasked)
    parts = await _parts_of(call, shown, redactions)
    data_keys = await data_keys_of(call, (part for _, part in parts.values()))
    found = []
    for core, stored, given in cores:
        if not given:
            found.append((core, Plaintexts()))
            continue
        texts = {
            kind: opened(call, core.object_id, *named, data_keys)
            for kind in _GIVEN_KINDS
            if (named := parts.get((core.version_id, kind))) is not None
        }
        plaintexts = _plaintexts(core, texts)
        if not unmasked:
            plaintexts = masked(plaintexts, redactions.get(core.object_id))
            is_newest = stored.sequence == stored.newest_sequence
            # What was redacted before it came here is partial without a redaction of ours.
            if is_newest and core.availability_state is AvailabilityState.PARTIALLY_REDACTED:
                plaintexts.is_partial = True
        found.append((core, plaintexts))
    return found


async def _parts_of(
    call: Call, versions: Sequence[tuple[VersionCore, StoredVersion]], redactions: Mapping[str, Redaction]
) -> dict[tuple[str, PartKind], tuple[PartRef, StoredPart | None]]:
    """Returns, by version and kind, what each version is to show and where it lies: a projection where one stands for it."""
    found: dict[tuple[str, PartKind], tuple[PartRef, StoredPart | None]] = {}
    elsewhere: dict[tuple[str, PartKind], tuple[str, PartRef]] = {}
    for core, stored in versions:
        redaction = redactions.get(core.object_id)
        for kind, part in zip(_GIVEN_KINDS, (stored.content, stored.provenance, stored.integrity), strict=True):
            ref = core.parts.get(kind)
            if ref is None or (redaction is not None and ref.content_id in redaction.removed):
                continue
            projection = None if redaction is None else redaction.projections.get(ref.content_id)
            if projection is None:
                found[core.version_id, kind] = (ref, part)
            else:
                elsewhere[core.version_id, kind] = (core.object_id, projection)
    if elsewhere:
        places = {(object_id, ref.content_id) for object_id, ref in elsewhere.values()}
        stored_parts = await load_parts(call.services.database, call.tenant_id, call.scope_id, list(places))
        for key, (object_id, ref) in elsewhere.items():
            found[key] = (ref, stored_parts.get((object_id, ref.content_id)))
    return found


async def open_rows(
    call: Call, versions: Sequence[tuple[StoredVersion, bool]], heads: Heads, *, unmasked: bool = False
) -> list[tuple[VersionCore, Plaintexts]]:
    """Returns what `open_versions` does, for versions that one statement read together with the head.

    Raises StaleFacts, and not IntegrityViolation, when a part is missing because something was removed since.
    """
    found: list[tuple[VersionCore, Plaintexts]] = []
    try:
        for start in range(0, len(versions), _VERSIONS_PER_TURN):
            if start:
                await asyncio.sleep(0)
            found += await open_versions(call, versions[start : start + _VERSIONS_PER_TURN], unmasked=unmasked)
    except IntegrityViolation as violation:
        if violation.kind == "PART_MISSING":
            [now] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
            if now is None or now.removal_revision != heads.removal_revision:
                raise StaleFacts from None
        raise
    return found


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
