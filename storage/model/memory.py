"""One immutable version of a memory object, without its encrypted parts (memory.md, Objects and versions; PAMSPEC 8.1).

`core_bytes` is what the envelope's MAC and digest cover and what the version row stores.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Final
from uuid import UUID

from storage.model.actor import ActorRef, parse_actor
from storage.model.canonical import (
    Fields,
    JsonValue,
    MalformedCanonical,
    Shape,
    canonical_json,
    canonical_json_with_floats,
)
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

__all__ = [
    "SPEC_VERSION",
    "ActorRef",
    "MalformedCanonical",
    "PartKind",
    "PartRef",
    "QualitySignals",
    "VersionCore",
    "core_bytes",
    "envelope_digest",
    "parse_core",
]

SPEC_VERSION: Final = "0.1.0-draft"
"""The draft's version that every envelope names (P-8.1-02)."""


class PartKind(StrEnum):
    """An encrypted part of a version."""

    CONTENT = "content"
    PROVENANCE = "provenance"
    INTEGRITY = "integrity"
    REDACTION = "redaction"


@dataclass(frozen=True, slots=True)
class PartRef:
    """Where an encrypted part lies and the salted commitment (32 bytes) it must match."""

    content_id: UUID
    commitment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class QualitySignals:
    """Machine-made quality signals (P-8.1-22..25): five scores in 0..1, times in microseconds since 1970 UTC."""

    assessed_confidence: float | None = None
    contradiction_score: float | None = None
    staleness_score: float | None = None
    evidence_strength: float | None = None
    source_diversity: float | None = None
    last_verified_at_us: int | None = None
    last_verified_by_actor_id: str | None = None
    verification_method_id: str | None = None
    assessed_at_us: int | None = None
    assessed_by_actor_id: str | None = None


SCORES: Final = (
    "assessed_confidence",
    "contradiction_score",
    "staleness_score",
    "evidence_strength",
    "source_diversity",
)
"""The quality signals that are numbers in 0..1."""

_SIGNAL_KEYS: Final = tuple(item.name for item in fields(QualitySignals))


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCore:
    """The envelope of one version but its encrypted parts. Times are microseconds since 1970 UTC.

    `sequence` is 1..n within the object; `parts` names the encrypted parts (a tombstone has none); `committed_at_us`
    and `recorded_at_us` are the service's, the other times are client claims.
    """

    tenant_id: str
    scope_id: str
    object_id: str
    version_id: str
    sequence: int
    object_type: str
    lifecycle_state: LifecycleState
    availability_state: AvailabilityState
    retention_state: RetentionState
    validation_state: ValidationState
    committed_at_us: int
    recorded_at_us: int
    actor: ActorRef
    provenance_id: str
    parts: Mapping[PartKind, PartRef] = field(hash=False)
    schema_id: str | None = None
    observed_at_us: int | None = None
    asserted_at_us: int | None = None
    valid_from_us: int | None = None
    valid_until_us: int | None = None
    quality_signals: QualitySignals | None = None
    previous_version_id: str | None = None


_CORE: Final = Shape(
    "version core",
    {
        "tenant_id": (str,),
        "scope_id": (str,),
        "object_id": (str,),
        "version_id": (str,),
        "sequence": (int,),
        "object_type": (str,),
        "lifecycle_state": (str,),
        "availability_state": (str,),
        "retention_state": (str,),
        "validation_state": (str,),
        "committed_at_us": (int,),
        "recorded_at_us": (int,),
        "actor": (dict,),
        "provenance_id": (str,),
        "parts": (dict,),
    },
    {
        "schema_id": (str,),
        "observed_at_us": (int,),
        "asserted_at_us": (int,),
        "valid_from_us": (int,),
        "valid_until_us": (int,),
        "quality_signals": (dict,),
        "previous_version_id": (str,),
    },
)
_STATES: Final[Mapping[str, Mapping[str, StrEnum]]] = {
    "lifecycle_state": {state.value: state for state in LifecycleState},
    "availability_state": {state.value: state for state in AvailabilityState},
    "retention_state": {state.value: state for state in RetentionState},
    "validation_state": {state.value: state for state in ValidationState},
}
_PART_KINDS: Final = {kind.value: kind for kind in PartKind}
_PARTS: Final = Shape("parts", {}, dict.fromkeys(_PART_KINDS, (dict,)))
_PART: Final = Shape("part", {"content_id": (str,), "commitment": (str,)}, {})
_OPTIONAL_KEYS: Final = (
    "schema_id",
    "observed_at_us",
    "asserted_at_us",
    "valid_from_us",
    "valid_until_us",
    "previous_version_id",
)


def core_bytes(version: VersionCore) -> bytes:
    """Returns the canonical JSON of the version (RFC 8785; absent optional fields omitted)."""
    core: dict[str, JsonValue] = {
        "tenant_id": version.tenant_id,
        "scope_id": version.scope_id,
        "object_id": version.object_id,
        "version_id": version.version_id,
        "sequence": version.sequence,
        "object_type": version.object_type,
        "lifecycle_state": version.lifecycle_state,
        "availability_state": version.availability_state,
        "retention_state": version.retention_state,
        "validation_state": version.validation_state,
        "committed_at_us": version.committed_at_us,
        "recorded_at_us": version.recorded_at_us,
        "actor": version.actor.for_core(),
        "provenance_id": version.provenance_id,
        "parts": parts_value(version.parts),
    }
    for key in _OPTIONAL_KEYS:
        value = getattr(version, key)
        if value is not None:
            core[key] = value
    signals = version.quality_signals
    if signals is None:
        return canonical_json(core)
    core["quality_signals"] = {key: value for key in _SIGNAL_KEYS if (value := getattr(signals, key)) is not None}
    return canonical_json_with_floats(core)


def parts_value(parts: Mapping[PartKind, PartRef]) -> dict[str, JsonValue]:
    """Returns the references to encrypted parts as a core holds them."""
    return {
        kind: {"content_id": str(part.content_id), "commitment": part.commitment.hex()} for kind, part in parts.items()
    }


def envelope_digest(core: bytes) -> str:
    """Returns the hex SHA-256 of a version's core bytes, as the version's events carry it (ledger.md, Shape)."""
    return hashlib.sha256(core).hexdigest()


def parse_core(core: bytes) -> VersionCore:
    """Returns the version in `core`; `core_bytes` of it gives the same bytes.

    Raises MalformedCanonical on anything but what `core_bytes` writes, unknown keys included. The bytes must have been
    authenticated before.
    """
    values = _CORE.parse(core)
    try:
        for key, states in _STATES.items():
            values[key] = states[values[key]]
    except KeyError as error:
        raise MalformedCanonical("version core holds an unknown state") from error
    values["actor"] = parse_actor(values["actor"])
    values["parts"] = parse_parts(values["parts"])
    if "quality_signals" in values:
        values["quality_signals"] = _parse_signals(values["quality_signals"])
    return VersionCore(**values)


def parse_parts(value: object) -> Mapping[PartKind, PartRef]:
    """Returns the references to encrypted parts in a core; raises MalformedCanonical."""
    read = _PARTS.read(value)
    try:
        return {
            kind: PartRef(UUID(part["content_id"]), bytes.fromhex(part["commitment"]))
            for name, kind in _PART_KINDS.items()
            if name in read and (part := _PART.read(read[name]))
        }
    except MalformedCanonical:
        raise
    except ValueError as error:
        raise MalformedCanonical("parts hold no reference to a part") from error


def _parse_signals(value: object) -> QualitySignals:
    read = Fields(value, "quality_signals", frozenset(_SIGNAL_KEYS))
    return QualitySignals(
        assessed_confidence=read.optional_number("assessed_confidence"),
        contradiction_score=read.optional_number("contradiction_score"),
        staleness_score=read.optional_number("staleness_score"),
        evidence_strength=read.optional_number("evidence_strength"),
        source_diversity=read.optional_number("source_diversity"),
        last_verified_at_us=read.optional_integer("last_verified_at_us"),
        last_verified_by_actor_id=read.optional_text("last_verified_by_actor_id"),
        verification_method_id=read.optional_text("verification_method_id"),
        assessed_at_us=read.optional_integer("assessed_at_us"),
        assessed_by_actor_id=read.optional_text("assessed_by_actor_id"),
    )
