"""The redactions in force on an object: the plaintext of the part `redaction` of its current version.

A version's core names the part by its commitment, so the event of the redaction, which carries the core's digest, binds
the pointers and every projection that stands for an erased part (P-10.9-*, Q16, Q17; memory.md, "Encrypted parts").
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final
from uuid import UUID

from storage.model.canonical import Fields, JsonValue, MalformedCanonical, canonical_json, parse_object
from storage.model.memory import PartRef

_KEYS: Final = frozenset(
    {
        "v",
        "suppressed",
        "suppressed_provenance",
        "erased",
        "erased_provenance",
        "whole_erased",
        "projections",
        "removed",
    }
)
_PROJECTION_KEYS: Final = frozenset({"content_id", "commitment"})
_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What is redacted of an object, in all its versions.

    Pointers are RFC 6901 texts, sorted: into the content, and into the provenance. What is `suppressed` is masked when
    it is read; what is `erased` is gone from what is stored, and is masked in whatever is written later. `projections`
    gives for the content id of an erased part the part that stands for it; `removed` are parts that nothing stands for.
    """

    suppressed: tuple[str, ...] = ()
    suppressed_provenance: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    erased_provenance: tuple[str, ...] = ()
    whole_erased: bool = False
    projections: Mapping[UUID, PartRef] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    removed: frozenset[UUID] = frozenset()

    @property
    def is_erasure(self) -> bool:
        """Something is gone for good, so that the object can't be restored (Q16)."""
        return self.whole_erased or bool(self.erased or self.erased_provenance)

    @property
    def hides_content(self) -> bool:
        """Some of the content is masked, so that a digest over all of it must not be given."""
        return bool(self.suppressed or self.erased)

    @property
    def content_pointers(self) -> tuple[str, ...]:
        """Every pointer into the content."""
        return (*self.erased, *self.suppressed)

    @property
    def provenance_pointers(self) -> tuple[str, ...]:
        """Every pointer into the provenance."""
        return (*self.erased_provenance, *self.suppressed_provenance)

    def suppressing(self, content: tuple[str, ...], provenance: tuple[str, ...]) -> Redaction:
        """Returns these redactions with more that is masked; what is erased stays erased."""
        return replace(
            self,
            suppressed=_united(self.suppressed, set(content) - set(self.erased)),
            suppressed_provenance=_united(self.suppressed_provenance, set(provenance) - set(self.erased_provenance)),
        )

    def erasing(self, content: tuple[str, ...], provenance: tuple[str, ...]) -> Redaction:
        """Returns these redactions with more that is erased; it need no longer be masked."""
        return replace(
            self,
            suppressed=tuple(pointer for pointer in self.suppressed if pointer not in content),
            suppressed_provenance=tuple(p for p in self.suppressed_provenance if p not in provenance),
            erased=_united(self.erased, content),
            erased_provenance=_united(self.erased_provenance, provenance),
        )

    def projections_digest(self) -> str | None:
        """Returns the hex SHA-256 over all projections by the id of what they stand for; None when there are none."""
        if not self.projections:
            return None
        digest = hashlib.sha256()
        for content_id, ref in sorted(self.projections.items()):
            digest.update(content_id.bytes + ref.content_id.bytes + ref.commitment)
        return digest.hexdigest()


def _united(first: tuple[str, ...], more: set[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*first, *more}))


def redaction_bytes(redaction: Redaction) -> bytes:
    """Returns the canonical bytes of the redactions: the plaintext of the part `redaction`."""
    projections: dict[str, JsonValue] = {
        str(content_id): {"content_id": str(ref.content_id), "commitment": ref.commitment.hex()}
        for content_id, ref in redaction.projections.items()
    }
    return canonical_json(
        {
            "v": _VERSION,
            "suppressed": redaction.suppressed,
            "suppressed_provenance": redaction.suppressed_provenance,
            "erased": redaction.erased,
            "erased_provenance": redaction.erased_provenance,
            "whole_erased": redaction.whole_erased,
            "projections": projections,
            "removed": sorted(str(content_id) for content_id in redaction.removed),
        }
    )


def parse_redaction(data: bytes) -> Redaction:
    """Returns the redactions in `data`. Raises MalformedCanonical."""
    read = parse_object(data, "redaction", _KEYS)
    if read.integer("v") != _VERSION:
        raise MalformedCanonical("redaction is of an unknown form")
    try:
        return Redaction(
            suppressed=_pointers(read, "suppressed"),
            suppressed_provenance=_pointers(read, "suppressed_provenance"),
            erased=_pointers(read, "erased"),
            erased_provenance=_pointers(read, "erased_provenance"),
            whole_erased=read.flag("whole_erased"),
            projections=MappingProxyType(_projections(read.raw("projections"))),
            removed=frozenset(UUID(content_id) for content_id in _pointers(read, "removed")),
        )
    except MalformedCanonical:
        raise
    except ValueError as error:
        raise MalformedCanonical("redaction names a part wrongly") from error


def _pointers(read: Fields, key: str) -> tuple[str, ...]:
    texts = read.optional_texts(key)
    if texts is None:
        raise MalformedCanonical(f"redaction holds no {key}")
    return texts


def _projections(value: object) -> dict[UUID, PartRef]:
    read = Fields(value, "projections")
    found = {}
    for key in sorted(read.keys()):
        part = Fields(read.raw(key), "projection", _PROJECTION_KEYS)
        found[UUID(key)] = PartRef(UUID(part.text("content_id")), bytes.fromhex(part.text("commitment")))
    return found
