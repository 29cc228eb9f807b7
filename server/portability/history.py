"""Grants and ledgers as they come in: judged here, then kept as history that gives no right.

A ledger of ours is verified link by link, against the head it names; entries of a ledger without a chain are held to the
draft's shape alone (ledger.md, Shape; P-7.7-08, P-15.4-03). Both are kept in clear and nothing erases them, so neither
may hold what no event says: a ledger of ours that does is refused, and of an entry without a chain it is left out.
Raises FieldRefused naming the field.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from authz.permissions import PAMSPEC_OPERATIONS
from server.portability import records
from server.portability.draft_objects import DraftObject
from server.portability.draft_parts import (
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
    states_of,
)
from server.portability.exporting import event_records
from server.wire.json_export import DRAFT_EVENT_TYPES
from server.wire.refusal import FieldRefused
from storage.encryption import IntegrityViolation
from storage.ledger import genesis_hash, leaf_hash
from storage.model.events import EVENT_CLASSES
from storage.model.ledger_rows import EventRow
from storage.model.times import from_datetime

_HASH_BYTES: Final = 32
_LAST_US: Final = from_datetime(datetime.max.replace(tzinfo=UTC))
_NAMES_VERSION: Final = frozenset(
    {
        *("object_created", "object_updated", "object_redacted", "object_deleted", "provenance_updated"),
        *("lifecycle_transitioned", "availability_transitioned", "retention_transitioned", "validation_transitioned"),
        *("relationship_created", "relationship_updated"),
    }
)

_EXTENSION_TYPE: Final = "extension_event_type"
# Beside what events of ours hold: what their entries of the draft say in the payload, and what the draft's own examples do.
_DRAFT_KEYS: Final = frozenset({"delegation_id", _EXTENSION_TYPE, "idempotency_result"})
_WORD_LENGTH_MAX: Final = 1024


def check_delegation(value: Any) -> tuple[str, int, str]:
    """Returns id, number and workspace of a Delegation Object of the draft."""
    required = (
        *("spec_version", "delegation_id", "version_id", "scope_id", "granting_actor", "delegated_actor"),
        *("granted_operations", "policy_basis", "not_before", "not_after", *STATES, "committed_at", "recorded_at"),
        *("sequence", "actor", "provenance"),
    )
    optional = (
        "granted_object_types",
        "granted_object_ids",
        "target_scope_id",
        "revocable",
        "usage_limit",
        "integrity",
    )
    read = DraftObject(value, required, optional)
    check_spec_version(read)
    for name in ("granting_actor", "delegated_actor", "actor"):
        required_part(read, name, actor_of)
    operations = read.texts("granted_operations")
    if not operations or len(set(operations)) < len(operations) or not PAMSPEC_OPERATIONS.issuperset(operations):
        raise FieldRefused("must be operations of the draft, each once", "granted_operations")
    required_text(read, "policy_basis")
    for name in ("not_before", "not_after", "committed_at", "recorded_at"):
        required_time_us(read, name)
    for name in ("version_id", "scope_id"):
        required_id(read, name)
    states_of(read)
    required_part(read, "provenance", provenance_of)
    part(read, "integrity", integrity_of)
    read.texts("granted_object_types")
    read.ids("granted_object_ids")
    read.id("target_scope_id")
    read.flag("revocable")
    read.count("usage_limit")
    return required_id(read, "delegation_id"), required_count(read, "sequence"), required_id(read, "scope_id")


def check_delegation_side(value: Any, delegation_id: str) -> None:
    """Accepts the side record of the grant before it."""
    read = DraftObject(value, ("kind", "delegation_id", "version_id", "max_redelegations"), ("parent_delegation_id",))
    if (read.raw("kind"), read.raw("delegation_id")) != (records.DELEGATION, delegation_id):
        raise FieldRefused("must name the grant before it", "delegation_id")
    read.count("max_redelegations", 0)
    read.id("parent_delegation_id")


def check_event(value: Any) -> tuple[str, int, str]:
    """Returns id, sequence and workspace of a ledger entry of the draft; eleven types always name a version."""
    required = ("event_id", "operation_id", "scope_id", "event_type", "recorded_at", "sequence", "actor")
    read = DraftObject(value, required, ("object_id", "relationship_id", "version_id", "payload"))
    if read.raw("event_type") not in DRAFT_EVENT_TYPES:
        raise FieldRefused("must be an event type of the draft", "event_type")
    if read.raw("event_type") in _NAMES_VERSION and "version_id" not in read:
        raise FieldRefused("is required", "version_id")
    for name in ("object_id", "relationship_id", "version_id"):
        read.text(name)
    if not isinstance(read.raw("payload") or {}, dict):
        raise FieldRefused("must be a JSON object", "payload")
    required_id(read, "operation_id")
    required_time_us(read, "recorded_at")
    required_part(read, "actor", actor_of)
    return required_id(read, "event_id"), required_count(read, "sequence"), required_id(read, "scope_id")


def kept_entry(record: bytes) -> bytes:
    """Returns what is kept of an entry of a ledger without a chain: itself, its payload without what no event says."""
    entry = records.parsed(record)
    payload = entry.get("payload")
    if not isinstance(payload, dict):
        return record
    known = _payload_keys(entry["event_type"]) | _payload_keys(payload.get(_EXTENSION_TYPE)) | _DRAFT_KEYS
    kept = {key: value for key, value in payload.items() if key in known and _is_plain(value)}
    return record if len(kept) == len(payload) else records.value_bytes(entry | {"payload": kept})


def _payload_keys(event_type: object) -> frozenset[str]:
    event_class = EVENT_CLASSES.get(event_type) if isinstance(event_type, str) else None
    return frozenset() if event_class is None else event_class.payload_keys()


def _is_plain(value: object) -> bool:
    """Whether it is what events hold: a word, a number, or a list of words."""
    words = value if isinstance(value, list) else [value]
    return all(
        len(word) <= _WORD_LENGTH_MAX if isinstance(word, str) else isinstance(word, int | float) for word in words
    )


def check_chainless(value: Any) -> None:
    """Accepts the record before entries of a ledger without a chain."""
    required_id(DraftObject(value, ("kind", "scope_id"), ()), "scope_id")


@dataclass(frozen=True, slots=True)
class LedgerIdentity:
    """Whose ledger it is, and the head that its chain must end with."""

    tenant_id: str
    scope_id: str
    ledger_id: UUID
    sequence: int
    chain_hash: bytes


def _hash_of(read: DraftObject, key: str) -> bytes:
    try:
        value = bytes.fromhex(read.text(key) or "")
    except ValueError:
        value = b""
    if len(value) != _HASH_BYTES:
        raise FieldRefused(f"must be {_HASH_BYTES} bytes in hex", key)
    return value


class ForeignChain:
    """A ledger's chain, link by link, from its genesis to the head it names."""

    def __init__(self, value: Any) -> None:
        names = ("kind", "tenant_id", "scope_id", "ledger_id", "sequence", "chain_hash")
        read = DraftObject(value, names, ())
        try:
            ledger_id = UUID(required_text(read, "ledger_id"))
        except ValueError:
            raise FieldRefused("must be a UUID", "ledger_id") from None
        tenant_id, scope_id = required_text(read, "tenant_id"), required_id(read, "scope_id")
        sequence = read.count("sequence", 0)
        assert sequence is not None, "required members were judged before"
        self.identity = LedgerIdentity(tenant_id, scope_id, ledger_id, sequence, _hash_of(read, "chain_hash"))
        self._sequence = 0
        self._hash = genesis_hash(tenant_id, scope_id, ledger_id)

    def take(self, value: Any, draft: bytes | None) -> None:
        """Takes the next event as it was hashed; `draft` is the entry of the draft before it, None when there is none."""
        names = ("kind", "sequence", "recorded_at_us", "use_number", "body", "leaf_hash", "chain_hash")
        read = DraftObject(value, names, ())
        row, workspace, payload = _event_row(read)
        if not isinstance(payload, dict) or not payload.keys() <= _payload_keys(row.event_type):
            raise FieldRefused("is not the body of an event", "body")
        if workspace != (self.identity.tenant_id, self.identity.scope_id):
            raise FieldRefused("is an event of another workspace", "body")
        if row.sequence != self._sequence + 1:
            raise FieldRefused("must follow the event before it", "sequence")
        if leaf_hash(row) != row.leaf_hash:
            raise FieldRefused("is not what was hashed", "leaf_hash")
        link = hashlib.sha256(b"\x01" + self._hash + row.leaf_hash).digest()
        if link != row.chain_hash:
            raise FieldRefused("does not follow from the event before it", "chain_hash")
        self._sequence, self._hash = row.sequence, link
        try:
            made = dict(event_records(row))
        except IntegrityViolation:
            raise FieldRefused("is not the body of an event", "body") from None
        if made.get(records.EVENT) != draft:
            raise FieldRefused("is not the entry before it", "body")

    def close(self) -> None:
        """Raises FieldRefused unless the chain ends with the head it names."""
        if (self._sequence, self._hash) != (self.identity.sequence, self.identity.chain_hash):
            raise FieldRefused("is not where the chain ends", "chain_hash")


def _event_row(read: DraftObject) -> tuple[EventRow, tuple[Any, Any], Any]:
    """The row, the tenant and workspace that its body names, and its payload."""
    try:
        body = b64decode(_long_text(read, "body"), validate=True)
        names = json.loads(body)
        actor_id = names["actor"]["actor_id"]
        own = {name: names[name] for name in ("event_id", "event_type", "operation_id")}
    except (Base64Error, ValueError, KeyError, TypeError, RecursionError):
        raise FieldRefused("is not the body of an event", "body") from None
    recorded_at_us = read.count("recorded_at_us", 0) or 0
    if recorded_at_us > _LAST_US:
        raise FieldRefused("is beyond the year 9999", "recorded_at_us")
    row = EventRow(
        sequence=read.count("sequence") or 0,
        recorded_at_us=recorded_at_us,
        use_number=read.count("use_number", 0) or 0,
        body=body,
        leaf_hash=_hash_of(read, "leaf_hash"),
        chain_hash=_hash_of(read, "chain_hash"),
        actor_id=actor_id,
        **own,
        **{name: names.get(name) for name in ("object_id", "version_id", "delegation_id", "relationship_id")},
    )
    return row, (names.get("tenant_id"), names.get("scope_id")), names.get("payload")


def _long_text(read: DraftObject, key: str) -> str:
    """Returns the string of a required member, bounded by its record alone."""
    value = read.raw(key)
    if not isinstance(value, str):
        raise FieldRefused("must be a string", key)
    return value
