"""Types and contents: what is taken, kept byte for byte, or refused (PAMSPEC 8.1, 8.2; Q01, Q03)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from remit.v1 import admin_pb2, common_pb2, ledger_pb2
from tests.cluster import TENANT, Cluster, Refusal, Workspace
from tests.server.operations.memory.contents import FULL, MINIMAL, SIGNALS, as_bytes
from tests.server.operations.memory.requests import query_ids, update
from tests.server.operations.memory.standings import states

CONTENT_BYTES_MAX = 1 << 20


def refused(workspace: Workspace, **fields: Any) -> Refusal:
    """The refusal of a Create."""
    with pytest.raises(Refusal) as refusal:
        workspace.create(**fields)
    return refusal.value


@pytest.mark.req("P-8.1-08", "P-8.3-02", "P-8.1-09", "P-8.2-14")
@pytest.mark.parametrize(
    "content",
    [
        b'{"b": 1, "a": [1.0, 1e400, -0], "x-experimental-ext": {"nested": {"deep": null}}}',
        b" [ ] ",
        b'"text"',
        b"12345678901234567890123456789012345678901234567890",
        b"9007199254740993",
        b"1.10",
        b"true",
        b"null",
    ],
)
def test_any_json_value_comes_back_byte_for_byte(workspace: Workspace, content: bytes) -> None:
    made = workspace.create(canonical_content=content)
    assert made.envelope.canonical_content == content
    updated = update(workspace, made.object_id, made.version_id, canonical_content=b"0")
    for _ in range(2):
        assert workspace.read(made.object_id, version_id=made.version_id).envelope == made.envelope
    assert workspace.read(made.object_id).envelope == updated.envelope


@pytest.mark.case("A46")
def test_text_is_byte_exact_or_refused_when_written(workspace: Workspace) -> None:
    composed, decomposed = (unicodedata.normalize(form, '"é \U0001f600 å"').encode() for form in ("NFC", "NFD"))
    assert composed != decomposed
    emoji = '"\U0001f600"'.encode()
    exact = [
        composed,
        decomposed,
        b'"\\ud83d\\ude00"',
        b"9007199254740993",
        b'"' + b"a" * (CONTENT_BYTES_MAX - 2) + b'"',
        b'"' + b"a" * (CONTENT_BYTES_MAX - 6) + emoji[1:],
        b'"' + b"a" * (CONTENT_BYTES_MAX - 3) + b'"',
    ]
    for content in exact:
        made = workspace.create(canonical_content=content)
        assert workspace.read(made.object_id).envelope.canonical_content == content
    bad = [
        b'"a\x00b"',
        b'"\\u0000"',
        b'"\\ud83d"',
        b'"\xed\xa0\xbd"',
        emoji[:3] + b'"',
        b'{"a":1,"a":2}',
        b"NaN",
        b"1 2",
        b"[" * 65 + b"]" * 65,
        b'"' + b"a" * (CONTENT_BYTES_MAX - 1) + b'"',
        b'"' + b"a" * (CONTENT_BYTES_MAX - 5) + emoji[1:],
    ]
    for content in bad:
        refusal = refused(workspace, canonical_content=content)
        assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", ["canonical_content"])
        with pytest.raises(Refusal) as refused_update:
            update(workspace, made.object_id, made.version_id, canonical_content=content)
        assert refused_update.value.reason == "INVALID_OBJECT"


@pytest.mark.req("P-8.2-01", "P-8.2-02")
def test_the_ten_standard_types_are_taken_and_relationship_is_none(workspace: Workspace) -> None:
    plain = ("claim", "decision", "task", "artifact", "observation", "entity", "summary")
    for object_type in (*plain, *MINIMAL):
        content = as_bytes(MINIMAL.get(object_type, {"a": 1}))
        made = workspace.create(object_type=object_type, canonical_content=content)
        assert workspace.read(made.object_id).envelope.object_type == object_type
    assert refused(workspace, object_type="relationship").reason == "UNSUPPORTED_OBJECT_TYPE"


@pytest.mark.req("P-8.2-03", "P-8.2-04")
def test_extension_types_are_named_so_that_they_cannot_collide(workspace: Workspace) -> None:
    for object_type in ("com.acme.incident", "https://acme.example/types/incident", "urn:acme:incident"):
        made = workspace.create(object_type=object_type, schema_id="urn:acme:schema")
        read = workspace.read(made.object_id).envelope
        assert (read.object_type, read.schema_id) == (object_type, "urn:acme:schema")
        refusal = refused(workspace, object_type=object_type)
        assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", ["schema_id"])
    for object_type in ("acme_incident", "widget", "acme.incident", "Claim", "claim ", "com..acme"):
        assert refused(workspace, object_type=object_type, schema_id="urn:s").reason == "UNSUPPORTED_OBJECT_TYPE"


@pytest.mark.req("P-8.2-06")
def test_a_workspace_may_list_the_extension_types_it_takes(cluster: Cluster) -> None:
    workspace = Workspace(cluster)
    listed = admin_pb2.CreateWorkspaceRequest(
        scope_id=f"tenant:{TENANT}",
        new_scope_id=f"{workspace.scope_id}-listed",
        scope_kind="workspace",
        policy={"extension_types": {"values": ["com.acme.incident"]}},
    )
    workspace.owner.admin.CreateWorkspace(listed)
    workspace.scope_id = listed.new_scope_id
    workspace.create(object_type="com.acme.incident", schema_id="urn:s")
    workspace.create(object_type="claim")
    assert refused(workspace, object_type="com.acme.other", schema_id="urn:s").reason == "UNSUPPORTED_OBJECT_TYPE"


def broken() -> Iterator[tuple[str, str, Any]]:
    """Contents that break the shape of their type: (type, place, content)."""
    for object_type, content in MINIMAL.items():
        for key in content:
            rest = {name: value for name, value in content.items() if name != key}
            yield object_type, f"canonical_content.{key}", rest
        yield object_type, "canonical_content", content | {"unlisted": 1}
        yield object_type, "canonical_content", [content]
    call, result, note = (MINIMAL[name] for name in ("tool_invocation", "tool_result", "working_memory"))
    yield "tool_invocation", "canonical_content.tool_name", call | {"tool_name": ""}
    outcome = {"safety_check_outcome": {"outcome": "perhaps"}}
    yield "tool_invocation", "canonical_content.safety_check_outcome.outcome", call | outcome
    yield "tool_result", "canonical_content.outcome", result | {"outcome": "done"}
    yield "tool_result", "canonical_content.latency_ms", result | {"latency_ms": -1}
    yield "tool_result", "canonical_content.cost.amount", result | {"cost": {"amount": -0.1}}
    yield (
        "tool_result",
        "canonical_content.resource_usage.input_tokens",
        result | {"resource_usage": {"input_tokens": -1}},
    )
    yield "tool_result", "canonical_content.started_at", result | {"started_at": "2026-07-12T00:00:00"}
    yield "working_memory", "canonical_content.task_ref", note | {"task_ref": "no colon"}
    yield "working_memory", "canonical_content.ttl_hint_seconds", note | {"ttl_hint_seconds": -1}


@pytest.mark.req("P-8.2-08", "P-8.2-09", "P-8.2-11", "P-8.2-15")
@pytest.mark.parametrize(("object_type", "place", "content"), list(broken()))
def test_contents_with_a_shape_are_held_to_it(workspace: Workspace, object_type: str, place: str, content: Any) -> None:
    refusal = refused(workspace, object_type=object_type, canonical_content=as_bytes(content))
    assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", [place])
    made = workspace.create(object_type=object_type, canonical_content=as_bytes(MINIMAL[object_type]))
    with pytest.raises(Refusal) as refused_update:
        update(workspace, made.object_id, made.version_id, canonical_content=as_bytes(content))
    assert refused_update.value.reason == "INVALID_OBJECT"


@pytest.mark.req("P-8.2-08", "P-8.2-09", "P-8.2-11")
@pytest.mark.parametrize("object_type", list(FULL))
def test_contents_with_a_shape_may_hold_all_its_fields(workspace: Workspace, object_type: str) -> None:
    content = as_bytes(FULL[object_type])
    made = workspace.create(object_type=object_type, canonical_content=content)
    read = workspace.read(made.object_id).envelope
    assert read.canonical_content == content
    assert states(read) == states(made.envelope)  # a hint of one second moves nothing


@pytest.mark.req("P-10.1-09")
def test_tool_calls_and_results_have_an_event_of_their_own(workspace: Workspace) -> None:
    followers = {
        "tool_invocation": ledger_pb2.EVENT_TYPE_TOOL_INVOKED,
        "tool_result": ledger_pb2.EVENT_TYPE_TOOL_COMPLETED,
    }
    for object_type, follower in followers.items():
        made = workspace.create(object_type=object_type, canonical_content=as_bytes(MINIMAL[object_type]))
        events = workspace.events(object_id=made.object_id)
        assert [event.event_type for event in events] == [ledger_pb2.EVENT_TYPE_OBJECT_CREATED, follower]
        assert [event.event_id for event in events] == list(made.event_ids)
        assert events[1].sequence == events[0].sequence + 1
        assert {event.operation_id for event in events} == {made.operation_id}
    assert json.loads(events[1].payload_json)["outcome"] == "success"


@pytest.mark.req("P-8.1-07")
def test_a_schema_id_is_a_uri_and_changes_with_a_version(workspace: Workspace) -> None:
    made = workspace.create(schema_id="https://acme.example/schemas/1")
    updated = update(workspace, made.object_id, made.version_id, schema_id="https://acme.example/schemas/2")
    assert updated.version_id != made.version_id
    assert workspace.read(made.object_id).envelope.schema_id == "https://acme.example/schemas/2"
    before = workspace.read(made.object_id, version_id=made.version_id).envelope
    assert before.schema_id == "https://acme.example/schemas/1"
    refusal = refused(workspace, schema_id="not a uri")
    assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", ["schema_id"])


@pytest.mark.req("P-8.1-24", "P-8.1-25")
def test_quality_signals_are_kept(workspace: Workspace) -> None:
    provenance = {"activity": "observed", "source_confidence": 0.2}
    made = workspace.create(quality_signals=SIGNALS, provenance=provenance)
    read = workspace.read(made.object_id).envelope
    assert read.quality_signals == common_pb2.QualitySignals(**SIGNALS)
    assert (read.quality_signals.assessed_confidence, read.provenance.source_confidence) == (0.9, 0.2)
    bare = workspace.create(quality_signals={"contradiction_score": 0}).envelope.quality_signals
    assert bare.HasField("contradiction_score")
    assert not bare.HasField("assessed_confidence")


@pytest.mark.req("P-8.1-22")
def test_a_signal_never_overrides_what_validation_says(workspace: Workspace) -> None:
    for number in (common_pb2.VALIDATION_STATE_REJECTED, common_pb2.VALIDATION_STATE_UNVERIFIED):
        workspace.create(validation_state=number, quality_signals={"assessed_confidence": 1.0})
    assert query_ids(workspace) == []


@pytest.mark.req("P-8.1-23")
@pytest.mark.parametrize("score", [name for name, value in SIGNALS.items() if isinstance(value, float)])
def test_scores_lie_between_0_and_1(workspace: Workspace, score: str) -> None:
    for value in (1.5, -0.1, float("nan"), float("inf")):
        refusal = refused(workspace, quality_signals={score: value})
        assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", [f"quality_signals.{score}"])
