"""Values of the model reach the wire whole."""

import json
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from remit.v1 import common_pb2, ledger_pb2
from server.memory.versions import Plaintexts
from server.wire.delegations import delegation_message, restriction_values
from server.wire.enum_numbers import EVENT_TYPE_NUMBERS
from server.wire.envelopes import envelope_of
from server.wire.events import event_message
from server.wire.times import microseconds_of, timestamp_of
from storage.encryption import IntegrityViolation
from storage.model.canonical import canonical_json
from storage.model.events import EVENT_CLASSES
from tests.server.wire.samples import CONTENT, CORE, CREATED, DELEGATION, PARTS, event_row


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_times_survive(time_us: int) -> None:
    assert microseconds_of(timestamp_of(time_us)) == time_us


@pytest.mark.case("C02")
def test_nanoseconds_are_cut_off() -> None:
    assert microseconds_of(Timestamp(seconds=1, nanos=123_456_789)) == 1_123_456
    assert microseconds_of(Timestamp(seconds=-1, nanos=999_999_999)) == -1


def test_an_envelope_holds_everything_of_its_version() -> None:
    envelope = envelope_of(CORE, PARTS)
    unset = {field.name for field in envelope.DESCRIPTOR.fields} - {field.name for field, _ in envelope.ListFields()}
    assert unset == set()
    assert envelope.canonical_content == CONTENT
    assert envelope.lifecycle_state == common_pb2.LIFECYCLE_STATE_CANDIDATE
    assert envelope.retention_state == common_pb2.RETENTION_STATE_LEGAL_HOLD
    assert envelope.committed_at.nanos == 123_456_000
    assert envelope.provenance.HasField("source_confidence")
    assert envelope.quality_signals.HasField("staleness_score")
    assert not envelope.quality_signals.HasField("evidence_strength")
    assert list(envelope.actor.attestation.capabilities_declared) == ["read", "write"]
    assert microseconds_of(envelope.actor.attestation.issued_at) == 5
    assert microseconds_of(envelope.provenance.observed_at) == -1


def test_an_envelope_is_the_same_bytes_each_time() -> None:
    assert envelope_of(CORE, PARTS).SerializeToString() == envelope_of(replace(CORE), PARTS).SerializeToString()


def test_withheld_parts_leave_the_id_of_the_provenance() -> None:
    envelope = envelope_of(CORE, Plaintexts())
    assert envelope.canonical_content == b""
    assert envelope.provenance == common_pb2.Provenance(provenance_id="prov:1")
    assert not envelope.HasField("integrity")


def test_an_absent_claim_stays_absent() -> None:
    bare = replace(CORE, observed_at_us=None, schema_id=None, quality_signals=None)
    envelope = envelope_of(bare, PARTS)
    assert not envelope.HasField("observed_at")
    assert not envelope.HasField("quality_signals")
    assert envelope.schema_id == ""


def test_a_grant_holds_everything_of_its_version() -> None:
    message = delegation_message(DELEGATION)
    # revocable is false, which a field without presence does not list.
    unset = {field.name for field in message.DESCRIPTOR.fields} - {field.name for field, _ in message.ListFields()}
    assert unset == {"revocable"}
    assert restriction_values(message.granted_object_ids) == ("claim:1",)


def test_an_unrestricted_grant_has_no_restrictions() -> None:
    bare = replace(DELEGATION, granted_object_types=None, granted_object_ids=None, usage_limit=None)
    message = delegation_message(bare)
    for name in ("granted_object_types", "granted_object_ids", "usage_limit"):
        assert not message.HasField(name)


def test_an_event_comes_from_its_body() -> None:
    message = event_message(event_row(event=CREATED), b"p" * 32)
    assert message.event_type == ledger_pb2.EVENT_TYPE_OBJECT_CREATED
    assert (message.event_id, message.operation_id, message.scope_id) == ("urn:e:1", "op:1", "workspace:a")
    assert (message.sequence, message.previous_hash, message.chain_hash) == (4, b"p" * 32, b"c" * 32)
    assert message.actor.actor_id == "actor:a"
    assert message.actor.delegation_id == "urn:d:1"
    assert message.correlation_id == "c-1"
    assert json.loads(message.payload_json) == CREATED.payload()
    assert message.payload_json.encode() == canonical_json(CREATED.payload())


@pytest.mark.parametrize(
    "changes",
    [
        {"event_id": "urn:e:2"},
        {"event_type": "object_updated"},
        {"operation_id": "op:2"},
        {"actor_id": "actor:z"},
        {"object_id": None},
        {"version_id": "urn:v:2"},
        {"delegation_id": None},
        {"body": b"{}"},
        {"body": b"[]"},
        {"body": b"\xff"},
        {"body": b'{"v":2}'},
    ],
)
def test_a_row_that_does_not_repeat_its_body_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityViolation):
        event_message(event_row(event=CREATED, **changes), b"p" * 32)


def test_an_event_type_of_a_newer_server_is_unspecified() -> None:
    body = event_row(event=CREATED).body.replace(b"object_created", b"object_glorified")
    row = event_row(event=CREATED, body=body, event_type="object_glorified")
    assert event_message(row, b"").event_type == ledger_pb2.EVENT_TYPE_UNSPECIFIED


def test_every_event_of_the_model_has_its_number() -> None:
    assert set(EVENT_CLASSES) == set(EVENT_TYPE_NUMBERS)
