"""Commands: what an operation hands over to be committed (write-path.md, "Every change is a command").

A command holds the guards that must still hold under the ledger's lock, the rows to write and the events to append.
It is judged by `remit.commit` alone or together with others of its tenant; one that fails its guard fails alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from storage.model.event_record import EventRecord


class Status(StrEnum):
    """What became of a command. Everything but ACCEPTED wrote nothing."""

    ACCEPTED = "accepted"
    UNCHANGED = "unchanged"
    REPLAYED = "replayed"
    DUPLICATE = "duplicate"
    STALE = "stale"
    DELEGATION = "delegation"
    EXHAUSTED = "exhausted"
    CONFLICT = "conflict"
    EXISTS = "exists"
    ABSENT = "absent"
    DELETED = "deleted"
    SCOPE_EXISTS = "scope_exists"
    LAST_OWNER = "last_owner"
    SEALED = "sealed"
    # A relationship's change is refused; the detail says why.
    RELATIONSHIP = "relationship"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The status of one command with what the function says about it, and the database's clock in microseconds."""

    status: Status
    detail: Mapping[str, Any]
    now_us: int


@dataclass(frozen=True, slots=True)
class Revisions:
    """Revisions of the addressed workspace a decision stands on; None is not guarded."""

    policy: int | None = None
    restrict: int | None = None
    removal: int | None = None


@dataclass(frozen=True, slots=True)
class ChainGuard:
    """Grants root..leaf with the version number each was judged at, all living in `home_scope_id`."""

    home_scope_id: str
    grants: tuple[tuple[str, int], ...]
    take_use: bool


@dataclass(frozen=True, slots=True)
class AlsoGuard:
    """A second workspace the decision stands on, at its restrict revision: the one a cross-scope grant targets."""

    scope_id: str
    restrict_revision: int


@dataclass(frozen=True, slots=True)
class IdempotencyGuard:
    """The caller's key, an HMAC of its request, and the ids from which the answer can be rebuilt."""

    actor_id: str
    key: str
    request_mac: bytes
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectMove:
    """Guard of an object's pointer (`expected_version_id` None: the object must be absent) and its new position."""

    object_id: str
    expected_version_id: str | None
    object_type: str
    version_id: str | None = None
    sequence: int = 1
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One row of memory_versions. `columns` are the filterable repetitions of `core`; times end in `_us`."""

    object_id: str
    sequence: int
    version_id: str
    event_position: int
    columns: Mapping[str, Any]
    integrity_lookup: bytes | None
    core: bytes
    mac: bytes
    mac_key_id: str


@dataclass(frozen=True, slots=True)
class ContentRow:
    """One row of memory_contents: an encrypted part and where its key is."""

    object_id: str
    content_id: UUID
    part: str
    key_page: UUID
    key_slot: int
    ciphertext: bytes
    commitment: bytes


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event to append; `body` is hashed exactly as it is."""

    scope_id: str
    event_id: str
    event_type: str
    operation_id: str
    actor_id: str
    object_id: str | None
    version_id: str | None
    delegation_id: str | None
    body: bytes
    relationship_id: str | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceOpening:
    """A workspace to create with its bootstrap rules (`policy_rules` columns) and bindings; maybe a new tenant's root."""

    scope_id: str
    ledger_id: UUID
    scope_kind: str
    parent_scope_id: str | None
    policy: Mapping[str, Any]
    rules: Sequence[Mapping[str, str]]
    bindings: Sequence[Mapping[str, str]]
    new_tenant: bool = False


@dataclass(frozen=True, slots=True)
class ColdChange:
    """A change by name (`judge_cold`/`apply_cold` and the functions of its area in the migrations), with bytes it needs."""

    op: str
    fields: Mapping[str, Any]
    blobs: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Everything one operation wants committed; see the module's docstring."""

    tenant_id: str
    scope_id: str
    actor_id: str
    events: Sequence[EventRow]
    revisions: Revisions = Revisions()
    also: AlsoGuard | None = None
    chain: ChainGuard | None = None
    idempotency: IdempotencyGuard | None = None
    objects: Sequence[ObjectMove] = ()
    versions: Sequence[VersionRow] = ()
    contents: Sequence[ContentRow] = ()
    colds: Sequence[ColdChange] = ()
    workspace: WorkspaceOpening | None = None
    bump: Sequence[str] = ()
    urgent: bool = False

    def scopes(self) -> set[str]:
        """Every workspace whose head must be locked."""
        found = {self.scope_id}
        if self.also is not None:
            found.add(self.also.scope_id)
        if self.chain is not None:
            found.add(self.chain.home_scope_id)
        if self.workspace is not None:
            found.add(self.workspace.scope_id)
        found.update(event.scope_id for event in self.events)
        return found


def event_row(tenant_id: str, record: EventRecord) -> EventRow:
    """Returns the row of an event record, its body made once."""
    return EventRow(
        scope_id=record.scope_id,
        event_id=record.event_id,
        event_type=record.event.TYPE,
        operation_id=record.operation_id,
        actor_id=record.actor.actor_id,
        object_id=record.object_id,
        version_id=record.version_id,
        delegation_id=record.delegation_id,
        relationship_id=record.relationship_id,
        body=record.body(tenant_id),
    )
