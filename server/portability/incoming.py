"""Records of memory as they come in: the draft's JSON and its side record -> a version that could be stored.

Raises FieldRefused naming the field; the value that was refused is never told (P-8.1-01, P-8.1-02, P-8.6-01).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.domain_errors import InvalidObject
from server.memory.versions import Plaintexts
from server.portability.draft_objects import DraftObject
from server.portability.draft_parts import (
    CLAIMED_TIMES,
    STATES,
    actor_of,
    check_spec_version,
    integrity_of,
    part,
    provenance_of,
    required_count,
    required_id,
    required_part,
    required_text,
    required_time_us,
    signals_of,
    states_of,
)
from server.wire.content_schemas import check_content
from server.wire.grammars import is_extension_object_type, is_object_type
from server.wire.json_export import WITHHELD_CONTENT, one_line
from server.wire.refusal import FieldRefused
from storage.model.memory import VersionCore
from storage.model.provenance import Provenance
from storage.model.relationship import Directionality, RelationshipCore
from storage.model.states import AvailabilityState

_ENVELOPE: Final = (
    *("spec_version", "version_id", "scope_id", "canonical_content", *STATES, "committed_at", "recorded_at"),
    *("sequence", "actor", "provenance"),
)
_REMOVED: Final = frozenset({AvailabilityState.REDACTED, AvailabilityState.DELETED})


@dataclass(frozen=True, slots=True)
class IncomingVersion:
    """A version of an object or a relationship: its core without parts, and its readable parts (None: withheld).

    `relationship_refs` are kept beside the envelope exactly as they came, None where there were none (Q02).
    """

    core: VersionCore | RelationshipCore
    plaintexts: Plaintexts
    relationship_refs: tuple[str, ...] | None = None

    @property
    def id(self) -> str:
        """The object's or the relationship's id."""
        return self.core.object_id if isinstance(self.core, VersionCore) else self.core.relationship_id


@dataclass(frozen=True, slots=True)
class Side:
    """What a side record says of its version."""

    content_text: str | None = None
    content_withheld: bool = False
    provenance_withheld: bool = False


NO_SIDE: Final = Side()


def side_of(value: Any, kind: str, id_key: str, record_id: str, version_id: str) -> Side:
    """Returns a side record after checking that it belongs to the version before it."""
    optional = ("canonical_content_text", "content_withheld", "provenance_withheld")
    read = DraftObject(value, ("kind", id_key, "version_id"), optional)
    if (read.raw("kind"), read.raw(id_key), read.raw("version_id")) != (kind, record_id, version_id):
        raise FieldRefused("must name the version before it", "version_id")
    text = read.raw("canonical_content_text")
    if text is not None and not isinstance(text, str):
        raise FieldRefused("must be a string", "canonical_content_text")
    side = Side(text, read.flag("content_withheld") or False, read.flag("provenance_withheld") or False)
    if side.content_withheld and text is not None:
        raise FieldRefused("is there and withheld at once", "canonical_content_text")
    return side


def object_version(value: Any, content_text: str, tenant_id: str, scope_id: str) -> IncomingVersion:
    """Returns the version of a Memory Object. `content_text` is its content's own text; raises FieldRefused.

    The core is one of the workspace that imports; the record's own workspace is for the caller to judge.
    """
    required = (*_ENVELOPE, "object_id", "object_type")
    optional = ("schema_id", *CLAIMED_TIMES, "relationship_refs", "integrity", "quality_signals")
    read = DraftObject(value, required, optional)
    check_spec_version(read)
    object_type = required_text(read, "object_type")
    if not is_object_type(object_type):
        raise FieldRefused("must be a standard object type or an extension type", "object_type")
    schema_id = read.uri("schema_id")
    if schema_id is None and is_extension_object_type(object_type):
        raise FieldRefused("is required for an extension type", "schema_id")
    provenance = required_part(read, "provenance", provenance_of)
    core = VersionCore(
        object_id=required_id(read, "object_id"),
        object_type=object_type,
        schema_id=schema_id,
        quality_signals=part(read, "quality_signals", signals_of),
        **_shared(read, provenance, tenant_id, scope_id),
    )
    return IncomingVersion(core, _plaintexts(read, core, content_text, provenance), read.ids("relationship_refs"))


def relationship_version(value: Any, content_text: str, tenant_id: str, scope_id: str) -> IncomingVersion:
    """Returns the version of a Relationship Object, as `object_version` does."""
    ends = ("relationship_id", "relationship_type", "source_object_id", "target_object_id", "directionality")
    optional = ("target_scope_id", "policy_basis", *CLAIMED_TIMES, "integrity")
    read = DraftObject(value, (*_ENVELOPE, *ends), optional)
    check_spec_version(read)
    if "target_scope_id" in read and "policy_basis" not in read:
        raise FieldRefused("is required of a relationship that crosses workspaces", "policy_basis")
    # A target in the record's own workspace is one here.
    target_scope_id = read.id("target_scope_id")
    provenance = required_part(read, "provenance", provenance_of)
    core = RelationshipCore(
        relationship_id=required_id(read, "relationship_id"),
        relationship_type=required_text(read, "relationship_type"),
        source_object_id=required_id(read, "source_object_id"),
        target_object_id=required_id(read, "target_object_id"),
        directionality=read.one_of("directionality", Directionality),
        target_scope_id=None if target_scope_id == read.raw("scope_id") else target_scope_id,
        policy_basis=read.text("policy_basis", empty=False),
        **_shared(read, provenance, tenant_id, scope_id),
    )
    return IncomingVersion(core, _plaintexts(read, core, content_text, provenance))


def _shared(read: DraftObject, provenance: Provenance, tenant_id: str, scope_id: str) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "scope_id": scope_id,
        "version_id": required_id(read, "version_id"),
        "sequence": required_count(read, "sequence"),
        "committed_at_us": required_time_us(read, "committed_at"),
        "recorded_at_us": required_time_us(read, "recorded_at"),
        "actor": required_part(read, "actor", actor_of),
        "provenance_id": provenance.provenance_id,
        "parts": {},
        **{f"{name}_us": read.time_us(name) for name in CLAIMED_TIMES},
        **states_of(read),
    }


def _plaintexts(
    read: DraftObject, core: VersionCore | RelationshipCore, content_text: str, provenance: Provenance
) -> Plaintexts:
    content: bytes | None = content_text.encode()
    if core.availability_state is AvailabilityState.DELETED:
        content = None  # a tombstone keeps nothing, whatever stands in its place
    elif core.availability_state in _REMOVED and content_text == WITHHELD_CONTENT:
        content = None
    return Plaintexts(content, provenance, part(read, "integrity", integrity_of))


def with_side(version: IncomingVersion, side: Side) -> IncomingVersion:
    """Returns the version with its content byte for byte, and without what its export withheld."""
    content, provenance, integrity = (
        version.plaintexts.content,
        version.plaintexts.provenance,
        version.plaintexts.integrity,
    )
    if side.content_withheld:
        if content is not None and content != WITHHELD_CONTENT.encode():
            raise FieldRefused("is there and withheld at once", "content_withheld")
        content = None
    elif side.content_text is not None and content is not None:
        if one_line(side.content_text).encode() != content:
            raise FieldRefused("is not the content of the record before it", "canonical_content_text")
        content = side.content_text.encode()
    if side.provenance_withheld:
        provenance = None
    return IncomingVersion(version.core, Plaintexts(content, provenance, integrity), version.relationship_refs)


def shape_refusal(version: IncomingVersion, place: str) -> InvalidObject | None:
    """Returns how Create would refuse a content whose type has a closed shape, None when it would not (P-8.2-08).

    `place` is the record's own.
    """
    core, content = version.core, version.plaintexts.content
    if content is None or not isinstance(core, VersionCore):
        return None
    try:
        check_content(core.object_type, content)
    except InvalidObject as refused:
        return InvalidObject(f"{place}.{refused.field}", f"{refused.problem} (memory_object {core.object_id})")
    return None


@dataclass(frozen=True, slots=True)
class VersionedKind:
    """How records of one kind of versioned thing are read."""

    id_key: str
    parse: Callable[[Any, str, str, str], IncomingVersion]


VERSIONED_KINDS: Final[Mapping[str, VersionedKind]] = {
    "memory_object": VersionedKind("object_id", object_version),
    "relationship": VersionedKind("relationship_id", relationship_version),
}
