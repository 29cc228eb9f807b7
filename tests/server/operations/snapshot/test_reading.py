"""Reads, queries and histories in a snapshot: what they see, and what the authority and the gate of now still decide."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import memory_pb2
from tests.cluster import Workspace
from tests.server.operations.memory.requests import (
    ACCEPT_ALL,
    CORROBORATED,
    delete,
    grant,
    history,
    query_ids,
    query_page,
    transition,
    update,
)
from tests.server.operations.snapshot.sealing import got, refusal_of, seal


@pytest.mark.req("P-10.2-05", "P-14-17")
def test_an_unknown_snapshot_is_not_found_whatever_is_asked_in_it(workspace: Workspace) -> None:
    made = workspace.create()
    elsewhere = seal(Workspace(workspace.cluster)).snapshot_id
    for snapshot_id in ("snap:absent", elsewhere):
        place: dict[str, Any] = {"snapshot_id": snapshot_id}
        refusals = [
            refusal_of(workspace.read, made.object_id, **place),
            refusal_of(query_page, workspace, **place),
            refusal_of(history, workspace, object_id=made.object_id, **place),
            refusal_of(history, workspace, after_sequence=0, **place),
            refusal_of(got, workspace, snapshot_id),
        ]
        assert {refused.reason for refused in refusals} == {"SNAPSHOT_NOT_FOUND"}
        assert {refused.pamspec.retryable for refused in refusals} == {False}


@pytest.mark.req("P-10.2-01", "P-18.11-02")
def test_reads_in_a_snapshot_see_it_and_nothing_later(workspace: Workspace) -> None:
    first = workspace.create(canonical_content=b'{"n":1}')
    sealed = seal(workspace)
    second = update(workspace, first.object_id, first.version_id, canonical_content=b'{"n":2}')
    later = workspace.create()
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id}
    read = workspace.read(first.object_id, **within)
    assert read.envelope == first.envelope
    assert workspace.read(first.object_id).envelope == second.envelope
    assert workspace.read(first.object_id, version_id=first.version_id, **within).envelope == first.envelope
    assert (
        refusal_of(workspace.read, first.object_id, version_id=second.version_id, **within).reason == "OBJECT_NOT_FOUND"
    )
    assert refusal_of(workspace.read, later.object_id, **within).reason == "OBJECT_NOT_FOUND"
    assert query_ids(workspace, filters=ACCEPT_ALL, **within) == [first.object_id]
    entries = history(workspace, object_id=first.object_id, **within)
    assert [entry.version.version_id for entry in entries if entry.HasField("version")] == [first.version_id]
    ranged = history(workspace, after_sequence=0, **within)
    assert max(entry.ledger_sequence for entry in ranged) == sealed.ledger_sequence_high_watermark
    assert refusal_of(history, workspace, object_id=later.object_id, **within).reason == "OBJECT_NOT_FOUND"


@pytest.mark.req("P-10.2-01")
def test_a_read_gives_the_view_of_each_optional_input(workspace: Workspace) -> None:
    first = workspace.create()
    sealed = seal(workspace)
    second = update(workspace, first.object_id, first.version_id)
    assert workspace.read(first.object_id, version_id=first.version_id).envelope == first.envelope
    whole = workspace.read(first.object_id)
    assert not whole.HasField("history")
    hinted = workspace.read(first.object_id, history_hint=True)
    assert hinted.history == memory_pb2.HistoryHint(version_count=2, current_version_id=second.version_id)
    earlier = workspace.read(first.object_id, history_hint=True, snapshot_id=sealed.snapshot_id)
    assert earlier.history == memory_pb2.HistoryHint(version_count=1, current_version_id=first.version_id)
    masked = workspace.read(first.object_id, field_mask=["object_type", "canonical_content"]).envelope
    always = {"object_id", "version_id", "scope_id"}
    states = {f"{name}_state" for name in ("lifecycle", "availability", "retention", "validation")}
    given = {field.name: value for field, value in masked.ListFields()}
    assert set(given) == {"object_type", "canonical_content"} | always | states
    assert all(getattr(whole.envelope, name) == value for name, value in given.items())
    refused = refusal_of(workspace.read, first.object_id, field_mask=["object_type", "content"])
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["field_mask[1]"])


@pytest.mark.req("P-10.6-03", "P-18.11-02")
def test_a_snapshot_of_chosen_members_holds_no_other(workspace: Workspace) -> None:
    member, other = workspace.create(), workspace.create()
    sealed = seal(workspace, included_object_ids=[member.object_id])
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id}
    assert workspace.read(member.object_id, **within).envelope == member.envelope
    assert refusal_of(workspace.read, other.object_id, **within).reason == "OBJECT_NOT_FOUND"
    assert query_ids(workspace, filters=ACCEPT_ALL, **within) == [member.object_id]
    assert {
        entry.event.object_id for entry in history(workspace, after_sequence=0, **within) if entry.event.event_id
    } == {member.object_id}
    assert refusal_of(history, workspace, object_id=other.object_id, **within).reason == "OBJECT_NOT_FOUND"


def all_pages(workspace: Workspace, **fields: Any) -> tuple[list[bytes], list[Any]]:
    """The serialized rows of each page, and the metadata of each."""
    rows, metadata, cursor = [], [], ""
    while True:
        page = query_page(workspace, cursor=cursor, **fields)
        rows.append(memory_pb2.QueryResponse(results=page.results).SerializeToString(deterministic=True))
        metadata.append(page.metadata)
        cursor = page.cursor
        if not cursor:
            return rows, metadata


@pytest.mark.req("P-11-02", "P-18.7-01")
@pytest.mark.parametrize("order", range(6))
def test_a_query_in_a_snapshot_repeats_byte_for_byte(workspace: Workspace, order: int) -> None:
    made = [workspace.create(validation_state=CORROBORATED, observed_at={"seconds": 5}) for _ in range(7)]
    sealed = seal(workspace)
    asked: dict[str, Any] = {"snapshot_id": sealed.snapshot_id, "limit": 3, "order": order}
    before = all_pages(workspace, **asked)
    for result in made[:3]:
        newer = update(workspace, result.object_id, result.version_id)
        transition(
            workspace, result.object_id, newer.version_id, "validation", "disputed", provenance={"activity": "x"}
        )
    for _ in range(4):
        workspace.create(validation_state=CORROBORATED)
    assert all_pages(workspace, **asked) == before
    assert len(before[0]) == 3
    assert {page.ledger_sequence for page in before[1]} == {sealed.ledger_sequence_high_watermark}
    assert {page.snapshot_id for page in before[1]} == {sealed.snapshot_id}
    assert len(query_ids(workspace)) == 8


@pytest.mark.case("A29")
def test_lists_and_reads_agree_in_a_snapshot(workspace: Workspace) -> None:
    made = [workspace.create() for _ in range(5)]
    within: dict[str, Any] = {"snapshot_id": seal(workspace).snapshot_id}
    for result in made[:2]:
        transition(workspace, result.object_id, result.version_id, "retention", "expired")
    update(workspace, made[2].object_id, made[2].version_id)
    listed = query_page(workspace, filters=ACCEPT_ALL, **within).results
    assert [row.object_id for row in listed] == [result.object_id for result in made]
    for row in listed:
        assert workspace.read(row.object_id, **within).envelope == row


@pytest.mark.req("P-18.11-02")
def test_erasure_wins_over_a_snapshot(workspace: Workspace) -> None:
    names = ("kept", "deleted", "redacted", "pending")
    made = {name: workspace.create(object_id=f"mem:{name}", validation_state=CORROBORATED) for name in names}
    sealed = seal(workspace)
    within: dict[str, Any] = {"snapshot_id": sealed.snapshot_id}
    assert len(query_ids(workspace, **within)) == 4
    delete(workspace, "mem:deleted", made["deleted"].version_id)
    transition(workspace, "mem:redacted", made["redacted"].version_id, "availability", "redacted")
    transition(workspace, "mem:pending", made["pending"].version_id, "retention", "pending_deletion")
    workspace.allow("actor:reader", "read", "query", "inspect_history")
    reader = workspace.cluster.client("actor:reader")
    reasons = {
        name: refusal_of(workspace.read, f"mem:{name}", reader, **within).reason for name in names if name != "kept"
    }
    assert reasons == {
        "deleted": "OBJECT_DELETED",
        "redacted": "OBJECT_REDACTED",
        "pending": "RETENTION_RESTRICTION",
    }
    assert query_ids(workspace, reader, **within) == ["mem:kept"]
    for name in names[1:]:
        versions = [
            entry for entry in history(workspace, reader, object_id=f"mem:{name}", **within) if entry.content_state
        ]
        assert [entry.content_state for entry in versions] == [memory_pb2.CONTENT_STATE_WITHHELD]
        assert {entry.version.canonical_content for entry in versions} == {b""}
    assert got(workspace, sealed.snapshot_id) == sealed


def test_a_snapshot_gives_no_authority(workspace: Workspace) -> None:
    claim, task = workspace.create(object_type="claim"), workspace.create(object_type="task")
    within: dict[str, Any] = {"snapshot_id": seal(workspace).snapshot_id}
    delegation_id = grant(
        workspace, "actor:delegate", "read", "query", "inspect_history", granted_object_types={"values": ["task"]}
    )
    delegate = workspace.cluster.client("actor:delegate")
    by_grant: dict[str, Any] = {"delegation_id": delegation_id, **within}
    assert query_ids(workspace, delegate, filters=ACCEPT_ALL, **by_grant) == [task.object_id]
    assert workspace.read(task.object_id, delegate, **by_grant).envelope == task.envelope
    assert refusal_of(workspace.read, claim.object_id, delegate, **by_grant).reason == "ACCESS_DENIED"
    # What the caller may not touch is refused before the snapshot is looked for.
    hidden: dict[str, Any] = {"delegation_id": delegation_id, "snapshot_id": "snap:absent"}
    assert refusal_of(workspace.read, claim.object_id, delegate, **hidden).reason == "ACCESS_DENIED"
    for call in (lambda: seal(workspace, delegate), lambda: seal(workspace, delegate, snapshot_id="snap:x")):
        assert refusal_of(call).reason == "ACCESS_DENIED"
