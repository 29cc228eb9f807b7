"""Commands -> the arguments of `remit.commit`: scopes by position, one JSON text, and the bytes it names by position."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from storage.commands import (
    ColdChange,
    Command,
    ContentRow,
    EventRow,
    ObjectMove,
    VersionRow,
    WorkspaceOpening,
)
from storage.model.times import iso_text


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
        if command.objects:
            encoded["objects"] = [self._object(move) for move in command.objects]
        if command.colds:
            encoded["colds"] = [self._cold(change) for change in command.colds]
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
        if event.relationship_id is not None:
            encoded["relationship_id"] = event.relationship_id
        if event.delegation_id is not None:
            encoded["delegation_id"] = event.delegation_id
        return encoded

    def _cold(self, change: ColdChange) -> dict[str, Any]:
        blobs = {name: self._blob(value) for name, value in change.blobs.items()}
        return {"op": change.op, **change.fields, **blobs}

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
