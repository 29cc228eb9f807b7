"""An export of any length, of the events that a busy workspace has most."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from storage.ledger_export import delegation_version_line, event_line, head_line, header_line, table_line, version_line
from storage.model.ledger_rows import (
    DelegationRow,
    DelegationVersionRow,
    EventRow,
    HeadRow,
    LedgerIdentity,
    ObjectRow,
    VersionRow,
)
from tests.storage.synthetic_ledger import BEGIN_US, canonical, genesis, hashed

_GRANTS = 8
_STATES: dict[str, Any] = {
    "lifecycle_state": "active",
    "availability_state": "available",
    "retention_state": "retained",
    "validation_state": "unverified",
}
_ANN: dict[str, Any] = {"actor_id": "actor:ann", "actor_kind": "agent"}


def write_typical_export(path: Path, event_count: int) -> None:
    """Writes creates with their versions, uses of grants and refusals, a third each, in no order."""
    with path.open("w", encoding="utf-8") as file:
        _Writer(file, event_count).write()


class _Writer:
    def __init__(self, file: TextIO, event_count: int) -> None:
        self._file = file
        self._event_count = event_count
        self._random = random.Random(event_count)
        self._identity = LedgerIdentity("acme", f"workspace:{self._id()}", UUID(int=1))
        self._names = {"tenant_id": self._identity.tenant_id, "scope_id": self._identity.scope_id}
        self._chain = genesis(self._identity)
        self._sequence = 0
        self._now_us = BEGIN_US
        # What follows the events; versions are kept as lines.
        self._versions: list[str] = []
        self._objects: list[str] = []
        self._grants: dict[str, list[Any]] = {}

    def write(self) -> None:
        self._line(header_line(self._identity))
        for _ in range(_GRANTS):
            self._grant()
        while self._sequence < self._event_count:
            self._random.choice((self._create, self._exercise, self._refuse))()
        for line in (*self._versions, *self._objects):
            self._line(line)
        for grant_id, (version_id, uses, _) in self._grants.items():
            self._line(table_line(DelegationRow(grant_id, version_id, 1, uses, False)))
        for grant_id, (version_id, _, core) in self._grants.items():
            self._line(delegation_version_line(DelegationVersionRow(grant_id, version_id, 1, core)))
        self._line(head_line(HeadRow(self._sequence, self._chain, 1, 0, 0, 0)))

    def _line(self, line: str) -> None:
        self._file.write(line + "\n")

    def _id(self) -> str:
        return f"urn:uuid:{UUID(int=self._random.getrandbits(128))}"

    def _event(self, event_type: str, actor: dict[str, Any], payload: dict[str, Any], use: int = 0, **ids: str) -> int:
        self._sequence += 1
        self._now_us += self._random.randrange(10_000)
        own = {"event_id": self._id(), "event_type": event_type, "operation_id": self._id()}
        body = canonical({"v": 1, **self._names, **own, "actor": actor, "payload": payload, **ids})
        columns: dict[str, Any] = {key: ids.get(key) for key in ("object_id", "version_id", "delegation_id")}
        row = EventRow(self._sequence, self._now_us, use, body, b"", b"", **own, actor_id=actor["actor_id"], **columns)
        row = hashed(row, self._chain)
        self._chain = row.chain_hash
        self._line(event_line(row))
        return self._sequence

    def _grant(self) -> None:
        grant_id, version_id = self._id(), self._id()
        terms: dict[str, Any] = {"not_before_us": 0, "not_after_us": 2 * BEGIN_US, "usage_limit": 10**9}
        core = canonical({**self._names, "delegation_id": grant_id, "version_id": version_id, "sequence": 1, **terms})
        payload = {"delegation_sequence": 1, "delegation_digest": hashlib.sha256(core).hexdigest(), **terms}
        self._event("delegation_granted", _ANN, payload, delegation_id=grant_id, version_id=version_id)
        self._grants[grant_id] = [version_id, 0, core]

    def _create(self) -> None:
        object_id, version_id, provenance_id = self._id(), self._id(), self._id()
        part = {"content_id": self._id(), "commitment": self._random.randbytes(32).hex()}
        columns: dict[str, Any] = {**_STATES, "object_type": "claim", "provenance_id": provenance_id}
        columns |= {"committed_at_us": self._now_us, "recorded_at_us": self._now_us}
        own = {"object_id": object_id, "version_id": version_id, "sequence": 1, "actor": _ANN}
        core = canonical({**self._names, **own, **columns, "parts": {"content": part, "provenance": part}})
        digest = hashlib.sha256(core).hexdigest()
        payload = {**_STATES, "envelope_digest": digest, "object_sequence": 1, "object_type": "claim"}
        payload["policy_revision"] = 1
        sequence = self._event("object_created", _ANN, payload, object_id=object_id, version_id=version_id)
        columns |= dict.fromkeys(("schema_id", "observed_at_us", "asserted_at_us", "valid_from_us", "valid_until_us"))
        row = VersionRow(object_id, version_id, 1, sequence, core, actor_id="actor:ann", **columns)
        self._versions.append(version_line(row))
        self._objects.append(table_line(ObjectRow(object_id, "claim", version_id, 1)))

    def _exercise(self) -> None:
        grant_id = self._random.choice(list(self._grants))
        self._grants[grant_id][1] += 1
        actor = {"actor_id": "actor:bob", "actor_kind": "agent", "delegation_id": grant_id}
        payload = {"chain": [grant_id], "delegation_sequence": 1, "mode": "rpc", "operation": "read"}
        ids = {"delegation_id": grant_id, "object_id": self._id()}
        actor["on_behalf_of_actor_id"] = "actor:ann"
        self._event("delegation_exercised", actor, payload, self._grants[grant_id][1], **ids)

    def _refuse(self) -> None:
        payload = {"denial_reason": "NO_RULE", "exact_reason": "NO_RULE", "operation": "read"}
        payload["target_digest"] = self._random.randbytes(32).hex()
        self._event("access_denied", {"actor_id": "actor:eve", "actor_kind": "agent"}, payload)
