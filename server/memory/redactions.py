"""What redactions leave of a version: the newest version of an object rules what any of its versions may show.

Every reading path opens versions through `server.memory.retrieval`, which asks here; a path that forgot to would have
to open encrypted parts by itself. Content keeps what no pointer names (`server.wire.json_masks`); of provenance, the
optional fields that pointers name are absent, and an evidence reference that is named alone becomes REDACTED_REFERENCE, so
that the others keep their places. While content is masked, integrity metadata is not given: it covers what is masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from server.authority.refusals import StaleFacts
from server.call import Call
from server.memory.authenticity import core_alone, data_keys_of, opened
from server.memory.versions import Plaintexts
from server.wire.json_masks import mask_json
from storage.encryption import IntegrityViolation
from storage.model.canonical import MalformedCanonical
from storage.model.memory import PartKind, VersionCore
from storage.model.provenance import Provenance
from storage.model.redaction import Redaction, parse_redaction
from storage.model.states import AvailabilityState
from storage.objects import StoredPart, StoredVersion
from storage.redactions import StoredCore, load_ruling_versions

REDACTED_REFERENCE: Final = "urn:remit:redacted"
"""What stands for a masked evidence reference."""

PROVENANCE_FIELDS: Final = (
    "source_ref",
    "observed_at",
    "transformation_parent",
    "source_confidence",
    "integrity_ref",
)
"""The optional fields of provenance that a pointer may name, beside `evidence_refs` and its elements."""

_COLUMNS: Final = {"observed_at": "observed_at_us"}
_REMOVED: Final = (AvailabilityState.REDACTED, AvailabilityState.DELETED)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The newest version of an object and the redactions in force by it, None when nothing is redacted."""

    core: VersionCore
    redaction: Redaction | None


async def rulings_over(
    call: Call, versions: Iterable[tuple[VersionCore, StoredVersion]], *, hidden_too: bool = False
) -> dict[str, Redaction]:
    """Returns the redactions in force on those of the objects that have any, by object id.

    The newest version of an object rules itself; for an older one the newest is looked up, and was written no earlier
    than what was read. Raises StaleFacts when it hides the object as a whole meanwhile (`hidden_too` takes that for who
    is to show it again), and IntegrityViolation.
    """
    asked = {
        core.object_id: stored
        for core, stored in versions
        if PartKind.REDACTION in core.parts or stored.sequence != stored.newest_sequence
    }
    if not asked:
        return {}
    found = await load_ruling_versions(call.services.database, call.tenant_id, call.scope_id, list(asked))
    rulings = await _opened_rulings(call, found)
    for object_id, stored in asked.items():
        ruling = rulings.get(object_id)
        if ruling is None:
            raise IntegrityViolation(f"memory_objects:{object_id}", "VERSION_MISSING")
        if ruling.core.sequence < max(stored.sequence, stored.newest_sequence):
            raise IntegrityViolation(f"memory_objects:{object_id}", "VERSION_MISSING")
        if ruling.core.availability_state in _REMOVED and not hidden_too:
            if ruling.core.sequence == stored.newest_sequence:
                # The columns by which the gate judged the object say something else than what was written.
                raise IntegrityViolation(f"memory_versions:{ruling.core.version_id}", "COLUMNS")
            raise StaleFacts
    return {object_id: ruling.redaction for object_id, ruling in rulings.items() if ruling.redaction is not None}


async def redaction_of(call: Call, object_id: str) -> Redaction | None:
    """Returns the redactions in force on one object, also when it is hidden as a whole. Raises IntegrityViolation."""
    found = await load_ruling_versions(call.services.database, call.tenant_id, call.scope_id, [object_id])
    return (await _opened_rulings(call, found))[object_id].redaction


async def _opened_rulings(
    call: Call, found: Mapping[str, tuple[StoredCore, Mapping[UUID, StoredPart]]]
) -> dict[str, Ruling]:
    cores = {object_id: core_alone(call, stored) for object_id, (stored, _) in found.items()}
    parts = {
        object_id: found[object_id][1].get(core.parts[PartKind.REDACTION].content_id)
        for object_id, core in cores.items()
        if PartKind.REDACTION in core.parts
    }
    data_keys = await data_keys_of(call, parts.values())
    rulings = {}
    for object_id, core in cores.items():
        redaction = None
        if object_id in parts:
            text = opened(call, object_id, core.parts[PartKind.REDACTION], parts[object_id], data_keys)
            try:
                redaction = parse_redaction(text)
            except MalformedCanonical:
                raise IntegrityViolation(f"memory_versions:{core.version_id}", "PART") from None
        rulings[object_id] = Ruling(core, redaction)
    return rulings


def masked(plaintexts: Plaintexts, redaction: Redaction | None) -> Plaintexts:
    """Returns the parts of a version as the redactions in force let them be seen."""
    if redaction is None:
        return plaintexts
    content, provenance = plaintexts.content, plaintexts.provenance
    return Plaintexts(
        None if content is None else mask_json(content, redaction.content_pointers)[0],
        None if provenance is None else mask_provenance(provenance, redaction.provenance_pointers)[0],
        None if redaction.hides_content else plaintexts.integrity,
        is_partial=True,
    )


def without_erased(plaintexts: Plaintexts, redaction: Redaction | None) -> Plaintexts:
    """Returns new parts of an object as they may be stored: what was erased is not stored again."""
    if redaction is None or not redaction.is_erasure:
        return plaintexts
    content, provenance, integrity = plaintexts.content, plaintexts.provenance, plaintexts.integrity
    if content is not None:
        content, found = mask_json(content, redaction.erased)
        integrity = None if found else integrity
    if provenance is not None:
        provenance, _ = mask_provenance(provenance, redaction.erased_provenance)
    return Plaintexts(content, provenance, integrity)


def mask_provenance(provenance: Provenance, pointers: Sequence[str]) -> tuple[Provenance, frozenset[str]]:
    """Returns the provenance without what the pointers name, and those of them that name something in it."""
    matched = set()
    without: dict[str, Any] = {}
    refs = list(provenance.evidence_refs)
    for pointer in pointers:
        name, _, place = pointer[1:].partition("/")
        if name == "evidence_refs":
            if not place and refs:
                matched.add(pointer)
                without["evidence_refs"] = ()
            elif place and int(place) < len(refs):
                matched.add(pointer)
                refs[int(place)] = REDACTED_REFERENCE
            continue
        column = _COLUMNS.get(name, name)
        if getattr(provenance, column) is not None:
            matched.add(pointer)
            without[column] = None
    if not matched:
        return provenance, frozenset()
    return replace(provenance, **{"evidence_refs": tuple(refs)} | without), frozenset(matched)


def is_provenance_pointer(pointer: str) -> bool:
    """Returns whether the pointer names an optional field of provenance, or one of its evidence references."""
    name, slash, place = pointer[1:].partition("/")
    if not pointer.startswith("/"):
        return False
    if name == "evidence_refs":
        return not slash or (place.isascii() and place.isdigit() and len(place) < 5 and str(int(place)) == place)
    return name in PROVENANCE_FIELDS and not slash
