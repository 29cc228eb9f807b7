"""What is observed, inferred or put aside stays told apart from what was reviewed (PAMSPEC 7.1, 9.1, 15.5, 16.4)."""

from __future__ import annotations

import json

import pytest

from remit.v1 import common_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.server.operations.derived.embeddings import register_space
from tests.server.operations.memory.contents import MINIMAL
from tests.server.operations.memory.redactions import ERASE, SUPPRESS, redact
from tests.server.operations.memory.requests import ACCEPT_ALL, history, query_ids, query_page, transition, update
from tests.server.operations.memory.standings import states
from tests.server.operations.portability.exports import take_export, take_import
from tests.server.operations.snapshot.sealing import seal

SECRET = "canary-30b7"


@pytest.mark.req("P-15.5-02")
def test_results_of_tools_are_not_found_as_trusted(workspace: Workspace) -> None:
    result = workspace.create(object_type="tool_result", canonical_content=json.dumps(MINIMAL["tool_result"]).encode())
    assert states(result.envelope)["validation"] == "unverified"
    assert query_ids(workspace) == []
    assert query_ids(workspace, filters={"validation_state": [common_pb2.VALIDATION_STATE_UNVERIFIED]}) == [
        result.object_id
    ]
    reviewed = transition(workspace, result.object_id, result.version_id, "validation", "corroborated")
    assert [row.version_id for row in query_page(workspace).results] == [reviewed.version_id]


@pytest.mark.req("P-16.4-01")
def test_what_is_inferred_stays_unverified_until_it_is_reviewed(workspace: Workspace) -> None:
    inferred = workspace.create(provenance={"activity": "inferred", "source_confidence": 0.9})
    observed = workspace.create(provenance={"activity": "observed"})
    revised = update(workspace, inferred.object_id, inferred.version_id, provenance={"activity": "inferred"})
    for object_id, activity in ((inferred.object_id, "inferred"), (observed.object_id, "observed")):
        envelope = workspace.read(object_id).envelope
        assert (envelope.provenance.activity, states(envelope)["validation"]) == (activity, "unverified")
    assert query_ids(workspace) == []
    reviewed = transition(workspace, inferred.object_id, revised.version_id, "validation", "corroborated")
    assert states(reviewed.envelope) == states(revised.envelope) | {"validation": "corroborated"}
    assert (reviewed.envelope.provenance.activity, query_ids(workspace)) == ("inferred", [inferred.object_id])


@pytest.mark.req("P-9.1-06")
def test_what_is_archived_is_out_of_sight_but_not_gone(workspace: Workspace) -> None:
    made = workspace.create()
    judged = transition(workspace, made.object_id, made.version_id, "validation", "corroborated")
    assert query_ids(workspace) == [made.object_id]
    archived = transition(workspace, made.object_id, judged.version_id, "lifecycle", "archived")
    assert query_ids(workspace) == []
    versions = [entry.version for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
    assert versions[-1] == archived.envelope
    exported = take_export(workspace).kinds("memory_object")
    assert archived.version_id in {version["version_id"] for version in exported}


@pytest.mark.req("P-7.1-01")
def test_an_index_that_lags_hides_nothing(workspace: Workspace) -> None:
    register_space(workspace, "space:a")
    request = {"embedding_space_id": "space:a", "vector": [1, 0], "artifact_id": "artifact:1"}
    made = workspace.create(derived_requests=[request])
    # The index knows the first version and is told of no other.
    updated = update(workspace, made.object_id, made.version_id, canonical_content=b'{"statement":"newer"}')
    assert workspace.read(made.object_id).envelope == updated.envelope
    assert [row.version_id for row in query_page(workspace, filters=ACCEPT_ALL).results] == [updated.version_id]


@pytest.mark.parametrize("mode", [SUPPRESS, ERASE])
def test_what_is_redacted_leaves_by_no_other_way(workspace: Workspace, mode: memory_pb2.RedactionMode) -> None:
    first = workspace.create(canonical_content=f'{{"text":"{SECRET}","n":1}}'.encode())
    second = update(
        workspace, first.object_id, first.version_id, canonical_content=f'{{"text":"{SECRET}","n":2}}'.encode()
    )
    sealed = seal(workspace)
    before = take_export(workspace)
    assert sum(SECRET.encode() in record for _, record in before.records) == 2
    redact(workspace, first.object_id, second.version_id, "/text", mode=mode)
    for export in (take_export(workspace), take_export(workspace, snapshot_id=sealed.snapshot_id)):
        assert not any(SECRET.encode() in record for _, record in export.records)
        contents = [version["canonical_content"] for version in export.kinds("memory_object")]
        assert {"n": 1} in contents
    within = workspace.read(first.object_id, snapshot_id=sealed.snapshot_id)
    assert (within.envelope.version_id, within.envelope.canonical_content) == (second.version_id, b'{"n":2}')
    assert within.content_state == memory_pb2.CONTENT_STATE_PARTIAL
    page = query_page(workspace, filters=ACCEPT_ALL, snapshot_id=sealed.snapshot_id)
    assert [row.canonical_content for row in page.results] == [b'{"n":2}']


def test_what_was_redacted_elsewhere_can_not_be_restored_here(workspace: Workspace) -> None:
    contents = [f'{{"text":"{SECRET}","n":{n}}}'.encode() for n in (1, 2)]
    partial, whole = (workspace.create(canonical_content=content) for content in contents)
    redact(workspace, partial.object_id, partial.version_id, "/text")
    redact(workspace, whole.object_id, whole.version_id, whole=True)
    elsewhere = Workspace(workspace.cluster)
    taken = take_export(workspace).with_records(
        record for record in take_export(workspace).records if record[0] == "memory_object"
    )
    take_import(elsewhere, taken, remap=True)
    here = elsewhere.read(partial.object_id)
    assert (here.envelope.canonical_content, here.content_state) == (b'{"n":1}', memory_pb2.CONTENT_STATE_PARTIAL)
    with pytest.raises(Refusal) as refusal:
        elsewhere.read(whole.object_id)
    assert refusal.value.reason == "OBJECT_REDACTED"
    versions = [entry.version for entry in history(elsewhere, object_id=whole.object_id) if entry.HasField("version")]
    for object_id, version_id in (
        (partial.object_id, here.envelope.version_id),
        (whole.object_id, versions[-1].version_id),
    ):
        with pytest.raises(Refusal) as refusal:
            transition(elsewhere, object_id, version_id, "availability", "available")
        assert refusal.value.reason == "POLICY_DENIED"
