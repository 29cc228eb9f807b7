"""A ledger built without the service: hashes, bodies, cores and tables from the format's description alone.

The builder shares no code with the product but the row classes, so that a mistake in the format shows.
"""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from storage.model.ledger_rows import (
    BindingRow,
    CrossScopeRuleRow,
    DelegationRow,
    DelegationVersionRow,
    EventRow,
    HeadRow,
    LedgerIdentity,
    LedgerSource,
    ObjectRow,
    RelationshipRow,
    RelationshipVersionRow,
    RuleRow,
    VersionRow,
)

Row = TypeVar("Row")
BEGIN_US = 1_790_000_000_000_000
LEDGER_ID = UUID(int=7)


def canonical(value: Any) -> bytes:
    """Canonical JSON of values without fractions."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def genesis(identity: LedgerIdentity) -> bytes:
    """Chain hash of sequence 0."""
    tenant, scope = identity.tenant_id.encode(), identity.scope_id.encode()
    framed = struct.pack(">I", len(tenant)) + tenant + struct.pack(">I", len(scope)) + scope
    return hashlib.sha256(b"\x02" + framed + identity.ledger_id.bytes).digest()


def hashed(row: EventRow, previous: bytes) -> EventRow:
    """The row with the hashes that its content has behind `previous`."""
    lock_fields = struct.pack(">qqq", row.sequence, row.recorded_at_us, row.use_number)
    leaf = hashlib.sha256(b"\x00" + lock_fields + row.body).digest()
    return replace(row, leaf_hash=leaf, chain_hash=hashlib.sha256(b"\x01" + previous + leaf).digest())


@dataclass
class Ledger:
    """One workspace's rows, to be edited freely."""

    identity: LedgerIdentity
    events: list[EventRow] = field(default_factory=list)
    versions: list[VersionRow] = field(default_factory=list)
    objects: list[ObjectRow] = field(default_factory=list)
    relationship_versions: list[RelationshipVersionRow] = field(default_factory=list)
    relationships: list[RelationshipRow] = field(default_factory=list)
    delegations: list[DelegationRow] = field(default_factory=list)
    delegation_versions: list[DelegationVersionRow] = field(default_factory=list)
    rules: list[RuleRow] = field(default_factory=list)
    cross_scope_rules: list[CrossScopeRuleRow] = field(default_factory=list)
    bindings: list[BindingRow] = field(default_factory=list)
    head: HeadRow = field(default_factory=lambda: HeadRow(0, b"", 1, 0, 0, 0))

    def copy(self) -> Ledger:
        """An independent copy."""
        return copy.deepcopy(self)

    def tables(self) -> dict[str, Any]:
        """The tables by their names in an export and in a source."""
        names = ("events", "versions", "objects", "relationship_versions", "relationships", "delegations")
        others = ("delegation_versions", "rules", "cross_scope_rules", "bindings")
        return {name: getattr(self, name) for name in (*names, *others)}

    def source(self) -> LedgerSource:
        """The rows as they are read from a database."""
        tables = {name: _stream(rows) for name, rows in self.tables().items()}
        return LedgerSource(identity=self.identity, head=self.head, **tables)

    def rechain(self, begin: int = 1) -> None:
        """Makes every hash right again from a sequence on, the head's too, as somebody would who can write it all."""
        previous = genesis(self.identity) if begin == 1 else self.events[begin - 2].chain_hash
        for index in range(begin - 1, len(self.events)):
            self.events[index] = hashed(self.events[index], previous)
            previous = self.events[index].chain_hash
        self.head = replace(self.head, sequence=self.events[-1].sequence, chain_hash=previous)

    def rewrite(self, sequence: int, **changes: Any) -> None:
        """Changes fields of an event's body (a dict of `payload` is merged) without touching its hashes."""
        row = self.events[sequence - 1]
        body = json.loads(row.body)
        body["payload"].update(changes.pop("payload", {}))
        body.update(changes)
        self.events[sequence - 1] = replace(row, body=canonical(body))

    def find(self, event_type: str, occurrence: int = 0) -> int:
        """Sequence of an event of a type."""
        return [row.sequence for row in self.events if row.event_type == event_type][occurrence]


async def _stream(rows: Iterable[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


class LedgerBuilder:
    """Appends events with the rows they account for, one second apart."""

    def __init__(
        self,
        tenant_id: str = "acme",
        scope_id: str = "ws:one",
        ledger_id: UUID = LEDGER_ID,
        interval_us: int = 1_000_000,
    ) -> None:
        self.ledger = Ledger(LedgerIdentity(tenant_id, scope_id, ledger_id))
        self.now_us = BEGIN_US
        self._interval_us = interval_us
        self._chain_hash = genesis(self.ledger.identity)
        self.ledger.head = HeadRow(0, self._chain_hash, 1, 0, 0, 0)
        self._revision = 0
        self._ids = 0

    def new_id(self) -> str:
        """The next id, the same in every run."""
        self._ids += 1
        return f"urn:uuid:{UUID(int=self._ids)}"

    def append(
        self, event_type: str, payload: dict[str, Any], *, use_number: int = 0, actor_id: str = "actor:ann", **ids: str
    ) -> int:
        """Appends one event; returns its sequence."""
        self.now_us += self._interval_us
        identity, sequence = self.ledger.identity, len(self.ledger.events) + 1
        event_id, operation_id = self.new_id(), f"op:{sequence}"
        columns = {key: ids.get(key) for key in ("object_id", "version_id", "delegation_id", "relationship_id")}
        body = {
            "v": 1,
            "tenant_id": identity.tenant_id,
            "scope_id": identity.scope_id,
            "event_id": event_id,
            "event_type": event_type,
            "operation_id": operation_id,
            "actor": {"actor_id": actor_id, "actor_kind": "agent"},
            "payload": payload,
            **ids,
        }
        row = EventRow(
            sequence=sequence,
            recorded_at_us=self.now_us,
            use_number=use_number,
            body=canonical(body),
            leaf_hash=b"",
            chain_hash=b"",
            event_id=event_id,
            event_type=event_type,
            operation_id=operation_id,
            actor_id=actor_id,
            **columns,
        )
        row = hashed(row, self._chain_hash)
        self._chain_hash = row.chain_hash
        self.ledger.events.append(row)
        self.ledger.head = HeadRow(sequence, row.chain_hash, 1, self._revision, 0, 0)
        return sequence

    def begin(self) -> None:
        """The workspace's own first event, with a rule and a binding."""
        rule = RuleRow("rule:1", "role:owner", "*", "*", "*", "allow")
        binding = BindingRow("actor:ann", "role:owner")
        self.ledger.rules.append(rule)
        self.ledger.bindings.append(binding)
        self._revision = 1
        payload = {"scope_kind": "workspace", "policy": {"require_purpose": False}, "policy_revision": 1}
        self.append("workspace_created", {**payload, "rules": [_fields(rule)], "bindings": [_fields(binding)]})

    def add_rule(self, row: RuleRow | CrossScopeRuleRow) -> None:
        """Adds a rule or a permit."""
        (self.ledger.rules if isinstance(row, RuleRow) else self.ledger.cross_scope_rules).append(row)
        self._change_policy("policy_rule_added", row)

    def remove_rule(self, row: RuleRow) -> None:
        """Removes a rule."""
        self.ledger.rules.remove(row)
        self._change_policy("policy_rule_removed", row)

    def bind(self, row: BindingRow) -> None:
        """Binds an actor."""
        self.ledger.bindings.append(row)
        self._change_policy("role_bound", row)

    def unbind(self, row: BindingRow) -> None:
        """Unbinds an actor."""
        self.ledger.bindings.remove(row)
        self._change_policy("role_unbound", row)

    def _change_policy(self, event_type: str, row: RuleRow | CrossScopeRuleRow | BindingRow) -> None:
        self._revision += 1
        self.append(event_type, {**_fields(row), "policy_revision": self._revision})

    def write(
        self, object_id: str, event_type: str = "object_updated", companion: str | None = None, **core: Any
    ) -> None:
        """Makes the next version of an object, in one event or in two."""
        number = 1 + sum(row.object_id == object_id for row in self.ledger.versions)
        version_id, identity = self.new_id(), self.ledger.identity
        state = {"lifecycle_state": "active", "availability_state": "available", "retention_state": "retained"}
        values = {
            "tenant_id": identity.tenant_id,
            "scope_id": identity.scope_id,
            "object_id": object_id,
            "version_id": version_id,
            "sequence": number,
            "object_type": "fact",
            **state,
            "validation_state": "unverified",
            "committed_at_us": self.now_us,
            "recorded_at_us": self.now_us,
            "actor": {"actor_id": "actor:ann", "actor_kind": "agent"},
            "provenance_id": self.new_id(),
            "parts": {"content": {"content_id": self.new_id(), "commitment": "c0" * 32}},
            **core,
        }
        core_bytes = canonical(values)
        payload = {"object_sequence": number, "envelope_digest": hashlib.sha256(core_bytes).hexdigest()}
        sequence = self.append(event_type, payload, object_id=object_id, version_id=version_id)
        if companion is not None:
            self.append(companion, payload, object_id=object_id, version_id=version_id)
        optional = ("schema_id", "observed_at_us", "asserted_at_us", "valid_from_us", "valid_until_us")
        plain = ("object_type", *state, "validation_state", "provenance_id", "committed_at_us", "recorded_at_us")
        columns = {key: values.get(key) for key in (*optional, *plain)}
        self.ledger.versions.append(
            VersionRow(object_id, version_id, number, sequence, core_bytes, actor_id="actor:ann", **columns)
        )
        self.ledger.objects = [row for row in self.ledger.objects if row.object_id != object_id]
        self.ledger.objects.append(ObjectRow(object_id, values["object_type"], version_id, number))

    def grant(self, delegation_id: str, **terms: Any) -> None:
        """Makes a grant; its window is an hour from now unless `terms` say otherwise."""
        terms = {"not_before_us": self.now_us, "not_after_us": self.now_us + 3_600_000_000, **terms}
        self._name_grant("delegation_granted", delegation_id, 1, terms)

    def revoke(self, delegation_id: str) -> None:
        """Revokes a grant."""
        [core] = [json.loads(row.core) for row in self.ledger.delegation_versions if row.delegation_id == delegation_id]
        keys = ("not_before_us", "not_after_us", "usage_limit", "parent_delegation_id")
        self._name_grant("delegation_revoked", delegation_id, 2, {key: core[key] for key in keys if key in core})

    def _name_grant(self, event_type: str, delegation_id: str, number: int, terms: dict[str, Any]) -> None:
        version_id, identity = self.new_id(), self.ledger.identity
        names = {"tenant_id": identity.tenant_id, "scope_id": identity.scope_id, "delegation_id": delegation_id}
        core = canonical({**names, "version_id": version_id, "sequence": number, "revocable": True, **terms})
        payload = {"delegation_sequence": number, "delegation_digest": hashlib.sha256(core).hexdigest()}
        shown = terms if event_type == "delegation_granted" else {}
        self.append(event_type, {**payload, **shown}, delegation_id=delegation_id, version_id=version_id)
        self.ledger.delegation_versions.append(DelegationVersionRow(delegation_id, version_id, number, core))
        uses = sum(row.uses for row in self.ledger.delegations if row.delegation_id == delegation_id)
        self.ledger.delegations = [row for row in self.ledger.delegations if row.delegation_id != delegation_id]
        self.ledger.delegations.append(DelegationRow(delegation_id, version_id, number, uses, number > 1))

    def exercise(self, *chain: str, **payload: Any) -> int:
        """Uses a grant, named last behind those above it; returns the event's sequence."""
        counted = [replace(row, uses=row.uses + (row.delegation_id in chain)) for row in self.ledger.delegations]
        self.ledger.delegations = counted
        [use_number] = [row.uses for row in counted if row.delegation_id == chain[-1]]
        stated = {"chain": list(chain), "operation": "read", "mode": "rpc", "delegation_sequence": 1, **payload}
        return self.append("delegation_exercised", stated, use_number=use_number, delegation_id=chain[-1])

    def exercise_foreign(self, *chain: str, use_number: int) -> int:
        """Uses a grant whose home is another workspace."""
        payload = {"chain": list(chain), "operation": "read", "mode": "rpc", "delegation_sequence": 1}
        return self.append("delegation_exercised", payload, use_number=use_number, delegation_id=chain[-1])


def _fields(row: RuleRow | CrossScopeRuleRow | BindingRow) -> dict[str, Any]:
    names = {name: getattr(row, name) for name in type(row).__dataclass_fields__}
    return {{"cross_scope_kind": "kind"}.get(name, name): value for name, value in names.items()}


def whole_ledger(scope_id: str = "ws:one", ledger_id: UUID = LEDGER_ID) -> Ledger:
    """A sound ledger in which everything happens that the verification knows."""
    builder = LedgerBuilder(scope_id=scope_id, ledger_id=ledger_id)
    builder.begin()
    builder.write("urn:obj:a", "object_created")
    builder.write(
        "urn:obj:b",
        "object_created",
        object_type="episode",
        schema_id="schema:1",
        observed_at_us=1,
        quality_signals={"assessed_confidence": 0.5},
    )
    builder.write("urn:obj:a", companion="provenance_updated")
    passing = RuleRow("rule:2", "actor:bob", "read", "fact", "urn:obj:a", "deny")
    builder.add_rule(passing)
    builder.add_rule(RuleRow("rule:3", "actor:bob", "read", "fact", "*", "allow"))
    builder.add_rule(CrossScopeRuleRow("rule:4", "ws:two", "delegation"))
    builder.bind(BindingRow("actor:bob", "role:reader"))
    builder.grant("urn:grant:root", usage_limit=5)
    builder.grant("urn:grant:leaf", parent_delegation_id="urn:grant:root", usage_limit=2)
    builder.exercise("urn:grant:root")
    builder.exercise("urn:grant:root", "urn:grant:leaf")
    builder.append(
        "access_denied",
        {"operation": "read", "denial_reason": "NO_RULE"},
        actor_id="actor:eve",
        purpose="é ⟨𝄞⟩ \n\x7f\x01",
    )
    builder.grant("urn:grant:away", target_scope_id="ws:two")
    builder.exercise("urn:grant:away", mirror_of={"scope_id": "ws:two", "event_id": "urn:uuid:1"})
    builder.exercise("urn:grant:root")
    builder.exercise("urn:grant:root", "urn:grant:leaf")
    builder.exercise_foreign("urn:grant:foreign", use_number=3)
    builder.exercise_foreign("urn:grant:foreign", use_number=5)
    builder.remove_rule(passing)
    builder.unbind(BindingRow("actor:bob", "role:reader"))
    builder.append(
        "workspace_created",
        {
            "scope_kind": "project",
            "policy": {},
            "rules": [],
            "bindings": [],
            "policy_revision": 1,
            "created_scope_id": "ws:three",
        },
    )
    builder.revoke("urn:grant:root")
    builder.write("urn:obj:b", "object_deleted", object_type="episode", availability_state="deleted")
    builder.write("urn:obj:a", "lifecycle_transitioned", lifecycle_state="archived")
    return builder.ledger
