"""Where memory comes from, and the integrity metadata a client gives: the two encrypted parts beside the content.

Both are canonical JSON before they are encrypted (PAMSPEC 8.6, 8.7; memory.md, Encrypted parts).
"""

from dataclasses import dataclass
from typing import Any, Final

from storage.model.actor import ActorRef, parse_actor
from storage.model.canonical import (
    JsonValue,
    MalformedCanonical,
    Shape,
    canonical_json,
    canonical_json_with_floats,
    parse_object,
)

_PROVENANCE: Final = Shape(
    "provenance",
    {"provenance_id": (str,), "actor": (dict,), "activity": (str,), "recorded_at_us": (int,)},
    {
        "source_ref": (str,),
        "evidence_refs": (list,),
        "observed_at_us": (int,),
        "transformation_parent": (str,),
        "source_confidence": (int, float),  # canonical JSON writes 1.0 as 1
        "integrity_ref": (str,),
        "evaluation_run_id": (str,),
    },
)
_INTEGRITY_KEYS: Final = frozenset({"digest", "algorithm", "canonicalization_profile", "signature", "ledger_ref"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Provenance of one version (P-8.6-*). Times are microseconds since 1970 UTC; `source_confidence` is 0..1.

    `evaluation_run_id` marks what an evaluation made (P-18.11-05).
    """

    provenance_id: str
    actor: ActorRef
    activity: str
    recorded_at_us: int
    source_ref: str | None = None
    evidence_refs: tuple[str, ...] = ()
    observed_at_us: int | None = None
    transformation_parent: str | None = None
    source_confidence: float | None = None
    integrity_ref: str | None = None
    evaluation_run_id: str | None = None

    def for_core(self) -> dict[str, JsonValue]:
        """Returns the record as JSON; absent fields are omitted."""
        value: dict[str, JsonValue] = {
            "provenance_id": self.provenance_id,
            "actor": self.actor.for_core(),
            "activity": self.activity,
            "recorded_at_us": self.recorded_at_us,
        }
        optional: dict[str, JsonValue] = {
            "source_ref": self.source_ref,
            "evidence_refs": self.evidence_refs or None,
            "observed_at_us": self.observed_at_us,
            "transformation_parent": self.transformation_parent,
            "source_confidence": self.source_confidence,
            "integrity_ref": self.integrity_ref,
            "evaluation_run_id": self.evaluation_run_id,
        }
        value.update((key, item) for key, item in optional.items() if item is not None)
        return value


def provenance_bytes(provenance: Provenance) -> bytes:
    """Returns the canonical bytes of the record: the plaintext of the part `provenance`."""
    if provenance.source_confidence is None:
        return canonical_json(provenance.for_core())
    return canonical_json_with_floats(provenance.for_core())


def provenance_of(value: object) -> Provenance:
    """Returns the record from its parsed JSON. Raises MalformedCanonical."""
    return _provenance(_PROVENANCE.read(value))


def parse_provenance(data: bytes) -> Provenance:
    """Returns the record in `data`. Raises MalformedCanonical."""
    return _provenance(_PROVENANCE.parse(data))


def _provenance(read: dict[str, Any]) -> Provenance:
    values = {**read, "actor": parse_actor(read["actor"])}
    if "evidence_refs" in read:
        if not all(type(item) is str for item in read["evidence_refs"]):
            raise MalformedCanonical("provenance holds no valid evidence_refs")
        values["evidence_refs"] = tuple(read["evidence_refs"])
    if "source_confidence" in read:
        values["source_confidence"] = float(read["source_confidence"])
    return Provenance(**values)


@dataclass(frozen=True, slots=True)
class Integrity:
    """Integrity metadata a client gives (P-8.7-*); kept and returned, never relied upon."""

    digest: str
    algorithm: str
    canonicalization_profile: str | None = None
    signature: str | None = None
    ledger_ref: str | None = None


def integrity_bytes(integrity: Integrity) -> bytes:
    """Returns the canonical bytes of the metadata: the plaintext of the part `integrity`."""
    optional: dict[str, JsonValue] = {
        "digest": integrity.digest,
        "algorithm": integrity.algorithm,
        "canonicalization_profile": integrity.canonicalization_profile,
        "signature": integrity.signature,
        "ledger_ref": integrity.ledger_ref,
    }
    return canonical_json({key: item for key, item in optional.items() if item is not None})


def parse_integrity(data: bytes) -> Integrity:
    """Returns the metadata in `data`. Raises MalformedCanonical."""
    fields = parse_object(data, "integrity", _INTEGRITY_KEYS)
    return Integrity(
        digest=fields.text("digest"),
        algorithm=fields.text("algorithm"),
        canonicalization_profile=fields.optional_text("canonicalization_profile"),
        signature=fields.optional_text("signature"),
        ledger_ref=fields.optional_text("ledger_ref"),
    )
