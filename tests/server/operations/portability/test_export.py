"""ExportWorkspace: one state, whole or refused, and told in the ledger (PAMSPEC 7.5, 8, 15.2, 16.6)."""

from __future__ import annotations

import json
import threading
from itertools import pairwise

import pytest

from remit.v1 import ledger_pb2, portability_pb2, snapshot_pb2
from server.wire.json_export import DRAFT_EVENT_TYPES
from tests.cluster import OTHER_TENANT, Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import CORROBORATED, history, query_ids, transition, update
from tests.server.operations.portability.exports import Export, take_export
from tests.server.operations.portability.rich import SECRET, RichWorkspace
from tests.server.wire.shared_schemas import needs_shared, refusals

EVERYTHING = {"include_derived": True, "include_ledger": True, "include_delegations": True}
EXPORTED = ledger_pb2.EVENT_TYPE_WORKSPACE_EXPORTED
SCHEMAS = {
    "memory_object": "memory-object.schema.json",
    "relationship": "relationship.schema.json",
    "embedding_space": "embedding-space.schema.json",
    "delegation": "delegation.schema.json",
    "event": "memory-event.schema.json",
}


@pytest.fixture(scope="module")
def rich(cluster: Cluster) -> RichWorkspace:
    return RichWorkspace(cluster)


@pytest.fixture(scope="module")
def exported(rich: RichWorkspace) -> Export:
    return take_export(rich.workspace, **EVERYTHING)


@needs_shared
@pytest.mark.req("P-8.1-01", "P-8.5-01", "P-18.4-01")
@pytest.mark.parametrize("kind", SCHEMAS)
def test_records_are_what_the_schemas_say(exported: Export, kind: str) -> None:
    records = exported.kinds(kind)
    assert records
    for record in records:
        assert refusals(SCHEMAS[kind], record) == []


def test_records_stand_in_one_order(exported: Export) -> None:
    objects = [(record["object_id"], record["sequence"]) for record in exported.kinds("memory_object")]
    assert objects == sorted(set(objects))
    relationships = [(record["relationship_id"], record["sequence"]) for record in exported.kinds("relationship")]
    assert relationships == sorted(set(relationships))
    hashed = exported.kinds("event_side")
    assert [event["sequence"] for event in hashed] == list(range(1, exported.header.ledger_sequence + 1))
    assert hashed[-1]["chain_hash"] == exported.header.ledger_chain_hash.hex()
    sections = [kind.removesuffix("_side").replace("event", "ledger") for kind, _ in exported.records]
    changes = [before for before, after in pairwise([*sections, ""]) if before != after]
    assert changes == ["memory_object", "relationship", "embedding_space", "vector", "delegation", "ledger"]
    assert {event["event_type"] for event in exported.kinds("event")} <= DRAFT_EVENT_TYPES


@pytest.mark.req("P-16.6-01")
def test_the_header_says_what_is_in_it(rich: RichWorkspace, exported: Export) -> None:
    header = exported.header
    assert (header.format, header.spec_version) == ("remit-export/1", "0.1.0-draft")
    assert (header.scope_id, header.tenant_id) == (rich.workspace.scope_id, "acme")
    assert (header.includes_derived, header.includes_ledger, header.includes_delegations) == (True, True, True)
    bare = take_export(rich.workspace)
    assert (bare.header.includes_derived, bare.header.includes_ledger, bare.header.includes_delegations) == (
        False,
        False,
        False,
    )
    assert {kind for kind, _ in bare.records} == {
        "memory_object",
        "memory_object_side",
        "relationship",
        "relationship_side",
    }


def test_the_ledger_holds_what_was_exported(workspace: Workspace) -> None:
    workspace.create()
    export = take_export(workspace)
    event = workspace.events(event_classes=[EXPORTED])[-1]
    told = json.loads(event.payload_json)
    assert told["export_digest"] == export.trailer.digest.hex()
    assert (told["record_count"], told["bound_sequence"]) == (export.trailer.record_count, event.sequence - 1)
    # The same again is the same: the digests are over memory, not over when it was taken.
    again = take_export(workspace)
    assert again.trailer.digest == export.trailer.digest
    assert again.header.ledger_sequence == export.header.ledger_sequence + 1


def test_pages_are_one_state_while_others_write(workspace: Workspace) -> None:
    """More than two pages, with versions and objects coming while they are read."""
    made = [workspace.create(object_id=f"mem:page:{number:04}") for number in range(450)]
    request = portability_pb2.ExportWorkspaceRequest(scope_id=workspace.scope_id)
    with workspace.owner.portability.ExportWorkspace(request) as stream:
        header = next(stream).header
        first = [next(stream).record for _ in range(10)]
        writers = threading.Thread(
            target=lambda: [update(workspace, each.object_id, each.version_id) for each in made[::30]]
        )
        writers.start()
        workspace.create(object_id="mem:page:0449-later")
        writers.join()
        rest = list(stream)
    records = [json.loads(record.record) for record in [*first, *(each.record for each in rest[:-1])]]
    assert [(record["object_id"], record["sequence"]) for record in records] == [
        (f"mem:page:{number:04}", 1) for number in range(450)
    ]
    assert rest[-1].trailer.record_count == 450
    assert header.ledger_sequence == workspace.events()[450].sequence


def test_authority_is_judged_on_every_page(workspace: Workspace) -> None:
    content = b'"' + b"x" * 200_000 + b'"'
    for _ in range(60):
        workspace.create(canonical_content=content)
    workspace.allow("actor:exporter", "export")
    client = workspace.cluster.client("actor:exporter")
    request = portability_pb2.ExportWorkspaceRequest(scope_id=workspace.scope_id)
    with client.portability.ExportWorkspace(request) as stream:
        next(stream)
        workspace.deny("actor:exporter", "export")
        with pytest.raises(Refusal) as refusal:
            list(stream)
    assert (refusal.value.reason, refusal.value.denial_reason) == ("ACCESS_DENIED", "EXPLICIT_DENY")
    assert workspace.events(event_classes=[EXPORTED]) == []
    denial = workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])[-1]
    assert json.loads(denial.payload_json)["operation"] == "export"


@pytest.mark.req("P-15.2-01")
def test_who_does_not_hold_all_of_it_exports_nothing(cluster: Cluster, workspace: Workspace) -> None:
    workspace.create()
    exporter = cluster.client("actor:exporter")
    workspace.allow("actor:exporter", "export", object_type="claim")

    def refused(**fields: bool) -> str:
        with pytest.raises(Refusal) as refusal:
            take_export(workspace, exporter, **fields)
        assert refusal.value.reason == "ACCESS_DENIED"
        return refusal.value.denial_reason

    assert refused() == "NO_RULE"
    workspace.allow("actor:exporter", "export")
    assert len(take_export(workspace, exporter).kinds("memory_object")) == 1
    for part in ("include_ledger", "include_delegations"):
        assert refused(**{part: True}) == "NO_RULE"
    workspace.deny("actor:exporter", "read", object_type="decision")
    assert refused() == "EXPLICIT_DENY"
    with pytest.raises(Refusal) as refusal:
        take_export(workspace, cluster.client("actor:admin", OTHER_TENANT))
    assert refusal.value.reason == "SCOPE_NOT_FOUND"


def test_content_pending_deletion_goes_to_reviewers_only(cluster: Cluster, workspace: Workspace) -> None:
    made = workspace.create(canonical_content=b'{"statement":"pending"}')
    transition(workspace, made.object_id, made.version_id, "retention", "pending_deletion")
    workspace.allow("actor:exporter", "export")
    exporter = take_export(workspace, cluster.client("actor:exporter"))
    assert b'pending"' not in b"".join(record for _, record in exporter.records if b"statement" in record)
    assert all(side["content_withheld"] for side in exporter.kinds("memory_object_side"))
    assert b'{"statement":"pending"}' in b"".join(record for _, record in take_export(workspace).records)


def test_a_snapshot_is_exported_as_it_was_sealed(workspace: Workspace) -> None:
    made = workspace.create()
    sealed = workspace.owner.snapshot.SealSnapshot(
        snapshot_pb2.SealSnapshotRequest(scope_id=workspace.scope_id)
    ).snapshot
    update(workspace, made.object_id, made.version_id)
    workspace.create()
    export = take_export(workspace, snapshot_id=sealed.snapshot_id, include_ledger=True)
    assert [record["version_id"] for record in export.kinds("memory_object")] == [made.version_id]
    assert export.header.snapshot_id == sealed.snapshot_id
    assert export.header.ledger_sequence == len(export.kinds("event_side"))
    with pytest.raises(Refusal) as refusal:
        take_export(workspace, snapshot_id="snapshot:none")
    assert refusal.value.reason == "SNAPSHOT_NOT_FOUND"


@pytest.mark.req("P-9.1-06")
def test_what_is_archived_is_exported_and_not_found(workspace: Workspace) -> None:
    kept, archived = (workspace.create(validation_state=CORROBORATED) for _ in range(2))
    transition(workspace, archived.object_id, archived.version_id, "lifecycle", "archived")
    assert query_ids(workspace) == [kept.object_id]
    exported = [
        (record["object_id"], record["lifecycle_state"]) for record in take_export(workspace).kinds("memory_object")
    ]
    assert (archived.object_id, "archived") in exported
    versions = [
        entry.version for entry in history(workspace, object_id=archived.object_id) if entry.HasField("version")
    ]
    assert len(versions) == 2


@pytest.mark.req("P-7.7-10")
def test_deleted_words_are_in_no_history_no_event_and_no_export(rich: RichWorkspace, exported: Export) -> None:
    words = SECRET.encode()
    told = [
        *history(rich.workspace, object_id=rich.removed.object_id),
        *history(rich.workspace, after_sequence=0),
        *rich.workspace.events(),
    ]
    assert len(told) > 40
    assert all(words not in message.SerializeToString() for message in told)
    assert all(words not in record for _, record in exported.records)
