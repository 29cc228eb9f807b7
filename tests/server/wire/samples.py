"""One whole value of each kind that crosses the wire."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from server.memory.versions import Plaintexts
from storage.model.actor import ActorRef
from storage.model.delegation import DelegationVersion
from storage.model.event_record import EventRecord
from storage.model.events import ObjectCreated
from storage.model.ledger_rows import EventRow
from storage.model.memory import PartKind, PartRef, QualitySignals, VersionCore
from storage.model.provenance import Integrity, Provenance
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

NOW_US = 1_767_225_600_123_456

ACTOR = ActorRef(
    actor_id="actor:a",
    actor_kind="agent",
    display_name="A",
    on_behalf_of_actor_id="actor:b",
    delegation_id="urn:d:1",
    attestation={
        "agent_manifest_ref": "urn:m",
        "manifest_digest": "x",
        "issued_at_us": 5,
        "capabilities_declared": ("read", "write"),
    },
)
PROVENANCE = Provenance(
    provenance_id="prov:1",
    actor=ACTOR,
    activity="observed",
    recorded_at_us=NOW_US,
    source_ref="conversation:1",
    evidence_refs=("e:1", "e:2"),
    observed_at_us=-1,
    transformation_parent="t",
    source_confidence=0.0,
    integrity_ref="i",
)
CORE = VersionCore(
    tenant_id="t",
    scope_id="workspace:a",
    object_id="claim:1",
    version_id="urn:v:1",
    sequence=3,
    object_type="com.acme.incident",
    lifecycle_state=LifecycleState.CANDIDATE,
    availability_state=AvailabilityState.AVAILABLE,
    retention_state=RetentionState.LEGAL_HOLD,
    validation_state=ValidationState.DISPUTED,
    committed_at_us=NOW_US,
    recorded_at_us=NOW_US + 1,
    actor=ACTOR,
    provenance_id="prov:1",
    parts={PartKind.CONTENT: PartRef(UUID(int=1), bytes(32))},
    schema_id="https://acme.example/incident",
    observed_at_us=1,
    asserted_at_us=2,
    valid_from_us=-62_135_596_800_000_000,
    valid_until_us=253_402_300_799_999_999,
    quality_signals=QualitySignals(
        assessed_confidence=0.9,
        staleness_score=0.0,
        last_verified_at_us=7,
        last_verified_by_actor_id="actor:c",
        verification_method_id="m",
    ),
    previous_version_id="urn:v:0",
)
CONTENT = b'{ "n": 9007199254740993,\n "big": 1e400, "s": " a  b ", "list": [1, 2.50] }'
PARTS = Plaintexts(CONTENT, PROVENANCE, Integrity("sha256:x", "sha-256", "none", "sig", "ref"))
DELEGATION = DelegationVersion(
    tenant_id="t",
    scope_id="workspace:a",
    delegation_id="urn:d:1",
    version_id="urn:dv:1",
    sequence=1,
    granting_actor=ActorRef("actor:b", "human"),
    delegated_actor=ActorRef("actor:a", "agent"),
    granted_operations=("read", "query"),
    policy_basis="ticket 1",
    not_before_us=NOW_US,
    not_after_us=NOW_US + 1,
    revocable=False,
    lifecycle_state=LifecycleState.ACTIVE,
    availability_state=AvailabilityState.AVAILABLE,
    retention_state=RetentionState.RETAINED,
    validation_state=ValidationState.UNVERIFIED,
    committed_at_us=NOW_US,
    recorded_at_us=NOW_US,
    actor=ActorRef("actor:b", "human"),
    provenance=PROVENANCE,
    max_redelegations=2,
    granted_object_types=("claim",),
    granted_object_ids=("claim:1",),
    target_scope_id="workspace:b",
    usage_limit=5,
    parent_delegation_id="urn:d:0",
)


def event_row(**changes: Any) -> EventRow:
    record = EventRecord(
        scope_id="workspace:a",
        event_id="urn:e:1",
        operation_id="op:1",
        actor=ACTOR,
        event=changes.pop("event"),
        object_id="claim:1",
        version_id="urn:v:1",
        delegation_id="urn:d:1",
        correlation_id="c-1",
        purpose="support",
    )
    row = EventRow(
        sequence=4,
        recorded_at_us=NOW_US,
        use_number=0,
        body=record.body("t"),
        leaf_hash=b"l" * 32,
        chain_hash=b"c" * 32,
        event_id="urn:e:1",
        event_type=record.event.TYPE,
        operation_id="op:1",
        actor_id="actor:a",
        object_id="claim:1",
        version_id="urn:v:1",
        delegation_id="urn:d:1",
    )
    return replace(row, **changes)


CREATED = ObjectCreated(
    object_sequence=1,
    envelope_digest="00",
    object_type="claim",
    lifecycle_state="active",
    availability_state="available",
    retention_state="retained",
    validation_state="unverified",
    policy_revision=7,
)
