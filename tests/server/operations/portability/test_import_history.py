"""What is kept of an imported ledger: what events say and nothing else, for nothing erases it (PAMSPEC 15.4)."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from typing import Any

import pytest

from storage.ledger import leaf_hash
from storage.model.ledger_rows import EventRow
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete
from tests.server.operations.portability.drafts import SCOPE, a_version, draft_export
from tests.server.operations.portability.exports import Export, Record, take_export, take_import

SECRET = "the words that the object held"


def an_entry(sequence: int, event_type: str, **payload: Any) -> dict[str, Any]:
    """A ledger entry of the draft."""
    return {
        "event_id": f"evt:{sequence}",
        "operation_id": "op:1",
        "scope_id": SCOPE,
        "event_type": event_type,
        "recorded_at": "2026-07-12T00:00:03Z",
        "sequence": sequence,
        "actor": {"actor_id": "actor:editor:001", "actor_kind": "human"},
        "object_id": "mem:claim:1",
        "version_id": "ver:mem:claim:1:1",
        "payload": payload,
    }


def test_an_entry_without_a_chain_is_kept_without_what_no_event_says(cluster: Cluster, workspace: Workspace) -> None:
    plain = an_entry(3, "lifecycle_transitioned", **{"from": "candidate", "to": "active"})
    exported = draft_export(
        ("memory_object", a_version()),
        ("event", an_entry(1, "object_created", object_type="claim", content=SECRET, policy_basis=SECRET)),
        ("event", an_entry(2, "object_updated", changed_fields=["observed_at"], object_sequence={"was": SECRET})),
        ("event", plain),
        includes_ledger=True,
    )
    assert take_import(workspace, exported, remap=True).foreign_events == 3
    first = take_export(workspace, include_ledger=True)
    kept = first.kinds("history.event")
    assert [entry["payload"] for entry in kept] == [
        {"object_type": "claim"},
        {"changed_fields": ["observed_at"]},
        {"from": "candidate", "to": "active"},
    ]
    # What says no more than events do stays byte for byte.
    assert [record for kind, record in first.records if kind == "history.event"][2] == json.dumps(plain).encode()
    again = Workspace(cluster)
    take_import(again, first, remap=True)
    second = take_export(again, include_ledger=True)
    assert second.trailer.memory_digest == first.trailer.memory_digest
    assert [record for kind, record in second.records if kind == "history.event"][:3] == [
        record for kind, record in first.records if kind == "history.event"
    ]
    delete(workspace, "mem:claim:1", "ver:mem:claim:1:1")
    exported_last = take_export(workspace, include_ledger=True)
    assert all(SECRET.encode() not in record for _, record in exported_last.records)
    with cluster.superuser() as connection:
        [found] = connection.execute(
            "select count(*) from remit.foreign_ledger_records where scope_id = %s and position(%s::bytea in record) > 0",
            (workspace.scope_id, SECRET.encode()),
        ).fetchone() or (None,)
    assert found == 0


def _forged(exported: Export, **payload: Any) -> Export:
    """The export, its ledger's last event saying more: linked anew to the event before it, as anybody can."""
    before, last = exported.kinds("event_side")[-2:]
    body = json.loads(b64decode(last["body"]))
    body["payload"] |= payload
    written = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    row = EventRow(
        **{name: last[name] for name in ("sequence", "recorded_at_us", "use_number")},
        **{name: body[name] for name in ("event_id", "event_type", "operation_id")},
        **{name: body.get(name) for name in ("object_id", "version_id", "delegation_id", "relationship_id")},
        actor_id=body["actor"]["actor_id"],
        body=written,
        leaf_hash=b"",
        chain_hash=b"",
    )
    leaf = leaf_hash(row)
    link = hashlib.sha256(b"\x01" + bytes.fromhex(before["chain_hash"]) + leaf).digest()
    hashed = {"body": b64encode(written).decode(), "leaf_hash": leaf.hex(), "chain_hash": link.hex()}
    made: list[Record] = []
    for kind, record in exported.records:
        value = json.loads(record)
        if kind == "ledger":
            value |= {"chain_hash": link.hex()}
        elif kind == "event_side" and value["sequence"] == last["sequence"]:
            value |= hashed
        elif kind == "event" and value["sequence"] == last["sequence"]:
            value["payload"] |= payload
        made.append((kind, json.dumps(value, sort_keys=True, separators=(",", ":")).encode()))
    return exported.with_records(made, ledger_chain_hash=link)


def test_a_chain_whose_event_says_what_none_does_is_refused(cluster: Cluster, workspace: Workspace) -> None:
    source = Workspace(cluster)
    source.create()
    exported = take_export(source, include_ledger=True)
    assert take_import(workspace, _forged(exported), remap=True, dry_run=True).foreign_events > 0
    with pytest.raises(Refusal) as refusal:
        take_import(workspace, _forged(exported, content=SECRET), remap=True)
    [field] = refusal.value.fields
    assert (refusal.value.reason, field.rpartition(".")[2]) == ("INVALID_OBJECT", "body")
