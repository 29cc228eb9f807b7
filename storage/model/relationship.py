"""One immutable version of a relationship, without its encrypted parts (PAMSPEC 8.5; P-8.5-01 to P-8.5-06).

A relationship lies in the workspace of its source. `relationship_core_bytes` is what its MAC and its event's digest cover
and what the version row stores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from storage.model.actor import ActorRef, parse_actor
from storage.model.canonical import JsonValue, MalformedCanonical, Shape, canonical_json
from storage.model.memory import PartKind, PartRef, parse_parts, parts_value
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, States, ValidationState

DERIVED_FROM: Final = "derived_from"
"""The type of the relationship from a promoted object to what it was promoted from."""


class Directionality(StrEnum):
    """Whether a relationship has a direction (P-8.5-02)."""

    DIRECTED = "directed"
    BIDIRECTIONAL = "bidirectional"
    UNDIRECTED = "undirected"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipCore:
    """The envelope of one version but its encrypted parts. Times are microseconds since 1970 UTC.

    `sequence` is 1..n within the relationship; the two ends and `target_scope_id`, the workspace of the target where it
    is another, are the same in all its versions. `policy_basis` says on what basis it crosses workspaces.
    """

    tenant_id: str
    scope_id: str
    relationship_id: str
    version_id: str
    sequence: int
    relationship_type: str
    source_object_id: str
    target_object_id: str
    directionality: Directionality
    lifecycle_state: LifecycleState
    availability_state: AvailabilityState
    retention_state: RetentionState
    validation_state: ValidationState
    committed_at_us: int
    recorded_at_us: int
    actor: ActorRef
    provenance_id: str
    parts: Mapping[PartKind, PartRef] = field(hash=False)
    target_scope_id: str | None = None
    policy_basis: str | None = None
    observed_at_us: int | None = None
    asserted_at_us: int | None = None
    valid_from_us: int | None = None
    valid_until_us: int | None = None
    previous_version_id: str | None = None

    @property
    def target_scope(self) -> str:
        """The workspace of the target, also when it is the relationship's own."""
        return self.target_scope_id or self.scope_id

    @property
    def states(self) -> States:
        """The four states."""
        return States(self.lifecycle_state, self.availability_state, self.retention_state, self.validation_state)


_CORE: Final = Shape(
    "relationship core",
    {
        "tenant_id": (str,),
        "scope_id": (str,),
        "relationship_id": (str,),
        "version_id": (str,),
        "sequence": (int,),
        "relationship_type": (str,),
        "source_object_id": (str,),
        "target_object_id": (str,),
        "directionality": (str,),
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
        "target_scope_id": (str,),
        "policy_basis": (str,),
        "observed_at_us": (int,),
        "asserted_at_us": (int,),
        "valid_from_us": (int,),
        "valid_until_us": (int,),
        "previous_version_id": (str,),
    },
)
_ENUMS: Final[Mapping[str, type[StrEnum]]] = {
    "directionality": Directionality,
    "lifecycle_state": LifecycleState,
    "availability_state": AvailabilityState,
    "retention_state": RetentionState,
    "validation_state": ValidationState,
}
_PLAIN_KEYS: Final = (
    "tenant_id",
    "scope_id",
    "relationship_id",
    "version_id",
    "sequence",
    "relationship_type",
    "source_object_id",
    "target_object_id",
    "directionality",
    "lifecycle_state",
    "availability_state",
    "retention_state",
    "validation_state",
    "committed_at_us",
    "recorded_at_us",
    "provenance_id",
    "target_scope_id",
    "policy_basis",
    "observed_at_us",
    "asserted_at_us",
    "valid_from_us",
    "valid_until_us",
    "previous_version_id",
)


def relationship_core_bytes(version: RelationshipCore) -> bytes:
    """Returns the canonical JSON of the version (RFC 8785; absent optional fields omitted)."""
    core: dict[str, JsonValue] = {key: value for key in _PLAIN_KEYS if (value := getattr(version, key)) is not None}
    core["actor"] = version.actor.for_core()
    core["parts"] = parts_value(version.parts)
    return canonical_json(core)


def parse_relationship_core(core: bytes) -> RelationshipCore:
    """Returns the version in `core`; `relationship_core_bytes` of it gives the same bytes.

    Raises MalformedCanonical on anything but what that writes. The bytes must have been authenticated before.
    """
    values = _CORE.parse(core)
    try:
        for key, names in _ENUMS.items():
            values[key] = names(values[key])
    except ValueError as error:
        raise MalformedCanonical("relationship core holds an unknown state or direction") from error
    values["actor"] = parse_actor(values["actor"])
    values["parts"] = parse_parts(values["parts"])
    return RelationshipCore(**values)


_OWNER_PREFIX: Final = "relationship/"


def content_owner(relationship_id: str) -> str:
    """Returns the id under which the encrypted parts of a relationship lie in memory_contents.

    No object has it: an id's scheme holds no slash. So an object of the relationship's id shares nothing with it.
    """
    return _OWNER_PREFIX + relationship_id


def owned_by(content_owner_id: str) -> dict[str, str]:
    """Returns whose encrypted parts lie under an id, as the `object_id` or `relationship_id` that an event names."""
    if content_owner_id.startswith(_OWNER_PREFIX):
        return {"relationship_id": content_owner_id.removeprefix(_OWNER_PREFIX)}
    return {"object_id": content_owner_id}
