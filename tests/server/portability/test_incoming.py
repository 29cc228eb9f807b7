"""Any JSON in any place of a record: refused by its field, or a version that comes out as it came in."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.portability import records
from server.portability.incoming import IncomingVersion, object_version, relationship_version, with_side
from server.portability.incoming import side_of as read_side
from server.wire.envelopes import envelope_of
from server.wire.json_export import ExportedRecord, export_envelope, export_relationship
from server.wire.refusal import FieldRefused
from server.wire.relationships import relationship_message
from storage.model.memory import VersionCore, core_bytes
from storage.model.relationship import relationship_core_bytes
from tests.server.operations.portability.drafts import SCOPE, a_version

ACTOR = {
    "actor_id": "actor:editor:001",
    "actor_kind": "human",
    "display_name": "An editor",
    "on_behalf_of_actor_id": "actor:other",
    "delegation_id": "urn:uuid:1",
    "attestation": {"did_ref": "did:example:1", "issued_at": "2026-07-12T00:00:01Z", "capabilities_declared": ["a"]},
}
MOMENT = "2026-07-12T00:00:01.25+02:00"
FULL = a_version(
    observed_at=MOMENT,
    asserted_at=MOMENT,
    valid_from=MOMENT,
    valid_until=MOMENT,
    schema_id="https://acme.example/schema",
    actor=ACTOR,
    relationship_refs=["rel:1"],
    integrity={"digest": "d", "algorithm": "a", "canonicalization_profile": "p", "signature": "s", "ledger_ref": "l"},
    quality_signals={
        "assessed_confidence": 0.25,
        "last_verified_at": MOMENT,
        "last_verified_by_actor_id": "actor:a",
        "verification_method_id": "m",
    },
    provenance={
        "provenance_id": "prov:1",
        "actor": ACTOR,
        "activity": "created",
        "recorded_at": MOMENT,
        "source_ref": "urn:s",
        "evidence_refs": ["urn:e", "evaluation-run:run:1"],
        "observed_at": MOMENT,
        "transformation_parent": "urn:t",
        "source_confidence": 0.1,
        "integrity_ref": "urn:i",
    },
)
RELATIONSHIP = {
    name: value
    for name, value in FULL.items()
    if name not in {"object_id", "object_type", "schema_id", "relationship_refs", "quality_signals"}
} | {
    "relationship_id": "rel:1",
    "relationship_type": "supports",
    "source_object_id": "mem:1",
    "target_object_id": "mem:2",
    "directionality": "directed",
    "policy_basis": "policy:x",
}
ODD = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        -1,
        1.5,
        2**70,
        "",
        "x",
        "mem:1",
        "a b",
        MOMENT,
        "0001-01-01T00:00:00+14:00",
        [],
        ["a"],
        {},
        {"a": 1},
    ]
) | st.text(max_size=8)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside, the content aside: it may be anything."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            if (*path, key) != ("canonical_content",):
                found += places_of(item, (*path, key))
    return found


def changed(value: dict[str, Any], path: tuple[Any, ...], new: Any) -> dict[str, Any]:
    made = copy.deepcopy(value)
    inside: Any = made
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = new
    return made


def exported(version: IncomingVersion) -> ExportedRecord:
    if isinstance(version.core, VersionCore):
        return export_envelope(envelope_of(version.core, version.plaintexts))
    return export_relationship(relationship_message(version.core, version.plaintexts))


def comes_out_as_it_came_in(value: dict[str, Any]) -> None:
    is_object = "object_id" in value
    parse = object_version if is_object else relationship_version
    content = json.dumps(value["canonical_content"], separators=(",", ":"))
    try:
        version = parse(value, content, "acme", "workspace:here")
    except FieldRefused:
        return
    if isinstance(version.core, VersionCore):
        core_bytes(version.core)
    else:
        relationship_core_bytes(version.core)
    record = exported(version)
    members = records.members_of(records.draft_bytes(record).decode())
    again = parse(json.loads(records.draft_bytes(record)), members["canonical_content"], "acme", "workspace:here")
    id_key = "object_id" if is_object else "relationship_id"
    side = read_side(record.side, record.side["kind"], id_key, again.id, again.core.version_id)
    again = with_side(again, side)
    assert (again.core, again.plaintexts) == (version.core, version.plaintexts)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_value_in_any_place(data: st.DataObject) -> None:
    for whole in (FULL, RELATIONSHIP):
        path = data.draw(st.sampled_from(places_of(whole)))
        comes_out_as_it_came_in(changed(whole, path, data.draw(ODD)))


def test_a_full_record_is_accepted() -> None:
    version = object_version(FULL, '{"statement":"number 1"}', "acme", SCOPE)
    assert version.relationship_refs == ("rel:1",)
    assert version.plaintexts.provenance is not None
    assert version.plaintexts.provenance.evidence_refs == ("urn:e",)
    assert version.plaintexts.provenance.evaluation_run_id == "run:1"
    comes_out_as_it_came_in(FULL)
    comes_out_as_it_came_in(RELATIONSHIP)


def test_every_required_member_is_required() -> None:
    for whole, parse in ((a_version(), object_version), (RELATIONSHIP, relationship_version)):
        optional = {"policy_basis", "integrity", "observed_at", "asserted_at", "valid_from", "valid_until"}
        for name in set(whole) - optional:
            lacking = {key: value for key, value in whole.items() if key != name}
            with pytest.raises(FieldRefused) as refusal:
                parse(lacking, "{}", "acme", SCOPE)
            assert (refusal.value.path, refusal.value.problem) == (name, "is required")
