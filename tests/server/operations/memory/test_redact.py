"""Redact: what it masks, in which versions, and what it leaves behind (PAMSPEC 9.3, 9.6, 10.9)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.server.operations.memory.redactions import (
    ERASE,
    SUPPRESS,
    closing_of,
    content_of,
    redact,
    redaction,
)
from tests.server.operations.memory.requests import history, query_page, transition, update
from tests.server.operations.memory.standings import states

REDACTED = ledger_pb2.EVENT_TYPE_OBJECT_REDACTED
PERSON = b'{"name": "Ada", "mail": "ada@example.com", "sizes": [1.50, 1e400, 3], "at": {"home": "x", "work": "y"}}'
MODES = pytest.mark.parametrize("mode", [SUPPRESS, ERASE])


@pytest.mark.req("P-10.9-01")
@pytest.mark.parametrize("missing", ["scope_id", "object_id", "expected_version_id", "policy_basis", "target", "mode"])
def test_a_redaction_names_all_it_needs(workspace: Workspace, missing: str) -> None:
    made = workspace.create(canonical_content=PERSON)
    request = redaction(workspace, made.object_id, made.version_id, "/mail")
    request.ClearField(missing)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Redact(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [missing])
    assert workspace.read(made.object_id).envelope.version_id == made.version_id


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({}, "target"),
        ({"whole": True, "json_pointers": ["/mail"]}, "target"),
        ({"json_pointers": ["mail"]}, "target.json_pointers[0]"),
        ({"json_pointers": ["/mail", "/a~2"]}, "target.json_pointers[1]"),
        ({"json_pointers": ["/mail", "/phone"]}, "target.json_pointers[1]"),
        ({"json_pointers": ["/sizes/3"]}, "target.json_pointers[0]"),
        ({"json_pointers": ["/sizes/01"]}, "target.json_pointers[0]"),
        ({"json_pointers": ["/sizes/-"]}, "target.json_pointers[0]"),
        ({"json_pointers": ["/name/0"]}, "target.json_pointers[0]"),
        ({"provenance_pointers": ["/activity"]}, "target.provenance_pointers[0]"),
        ({"provenance_pointers": ["/source_ref/x"]}, "target.provenance_pointers[0]"),
        ({"provenance_pointers": ["/source_ref"]}, "target.provenance_pointers[0]"),
        ({"provenance_pointers": ["/evidence_refs/7"]}, "target.provenance_pointers[0]"),
    ],
)
@MODES
def test_a_target_that_names_nothing_masks_nothing(
    workspace: Workspace, target: dict[str, Any], field: str, mode: Any
) -> None:
    provenance = {"activity": "observed", "evidence_refs": ["urn:e:1"]}
    made = workspace.create(canonical_content=PERSON, provenance=provenance)
    request = redaction(workspace, made.object_id, made.version_id, mode=mode)
    request.target.CopyFrom(memory_pb2.RedactionTarget(**target))
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Redact(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [field])
    assert workspace.read(made.object_id).envelope == made.envelope


@pytest.mark.req("P-9.3-02", "P-9.6-02", "P-9.5-A1", "P-10.9-02")
@MODES
def test_a_field_is_masked_in_every_version(workspace: Workspace, mode: Any) -> None:
    made = workspace.create(canonical_content=b'{"mail":"first@example.com","name":"A"}', idempotency_key="made")
    updated = update(workspace, made.object_id, made.version_id, canonical_content=PERSON, idempotency_key="updated")
    response = redact(workspace, made.object_id, updated.version_id, "/mail", "/sizes/1", "/at/home", mode=mode)
    result = response.result
    masked = b'{"name":"Ada","sizes":[1.50,null,3],"at":{"work":"y"}}'
    assert (result.sequence, result.envelope.canonical_content) == (3, masked)
    assert list(response.redacted_pointers) == ["/at/home", "/mail", "/sizes/1"]
    assert states(result.envelope) == states(made.envelope) | {"availability": "partially_redacted"}
    read = workspace.read(made.object_id)
    assert (read.envelope, read.content_state) == (result.envelope, memory_pb2.CONTENT_STATE_PARTIAL)
    older = workspace.read(made.object_id, version_id=made.version_id)
    assert (older.envelope.canonical_content, older.content_state) == (b'{"name":"A"}', read.content_state)
    assert workspace.read(made.object_id, version_id=updated.version_id).envelope.canonical_content == masked
    replayed = workspace.create(canonical_content=b'{"mail":"first@example.com","name":"A"}', idempotency_key="made")
    assert (replayed.replayed, replayed.envelope) == (True, older.envelope)
    filters = {"availability_state": [2], "validation_state": [1]}
    [found] = query_page(workspace, filters=filters).results
    assert found == result.envelope
    versions = [entry for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert [json.loads(entry.version.canonical_content) for entry in versions] == [{"name": "A"}] + 2 * [
        json.loads(masked)
    ]
    assert {entry.content_state for entry in versions} == {memory_pb2.CONTENT_STATE_PARTIAL}
    [event] = workspace.events(event_classes=[REDACTED])
    assert (event.version_id, event.event_id) == (result.version_id, result.event_ids[0])
    payload = json.loads(event.payload_json)
    told = {name: payload[name] for name in ("from", "to", "policy_basis", "pointer_count", "mode")}
    named = "suppress" if mode == SUPPRESS else "erase"
    assert told == {
        "from": "available",
        "to": "partially_redacted",
        "policy_basis": "test",
        "pointer_count": 3,
        "mode": named,
    }
    assert len({*payload["pointer_commitments"]}) == 3
    assert "mail" not in event.payload_json
    closed = closing_of(workspace, result.propagation_job_id)
    assert closed["kind"] == ("suppression" if mode == SUPPRESS else "erasure")
    assert closed["keys_destroyed"] == (0 if mode == SUPPRESS else 2)
    assert workspace.read(made.object_id).envelope == result.envelope


@pytest.mark.req("P-9.5-A1", "P-9.6-02", "P-10.9-02")
@MODES
def test_all_of_an_object_is_withheld(workspace: Workspace, mode: Any) -> None:
    made = workspace.create(canonical_content=PERSON)
    first = redact(workspace, made.object_id, made.version_id, "/mail", mode=mode).result
    whole = redact(workspace, made.object_id, first.version_id, whole=True, mode=mode).result
    assert states(whole.envelope)["availability"] == "redacted"
    assert whole.envelope.canonical_content == b""
    for version_id in ("", made.version_id, first.version_id, whole.version_id):
        with pytest.raises(Refusal) as refusal:
            workspace.read(made.object_id, version_id=version_id)
        assert refusal.value.reason == "OBJECT_REDACTED"
    versions = [entry for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert [entry.content_state for entry in versions] == 3 * [memory_pb2.CONTENT_STATE_WITHHELD]
    assert not any(entry.version.canonical_content for entry in versions)
    assert len(workspace.events(event_classes=[REDACTED])) == 2
    closed = closing_of(workspace, whole.propagation_job_id)
    # Of all versions: what stands for the content, the provenance, and the redactions themselves.
    assert closed["keys_destroyed"] == (0 if mode == SUPPRESS else 3)


@pytest.mark.req("P-9.5-A2")
def test_what_is_suppressed_comes_back_with_the_right_to_restore(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=PERSON)
    partial = redact(workspace, made.object_id, made.version_id, "/mail").result
    mover = workspace.cluster.client("actor:mover")
    workspace.allow("actor:mover", "read", "transition.availability")
    with pytest.raises(Refusal) as refusal:
        transition(workspace, made.object_id, partial.version_id, "availability", "available", mover)
    assert refusal.value.reason == "POLICY_DENIED"
    workspace.allow("actor:mover", "restore")
    restored = transition(workspace, made.object_id, partial.version_id, "availability", "available", mover)
    assert states(restored.envelope)["availability"] == "available"
    assert restored.envelope.canonical_content == PERSON
    for version_id in ("", made.version_id, partial.version_id, restored.version_id):
        read = workspace.read(made.object_id, version_id=version_id)
        assert (read.envelope.canonical_content, read.content_state) == (PERSON, memory_pb2.CONTENT_STATE_PRESENT)
    # Again in places, then as a whole: both are lifted at once.
    partial = redact(workspace, made.object_id, restored.version_id, "/name").result
    hidden = redact(workspace, made.object_id, partial.version_id, whole=True).result
    shown = transition(workspace, made.object_id, hidden.version_id, "availability", "available")
    assert shown.envelope.canonical_content == PERSON
    gone = transition(workspace, made.object_id, shown.version_id, "availability", "deleted")
    assert states(gone.envelope)["availability"] == "deleted"


@pytest.mark.req("P-9.5-A2")
@pytest.mark.parametrize("target", ["redacted", "deleted"])
def test_what_is_partial_may_be_removed(workspace: Workspace, target: str) -> None:
    made = workspace.create(canonical_content=PERSON)
    partial = redact(workspace, made.object_id, made.version_id, "/mail").result
    moved = transition(workspace, made.object_id, partial.version_id, "availability", target)
    assert states(moved.envelope)["availability"] == target


def test_what_is_erased_does_not_come_back(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=PERSON)
    hidden = redact(workspace, made.object_id, made.version_id, "/name").result
    erased = redact(workspace, made.object_id, hidden.version_id, "/mail", mode=ERASE)
    assert list(erased.redacted_pointers) == ["/mail", "/name"]
    whole = transition(workspace, made.object_id, erased.result.version_id, "availability", "redacted")
    for version in (erased.result, whole):
        with pytest.raises(Refusal) as refusal:
            transition(workspace, made.object_id, version.version_id, "availability", "available")
        expected = "VERSION_CONFLICT" if version is erased.result else "POLICY_DENIED"
        assert refusal.value.reason == expected
    gone = redact(workspace, made.object_id, whole.version_id, whole=True, mode=ERASE).result
    with pytest.raises(Refusal) as refusal:
        transition(workspace, made.object_id, gone.version_id, "availability", "available")
    assert refusal.value.reason == "POLICY_DENIED"
    for mode in (SUPPRESS, ERASE):
        with pytest.raises(Refusal) as refusal:
            redact(workspace, made.object_id, gone.version_id, whole=True, mode=mode)
        assert refusal.value.reason == "INVALID_STATE_TRANSITION"


@MODES
def test_redactions_stay_in_force_on_what_is_written_later(workspace: Workspace, mode: Any) -> None:
    made = workspace.create(canonical_content=PERSON)
    partial = redact(workspace, made.object_id, made.version_id, "/mail", "/sizes/0", mode=mode).result
    again = b'{"mail":"again@example.com","sizes":[7,8],"name":"B"}'
    updated = update(
        workspace,
        made.object_id,
        partial.version_id,
        canonical_content=again,
        integrity={"digest": "d", "algorithm": "a"},
    )
    assert updated.envelope.canonical_content == b'{"sizes":[null,8],"name":"B"}'
    assert not updated.envelope.HasField("integrity")
    assert workspace.read(made.object_id).envelope == updated.envelope
    touched = update(
        workspace, made.object_id, updated.version_id, update_mask=["valid_until"], valid_until={"seconds": 1}
    )
    assert content_of(workspace, made.object_id) == {"sizes": [None, 8], "name": "B"}
    moved = transition(workspace, made.object_id, touched.version_id, "lifecycle", "deprecated")
    assert json.loads(moved.envelope.canonical_content) == {"sizes": [None, 8], "name": "B"}
    if mode == SUPPRESS:
        restored = transition(workspace, made.object_id, moved.version_id, "availability", "available")
        assert restored.envelope.canonical_content == again
        assert workspace.read(made.object_id, version_id=updated.version_id).envelope.HasField("integrity")


@pytest.mark.req("P-16.5-01")
@MODES
def test_provenance_is_redacted_where_a_pointer_says_so(workspace: Workspace, mode: Any) -> None:
    provenance = {
        "activity": "observed",
        "source_ref": "urn:source:ada",
        "evidence_refs": ["urn:e:0", "urn:e:1", "urn:e:2"],
        "source_confidence": 0.5,
        "integrity_ref": "urn:i:1",
        "transformation_parent": "urn:t:1",
        "observed_at": {"seconds": 5},
    }
    made = workspace.create(provenance=provenance)
    updated = update(
        workspace, made.object_id, made.version_id, provenance=provenance | {"source_ref": "urn:source:bob"}
    )
    named = ["/source_ref", "/evidence_refs/1", "/observed_at"]
    partial = redact(workspace, made.object_id, updated.version_id, provenance_pointers=named, mode=mode)
    assert list(partial.redacted_provenance_pointers) == sorted(named)
    expected: common_pb2.Provenance = partial.result.envelope.provenance
    assert expected.evidence_refs == ["urn:e:0", "urn:remit:redacted", "urn:e:2"]
    assert (expected.source_ref, expected.HasField("observed_at")) == ("", False)
    assert (expected.source_confidence, expected.transformation_parent) == (0.5, "urn:t:1")
    later = update(workspace, made.object_id, partial.result.version_id, provenance=provenance)
    for version_id in ("", made.version_id, updated.version_id, later.version_id):
        shown = workspace.read(made.object_id, version_id=version_id).envelope.provenance
        assert (shown.source_ref, shown.HasField("observed_at")) == ("", False)
        assert list(shown.evidence_refs) == ["urn:e:0", "urn:remit:redacted", "urn:e:2"]
    for entry in history(workspace, object_id=made.object_id):
        assert b"urn:source" not in entry.SerializeToString()
        assert b"urn:e:1" not in entry.SerializeToString()


def test_integrity_metadata_is_not_given_while_content_is_masked(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=PERSON, integrity={"digest": "digest-of-all", "algorithm": "a"})
    partial = redact(workspace, made.object_id, made.version_id, "/mail").result
    assert not workspace.read(made.object_id, version_id=made.version_id).envelope.HasField("integrity")
    restored = transition(workspace, made.object_id, partial.version_id, "availability", "available")
    assert workspace.read(made.object_id, version_id=made.version_id).envelope.integrity.digest == "digest-of-all"
    redact(workspace, made.object_id, restored.version_id, "/mail", mode=ERASE)
    assert not workspace.read(made.object_id, version_id=made.version_id).envelope.HasField("integrity")
