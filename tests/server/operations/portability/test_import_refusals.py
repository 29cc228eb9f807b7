"""What is wrong with an export is told with its record, and nothing of it is stored (PAMSPEC 8.1 to 8.6)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from remit.v1 import portability_pb2
from tests.cluster import OTHER_TENANT, Cluster, Refusal, Workspace
from tests.server.operations.portability.exports import Export, messages, take_export, take_import
from tests.server.operations.portability.rich import RichWorkspace

EVERYTHING = {"include_derived": True, "include_ledger": True, "include_delegations": True}


@pytest.fixture(scope="module")
def exported(cluster: Cluster) -> Export:
    return take_export(RichWorkspace(cluster).workspace, **EVERYTHING)


@pytest.fixture(scope="module")
def target(cluster: Cluster) -> Workspace:
    """Where nothing is ever stored: every import of this module is refused."""
    return Workspace(cluster, OTHER_TENANT)


@pytest.fixture(autouse=True)
def nothing_is_stored(target: Workspace) -> Iterator[None]:
    before = take_export(target, **EVERYTHING).header.ledger_sequence
    yield
    after = take_export(target, **EVERYTHING)
    # The export before left its one event; this import none.
    assert after.header.ledger_sequence == before + 1
    assert after.kinds("memory_object", "relationship", "embedding_space", "history.ledger") == []
    with target.cluster.superuser() as connection:
        [count] = connection.execute(
            "select count(*) from remit.import_rows where scope_id = %s", (target.scope_id,)
        ).fetchone() or (0,)
    assert count == 0


def refused(target: Workspace, export: Export, **fields: Any) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        take_import(target, export, remap=True, **fields)
    return refusal.value


def place_of(export: Export, kind: str = "memory_object") -> int:
    return next(index for index, (found, _) in enumerate(export.records) if found == kind)


def named(refusal: Refusal, export: Export, index: int, path: str) -> None:
    """Number and field, and in the words kind and id."""
    kind, record = export.records[index]
    value = json.loads(record)
    assert refusal.reason == "INVALID_OBJECT", refusal
    assert refusal.fields == [f"records[{index + 1}].{path}"]
    assert f"({kind} {value.get('object_id') or value.get('relationship_id')})" in refusal.message


@pytest.mark.req("P-8.1-02")
def test_another_spec_version(target: Workspace, exported: Export) -> None:
    assert {record["spec_version"] for record in exported.kinds("memory_object", "relationship")} == {"0.1.0-draft"}
    index = place_of(exported)
    named(refused(target, exported.edited(index, spec_version="0.2.0")), exported, index, "spec_version")
    header = exported.with_records(exported.records, spec_version="0.2.0")
    assert refused(target, header).fields == ["header.spec_version"]


@pytest.mark.req("P-8.1-15")
def test_an_actor_without_its_kind(target: Workspace, exported: Export) -> None:
    index = place_of(exported)
    edited = exported.edited(index, actor={"actor_id": "actor:a"})
    named(refused(target, edited), exported, index, "actor.actor_kind")
    extra = exported.edited(index, actor={"actor_id": "actor:a", "actor_kind": "agent", "rank": "high"})
    named(refused(target, extra), exported, index, "actor")


@pytest.mark.req("P-8.1-27")
@pytest.mark.parametrize("name", ["observed_at", "committed_at"])
@pytest.mark.parametrize("text", ["yesterday", "2026-07-12 00:00:00", "2026-13-01T00:00:00Z", "2026-07-12T00:00:00"])
def test_a_time_that_is_none(target: Workspace, exported: Export, name: str, text: str) -> None:
    index = place_of(exported)
    named(refused(target, exported.edited(index, **{name: text})), exported, index, name)


@pytest.mark.req("P-8.6-01")
@pytest.mark.parametrize("name", ["provenance_id", "actor", "activity", "recorded_at"])
def test_provenance_without_what_it_requires(target: Workspace, exported: Export, name: str) -> None:
    index = place_of(exported)
    provenance = json.loads(exported.records[index][1])["provenance"]
    del provenance[name]
    named(refused(target, exported.edited(index, provenance=provenance)), exported, index, f"provenance.{name}")
    empty = provenance | {name: ""}
    assert refused(target, exported.edited(index, provenance=empty)).reason == "INVALID_OBJECT"
    made = Workspace(target.cluster).create(provenance={"activity": "observed"})
    assert made.envelope.provenance.recorded_at == made.envelope.recorded_at


@pytest.mark.req("P-8.3-01")
def test_a_version_id_that_is_used_twice(target: Workspace, exported: Export) -> None:
    first, *_, last = (index for index, (kind, _) in enumerate(exported.records) if kind == "memory_object")
    taken = json.loads(exported.records[first][1])["version_id"]
    named(refused(target, exported.edited(last, version_id=taken)), exported, last, "version_id")


MUTATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "another workspace": ({"scope_id": "workspace:elsewhere"}, "scope_id"),
    "an unknown key": ({"rank": 1}, ""),
    "no content": ({"canonical_content": None}, "canonical_content"),
    "an unknown state": ({"lifecycle_state": "dormant"}, "lifecycle_state"),
    "a sequence that is no number": ({"sequence": "1"}, "sequence"),
    "a sequence that does not begin": ({"sequence": 2}, "sequence"),
    "an id without a scheme": ({"object_id": "claim-1"}, "object_id"),
    "an id with a newline": ({"object_id": "mem:claim:1\n"}, "object_id"),
    "a type that is none": ({"object_type": "Claim"}, "object_type"),
    "relationship as a type": ({"object_type": "relationship"}, "object_type"),
    "an extension type without its schema": ({"object_type": "com.acme.odd"}, "schema_id"),
    "a confidence beyond one": ({"quality_signals": {"staleness_score": 1.5}}, "quality_signals.staleness_score"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_record_that_breaks_the_draft(target: Workspace, exported: Export, name: str) -> None:
    members, path = MUTATIONS[name]
    index = place_of(exported)
    refusal = refused(target, exported.edited(index, **members))
    assert refusal.reason == "INVALID_OBJECT"
    assert refusal.fields == [f"records[{index + 1}]{'.' + path if path else ''}"]


RAW: dict[str, bytes] = {
    "no JSON": b"{",
    "no object": b"[]",
    "a duplicate key": b'{"scope_id":"a:b","scope_id":"a:b"}',
    "NaN": b'{"sequence":NaN}',
    "a lone surrogate": b'{"scope_id":"\\ud800"}',
    "NUL": b'{"scope_id":"\\u0000"}',
    "no UTF-8": b'{"scope_id":"\xff"}',
    "too deep": b'{"canonical_content":' + b"[" * 70 + b"]" * 70 + b"}",
}


@pytest.mark.parametrize("name", RAW)
def test_bytes_that_are_no_record(target: Workspace, exported: Export, name: str) -> None:
    records = list(exported.records)
    records[2] = ("memory_object", RAW[name])
    changed = replace(exported, records=tuple(records))
    refusal = refused(target, changed)
    assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", ["records[3]"])


def _swapped(records: list[Any], rng: random.Random) -> list[Any]:
    index = rng.randrange(len(records) - 1)
    records[index], records[index + 1] = records[index + 1], records[index]
    return records


def _doubled(records: list[Any], rng: random.Random) -> list[Any]:
    index = rng.randrange(len(records))
    return [*records[: index + 1], records[index], *records[index + 1 :]]


def _dropped(records: list[Any], rng: random.Random) -> list[Any]:
    index = rng.randrange(len(records))
    return [*records[:index], *records[index + 1 :]]


def _flipped(records: list[Any], rng: random.Random) -> list[Any]:
    index = rng.randrange(len(records))
    kind, record = records[index]
    at = rng.randrange(len(record))
    records[index] = (kind, record[:at] + bytes([record[at] ^ 1 << rng.randrange(8)]) + record[at + 1 :])
    return records


def _cut_inside(records: list[Any], rng: random.Random) -> list[Any]:
    index = rng.randrange(len(records))
    kind, record = records[index]
    records[index] = (kind, record[: rng.randrange(1, len(record))])
    return records


def _renamed(records: list[Any], rng: random.Random) -> list[Any]:
    index = rng.randrange(len(records))
    kinds = sorted({kind for kind, _ in records} - {records[index][0]})
    records[index] = (rng.choice(kinds), records[index][1])
    return records


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("damage", [_swapped, _doubled, _dropped, _flipped, _cut_inside, _renamed])
def test_a_damaged_export(
    target: Workspace, exported: Export, damage: Callable[[list[Any], random.Random], list[Any]], seed: int
) -> None:
    """With the trailer of the whole one: whatever the grammar lets pass, the digest does not."""
    damaged = replace(exported, records=tuple(damage(list(exported.records), random.Random(seed))))
    refusal = refused(target, damaged)
    assert refusal.reason in {"INVALID_OBJECT", "INVALID_REQUEST"}, refusal
    assert refusal.fields
    assert refusal.fields[0].startswith(("records[", "trailer"))


@pytest.mark.parametrize("damage", [_swapped, _doubled, _renamed])
@pytest.mark.parametrize("seed", range(4))
def test_a_rearranged_export_with_a_trailer_of_its_own(
    target: Workspace, exported: Export, damage: Callable[[list[Any], random.Random], list[Any]], seed: int
) -> None:
    """The order, the ids and the ledger's chain tell what a digest made anew does not."""
    records = damage(list(exported.records), random.Random(seed))
    refusal = refused(target, exported.with_records(records))
    assert refusal.reason == "INVALID_OBJECT", refusal
    assert refusal.fields[0].startswith("records["), refusal


def test_an_export_that_is_cut_anywhere(target: Workspace, exported: Export) -> None:
    for count in range(len(exported.records)):
        assert refused(target, exported.cut(count)).fields in (
            ["trailer.record_count"],
            [f"records[{count}]"],
            [f"records[{count}].chain_hash"],
            [f"records[{count}].kind"],
        )
        cut = exported.cut(count)
        assert refused(target, cut, with_trailer=False).fields == ["trailer"]


def test_a_ledger_of_another_history(target: Workspace, exported: Export) -> None:
    index = next(index for index, (kind, _) in enumerate(exported.records) if kind == "event_side")
    for name, value in (("leaf_hash", "00" * 32), ("recorded_at_us", 1), ("use_number", 3)):
        refusal = refused(target, exported.edited(index, **{name: value}))
        assert refusal.fields == [f"records[{index + 1}].leaf_hash"]
    refusal = refused(target, exported.edited(index, chain_hash="00" * 32))
    assert refusal.fields == [f"records[{index + 1}].chain_hash"]
    entry = place_of(exported, "event")
    refusal = refused(target, exported.edited(entry, operation_id="urn:other"))
    assert refusal.fields == [f"records[{entry + 2}].body"]


def test_a_time_that_there_is_not(target: Workspace, exported: Export) -> None:
    index = next(index for index, (kind, _) in enumerate(exported.records) if kind == "event_side")
    refusal = refused(target, exported.edited(index, recorded_at_us=253_402_300_800_000_000))
    assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", [f"records[{index + 1}].recorded_at_us"])


@pytest.mark.parametrize("digits", [310, 5000])
def test_a_component_that_is_no_number_of_the_machine(target: Workspace, exported: Export, digits: int) -> None:
    index = place_of(exported, "vector")
    kind, record = exported.records[index]
    records = list(exported.records)
    records[index] = (kind, record.replace(b'"vector":[', b'"vector":[%s,' % (b"9" * digits)))
    refusal = refused(target, exported.with_records(records))
    assert (refusal.reason, refusal.fields) == ("INVALID_OBJECT", [f"records[{index + 1}].vector"])


def test_a_foreign_workspace_without_a_remap(target: Workspace, exported: Export) -> None:
    with pytest.raises(Refusal) as refusal:
        take_import(target, exported)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["header.scope_id"])


def test_an_import_says_on_what_basis(target: Workspace, exported: Export) -> None:
    refusal = refused(target, exported, policy_basis="")
    assert (refusal.reason, refusal.fields) == ("INVALID_REQUEST", ["policy_basis"])


def test_another_format(target: Workspace, exported: Export) -> None:
    refusal = refused(target, exported.with_records(exported.records, format="remit-export/2"))
    assert (refusal.reason, refusal.fields) == ("INVALID_REQUEST", ["header.format"])


def test_messages_out_of_their_order(target: Workspace, exported: Export) -> None:
    def sent(*later: portability_pb2.ImportWorkspaceRequest) -> list[portability_pb2.ImportWorkspaceRequest]:
        return [*messages(target.scope_id, exported, remap=True), *later]

    scope = {"scope_id": target.scope_id}
    for request, field in (
        (portability_pb2.ImportWorkspaceRequest(**scope, header=exported.header), "header"),
        (portability_pb2.ImportWorkspaceRequest(**scope, remap=True), "remap"),
        (portability_pb2.ImportWorkspaceRequest(scope_id="workspace:other"), "scope_id"),
        (portability_pb2.ImportWorkspaceRequest(**scope), "trailer"),
    ):
        with pytest.raises(Refusal) as refusal:
            target.owner.portability.ImportWorkspace(iter(sent(request)))
        assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", [field])


def test_a_relationship_whose_end_is_nowhere(target: Workspace, exported: Export) -> None:
    index = place_of(exported, "relationship")
    count = sum(1 for kind, _ in exported.records if kind == "relationship")
    assert count == 3
    lone = exported.with_records(
        [(kind, record) for kind, record in exported.records if kind.startswith("relationship")]
    )
    refusal = refused(target, lone)
    assert refusal.fields[0] in {"records[1].source_object_id", "records[1].target_object_id"}
    edited = exported.edited(index, source_object_id="not an id")
    named(refused(target, edited), exported, index, "source_object_id")
