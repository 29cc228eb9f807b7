"""Who redacts, by what authority, what each is told, and what happens at the same time (PAMSPEC 10.9, 12)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.v1 import ledger_pb2, memory_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.redactions import ERASE, SUPPRESS, closing_of, redact
from tests.server.operations.memory.requests import delete, grant, transition, update

CONTENT = b'{"a":"first","b":{"c":"second"},"d":3}'
REDACTED = ledger_pb2.EVENT_TYPE_OBJECT_REDACTED


def test_a_redaction_needs_its_right(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=CONTENT)
    reader = workspace.cluster.client("actor:reader")
    workspace.allow("actor:reader", "read", "update", "delete", "transition.availability")
    for target in ({"whole": True}, {}):
        with pytest.raises(Refusal) as refusal:
            redact(workspace, made.object_id, made.version_id, *(() if target else ("/a",)), client=reader, **target)
        assert refusal.value.reason == "ACCESS_DENIED"
    with pytest.raises(Refusal) as refusal:
        transition(workspace, made.object_id, made.version_id, "availability", "redacted", reader)
    assert refusal.value.reason == "ACCESS_DENIED"
    assert workspace.read(made.object_id).envelope == made.envelope


def test_a_redaction_by_grant_takes_one_use(workspace: Workspace) -> None:
    made, other = workspace.create(canonical_content=CONTENT), workspace.create(canonical_content=CONTENT)
    delegate = workspace.cluster.client("actor:delegate")
    grant_id = grant(
        workspace, "actor:delegate", "redact", usage_limit=1, granted_object_ids={"values": [made.object_id]}
    )
    by_grant: dict[str, Any] = {"client": delegate, "delegation_id": grant_id, "mode": ERASE}
    with pytest.raises(Refusal) as refusal:
        redact(workspace, other.object_id, other.version_id, "/a", **by_grant)
    assert refusal.value.denial_reason == "OBJECT_NOT_GRANTED"
    with pytest.raises(Refusal) as refusal:
        redact(workspace, made.object_id, made.version_id, "/x", **by_grant)
    assert refusal.value.reason == "INVALID_REQUEST"
    response = redact(workspace, made.object_id, made.version_id, "/a", **by_grant)
    assert response.result.envelope.actor.delegation_id == grant_id
    # The grant says nothing of reading.
    assert response.result.envelope.canonical_content == b""
    with pytest.raises(Refusal) as refusal:
        redact(workspace, made.object_id, response.result.version_id, "/d", **by_grant)
    assert refusal.value.denial_reason == "USAGE_LIMIT_EXHAUSTED"
    assert len(workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED])) == 1


@pytest.mark.parametrize("mode", [SUPPRESS, ERASE])
def test_a_repeated_redaction_gives_the_first_answer(workspace: Workspace, mode: Any) -> None:
    made = workspace.create(canonical_content=CONTENT)
    again: dict[str, Any] = {"idempotency_key": "k", "mode": mode}
    first = redact(workspace, made.object_id, made.version_id, "/a", **again)
    before = len(workspace.events(event_classes=[REDACTED]))
    repeated = redact(workspace, made.object_id, made.version_id, "/a", **again)
    assert (repeated.result.replayed, repeated.result.envelope) == (True, first.result.envelope)
    assert repeated.result.propagation_job_id == first.result.propagation_job_id
    assert list(repeated.redacted_pointers) == ["/a"]
    assert len(workspace.events(event_classes=[REDACTED])) == before
    with pytest.raises(Refusal) as refusal:
        redact(workspace, made.object_id, made.version_id, "/d", **again)
    assert refusal.value.reason == "DUPLICATE_OPERATION"
    # The replay shows no more than what may be seen now.
    redact(workspace, made.object_id, first.result.version_id, "/b/c", mode=mode)
    repeated = redact(workspace, made.object_id, made.version_id, "/a", **again)
    assert json.loads(repeated.result.envelope.canonical_content) == {"b": {}, "d": 3}
    assert list(repeated.redacted_pointers) == ["/a", "/b/c"]


def test_pointers_are_told_to_who_may_read(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=b'{"ada@example.com":1,"b":2,"c":3}')
    first = redact(workspace, made.object_id, made.version_id, "/ada@example.com").result
    cleaner = workspace.cluster.client("actor:cleaner")
    workspace.allow("actor:cleaner", "redact")
    second = redact(workspace, made.object_id, first.version_id, "/b", client=cleaner)
    assert list(second.redacted_pointers) == ["/b"]
    third = redact(workspace, made.object_id, second.result.version_id, "/c")
    assert list(third.redacted_pointers) == ["/ada@example.com", "/b", "/c"]
    for event in workspace.events():
        assert "example.com" not in event.payload_json


def test_what_waits_to_be_deleted_may_be_redacted_but_is_not_shown(workspace: Workspace) -> None:
    made = workspace.create(canonical_content=CONTENT)
    pending = transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion")
    cleaner = workspace.cluster.client("actor:cleaner")
    workspace.allow("actor:cleaner", "redact", "read")
    first = redact(workspace, made.object_id, pending.version_id, "/a", client=cleaner).result
    assert first.envelope.canonical_content == b""
    workspace.allow("actor:cleaner", "review")
    second = redact(workspace, made.object_id, first.version_id, "/d", client=cleaner).result
    assert second.envelope.canonical_content == b'{"b":{"c":"second"}}'


@pytest.mark.parametrize("mode", [SUPPRESS, ERASE])
def test_the_provenance_of_a_redaction_is_its_own(workspace: Workspace, mode: Any) -> None:
    said = {"activity": "observed", "source_ref": "urn:s:1"}
    made = workspace.create(canonical_content=CONTENT, provenance=said)
    redacted = redact(
        workspace,
        made.object_id,
        made.version_id,
        "/a",
        mode=mode,
        provenance_pointers=["/source_ref"],
        provenance={"activity": "asked for by its subject", "source_ref": "urn:s:2"},
    ).result
    assert redacted.envelope.provenance.activity == "asked for by its subject"
    assert redacted.envelope.provenance.source_ref == ""
    assert workspace.read(made.object_id).envelope == redacted.envelope
    updated = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_PROVENANCE_UPDATED])
    assert [event.version_id for event in updated] == [redacted.version_id]
    whole = redact(
        workspace, made.object_id, redacted.version_id, whole=True, provenance=said, idempotency_key="k"
    ).result
    assert whole.envelope.provenance.activity == ""


@pytest.mark.parametrize("mode", [SUPPRESS, ERASE])
def test_of_changes_at_once_one_wins(workspace: Workspace, mode: Any) -> None:
    made = workspace.create(canonical_content=CONTENT)
    named = (workspace, made.object_id, made.version_id)
    rivals = [
        lambda: redact(*named, "/a", mode=mode),
        lambda: redact(*named, "/d", mode=ERASE),
        lambda: update(*named, canonical_content=CONTENT),
        lambda: delete(*named),
    ]

    def attempt(call: Any) -> str:
        try:
            call()
        except Refusal as refusal:
            return refusal.reason
        return "OK"

    with ThreadPoolExecutor(len(rivals)) as pool:
        ends = list(pool.map(attempt, rivals))
    assert ends.count("OK") == 1
    assert {*ends} <= {"OK", "VERSION_CONFLICT", "OBJECT_DELETED"}


def test_who_reads_while_places_are_erased_sees_them_or_not(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    content = {f"k{index}": f"v{index}" for index in range(8)}
    made = workspace.create(canonical_content=json.dumps(content).encode())
    updated = update(workspace, made.object_id, made.version_id, canonical_content=json.dumps(content).encode())
    readers = [replicas.client("actor:admin", server=index) for index in range(3)]
    is_done = False

    def look(reader: Any) -> None:
        at_most = len(content)
        while not is_done:
            for version_id in ("", made.version_id, updated.version_id):
                read = workspace.read(made.object_id, reader, version_id=version_id)
                left = json.loads(read.envelope.canonical_content)
                assert left.items() <= content.items()
                # Never more than was seen before.
                assert len(left) <= at_most
                at_most = len(left)

    with ThreadPoolExecutor(3) as pool:
        watching = [pool.submit(look, reader) for reader in readers]
        try:
            version_id = updated.version_id
            for index in range(8):
                response = redact(workspace, made.object_id, version_id, f"/k{index}", mode=ERASE)
                version_id = response.result.version_id
                closing_of(workspace, response.result.propagation_job_id)
        finally:
            is_done = True
        for watcher in watching:
            watcher.result()
    assert workspace.read(made.object_id).envelope.canonical_content == b"{}"
    assert workspace.read(made.object_id).content_state == memory_pb2.CONTENT_STATE_PARTIAL
