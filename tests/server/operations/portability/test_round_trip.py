"""Out of one workspace, into another, and out again: nothing is lost, and nothing comes back (PAMSPEC 8.2, 17.1; A48)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from remit.v1 import ledger_pb2
from server.cli.offline_verifier import verify_file
from tests.cluster import OTHER_TENANT, Cluster, Workspace
from tests.server.operations.derived.embeddings import nearest
from tests.server.operations.memory.relationships import relate
from tests.server.operations.memory.requests import history
from tests.server.operations.portability.exports import Export, take_export, take_import
from tests.server.operations.portability.rich import (
    ERASED,
    ODD_CONTENT,
    ODD_RELATIONSHIP,
    SECRET,
    UNKNOWN_TYPE,
    RichWorkspace,
    verified,
)

EVERYTHING = {"include_derived": True, "include_ledger": True, "include_delegations": True}


@pytest.fixture(scope="module")
def rich(cluster: Cluster) -> RichWorkspace:
    return RichWorkspace(cluster)


@pytest.fixture(scope="module")
def exported(rich: RichWorkspace) -> Export:
    return take_export(rich.workspace, **EVERYTHING)


@pytest.fixture(scope="module")
def restored(cluster: Cluster, exported: Export) -> Workspace:
    """Another tenant's workspace that holds what was exported."""
    target = Workspace(cluster, OTHER_TENANT)
    answer = take_import(target, exported, remap=True)
    assert not answer.replayed
    return target


def ordered_events(workspace: Workspace) -> list[tuple[str, str]]:
    """Primary events of versions, in ledger order: object or relationship, and version."""
    kinds = {ledger_pb2.EVENT_TYPE_OBJECT_CREATED, ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED}
    return [
        (event.object_id or event.relationship_id, event.version_id)
        for event in workspace.events()
        if event.event_type in kinds
    ]


@pytest.mark.case("A48")
@pytest.mark.req("P-7.5-07")
def test_what_comes_out_again_is_what_went_in(rich: RichWorkspace, exported: Export, restored: Workspace) -> None:
    again = take_export(restored, **EVERYTHING)
    assert again.trailer.memory_digest == exported.trailer.memory_digest
    memory = ("memory_object", "memory_object_side", "relationship", "relationship_side", "embedding_space", "vector")
    source, target = ([(k, r) for k, r in each.records if k in memory] for each in (exported, again))
    assert len(source) > 20
    scopes = (exported.header.scope_id.encode(), again.header.scope_id.encode())
    assert [(kind, record.replace(scopes[1], scopes[0])) for kind, record in target] == source
    # The workspace it came from is named where it went, and its ledger and grants are history there, byte for byte.
    history_kinds = {"delegation", "delegation_side", "ledger", "event", "event_side"}
    attached = [(k.removeprefix("history."), r) for k, r in again.records if k.startswith("history.")]
    assert attached == [(k, r) for k, r in exported.records if k in history_kinds]
    assert exported.header.scope_id == rich.workspace.scope_id
    assert again.header.scope_id == restored.scope_id


@pytest.mark.case("A48")
def test_a_second_restoration_is_equal_to_the_first(cluster: Cluster, exported: Export, restored: Workspace) -> None:
    again = take_export(restored, **EVERYTHING)
    third = Workspace(cluster)
    answer = take_import(third, again, remap=True)
    assert (answer.objects, answer.delegations) == (6, 1)
    last = take_export(third, **EVERYTHING)
    assert last.trailer.memory_digest == exported.trailer.memory_digest
    verified(third)


@pytest.mark.case("A48")
def test_another_deployment_takes_it_under_keys_of_its_own(replicas: Cluster, exported: Export) -> None:
    """Another database, key-encryption key and issuer: nothing of the export hangs on those of the first."""
    elsewhere = Workspace(replicas)
    assert take_import(elsewhere, exported, remap=True).objects == 6
    assert take_export(elsewhere, **EVERYTHING).trailer.memory_digest == exported.trailer.memory_digest
    verified(elsewhere)


@pytest.mark.req("P-8.2-05")
def test_unknown_types_come_back_byte_for_byte(rich: RichWorkspace, exported: Export, restored: Workspace) -> None:
    def objects(export: Export) -> list[bytes]:
        scope = export.header.scope_id.encode()
        return [
            record.replace(scope, b"")
            for kind, record in export.records
            if kind.startswith("memory_object") and rich.unknown.object_id.encode() in record
        ]

    assert objects(take_export(restored)) == objects(exported)
    assert len(objects(exported)) == 2  # the version, and its content as it was sent


@pytest.mark.req("P-8.2-07")
def test_an_imported_unknown_type_is_read_with_its_whole_envelope(rich: RichWorkspace, restored: Workspace) -> None:
    before = rich.workspace.read(rich.unknown.object_id).envelope
    after = restored.read(rich.unknown.object_id).envelope
    assert after.object_type == UNKNOWN_TYPE
    assert after.canonical_content == ODD_CONTENT
    after.scope_id = before.scope_id
    assert after == before


@pytest.mark.req("P-8.5-09")
def test_odd_relationship_types_come_back_unchanged(exported: Export, restored: Workspace) -> None:
    def odd(export: Export) -> list[dict[str, object]]:
        return [
            record | {"scope_id": ""}
            for record in export.kinds("relationship")
            if record["relationship_type"] == ODD_RELATIONSHIP
        ]

    assert odd(take_export(restored)) == odd(exported)
    assert len(odd(exported)) == 1


@pytest.mark.req("P-17.1-01")
def test_a_backup_keeps_order_and_respects_redaction(
    rich: RichWorkspace, exported: Export, restored: Workspace
) -> None:
    verified(restored)
    made = ordered_events(restored)
    assert sorted(made) == sorted(ordered_events(rich.workspace))
    # Within an object, versions stand in the order they had.
    for made_object in (rich.plain, rich.held, rich.removed):
        ours, theirs = (
            [
                entry.version.version_id
                for entry in history(each, object_id=made_object.object_id)
                if entry.HasField("version")
            ]
            for each in (restored, rich.workspace)
        )
        assert ours == theirs
    everything = b"".join(record for _, record in exported.records)
    again = b"".join(record for _, record in take_export(restored, **EVERYTHING).records)
    for text in (SECRET.encode(), ERASED.encode()):
        assert text not in everything
        assert text not in again


def test_states_holds_and_tombstones_are_what_they_were(rich: RichWorkspace, restored: Workspace) -> None:
    states = {record["object_id"]: record for record in take_export(restored).kinds("memory_object")}
    assert states[rich.held.object_id]["retention_state"] == "legal_hold"
    assert states[rich.removed.object_id]["availability_state"] == "deleted"
    assert states[rich.removed.object_id]["canonical_content"] == {"tombstone": True}
    assert states[rich.hidden.object_id]["availability_state"] == "redacted"
    assert states[rich.erased.object_id]["availability_state"] == "partially_redacted"
    assert ERASED not in json.dumps(states[rich.erased.object_id])


@pytest.mark.req("P-7.8-07")
def test_vectors_come_with_their_spaces_and_are_found_again(
    rich: RichWorkspace, exported: Export, restored: Workspace
) -> None:
    [space] = exported.kinds("embedding_space")
    vectors = exported.kinds("vector")
    assert {vector["embedding_space_id"] for vector in vectors} == {space["embedding_space_id"]}
    assert (space["dimensions"], space["distance_metric"]) == (2, "cosine")
    assert len(vectors) == 2
    found = nearest(restored, (0.5, 0.25)).results
    assert found[0].object_id == rich.unknown.object_id
    assert take_export(rich.workspace).kinds("embedding_space", "vector") == []


def test_the_offline_verifier_agrees(cluster: Cluster, restored: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    command = [sys.executable, "-m", "server", "ledger", "export", "--tenant", OTHER_TENANT]
    subprocess.run(
        [*command, "--scope", restored.scope_id, "--out", str(file)],
        env=cluster.environment(),
        check=True,
        capture_output=True,
    )
    report = verify_file(file, None, None, lambda _: None, jobs=1)
    assert report.ok, report.findings


def test_integers_of_any_length_go_out_and_come_in(cluster: Cluster, workspace: Workspace) -> None:
    """Python reads no more than 4,300 digits unasked."""
    long = b'{"n":%s}' % (b"9" * 5000)
    made = workspace.create(canonical_content=long)
    relate(workspace, made.object_id, made.object_id, canonical_content=long)
    exported = take_export(workspace)
    assert [long in record for _, record in exported.records] == [True, True]
    restored = Workspace(cluster, OTHER_TENANT)
    take_import(restored, exported, remap=True)
    assert restored.read(made.object_id).envelope.canonical_content == long
    assert take_export(restored).trailer.memory_digest == exported.trailer.memory_digest
