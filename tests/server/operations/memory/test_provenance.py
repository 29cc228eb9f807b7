"""Provenance: kept, never dropped, attributed by right, and no way to what it names (PAMSPEC 8.6)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import common_pb2, memory_pb2
from tests.cluster import ADMIN, Refusal, Workspace
from tests.server.operations.memory.requests import grant, history, query_page, transition, update

FULL: dict[str, Any] = {
    "activity": "derived",
    "source_ref": "urn:source:1",
    "evidence_refs": ["urn:evidence:1", "https://models.example/card"],
    "observed_at": {"seconds": 7, "nanos": 5000},
    "transformation_parent": "urn:parent:1",
    "source_confidence": 0.25,
    "integrity_ref": "urn:integrity:1",
}


@pytest.mark.req("P-8.6-02", "P-8.1-24")
def test_provenance_comes_back_with_what_the_service_adds(workspace: Workspace) -> None:
    made = workspace.create(provenance=FULL)
    read = workspace.read(made.object_id).envelope
    given = {name: getattr(read.provenance, name) for name in FULL}
    expected = common_pb2.Provenance(**FULL)
    assert given == {name: getattr(expected, name) for name in FULL}
    assert read.provenance.provenance_id
    assert read.provenance.actor == read.actor
    assert read.provenance.recorded_at == read.recorded_at
    for name, value in {"source_confidence": 2, "activity": "", "evidence_refs": ["x" * 2049]}.items():
        with pytest.raises(Refusal) as refusal:
            workspace.create(provenance=FULL | {name: value})
        assert refusal.value.reason == "INVALID_OBJECT"
        assert refusal.value.fields[0].startswith(f"provenance.{name}")


@pytest.mark.req("P-8.6-04")
def test_provenance_is_never_dropped(workspace: Workspace) -> None:
    made = workspace.create(provenance=FULL)
    incomplete: list[dict[str, Any]] = [{}, {"source_ref": "urn:x"}]
    for provenance in incomplete:
        with pytest.raises(Refusal) as refusal:
            update(workspace, made.object_id, made.version_id, provenance=provenance)
        assert (refusal.value.reason, refusal.value.fields) == ("INVALID_OBJECT", ["provenance.activity"])
    updated = update(workspace, made.object_id, made.version_id, provenance={"activity": "revised"})
    moved = transition(workspace, made.object_id, updated.version_id, "lifecycle", "archived")
    assert moved.envelope.provenance == updated.envelope.provenance
    for result in (made, updated, moved):
        assert workspace.read(made.object_id, version_id=result.version_id).envelope == result.envelope


@pytest.mark.req("P-8.6-06")
def test_naming_a_source_gives_no_access_to_it(workspace: Workspace) -> None:
    hidden = workspace.create(object_type="task", object_id="mem:hidden")
    workspace.allow("actor:writer", "create", "read", object_type="claim")
    writer = workspace.cluster.client("actor:writer")
    made = workspace.create(
        writer, provenance={"activity": "derived", "source_ref": "mem:hidden", "transformation_parent": "mem:hidden"}
    )
    assert workspace.read(made.object_id, writer).envelope.provenance.source_ref == hidden.object_id
    with pytest.raises(Refusal) as refusal:
        workspace.read("mem:hidden", writer)
    assert refusal.value.reason == "ACCESS_DENIED"


@pytest.mark.req("P-15.1-01")
def test_provenance_of_another_actor_needs_a_right(workspace: Workspace) -> None:
    workspace.allow("actor:writer", "create", "update", "read")
    writer = workspace.cluster.client("actor:writer")
    forged: dict[str, Any] = {"activity": "observed", "actor": {"actor_id": "actor:other", "actor_kind": "human"}}
    with pytest.raises(Refusal) as refusal:
        workspace.create(writer, provenance=forged)
    assert (refusal.value.reason, refusal.value.pamspec.details[1].value) == ("POLICY_DENIED", "provenance.actor")
    workspace.allow("actor:writer", "provenance.attribute", object_type="claim")
    made = workspace.create(writer, provenance=forged)
    assert made.envelope.provenance.actor.actor_id == "actor:other"
    assert made.envelope.actor.actor_id == "actor:writer"
    with pytest.raises(Refusal) as refusal:
        workspace.create(writer, provenance=forged, object_type="task")
    assert refusal.value.reason == "POLICY_DENIED"
    for name in ("on_behalf_of_actor_id", "delegation_id"):
        with pytest.raises(Refusal) as refusal:
            workspace.create(writer, provenance={"activity": "x", "actor": forged["actor"] | {name: "urn:x:1"}})
        assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [f"provenance.actor.{name}"])


@pytest.mark.req("P-8.6-05")
def test_a_deny_masks_provenance_and_leaves_content(workspace: Workspace) -> None:
    made = workspace.create(provenance=FULL, validation_state=common_pb2.VALIDATION_STATE_CORROBORATED)
    actions = ("read", "query", "inspect_history", "transition.lifecycle")
    workspace.allow("actor:reader", *actions)
    workspace.allow("role:masked", *actions)
    reader = workspace.cluster.client("actor:reader")

    def seen() -> list[common_pb2.MemoryEnvelope]:
        entries = history(workspace, reader, object_id=made.object_id)
        return [
            workspace.read(made.object_id, reader).envelope,
            query_page(workspace, reader).results[0],
            next(entry.version for entry in entries if entry.HasField("version")),
        ]

    assert [envelope.provenance for envelope in seen()] == [made.envelope.provenance] * 3
    workspace.deny("actor:reader", "provenance.read", object_type="task")
    assert [envelope.provenance for envelope in seen()] == [made.envelope.provenance] * 3
    workspace.deny("actor:reader", "provenance.read", object_type="claim")
    masked = common_pb2.Provenance(provenance_id=made.envelope.provenance.provenance_id)
    for envelope in seen():
        assert envelope.canonical_content == made.envelope.canonical_content
        assert envelope.provenance == masked
    assert workspace.read(made.object_id, reader).content_state == memory_pb2.CONTENT_STATE_PRESENT
    assert workspace.read(made.object_id).envelope.provenance == made.envelope.provenance
    # A grant of somebody who may see it does not lift the delegate's deny.
    delegation_id = grant(workspace, "actor:reader", "read")
    assert workspace.read(made.object_id, reader, delegation_id=delegation_id).envelope.provenance == masked
    moved = transition(workspace, made.object_id, made.version_id, "lifecycle", "archived", reader)
    assert moved.envelope.provenance == masked
    assert ADMIN not in str(moved.envelope)


def test_a_grant_shows_no_more_provenance_than_its_grantor_sees(workspace: Workspace) -> None:
    made = workspace.create(provenance=FULL)
    workspace.allow("actor:grantor", "read", "delegate")
    workspace.deny("actor:grantor", "provenance.read")
    grantor = workspace.cluster.client("actor:grantor")
    delegation_id = grant(workspace, "actor:delegate", "read", client=grantor)
    delegate = workspace.cluster.client("actor:delegate")
    provenance = workspace.read(made.object_id, delegate, delegation_id=delegation_id).envelope.provenance
    assert provenance.provenance_id == made.envelope.provenance.provenance_id
    assert provenance.activity == ""
