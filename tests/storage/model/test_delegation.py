"""Grant versions: every field of the wire message, canonical, read back as written."""

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from remit.v1 import delegation_pb2
from storage.model.actor import ActorRef
from storage.model.canonical import MalformedCanonical
from storage.model.delegation import DelegationVersion, delegation_core_bytes, delegation_digest, parse_delegation_core
from storage.model.provenance import Provenance
from storage.model.states import AvailabilityState, LifecycleState, RetentionState, ValidationState

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TEXTS = st.lists(TEXT, min_size=1, max_size=3).map(tuple)
TIMES = st.integers(min_value=0, max_value=2**53 - 1)
ACTORS = st.builds(ActorRef, TEXT, TEXT, st.none() | TEXT)
VERSIONS = st.builds(
    DelegationVersion,
    tenant_id=TEXT,
    scope_id=TEXT,
    delegation_id=TEXT,
    version_id=TEXT,
    sequence=st.integers(min_value=1, max_value=9),
    granting_actor=ACTORS,
    delegated_actor=ACTORS,
    granted_operations=TEXTS,
    policy_basis=TEXT,
    not_before_us=TIMES,
    not_after_us=TIMES,
    revocable=st.booleans(),
    lifecycle_state=st.sampled_from(LifecycleState),
    availability_state=st.sampled_from(AvailabilityState),
    retention_state=st.sampled_from(RetentionState),
    validation_state=st.sampled_from(ValidationState),
    committed_at_us=TIMES,
    recorded_at_us=TIMES,
    actor=ACTORS,
    provenance=st.builds(
        Provenance,
        provenance_id=TEXT,
        actor=ACTORS,
        activity=TEXT,
        recorded_at_us=TIMES,
        source_confidence=st.none() | st.floats(min_value=0, max_value=1),
    ),
    max_redelegations=st.integers(min_value=0, max_value=8),
    granted_object_types=st.none() | TEXTS,
    granted_object_ids=st.none() | TEXTS,
    target_scope_id=st.none() | TEXT,
    usage_limit=st.none() | st.integers(min_value=1, max_value=2**53 - 1),
    parent_delegation_id=st.none() | TEXT,
)


@given(VERSIONS)
def test_core_is_canonical_and_reads_back(version: DelegationVersion) -> None:
    core = delegation_core_bytes(version)
    assert core == rfc8785.dumps(json.loads(core))
    assert parse_delegation_core(core) == version
    assert len(delegation_digest(core)) == 64


@given(VERSIONS)
def test_core_has_the_fields_of_the_message(version: DelegationVersion) -> None:
    of_message = {
        field.name + ("_us" if field.message_type and field.message_type.name == "Timestamp" else "")
        for field in delegation_pb2.Delegation.DESCRIPTOR.fields
    }
    written = set(json.loads(delegation_core_bytes(version)))
    assert written - {"tenant_id"} <= of_message
    optional = {
        "granted_object_types",
        "granted_object_ids",
        "target_scope_id",
        "usage_limit",
        "parent_delegation_id",
    }
    assert of_message - written <= optional


@given(VERSIONS, st.sampled_from(["revocable", "granted_operations", "lifecycle_state", "provenance", "sequence"]))
def test_other_shapes_are_refused(version: DelegationVersion, key: str) -> None:
    core = json.loads(delegation_core_bytes(version))
    with pytest.raises(MalformedCanonical):
        parse_delegation_core(json.dumps(core | {key: "x"}).encode())
