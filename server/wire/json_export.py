"""Envelopes, grants and events as JSON records of the draft, each with a side record for what has no place there.

The draft's schemas are closed, so nothing of ours goes into a draft record; an importer that knows the side record gets
everything back, byte for byte (P-8.2-05, P-8.5-01, P-15.4-03; Q04, Q05, Q06).
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message

from remit.v1 import common_pb2, delegation_pb2, ledger_pb2, memory_pb2, snapshot_pb2
from server.wire.enum_numbers import (
    AVAILABILITY_NAMES,
    DIRECTIONALITY_NAMES,
    EVENT_TYPE_NAMES,
    LIFECYCLE_NAMES,
    RETENTION_NAMES,
    VALIDATION_NAMES,
)
from server.wire.json_text import read_json_text
from server.wire.times import microseconds_of
from storage.model.actor import ATTESTATION_TEXTS, ATTESTATION_TIMES
from storage.model.event_record import VersionEvent
from storage.model.events import EVENT_CLASSES
from storage.model.memory import SCORES
from storage.model.times import iso_text

JsonObject = dict[str, Any]

DRAFT_EVENT_TYPES: Final = frozenset(
    {
        "object_created",
        "object_updated",
        "lifecycle_transitioned",
        "availability_transitioned",
        "retention_transitioned",
        "validation_transitioned",
        "relationship_created",
        "relationship_updated",
        "provenance_updated",
        "embedding_generated",
        "index_rebuilt",
        "access_denied",
        "object_redacted",
        "object_deleted",
        "working_memory_promoted",
        "tool_invoked",
        "tool_completed",
        "subscription_opened",
        "subscription_closed",
        "delegation_granted",
        "delegation_revoked",
        "delegation_exercised",
    }
)
"""The event types that the draft can name."""

WITHHELD_CONTENT: Final = '{"tombstone":true}'
"""What stands for content that may not be given, as in the draft's own examples."""

EVALUATION_RUN_PREFIX: Final = "evaluation-run:"
"""Begins the entry of evidence_refs that names the evaluation run, the last one of the list."""

_CONTENT_KEY: Final = "canonical_content"
_STRING_OR_SPACE: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\r\n]++', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """A record of the draft (None where the draft cannot name it) and the side record that belongs to it.

    `content_text` is the content's own JSON text on one line: what `draft` holds was read into Python's numbers.
    """

    draft: JsonObject | None
    side: JsonObject
    content_text: str | None = None

    def draft_line(self) -> str | None:
        """Returns the draft record as JSON on one line, numbers of the content written exactly as they were sent."""
        if self.draft is None:
            return None
        if self.content_text is None:
            return _line(self.draft)
        rest = _line({key: value for key, value in self.draft.items() if key != _CONTENT_KEY})
        return f'{{"{_CONTENT_KEY}":{self.content_text},{rest[1:]}'

    def side_line(self) -> str:
        """Returns the side record as JSON on one line."""
        return _line(self.side)


def _line(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def export_envelope(envelope: common_pb2.MemoryEnvelope) -> ExportedRecord:
    """Returns the version as a Memory Object of the draft; its content's exact text goes into the side record.

    Content that is withheld is written as WITHHELD_CONTENT, provenance that is withheld with the version's own actor
    and time; the side record says so.
    """
    draft = _texts(envelope, "spec_version", "object_id", "version_id", "scope_id", "object_type", "schema_id")
    side: JsonObject = {"kind": "memory_object", "object_id": envelope.object_id, "version_id": envelope.version_id}
    record = _export_version(envelope, draft, side)
    if envelope.HasField("quality_signals"):
        draft["quality_signals"] = _quality_signals(envelope.quality_signals)
    return record


def export_relationship(envelope: memory_pb2.RelationshipEnvelope) -> ExportedRecord:
    """Returns the version as a Relationship Object of the draft, in the way of `export_envelope` (P-8.5-01, P-8.5-09)."""
    draft = _texts(envelope, "spec_version", "relationship_id", "version_id", "scope_id", "relationship_type")
    draft.update(_texts(envelope, "source_object_id", "target_object_id", "target_scope_id", "policy_basis"))
    draft["directionality"] = DIRECTIONALITY_NAMES[envelope.directionality]
    side: JsonObject = {"kind": "relationship", "relationship_id": envelope.relationship_id}
    side["version_id"] = envelope.version_id
    return _export_version(envelope, draft, side)


def _export_version(
    envelope: common_pb2.MemoryEnvelope | memory_pb2.RelationshipEnvelope, draft: JsonObject, side: JsonObject
) -> ExportedRecord:
    """Adds what the two kinds of versions share, and what has no place in the draft to the side record."""
    text = envelope.canonical_content.decode()
    if text:
        side["canonical_content_text"] = text
    else:
        side["content_withheld"] = True
        text = WITHHELD_CONTENT
    draft[_CONTENT_KEY] = read_json_text(text.encode())
    draft.update(_states(envelope))
    times = ("observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at")
    draft.update(_times(envelope, *times))
    draft["sequence"] = envelope.sequence
    draft["actor"] = actor_json(envelope.actor)
    if envelope.provenance.activity:
        draft["provenance"] = _provenance(envelope.provenance)
    else:
        side["provenance_withheld"] = True
        draft["provenance"] = {
            "provenance_id": envelope.provenance.provenance_id,
            "actor": draft["actor"],
            "activity": "withheld",
            "recorded_at": draft["recorded_at"],
        }
    if envelope.HasField("integrity"):
        draft["integrity"] = _texts(
            envelope.integrity, "digest", "algorithm", "canonicalization_profile", "signature", "ledger_ref"
        )
    return ExportedRecord(draft, side, one_line(text))


def one_line(json_text: str) -> str:
    """Returns a JSON text without the space between its tokens, which all stay as they are."""
    return _STRING_OR_SPACE.sub(lambda match: match[1] or "", json_text)


def export_delegation(delegation: delegation_pb2.Delegation) -> ExportedRecord:
    """Returns the version of a grant as a Delegation Object of the draft; sub-delegation goes into the side record."""
    draft = _texts(
        delegation, "spec_version", "delegation_id", "version_id", "scope_id", "target_scope_id", "policy_basis"
    )
    draft["granting_actor"] = actor_json(delegation.granting_actor)
    draft["delegated_actor"] = actor_json(delegation.delegated_actor)
    draft["granted_operations"] = list(delegation.granted_operations)
    for name in ("granted_object_types", "granted_object_ids"):
        if delegation.HasField(name):
            draft[name] = list(getattr(delegation, name).values)
    draft["revocable"] = delegation.revocable
    if delegation.HasField("usage_limit"):
        draft["usage_limit"] = delegation.usage_limit
    draft.update(_times(delegation, "not_before", "not_after", "committed_at", "recorded_at"))
    draft.update(_states(delegation))
    draft["sequence"] = delegation.sequence
    draft["actor"] = actor_json(delegation.actor)
    draft["provenance"] = _provenance(delegation.provenance)
    side: JsonObject = {
        "kind": "delegation",
        "delegation_id": delegation.delegation_id,
        "version_id": delegation.version_id,
        "max_redelegations": delegation.max_redelegations,
        **_texts(delegation, "parent_delegation_id"),
    }
    return ExportedRecord(draft, side)


def export_event(event: ledger_pb2.LedgerEvent) -> ExportedRecord:
    """Returns the event as a ledger entry of the draft, with its place in our chain in the side record.

    An extension type that makes a version of an object is told as object_updated, its own name in the payload; any
    other extension type has no draft record, and its side record is the whole event (Q06).
    """
    own_type = EVENT_TYPE_NAMES.get(event.event_type, "unspecified")
    draft_type = draft_event_type(own_type, makes_version(own_type))
    whole = _texts(event, "event_id", "operation_id", "scope_id")
    whole["event_type"] = own_type
    whole.update(_times(event, "recorded_at"))
    whole["sequence"] = event.sequence
    whole["actor"] = actor_json(event.actor)
    whole.update(_texts(event, "object_id", "relationship_id", "version_id"))
    payload: JsonObject = json.loads(event.payload_json) if event.payload_json else {}
    if event.delegation_id:
        payload = {**payload, "delegation_id": event.delegation_id}
    whole["payload"] = payload
    side: JsonObject = {
        "kind": "event",
        "event_id": event.event_id,
        "previous_hash": event.previous_hash.hex(),
        "chain_hash": event.chain_hash.hex(),
        "use_number": event.use_number,
        **_texts(event, "correlation_id"),
    }
    if draft_type is None:
        return ExportedRecord(None, {**side, **whole})
    if draft_type != own_type:
        whole["event_type"] = draft_type
        whole["payload"] = {**payload, "extension_event_type": own_type}
    return ExportedRecord(whole, side)


def export_snapshot(snapshot: snapshot_pb2.Snapshot) -> ExportedRecord:
    """Returns a sealed snapshot as the draft describes it (P-18.11-01)."""
    draft = _texts(snapshot, "snapshot_id", "scope_id", "created_by_actor_id", "evaluation_run_id")
    draft["sealed"] = snapshot.sealed
    draft.update(_times(snapshot, "created_at"))
    draft["ledger_sequence_high_watermark"] = snapshot.ledger_sequence_high_watermark
    for name in ("included_object_ids", "included_embedding_space_ids"):
        if values := getattr(snapshot, name):
            draft[name] = list(values)
    if snapshot.HasField("deterministic_clock"):
        clock = snapshot.deterministic_clock
        draft["deterministic_clock"] = {
            **_texts(clock, "clock_ref"),
            **_times(clock, "start_at"),
            "tick_ms": clock.tick_ms,
        }
    if snapshot.HasField("deterministic_rng_seed"):
        draft["deterministic_rng_seed"] = snapshot.deterministic_rng_seed
    draft.update(_texts(snapshot, "digest", "digest_algorithm", "canonicalization_profile"))
    return ExportedRecord(draft, {"kind": "snapshot", "snapshot_id": snapshot.snapshot_id})


def makes_version(event_type: str) -> bool:
    """Returns whether an event of this type makes a version of an object."""
    event_class = EVENT_CLASSES.get(event_type)
    return event_class is not None and issubclass(event_class, VersionEvent)


def draft_event_type(event_type: str, changes_object: bool) -> str | None:
    """Returns the draft's name for an event type: itself, object_updated for a change of an object, else None."""
    if event_type in DRAFT_EVENT_TYPES:
        return event_type
    return "object_updated" if changes_object else None


def _texts(message: Message, *names: str) -> JsonObject:
    """Returns the strings that are not empty; the draft omits an absent field."""
    return {name: value for name in names if (value := getattr(message, name))}


def _times(message: Message, *names: str) -> JsonObject:
    return {name: iso_text(microseconds_of(getattr(message, name))) for name in names if message.HasField(name)}


def _states(
    message: common_pb2.MemoryEnvelope | memory_pb2.RelationshipEnvelope | delegation_pb2.Delegation,
) -> JsonObject:
    return {
        "lifecycle_state": LIFECYCLE_NAMES[message.lifecycle_state],
        "availability_state": AVAILABILITY_NAMES[message.availability_state],
        "retention_state": RETENTION_NAMES[message.retention_state],
        "validation_state": VALIDATION_NAMES[message.validation_state],
    }


def actor_json(actor: common_pb2.Actor) -> JsonObject:
    """Returns an actor as the draft has it."""
    exported = _texts(actor, "actor_id", "actor_kind", "display_name", "on_behalf_of_actor_id", "delegation_id")
    if actor.HasField("attestation"):
        attestation = _texts(actor.attestation, *ATTESTATION_TEXTS)
        attestation.update(_times(actor.attestation, *ATTESTATION_TIMES))
        if actor.attestation.capabilities_declared:
            attestation["capabilities_declared"] = list(actor.attestation.capabilities_declared)
        exported["attestation"] = attestation
    return exported


def _provenance(provenance: common_pb2.Provenance) -> JsonObject:
    exported = _texts(provenance, "provenance_id", "source_ref", "activity", "transformation_parent", "integrity_ref")
    exported["actor"] = actor_json(provenance.actor)
    # The draft has no place for the run, but evidence it may well be (Q04).
    run = [f"{EVALUATION_RUN_PREFIX}{provenance.evaluation_run_id}"] if provenance.evaluation_run_id else []
    if provenance.evidence_refs or run:
        exported["evidence_refs"] = [*provenance.evidence_refs, *run]
    exported.update(_times(provenance, "observed_at", "recorded_at"))
    if provenance.HasField("source_confidence"):
        exported["source_confidence"] = provenance.source_confidence
    return exported


def _quality_signals(signals: common_pb2.QualitySignals) -> JsonObject:
    exported: JsonObject = {name: getattr(signals, name) for name in SCORES if signals.HasField(name)}
    exported.update(_texts(signals, "last_verified_by_actor_id", "verification_method_id", "assessed_by_actor_id"))
    exported.update(_times(signals, "last_verified_at", "assessed_at"))
    return exported
