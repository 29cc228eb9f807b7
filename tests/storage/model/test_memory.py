"""Version cores: canonical, complete, and read back as they were written."""

import dataclasses
import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from storage.model.actor import ActorRef
from storage.model.memory import (
    MalformedCanonical,
    PartKind,
    PartRef,
    QualitySignals,
    VersionCore,
    core_bytes,
    envelope_digest,
    parse_core,
)
from storage.model.provenance import (
    Integrity,
    Provenance,
    integrity_bytes,
    parse_integrity,
    parse_provenance,
    provenance_bytes,
)
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TIMES = st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
SCORES = st.floats(min_value=0, max_value=1)
ATTESTATIONS = st.dictionaries(
    st.sampled_from(["agent_manifest_ref", "signature", "issued_at_us", "capabilities_declared"]),
    TEXT | TIMES | st.lists(TEXT, max_size=3).map(tuple),
)
ACTORS = st.builds(ActorRef, TEXT, TEXT, st.none() | TEXT, st.none() | TEXT, st.none() | TEXT, st.none() | ATTESTATIONS)
PARTS = st.dictionaries(st.sampled_from(PartKind), st.builds(PartRef, st.uuids(), st.binary(min_size=32, max_size=32)))
SIGNALS = st.builds(
    QualitySignals,
    **{
        item.name: st.none() | (TIMES if item.name.endswith("_us") else TEXT if "_id" in item.name else SCORES)
        for item in dataclasses.fields(QualitySignals)
    },
)
OPTIONAL_TIMES = {
    name: st.none() | TIMES for name in ("observed_at_us", "asserted_at_us", "valid_from_us", "valid_until_us")
}
VERSIONS = st.builds(
    VersionCore,
    tenant_id=TEXT,
    scope_id=TEXT,
    object_id=TEXT,
    version_id=TEXT,
    sequence=st.integers(min_value=1, max_value=2**53 - 1),
    object_type=TEXT,
    lifecycle_state=st.sampled_from(LifecycleState),
    availability_state=st.sampled_from(AvailabilityState),
    retention_state=st.sampled_from(RetentionState),
    validation_state=st.sampled_from(ValidationState),
    committed_at_us=TIMES,
    recorded_at_us=TIMES,
    actor=ACTORS,
    provenance_id=TEXT,
    parts=PARTS,
    schema_id=st.none() | TEXT,
    quality_signals=st.none() | SIGNALS,
    previous_version_id=st.none() | TEXT,
    **OPTIONAL_TIMES,
)
PROVENANCES = st.builds(
    Provenance,
    provenance_id=TEXT,
    actor=ACTORS,
    activity=TEXT,
    recorded_at_us=TIMES,
    source_ref=st.none() | TEXT,
    evidence_refs=st.lists(TEXT, max_size=3).map(tuple),
    observed_at_us=st.none() | TIMES,
    transformation_parent=st.none() | TEXT,
    source_confidence=st.none() | SCORES,
    integrity_ref=st.none() | TEXT,
)
INTEGRITIES = st.builds(Integrity, TEXT, TEXT, st.none() | TEXT, st.none() | TEXT, st.none() | TEXT)


@given(VERSIONS)
def test_core_is_canonical_and_reads_back(version: VersionCore) -> None:
    core = core_bytes(version)
    assert core == rfc8785.dumps(json.loads(core))
    assert parse_core(core) == version
    assert core_bytes(parse_core(core)) == core


@given(PROVENANCES)
def test_provenance_is_canonical_and_reads_back(provenance: Provenance) -> None:
    data = provenance_bytes(provenance)
    assert data == rfc8785.dumps(json.loads(data))
    assert parse_provenance(data) == provenance


@given(INTEGRITIES)
def test_integrity_reads_back(integrity: Integrity) -> None:
    assert parse_integrity(integrity_bytes(integrity)) == integrity


TOMBSTONE = VersionCore(
    tenant_id="acme",
    scope_id="workspace:a",
    object_id="mem:1",
    version_id="urn:uuid:2",
    sequence=2,
    object_type="claim",
    lifecycle_state=LifecycleState.ACTIVE,
    availability_state=AvailabilityState.DELETED,
    retention_state=RetentionState.RETAINED,
    validation_state=ValidationState.UNVERIFIED,
    committed_at_us=1,
    recorded_at_us=2,
    actor=ActorRef("actor:a", "agent"),
    provenance_id="urn:uuid:3",
    parts={},
)


def test_absent_optional_fields_are_omitted() -> None:
    core = json.loads(core_bytes(TOMBSTONE))
    assert core == {
        "tenant_id": "acme",
        "scope_id": "workspace:a",
        "object_id": "mem:1",
        "version_id": "urn:uuid:2",
        "sequence": 2,
        "object_type": "claim",
        "lifecycle_state": "active",
        "availability_state": "deleted",
        "retention_state": "retained",
        "validation_state": "unverified",
        "committed_at_us": 1,
        "recorded_at_us": 2,
        "actor": {"actor_id": "actor:a", "actor_kind": "agent"},
        "provenance_id": "urn:uuid:3",
        "parts": {},
    }


def test_digest_covers_tenant_and_scope() -> None:
    core = core_bytes(TOMBSTONE)
    assert envelope_digest(core) == hashlib.sha256(core).hexdigest()
    moved = dataclasses.replace(TOMBSTONE, tenant_id="other")
    assert envelope_digest(core_bytes(moved)) != envelope_digest(core)


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"sequence": "2"},
        {"sequence": True},
        {"lifecycle_state": "gone"},
        {"actor": {"actor_id": "actor:a"}},
        {"actor": "actor:a"},
        {"parts": {"content": {"content_id": "x", "commitment": "00"}}},
        {"parts": {"secret": {}}},
        {"parts": None},
        {"quality_signals": {"unknown": 1}},
    ],
)
def test_other_shapes_are_refused(change: dict[str, object]) -> None:
    core = json.loads(core_bytes(TOMBSTONE)) | change
    with pytest.raises(MalformedCanonical):
        parse_core(json.dumps(core).encode())
