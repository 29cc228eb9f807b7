"""A synthetic ledger with relationships, and every way in which they can be edited behind the service's back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from storage.model.ledger_rows import FindingKind, RelationshipRow, RelationshipVersionRow
from tests.storage.ledger_edits import Edit
from tests.storage.synthetic_ledger import Ledger, LedgerBuilder, canonical

K = FindingKind
_CLAIMS = ("observed_at_us", "asserted_at_us", "valid_from_us", "valid_until_us")
FIRST, SECOND, THIRD = 4, 5, 6
"""Sequences of the events: rel:one is made, rel:two is made, rel:one is changed."""


def relate(builder: LedgerBuilder, relationship_id: str, **core: Any) -> None:
    """Makes the next version of a relationship from urn:obj:a to urn:obj:b."""
    ledger = builder.ledger
    number = 1 + sum(row.relationship_id == relationship_id for row in ledger.relationship_versions)
    said: dict[str, Any] = {
        "relationship_type": "supports",
        "source_object_id": "urn:obj:a",
        "target_object_id": "urn:obj:b",
        "directionality": "directed",
        "lifecycle_state": "active",
        "availability_state": "available",
        "retention_state": "retained",
        "validation_state": "unverified",
        "provenance_id": builder.new_id(),
        "committed_at_us": builder.now_us,
        "recorded_at_us": builder.now_us,
        **core,
    }
    own = {"relationship_id": relationship_id, "version_id": builder.new_id(), "sequence": number}
    names = {"tenant_id": ledger.identity.tenant_id, "scope_id": ledger.identity.scope_id}
    actor = {"actor_id": "actor:ann", "actor_kind": "agent"}
    core_bytes = canonical({**names, **own, **said, "actor": actor, "parts": {}})
    at = builder.append(
        "relationship_created" if number == 1 else "relationship_updated",
        {
            "relationship_sequence": number,
            "envelope_digest": hashlib.sha256(core_bytes).hexdigest(),
            **{key: said[key] for key in ("source_object_id", "target_object_id", "target_scope_id") if key in said},
        },
        relationship_id=relationship_id,
        version_id=str(own["version_id"]),
    )
    columns = {"target_scope_id": ledger.identity.scope_id, **said, **{key: said.get(key) for key in _CLAIMS}}
    values: dict[str, Any] = {**own, **columns, "ledger_sequence": at, "core": core_bytes, "actor_id": "actor:ann"}
    ledger.relationship_versions.append(
        RelationshipVersionRow(**{key: values[key] for key in RelationshipVersionRow.__dataclass_fields__})
    )
    ledger.relationships = [row for row in ledger.relationships if row.relationship_id != relationship_id]
    ledger.relationships.append(RelationshipRow(**{key: values[key] for key in RelationshipRow.__dataclass_fields__}))


def related_ledger() -> Ledger:
    """A sound ledger with two relationships: one of two versions, and one that ends in another workspace."""
    builder = LedgerBuilder()
    builder.begin()
    builder.write("urn:obj:a", "object_created")
    builder.write("urn:obj:b", "object_created")
    relate(builder, "rel:one", observed_at_us=1)
    relate(builder, "rel:two", target_scope_id="ws:two", policy_basis="basis:1")
    relate(builder, "rel:one", relationship_type="contradicts", lifecycle_state="archived")
    builder.ledger.objects = [replace(row, related=True) for row in builder.ledger.objects]
    builder.append("propagation_job_opened", {"job_id": "job:1"}, relationship_id="rel:one", evaluation_run_id="run:1")
    return builder.ledger


def _set(table: str, index: int, **changes: Any) -> Any:
    def apply(ledger: Ledger) -> None:
        rows = getattr(ledger, table)
        rows[index] = replace(rows[index], **changes)

    return apply


def _change_core(index: int, **changes: Any) -> Any:
    def apply(ledger: Ledger) -> None:
        row = ledger.relationship_versions[index]
        core = canonical({**json.loads(row.core), **changes})
        ledger.relationship_versions[index] = replace(row, core=core)

    return apply


def _rewrite(sequence: int, **changes: Any) -> Any:
    def apply(ledger: Ledger) -> None:
        ledger.rewrite(sequence, **changes)
        ledger.rechain(sequence)

    return apply


def _unname(ledger: Ledger) -> None:
    """The event that made a relationship no longer says which."""
    row = ledger.events[SECOND - 1]
    body = json.loads(row.body)
    del body["relationship_id"]
    ledger.events[SECOND - 1] = replace(row, body=canonical(body), relationship_id=None)
    ledger.rechain(SECOND)


def _roll_back(ledger: Ledger) -> None:
    """The newest version is gone from the tables together with its pointer."""
    old, pointer = ledger.relationship_versions[0], ledger.relationships[-1]
    del ledger.relationship_versions[2]
    values = {key: getattr(old, key) for key in RelationshipRow.__dataclass_fields__}
    ledger.relationships[-1] = replace(pointer, **values)


_COLUMNS: dict[str, Any] = {
    "relationship_type": "part_of",
    "source_object_id": "urn:obj:z",
    "target_object_id": "urn:obj:z",
    "target_scope_id": "ws:three",
    "directionality": "undirected",
    "lifecycle_state": "scratch",
    "availability_state": "redacted",
    "retention_state": "legal_hold",
    "validation_state": "rejected",
    "actor_id": "actor:eve",
    "provenance_id": "urn:uuid:p",
    "observed_at_us": 2,
    "asserted_at_us": 2,
    "valid_from_us": 2,
    "valid_until_us": 2,
    "committed_at_us": 2,
    "recorded_at_us": 2,
    "version_id": "urn:uuid:v",
    "ledger_sequence": 5,
}
_POINTER_COLUMNS = [key for key in RelationshipRow.__dataclass_fields__ if key not in ("relationship_id", "sequence")]

RELATIONSHIP_EDITS = [
    Edit("core changed", _change_core(0, relationship_type="part_of"), FIRST, K.VERSION_CHANGED),
    Edit("core no longer JSON", _set("relationship_versions", 0, core=b"["), FIRST, K.VERSION_CHANGED),
    *(
        Edit(f"column {name}", _set("relationship_versions", 0, **{name: value}), FIRST, K.VERSION_COLUMN_CHANGED)
        for name, value in _COLUMNS.items()
    ),
    Edit("foreign target made own", _set("relationship_versions", 1, target_scope_id="ws:one"), SECOND,
         K.VERSION_COLUMN_CHANGED),
    *(
        Edit(f"pointer's {name}", _set("relationships", 1, **{name: _COLUMNS[name]}), THIRD, K.POINTER_CHANGED)
        for name in _POINTER_COLUMNS
    ),
    Edit("source no longer related", _set("objects", 0, related=False), FIRST, K.POINTER_CHANGED),
    Edit("target no longer related", _set("objects", 1, related=False), FIRST, K.POINTER_CHANGED),
    Edit("pointer rolled back", _set("relationships", 1, sequence=1), THIRD, K.ROLLED_BACK),
    Edit("tables rolled back", _roll_back, THIRD, K.VERSION_MISSING),
    Edit("pointer ahead", _set("relationships", 0, sequence=9), 0, K.POINTER_CHANGED),
    Edit("pointer deleted", lambda led: led.relationships.pop(0), SECOND, K.ROW_MISSING),
    Edit("pointer added", lambda led: led.relationships.append(replace(led.relationships[0], relationship_id="rel:z")),
         0, K.ROW_WITHOUT_EVENT),
    Edit("version deleted", lambda led: led.relationship_versions.pop(0), FIRST, K.VERSION_MISSING),
    Edit("version added", lambda led: led.relationship_versions.append(
        replace(led.relationship_versions[0], sequence=9)), 0, K.VERSION_WITHOUT_EVENT),
    Edit("event skips a number", _rewrite(THIRD, payload={"relationship_sequence": 3}), THIRD, K.VERSION_SEQUENCE_GAP),
    Edit("event without digest", _rewrite(THIRD, payload={"envelope_digest": None}), THIRD, K.PAYLOAD_MALFORMED),
    Edit("event without relationship", _unname, SECOND, K.PAYLOAD_MALFORMED),
    Edit("event of another relationship", _rewrite(SECOND, relationship_id="rel:z"), SECOND, K.COLUMN_CHANGED),
    Edit("event's column", _set("events", SECOND - 1, relationship_id="rel:z"), SECOND, K.COLUMN_CHANGED),
    Edit("event's column emptied", _set("events", SECOND - 1, relationship_id=None), SECOND, K.COLUMN_CHANGED),
]  # fmt: skip
