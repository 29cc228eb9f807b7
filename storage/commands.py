"""Commands: what an operation hands over to be committed (write-path.md, "Every change is a command").

A command holds the guards that must still hold under the ledger's lock, the rows to write and the events to append.
It is judged by `remit.commit` alone or together with others of its tenant; one that fails its guard fails alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from storage.model.event_record import EventRecord
from storage.model.times import iso_text


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
    """An administrative change by name (`judge_cold`/`apply_cold` in the migration), with bytes it needs."""

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
    object: ObjectMove | None = None
    versions: Sequence[VersionRow] = ()
    contents: Sequence[ContentRow] = ()
    cold: ColdChange | None = None
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
        body=record.body(tenant_id),
    )


class BatchEncoder:
    """Turns commands of one tenant into the arguments of `remit.commit`."""

    def __init__(self, commands: Sequence[Command]) -> None:
        scopes: set[str] = set()
        for command in commands:
            scopes |= command.scopes()
        self.scopes = sorted(scopes)
        self._position = {scope: index + 1 for index, scope in enumerate(self.scopes)}
        self.blobs: list[bytes] = []
        self._grants: dict[tuple[str, str], int] = {}
        self.commands_json = json.dumps([self._command(command) for command in commands], separators=(",", ":"))

    def _grant(self, home_scope_id: str, delegation_id: str) -> int:
        """The position of a grant among those of the batch, under which its uses are counted."""
        return self._grants.setdefault((home_scope_id, delegation_id), len(self._grants) + 1)

    def _blob(self, value: bytes | None) -> int | None:
        if value is None:
            return None
        self.blobs.append(value)
        return len(self.blobs)

    def _command(self, command: Command) -> dict[str, Any]:
        encoded: dict[str, Any] = {
            "scope": self._position[command.scope_id],
            "events": [self._event(event) for event in command.events],
        }
        revisions = command.revisions
        guarded = {"policy": revisions.policy, "restrict": revisions.restrict, "removal": revisions.removal}
        if any(value is not None for value in guarded.values()):
            encoded["revisions"] = guarded
        if command.also is not None:
            encoded["also"] = {
                "scope": self._position[command.also.scope_id],
                "restrict": command.also.restrict_revision,
            }
        if command.chain is not None:
            encoded["chain"] = {
                "scope": self._position[command.chain.home_scope_id],
                "grants": [
                    {"id": grant_id, "version": version, "n": self._grant(command.chain.home_scope_id, grant_id)}
                    for grant_id, version in command.chain.grants
                ],
                "take_use": command.chain.take_use,
            }
        if command.idempotency is not None:
            encoded["idempotency"] = {
                "actor_id": command.idempotency.actor_id,
                "key": command.idempotency.key,
                "mac": self._blob(command.idempotency.request_mac),
                "result": command.idempotency.result,
            }
        if command.object is not None:
            encoded["object"] = self._object(command.object)
        if command.cold is not None:
            blobs = {name: self._blob(value) for name, value in command.cold.blobs.items()}
            encoded["cold"] = {"op": command.cold.op, **command.cold.fields, **blobs}
        if command.workspace is not None:
            encoded["workspace"] = self._workspace(command.workspace)
        if command.bump:
            encoded["bump"] = dict.fromkeys(command.bump, 1)
        if command.versions:
            encoded["versions"] = [self._version(version) for version in command.versions]
        if command.contents:
            encoded["contents"] = [self._content(content) for content in command.contents]
        return encoded

    def _event(self, event: EventRow) -> dict[str, Any]:
        encoded: dict[str, Any] = {
            "scope": self._position[event.scope_id],
            "id": event.event_id,
            "type": event.event_type,
            "operation_id": event.operation_id,
            "actor_id": event.actor_id,
            "body": self._blob(event.body),
        }
        if event.object_id is not None:
            encoded["object_id"] = event.object_id
        if event.version_id is not None:
            encoded["version_id"] = event.version_id
        if event.delegation_id is not None:
            encoded["delegation_id"] = event.delegation_id
        return encoded

    @staticmethod
    def _object(move: ObjectMove) -> dict[str, Any]:
        encoded: dict[str, Any] = {
            "object_id": move.object_id,
            "expected": move.expected_version_id,
            "object_type": move.object_type,
        }
        if move.version_id is not None:
            encoded |= {"version_id": move.version_id, "sequence": move.sequence, "deleted": move.deleted}
        return encoded

    def _version(self, version: VersionRow) -> dict[str, Any]:
        encoded: dict[str, Any] = {
            "object_id": version.object_id,
            "sequence": version.sequence,
            "version_id": version.version_id,
            "event": version.event_position,
            "core": self._blob(version.core),
            "mac": self._blob(version.mac),
            "mac_key_id": version.mac_key_id,
        }
        if version.integrity_lookup is not None:
            encoded["integrity_lookup"] = self._blob(version.integrity_lookup)
        for name, value in version.columns.items():
            if value is not None:  # an absent column is null
                if name.endswith("_us"):
                    encoded[name[:-3]] = iso_text(value)
                else:
                    encoded[name] = value
        return encoded

    def _content(self, content: ContentRow) -> dict[str, Any]:
        return {
            "object_id": content.object_id,
            "content_id": str(content.content_id),
            "part": content.part,
            "key_page": str(content.key_page),
            "key_slot": content.key_slot,
            "ciphertext": self._blob(content.ciphertext),
            "commitment": self._blob(content.commitment),
        }

    def _workspace(self, opening: WorkspaceOpening) -> dict[str, Any]:
        return {
            "scope": self._position[opening.scope_id],
            "ledger_id": str(opening.ledger_id),
            "scope_kind": opening.scope_kind,
            "parent_scope_id": opening.parent_scope_id,
            "policy": opening.policy,
            "rules": list(opening.rules),
            "bindings": list(opening.bindings),
            "new_tenant": opening.new_tenant,
        }
