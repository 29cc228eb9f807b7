"""Events of relationships (surface.md, section 5). The record names the relationship."""

from dataclasses import dataclass
from typing import ClassVar

from storage.model.event_record import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipCreated(Event):
    """A relationship was created; `envelope_digest` is the hex SHA-256 of its version's core bytes."""

    TYPE: ClassVar[str] = "relationship_created"
    NAMES_VERSION: ClassVar[bool] = True

    relationship_sequence: int
    envelope_digest: str
    source_object_id: str
    target_object_id: str
    relationship_type: str
    target_scope_id: str | None = None
    policy_basis: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipUpdated(Event):
    """A relationship got a new version; `changed_fields` are names of request fields."""

    TYPE: ClassVar[str] = "relationship_updated"
    NAMES_VERSION: ClassVar[bool] = True

    relationship_sequence: int
    envelope_digest: str
    source_object_id: str
    target_object_id: str
    relationship_type: str
    changed_fields: tuple[str, ...]
    target_scope_id: str | None = None
    policy_basis: str | None = None
