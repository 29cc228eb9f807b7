"""Promote: working memory becomes an object of lasting type, in one transaction (PAMSPEC 10.10)."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Client, Refusal, Workspace
from tests.server.operations.memory.contents import MINIMAL
from tests.server.operations.memory.redactions import ERASE, redact
from tests.server.operations.memory.requests import delete, history, transition, update
from tests.server.operations.memory.standings import states
from tests.server.operations.portability.exports import take_export

SCRATCH = b'{"task_ref":"task:1","content":{"found":"it"}}'
CLAIM = b'{"statement":"it is so"}'


def scratch(workspace: Workspace, client: Client | None = None, **fields: Any) -> Any:
    """Working memory."""
    values: dict[str, Any] = {"object_type": "working_memory", "canonical_content": SCRATCH} | fields
    return workspace.create(client, **values)


def promotion(workspace: Workspace, source: Any, **fields: Any) -> memory_pb2.PromoteRequest:
    """A request to promote a source at the version of a result."""
    values: dict[str, Any] = {
        "target_object_type": "claim",
        "target_canonical_content": CLAIM,
        "provenance": {"activity": "consolidated"},
    } | fields
    return memory_pb2.PromoteRequest(
        scope_id=workspace.scope_id,
        source_object_id=source.object_id,
        expected_version_id=source.version_id,
        **values,
    )


def promote(workspace: Workspace, source: Any, client: Client | None = None, **fields: Any) -> Any:
    """Promotes; returns the response."""
    return (client or workspace.owner).memory.Promote(promotion(workspace, source, **fields))


@pytest.mark.req("P-10.10-01")
@pytest.mark.parametrize(
    "missing",
    [
        "scope_id",
        "source_object_id",
        "expected_version_id",
        "target_object_type",
        "target_canonical_content",
        "provenance",
    ],
)
def test_a_promotion_names_all_it_needs(workspace: Workspace, missing: str) -> None:
    request = promotion(workspace, scratch(workspace))
    request.ClearField(missing)
    with pytest.raises(Refusal) as refusal:
        workspace.owner.memory.Promote(request)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [missing])


@pytest.mark.req("P-10.10-04", "P-10.10-05", "P-10.10-07")
@pytest.mark.parametrize("lifecycle", ["scratch", "candidate", "active"])
def test_a_promotion_makes_the_target_and_supersedes_the_source(workspace: Workspace, lifecycle: str) -> None:
    source = scratch(workspace)
    for step in ("candidate", "active")[: ("scratch", "candidate", "active").index(lifecycle)]:
        source = transition(workspace, source.object_id, source.version_id, "lifecycle", step)
    promoted = promote(
        workspace,
        source,
        target_object_id="mem:lasting",
        operation_id="op:promote",
        policy_basis="reviewed",
        quality_signals={"staleness_score": 0.25},
    )
    target = workspace.read("mem:lasting").envelope
    assert target == promoted.target.envelope
    assert (target.object_type, target.canonical_content, target.sequence) == ("claim", CLAIM, 1)
    assert target.provenance.transformation_parent == source.version_id
    assert (target.provenance.activity, target.quality_signals.staleness_score) == ("consolidated", 0.25)
    assert states(target) == {
        "lifecycle": "active",
        "availability": "available",
        "retention": "retained",
        "validation": "unverified",
    }
    superseded = workspace.read(source.object_id).envelope
    assert superseded == promoted.source.envelope
    assert (superseded.sequence, superseded.canonical_content) == (source.sequence + 1, SCRATCH)
    assert states(superseded) == states(source.envelope) | {"lifecycle": "superseded"}
    events = [event for event in workspace.events() if event.operation_id == "op:promote"]
    assert [ledger_pb2.EventType.Name(event.event_type) for event in events] == [
        "EVENT_TYPE_OBJECT_CREATED",
        "EVENT_TYPE_LIFECYCLE_TRANSITIONED",
        "EVENT_TYPE_RELATIONSHIP_CREATED",
        "EVENT_TYPE_WORKING_MEMORY_PROMOTED",
    ]
    assert [event.event_id for event in events] == list(promoted.target.event_ids)
    created, moved, _, linking = events
    assert (created.object_id, created.version_id) == ("mem:lasting", promoted.target.version_id)
    assert (moved.object_id, moved.version_id) == (source.object_id, promoted.source.version_id)
    said = json.loads(moved.payload_json)
    assert (said["from"], said["to"], said["via"]) == (lifecycle, "superseded", "promote")
    payload = json.loads(linking.payload_json)
    assert payload == {
        "source_object_id": source.object_id,
        "source_version_id": source.version_id,
        "superseding_version_id": promoted.source.version_id,
        "target_object_id": "mem:lasting",
        "target_version_id": promoted.target.version_id,
        "relationship_id": promoted.relationship_id,
    }
    verified = workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
    assert verified.ok


@pytest.mark.req("P-10.10-08")
def test_the_target_is_derived_from_the_source(workspace: Workspace) -> None:
    source = scratch(workspace)
    promoted = promote(workspace, source)
    request = memory_pb2.TraverseRelationshipsRequest(
        scope_id=workspace.scope_id,
        start_object_id=promoted.target.object_id,
        direction=memory_pb2.TRAVERSAL_DIRECTION_OUTGOING,
        max_depth=1,
        limit=10,
    )
    [step] = workspace.owner.memory.TraverseRelationships(request).steps
    assert step.relationship.relationship_id == promoted.relationship_id
    assert step.relationship.version_id == promoted.relationship_version_id
    assert step.relationship.relationship_type == "derived_from"
    assert step.relationship.target_object_id == source.object_id
    assert states(workspace.read(source.object_id).envelope)["availability"] == "available"


@pytest.mark.req("P-10.10-02", "P-10.10-06")
def test_bad_content_leaves_nothing_behind(workspace: Workspace) -> None:
    source = scratch(workspace)
    before = len(workspace.events())
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, target_object_type="tool_result", target_canonical_content=b'{"outcome":"maybe"}')
    assert refusal.value.reason == "INVALID_OBJECT"
    assert refusal.value.fields[0].startswith("target_canonical_content")
    assert workspace.read(source.object_id).envelope == source.envelope
    assert len(workspace.events()) == before
    made = promote(
        workspace,
        source,
        target_object_type="tool_result",
        target_canonical_content=json.dumps(MINIMAL["tool_result"]).encode(),
    )
    assert made.target.envelope.object_type == "tool_result"
    [completed] = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_TOOL_COMPLETED])
    assert completed.object_id == made.target.object_id


@pytest.mark.req("P-10.10-03")
def test_only_working_memory_is_promoted(workspace: Workspace) -> None:
    claim = workspace.create()
    with pytest.raises(Refusal) as refusal:
        promote(workspace, claim)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["source_object_id"])
    with pytest.raises(Refusal) as refusal:
        promote(workspace, scratch(workspace), target_object_type="working_memory", target_canonical_content=SCRATCH)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["target_object_type"])


@pytest.mark.req("P-10.10-09")
def test_nothing_is_promoted_twice(workspace: Workspace) -> None:
    source = scratch(workspace)
    promoted = promote(workspace, source)
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source)
    assert refusal.value.reason == "VERSION_CONFLICT"
    with pytest.raises(Refusal) as refusal:
        promote(workspace, promoted.source)
    assert refusal.value.reason == "INVALID_STATE_TRANSITION"


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda workspace, made: delete(workspace, made.object_id, made.version_id), "OBJECT_DELETED"),
        (
            lambda workspace, made: transition(workspace, made.object_id, made.version_id, "availability", "redacted"),
            "OBJECT_REDACTED",
        ),
        (
            lambda workspace, made: transition(workspace, made.object_id, made.version_id, "lifecycle", "archived"),
            "INVALID_STATE_TRANSITION",
        ),
    ],
)
def test_a_source_that_is_gone_is_not_promoted(
    workspace: Workspace, prepare: Callable[[Workspace, Any], Any], reason: str
) -> None:
    source = prepare(workspace, scratch(workspace))
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source)
    assert refusal.value.reason == reason


def test_the_target_id_must_be_free(workspace: Workspace) -> None:
    source = scratch(workspace)
    taken = workspace.create(object_id="mem:taken")
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, target_object_id="mem:taken")
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["target_object_id"])
    delete(workspace, taken.object_id, taken.version_id)
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, target_object_id="mem:taken")
    assert refusal.value.reason == "OBJECT_DELETED"
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, target_object_id=source.object_id)
    assert refusal.value.fields == ["target_object_id"]
    assert workspace.read(source.object_id).envelope == source.envelope


@pytest.mark.req("P-15.5-01")
def test_a_promotion_trusts_nothing_by_itself(workspace: Workspace) -> None:
    writer = workspace.cluster.client("actor:writer")
    workspace.allow("actor:writer", "create", "promote", "read")
    source = scratch(workspace, writer)
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, writer, target_validation_state=common_pb2.VALIDATION_STATE_CORROBORATED)
    assert refusal.value.reason == "POLICY_DENIED"
    with pytest.raises(Refusal) as refusal:
        workspace.create(writer, validation_state=common_pb2.VALIDATION_STATE_CORROBORATED)
    assert refusal.value.reason == "POLICY_DENIED"
    made = promote(workspace, source, writer)
    assert states(made.target.envelope)["validation"] == "unverified"
    workspace.allow("actor:writer", "assert_state")
    made = promote(
        workspace,
        scratch(workspace, writer),
        writer,
        target_validation_state=common_pb2.VALIDATION_STATE_CORROBORATED,
        target_lifecycle_state=common_pb2.LIFECYCLE_STATE_CANDIDATE,
    )
    expected = {"validation": "corroborated", "lifecycle": "candidate"}
    assert states(made.target.envelope) == states(workspace.create().envelope) | expected


def test_a_repeated_promotion_gives_the_first_answer(workspace: Workspace) -> None:
    source = scratch(workspace)
    first = promote(workspace, source, idempotency_key="k")
    before = len(workspace.events())
    again = promote(workspace, source, idempotency_key="k")
    assert (again.target.replayed, again.source.replayed) == (True, True)
    for made, repeated in ((first.target, again.target), (first.source, again.source)):
        assert (made.envelope, list(made.event_ids)) == (repeated.envelope, list(repeated.event_ids))
    assert (again.relationship_id, again.relationship_version_id) == (
        first.relationship_id,
        first.relationship_version_id,
    )
    assert len(workspace.events()) == before
    with pytest.raises(Refusal) as refusal:
        promote(workspace, source, idempotency_key="k", target_object_type="decision")
    assert refusal.value.reason == "DUPLICATE_OPERATION"


def test_who_may_not_read_is_shown_only_what_it_sent(workspace: Workspace) -> None:
    source = scratch(workspace)
    workspace.allow("actor:mover", "promote")
    promoted = promote(workspace, source, workspace.cluster.client("actor:mover"), idempotency_key="k")
    again = promote(workspace, source, workspace.cluster.client("actor:mover"), idempotency_key="k")
    for response in (promoted, again):
        assert response.target.envelope.canonical_content == CLAIM
        assert response.source.envelope.canonical_content == b""


@pytest.mark.parametrize("rival", ["update", "delete", "promote"])
def test_of_two_at_once_one_wins(workspace: Workspace, rival: str) -> None:
    source = scratch(workspace)
    rivals: dict[str, Callable[[], Any]] = {
        "update": lambda: update(workspace, source.object_id, source.version_id, canonical_content=SCRATCH),
        "delete": lambda: delete(workspace, source.object_id, source.version_id),
        "promote": lambda: promote(workspace, source),
    }

    def attempt(call: Callable[[], Any]) -> str:
        try:
            call()
        except Refusal as refusal:
            return refusal.reason
        return "OK"

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(attempt, [lambda: promote(workspace, source), rivals[rival]]))
    assert ends.count("OK") == 1
    [lost] = [end for end in ends if end != "OK"]
    assert lost in {"VERSION_CONFLICT", "OBJECT_DELETED"}
    entries = history(workspace, object_id=source.object_id)
    assert len([entry for entry in entries if entry.HasField("version")]) == 2


def test_what_the_client_says_of_the_target_stands_at_the_target_alone(workspace: Workspace) -> None:
    source = scratch(workspace)
    said = {"activity": "consolidated", "source_ref": "urn:4711", "evidence_refs": ["urn:evidence:4711"]}
    promoted = promote(workspace, source, provenance=said)
    entries = history(workspace, relationship_id=promoted.relationship_id)
    [derived] = [entry.relationship for entry in entries if entry.HasField("relationship")]
    assert (derived.provenance.activity, derived.provenance.transformation_parent) == ("promoted", source.version_id)
    assert b"4711" not in derived.SerializeToString()
    # So what is erased at the target is nowhere.
    redact(
        workspace,
        promoted.target.object_id,
        promoted.target.version_id,
        mode=ERASE,
        provenance_pointers=["/source_ref", "/evidence_refs"],
    )
    assert not [kind for kind, record in take_export(workspace).records if b"4711" in record]
