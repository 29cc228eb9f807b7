"""InspectHistory (PAMSPEC 10.7)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from tests.cluster import Refusal, Workspace
from tests.server.operations.memory.requests import (
    CORROBORATED,
    delete,
    grant,
    history,
    history_page,
    query_ids,
    transition,
    update,
)

WITHHELD = memory_pb2.CONTENT_STATE_WITHHELD
PRESENT = memory_pb2.CONTENT_STATE_PRESENT


def _versions(entries: list[memory_pb2.HistoryEntry]) -> list[int]:
    return [entry.version.sequence for entry in entries if entry.HasField("version")]


def _events(entries: list[memory_pb2.HistoryEntry]) -> list[str]:
    return [
        ledger_pb2.EventType.Name(entry.event.event_type).removeprefix("EVENT_TYPE_").lower()
        for entry in entries
        if entry.HasField("event")
    ]


def _storied(workspace: Workspace) -> Any:
    """An object with four versions, and a denial between."""
    made = workspace.create(canonical_content=b'{"n":1}')
    second = update(workspace, made.object_id, made.version_id, canonical_content=b'{"n":2}')
    workspace.allow("actor:reader", "query")
    workspace.deny("actor:reader", "read")
    with pytest.raises(Refusal):
        workspace.read(made.object_id, workspace.cluster.client("actor:reader"))
    third = transition(workspace, made.object_id, second.version_id, "validation", "corroborated")
    workspace.create()
    return transition(workspace, made.object_id, third.version_id, "lifecycle", "superseded")


@pytest.mark.req("P-10.7-01")
def test_an_objects_history_is_its_versions_and_events_oldest_first(workspace: Workspace) -> None:
    last = _storied(workspace)
    entries = history(workspace, object_id=last.object_id)
    assert [entry.ledger_sequence for entry in entries] == sorted(entry.ledger_sequence for entry in entries)
    assert _versions(entries) == [1, 2, 3, 4]
    moved = ["validation_transitioned", "lifecycle_transitioned"]
    assert [name for name in _events(entries) if name != "provenance_updated"] == [
        "object_created",
        "object_updated",
        *moved,
    ]
    contents = [entry.version.canonical_content for entry in entries if entry.HasField("version")]
    assert contents == [b'{"n":1}', b'{"n":2}', b'{"n":2}', b'{"n":2}']
    assert {entry.content_state for entry in entries if entry.HasField("version")} == {PRESENT}
    # Each event comes with the version it made, and before it.
    for event, version in pairwise(entries):
        if version.HasField("version"):
            assert event.event.version_id == version.version.version_id


@pytest.mark.req("P-10.7-01")
def test_each_bound_narrows_to_the_exact_part(workspace: Workspace) -> None:
    last = _storied(workspace)
    whole = history(workspace, object_id=last.object_id)
    middle = [entry.ledger_sequence for entry in whole if entry.HasField("version")][1]
    end = whole[-1].ledger_sequence

    def asked(**bounds: Any) -> list[memory_pb2.HistoryEntry]:
        found = history(workspace, object_id=last.object_id, **bounds)
        for limit in (1, 3):
            assert history(workspace, object_id=last.object_id, limit=limit, **bounds) == found
        return found

    assert asked(after_sequence=middle) == [entry for entry in whole if entry.ledger_sequence > middle]
    assert asked(to_sequence=middle) == [entry for entry in whole if entry.ledger_sequence <= middle]
    assert asked(after_sequence=middle, to_sequence=end - 1) == [
        entry for entry in whole if middle < entry.ledger_sequence < end
    ]
    assert asked(after_sequence=2**64 - 1) == []
    assert asked(to_sequence=2**64 - 1) == whole
    assert _versions(asked(from_version=2, to_version=3)) == [2, 3]
    assert _versions(asked(from_version=4)) == [4]
    assert _versions(asked(to_version=1)) == [1]
    assert _events(asked(from_version=2, to_version=3)) == _events(whole)
    updated = asked(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_UPDATED])
    assert _events(updated) == ["object_updated"]
    assert _versions(updated) == [1, 2, 3, 4]


def test_what_is_missing_is_refused(workspace: Workspace) -> None:
    with pytest.raises(Refusal) as refused:
        history_page(workspace)
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["object_id"])
    with pytest.raises(Refusal) as refused:
        history_page(workspace, after_sequence=0, from_version=1)
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["from_version"])
    with pytest.raises(Refusal) as refused:
        history_page(workspace, object_id="urn:none:such")
    assert refused.value.reason == "OBJECT_NOT_FOUND"


@pytest.mark.req("P-9.1-04", "P-9.2-04")
def test_what_queries_leave_out_is_in_the_history(workspace: Workspace) -> None:
    superseded = workspace.create(validation_state=CORROBORATED, lifecycle_state=common_pb2.LIFECYCLE_STATE_SUPERSEDED)
    archived = workspace.create(validation_state=CORROBORATED, lifecycle_state=common_pb2.LIFECYCLE_STATE_ARCHIVED)
    rejected = workspace.create(validation_state=common_pb2.VALIDATION_STATE_REJECTED)
    assert query_ids(workspace) == []
    for made in (superseded, archived, rejected):
        [entry] = [entry for entry in history(workspace, object_id=made.object_id) if entry.HasField("version")]
        assert entry.version == made.envelope
        assert entry.content_state == PRESENT


@pytest.mark.req("P-10.7-02")
def test_no_version_of_a_removed_object_holds_its_bytes(workspace: Workspace) -> None:
    secret = b"chartreuse"
    made = workspace.create(
        canonical_content=b'{"secret":"%s"}' % secret,
        provenance={"activity": secret.decode(), "source_ref": f"urn:{secret.decode()}"},
        integrity={"digest": secret.decode(), "algorithm": "sha-256"},
    )
    second = update(workspace, made.object_id, made.version_id, canonical_content=b'["%s"]' % secret)
    delete(workspace, made.object_id, second.version_id)
    workspace.create()
    for asked in ({"object_id": made.object_id}, {"after_sequence": 0}):
        entries = history(workspace, **asked)
        assert secret not in b"".join(entry.SerializeToString() for entry in entries)
        versions = [entry for entry in entries if entry.version.object_id == made.object_id]
        assert [entry.content_state for entry in versions] == [WITHHELD] * 3
        assert [entry.version.canonical_content for entry in versions] == [b"", b"", b'{"tombstone":true}']
        assert versions[0].version.provenance.provenance_id == made.envelope.provenance.provenance_id
    assert secret not in b"".join(event.SerializeToString() for event in workspace.events())


def test_content_pending_deletion_is_for_reviewers(workspace: Workspace) -> None:
    made = workspace.create()
    transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion")
    workspace.allow("actor:auditor", "inspect_history")
    auditor = workspace.cluster.client("actor:auditor")

    def states(client: Any) -> list[int]:
        entries = history(workspace, client, object_id=made.object_id)
        return [entry.content_state for entry in entries if entry.HasField("version")]

    assert states(auditor) == [WITHHELD, WITHHELD]
    assert states(workspace.owner) == [PRESENT, PRESENT]


def test_a_range_gives_events_without_an_object_to_unlimited_authority_only(workspace: Workspace) -> None:
    claim, task = workspace.create(), workspace.create(object_type="task")
    workspace.create()
    update(workspace, task.object_id, task.version_id)
    workspace.allow("actor:limited", "inspect_history", object_type="task")
    workspace.allow("actor:limited", "inspect_history", object_id=claim.object_id)
    limited = workspace.cluster.client("actor:limited")
    whole = history(workspace, after_sequence=0)
    assert "workspace_created" in _events(whole)
    assert "policy_rule_added" in _events(whole)
    visible = {claim.object_id, task.object_id}

    def concerns(entry: memory_pb2.HistoryEntry) -> bool:
        return (entry.version.object_id or entry.event.object_id) in visible

    expected = [entry for entry in whole if concerns(entry)]
    assert history(workspace, limited, after_sequence=0) == expected
    assert history(workspace, limited, after_sequence=0, limit=1) == expected
    hidden = workspace.create().object_id
    with pytest.raises(Refusal) as refused:
        history_page(workspace, limited, object_id=hidden, operation_id="op:same")
    assert refused.value.denial_reason == "NO_RULE"
    # Bounds of an object that is absent, or out of bounds, are refused alike.
    with pytest.raises(Refusal) as absent:
        history_page(workspace, limited, object_id="urn:none:such", operation_id="op:same")
    assert str(absent.value) == str(refused.value)


def test_a_grant_limits_a_range_and_each_page_takes_a_use(workspace: Workspace) -> None:
    made = [workspace.create() for _ in range(4)]
    delegation_id = grant(
        workspace,
        "actor:delegate",
        "inspect_history",
        granted_object_ids={"values": [made[1].object_id, made[3].object_id]},
        usage_limit=3,
    )
    delegate = workspace.cluster.client("actor:delegate")
    first = history_page(workspace, delegate, delegation_id=delegation_id, after_sequence=0, limit=3)
    second = history_page(
        workspace, delegate, delegation_id=delegation_id, after_sequence=0, limit=3, cursor=first.cursor
    )
    entries = [*first.entries, *second.entries]
    assert [entry.version.object_id for entry in entries if entry.HasField("version")] == [
        made[1].object_id,
        made[3].object_id,
    ]
    assert _events(entries) == ["object_created", "object_created"]
    assert not second.cursor
    assert first.event_ids
    assert second.event_ids
    with pytest.raises(Refusal) as refused:
        history_page(workspace, delegate, delegation_id=delegation_id, object_id=made[0].object_id)
    assert refused.value.denial_reason == "OBJECT_NOT_GRANTED"
    [third] = history_page(
        workspace, delegate, delegation_id=delegation_id, object_id=made[3].object_id, from_version=1, limit=1
    ).entries
    assert third.event.object_id == made[3].object_id
