"""The ledger's event types: one tagged class each, 1:1 with EventType of the wire (ledger.md; surface.md, section 5).

Payloads hold ids, states, digests, revisions and rule ids, never content. A tool's name is content and so is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final

from storage.model import (
    administration_events,
    derived_events,
    portability_events,
    relationship_events,
    snapshot_events,
    subscription_events,
)
from storage.model.canonical import JsonValue
from storage.model.event_record import BODY_VERSION, Event, EventRecord, VersionEvent

__all__ = ["BODY_VERSION", "EVENT_CLASSES", "Event", "EventRecord", "VersionEvent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectCreated(VersionEvent):
    """An object was created; `policy_revision` is the one its authority was decided at."""

    TYPE: ClassVar[str] = "object_created"

    object_type: str
    lifecycle_state: str
    availability_state: str
    retention_state: str
    validation_state: str
    policy_revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectUpdated(VersionEvent):
    """An object got new content or metadata; `changed_fields` are names of request fields."""

    TYPE: ClassVar[str] = "object_updated"

    changed_fields: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTransitioned(VersionEvent):
    """A dimension moved; `via` names the operation that moved it (P-9.5-02)."""

    from_state: str
    to_state: str
    policy_basis: str
    via: str = "transition"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleTransitioned(StateTransitioned):
    """The lifecycle moved."""

    TYPE: ClassVar[str] = "lifecycle_transitioned"


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailabilityTransitioned(StateTransitioned):
    """The availability moved by Transition (Q15)."""

    TYPE: ClassVar[str] = "availability_transitioned"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionTransitioned(StateTransitioned):
    """The retention moved."""

    TYPE: ClassVar[str] = "retention_transitioned"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationTransitioned(StateTransitioned):
    """The validation moved."""

    TYPE: ClassVar[str] = "validation_transitioned"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceUpdated(Event):
    """A new version rewrote the provenance."""

    TYPE: ClassVar[str] = "provenance_updated"
    NAMES_VERSION: ClassVar[bool] = True

    provenance_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDenied(Event):
    """A call was refused.

    `operation` is the method or action, `denial_reason` the coarse reason the caller saw, `exact_reason` the ledger's.
    `target_digest` is the hex keyed hash of a target the caller may not know exists, `scope_digest` that of an absent
    scope. The grant is named by the record.
    """

    TYPE: ClassVar[str] = "access_denied"

    operation: str
    denial_reason: str
    exact_reason: str
    policy_rule_id: str | None = None
    target_digest: str | None = None
    scope_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRedacted(VersionEvent):
    """An object was redacted, as a whole or in places; `mode` is `suppress` or `erase`.

    Pointers may hold content, so that the event has only keyed commitments to them, hex. `projections_digest` is the hex
    SHA-256 over all parts that stand for erased ones, `job_id` the job that tells what follows.
    """

    TYPE: ClassVar[str] = "object_redacted"

    mode: str
    from_state: str
    to_state: str
    policy_basis: str
    pointer_count: int = 0
    pointer_commitments: tuple[str, ...] = ()
    projections_digest: str | None = None
    job_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectDeleted(VersionEvent):
    """An object got its tombstone; `job_id` is the job that erases its content."""

    TYPE: ClassVar[str] = "object_deleted"

    from_state: str
    to_state: str = "deleted"
    policy_basis: str
    job_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemoryPromoted(Event):
    """Working memory became an object of lasting type; the record names the new object (P-10.10-07)."""

    TYPE: ClassVar[str] = "working_memory_promoted"

    source_object_id: str
    source_version_id: str
    superseding_version_id: str
    target_object_id: str
    target_version_id: str
    relationship_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvoked(Event):
    """An object that records a tool invocation was created (P-10.1-09)."""

    TYPE: ClassVar[str] = "tool_invoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCompleted(Event):
    """An object that records a tool result was created; `outcome` is one of the draft's five words."""

    TYPE: ClassVar[str] = "tool_completed"

    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationGranted(Event):
    """A grant was made. `delegation_digest` is the hex SHA-256 of its version's core bytes."""

    TYPE: ClassVar[str] = "delegation_granted"
    NAMES_VERSION: ClassVar[bool] = True

    delegation_sequence: int
    delegation_digest: str
    granting_actor_id: str
    delegated_actor_id: str
    granted_operations: tuple[str, ...]
    granted_object_types: tuple[str, ...] | None = None
    granted_object_ids: tuple[str, ...] | None = None
    target_scope_id: str | None = None
    policy_basis: str
    not_before_us: int
    not_after_us: int
    revocable: bool
    usage_limit: int | None = None
    parent_delegation_id: str | None = None
    max_redelegations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationRevoked(Event):
    """A grant was revoked; `reason` is the revoker's label."""

    TYPE: ClassVar[str] = "delegation_revoked"
    NAMES_VERSION: ClassVar[bool] = True

    delegation_sequence: int
    delegation_digest: str
    policy_basis: str
    reason: str | None = None


class ExerciseMode(StrEnum):
    """How a grant was exercised."""

    RPC = "rpc"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class Mirrored:
    """The exercise in the target workspace that a home copy stands for (Q32)."""

    scope_id: str
    event_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationExercised(Event):
    """A grant was exercised. `chain` lists the grants from the root to the one exercised."""

    TYPE: ClassVar[str] = "delegation_exercised"

    chain: tuple[str, ...]
    operation: str
    mode: ExerciseMode
    delegation_sequence: int
    policy_revision: int
    mirror_of: Mirrored | None = None

    def payload(self) -> dict[str, JsonValue]:
        """Returns the payload."""
        value: dict[str, JsonValue] = {
            "chain": self.chain,
            "operation": self.operation,
            "mode": self.mode.value,
            "delegation_sequence": self.delegation_sequence,
            "policy_revision": self.policy_revision,
        }
        if self.mirror_of is not None:
            value["mirror_of"] = {"scope_id": self.mirror_of.scope_id, "event_id": self.mirror_of.event_id}
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityViolated(Event):
    """Stored data failed its integrity check when it was read; `place` names the row's kind, `kind` what failed."""

    TYPE: ClassVar[str] = "integrity_violation"

    place: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PropagationJobOpened(Event):
    """A job that erases removed content was opened."""

    TYPE: ClassVar[str] = "propagation_job_opened"

    job_id: str
    kind: str = "erasure"


@dataclass(frozen=True, slots=True, kw_only=True)
class PropagationJobClosed(Event):
    """A job that erases removed content closed; `keys_destroyed` counts the data keys it destroyed."""

    TYPE: ClassVar[str] = "propagation_job_closed"

    job_id: str
    kind: str = "erasure"
    keys_destroyed: int


_MODULES: Final = (
    administration_events,
    derived_events,
    portability_events,
    relationship_events,
    snapshot_events,
    subscription_events,
)

EVENT_CLASSES: Final[Mapping[str, type[Event]]] = MappingProxyType(
    {
        item.TYPE: item
        for item in (*vars().values(), *(item for module in _MODULES for item in vars(module).values()))
        if isinstance(item, type) and issubclass(item, Event) and hasattr(item, "TYPE")
    }
)
"""Every event type by its wire string, those of administration included."""
