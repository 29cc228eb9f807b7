"""Every way in which a ledger can be edited behind the service's back, with the first bad place that must be named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from storage.model.ledger_rows import BindingRow, CrossScopeRuleRow, FindingKind, ObjectRow, RuleRow
from tests.storage.synthetic_ledger import Ledger, canonical, whole_ledger

K = FindingKind


@dataclass(frozen=True)
class Edit:
    """One edit of a sound ledger; `sequence` and `kind` are the first finding's."""

    name: str
    apply: Callable[[Ledger], object]
    sequence: int
    kind: FindingKind


def _set(table: str, index: int, **changes: Any) -> Callable[[Ledger], None]:
    def apply(ledger: Ledger) -> None:
        rows = getattr(ledger, table)
        rows[index] = replace(rows[index], **changes)

    return apply


def _set_head(**changes: Any) -> Callable[[Ledger], None]:
    def apply(ledger: Ledger) -> None:
        ledger.head = replace(ledger.head, **changes)

    return apply


def _delete(table: str, index: int) -> Callable[[Ledger], object]:
    return lambda ledger: getattr(ledger, table).pop(index)


def _add(table: str, row: object) -> Callable[[Ledger], object]:
    return lambda ledger: getattr(ledger, table).append(row)


def _rewrite(sequence: int, rechained: bool = False, **changes: Any) -> Callable[[Ledger], None]:
    """Changes a body; with `rechained` every hash from there and the head are made right again."""

    def apply(ledger: Ledger) -> None:
        ledger.rewrite(sequence, **changes)
        if rechained:
            ledger.rechain(sequence)

    return apply


def _set_rechained(sequence: int, **changes: Any) -> Callable[[Ledger], None]:
    """Changes what is hashed or repeated of an event and makes every hash right again."""

    def apply(ledger: Ledger) -> None:
        ledger.events[sequence - 1] = replace(ledger.events[sequence - 1], **changes)
        ledger.rechain(sequence)

    return apply


def _rehash_one(sequence: int) -> Callable[[Ledger], None]:
    """Changes a body and its own hashes, but no later ones."""

    def apply(ledger: Ledger) -> None:
        later, head = ledger.events[sequence:], ledger.head
        ledger.rewrite(sequence, purpose="audit")
        ledger.rechain(sequence)
        ledger.events[sequence:] = later
        ledger.head = head

    return apply


def _swap_contents(ledger: Ledger) -> None:
    """Two events trade everything but their numbers."""
    first, second = ledger.events[16], ledger.events[17]
    ledger.events[16], ledger.events[17] = replace(second, sequence=17), replace(first, sequence=18)


def _swap_rows(ledger: Ledger) -> None:
    ledger.events[16], ledger.events[17] = ledger.events[17], ledger.events[16]


def _forge_insert(ledger: Ledger) -> None:
    """A forged event between two, the later ones moved up and left as they were hashed."""
    forged = replace(ledger.events[13], event_id="urn:uuid:f")
    ledger.events.insert(14, forged)
    ledger.events[14:] = [replace(row, sequence=row.sequence + 1) for row in ledger.events[14:]]
    ledger.head = replace(ledger.head, sequence=27)


def _forge_append(ledger: Ledger) -> None:
    ledger.events.append(replace(ledger.events[13], sequence=27, event_id="urn:uuid:f"))


def _replay_other_workspace(ledger: Ledger) -> None:
    other = whole_ledger("ws:two", UUID(int=8))
    ledger.events[13] = other.events[13]


def _replay_other_workspace_rechained(ledger: Ledger) -> None:
    _replay_other_workspace(ledger)
    ledger.rechain(14)


def _replay_old(ledger: Ledger) -> None:
    """An old row stands in once more for a newer one."""
    ledger.events[17] = replace(ledger.events[12], sequence=18)


def _replay_old_rechained(ledger: Ledger) -> None:
    ledger.events[25] = replace(ledger.events[13], sequence=26, recorded_at_us=ledger.events[25].recorded_at_us)
    ledger.rechain(26)


def _roll_pointer_back(ledger: Ledger) -> None:
    [old] = [row for row in ledger.versions if row.object_id == "urn:obj:a" and row.sequence == 1]
    ledger.objects = [row for row in ledger.objects if row.object_id != "urn:obj:a"]
    ledger.objects.append(ObjectRow("urn:obj:a", "fact", old.version_id, 1))


def _roll_tables_back(ledger: Ledger) -> None:
    """The newest version is gone from the tables together with its pointer."""
    ledger.versions = [row for row in ledger.versions if not (row.object_id == "urn:obj:a" and row.sequence == 3)]
    [older] = [row for row in ledger.versions if row.object_id == "urn:obj:a" and row.sequence == 2]
    ledger.objects = [row for row in ledger.objects if row.object_id != "urn:obj:a"]
    ledger.objects.append(ObjectRow("urn:obj:a", "fact", older.version_id, 2))


def _change_core(table: str, index: int, **changes: Any) -> Callable[[Ledger], None]:
    def apply(ledger: Ledger) -> None:
        rows = getattr(ledger, table)
        rows[index] = replace(rows[index], core=canonical({**json.loads(rows[index].core), **changes}))

    return apply


def _unfold_body(ledger: Ledger) -> None:
    """The same JSON with a blank in it, everything rehashed: only the bytes' form tells."""
    row = ledger.events[13]
    ledger.events[13] = replace(row, body=row.body.replace(b'"v":1', b'"v": 1'))
    ledger.rechain(14)


_EVENT_COLUMNS = ("event_id", "event_type", "operation_id", "actor_id", "object_id", "version_id", "delegation_id",
                  "relationship_id")  # fmt: skip
_VERSION_COLUMNS: dict[str, Any] = {
    "object_type": "episode",
    "schema_id": "schema:2",
    "lifecycle_state": "archived",
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
_RULE = RuleRow("rule:9", "actor:eve", "*", "*", "*", "allow")

CHAIN_EDITS = [
    Edit("content changed", _rewrite(14, payload={"denial_reason": "EXPLICIT_DENY"}), 14, K.BODY_CHANGED),
    Edit("actor changed", _rewrite(14, actor={"actor_id": "actor:bob", "actor_kind": "agent"}), 14, K.BODY_CHANGED),
    Edit("content and own hashes changed", _rehash_one(14), 15, K.CHAIN_BROKEN),
    Edit("last content and own hashes changed", _rehash_one(26), 0, K.HEAD_MISMATCH),
    Edit("body no longer JSON", _set("events", 13, body=b"{"), 14, K.BODY_CHANGED),
    Edit("body empty, rechained", _set_rechained(14, body=b""), 14, K.BODY_MALFORMED),
    Edit("body not canonical, rechained", _unfold_body, 14, K.BODY_NOT_CANONICAL),
    Edit("body with another key, rechained", _rewrite(14, True, note="x"), 14, K.BODY_MALFORMED),
    Edit("body of another format, rechained", _rewrite(14, True, v=2), 14, K.BODY_MALFORMED),
    Edit("leaf hash changed", _set("events", 13, leaf_hash=bytes(32)), 14, K.LEAF_HASH_CHANGED),
    Edit("chain hash changed", _set("events", 13, chain_hash=bytes(32)), 14, K.CHAIN_BROKEN),
    Edit("recorded_at changed", _set("events", 13, recorded_at_us=5), 14, K.BODY_CHANGED),
    Edit("recorded_at gone back, rechained", _set_rechained(14, recorded_at_us=5), 14, K.RECORDED_AT_BACKWARDS),
    Edit("use_number changed", _set("events", 12, use_number=2), 13, K.BODY_CHANGED),
    Edit("use_number changed, rechained", _set_rechained(13, use_number=2), 13, K.USE_NUMBER_CHANGED),
    Edit("use_number of another event, rechained", _set_rechained(14, use_number=1), 14, K.USE_NUMBER_CHANGED),
    Edit("sequence changed", _set("events", 13, sequence=15), 14, K.SEQUENCE_GAP),
    Edit("tail cut", lambda ledger: ledger.events.__delitem__(slice(23, None)), 24, K.TAIL_CUT),
    Edit("all cut", lambda ledger: ledger.events.clear(), 1, K.TAIL_CUT),
    Edit("middle cut", lambda ledger: ledger.events.__delitem__(slice(12, 15)), 13, K.SEQUENCE_GAP),
    Edit("begin cut", _delete("events", 0), 1, K.SEQUENCE_GAP),
    Edit("swap of contents", _swap_contents, 17, K.CHAIN_BROKEN),
    Edit("swap of rows", _swap_rows, 17, K.SEQUENCE_GAP),
    Edit("forged insert", _forge_insert, 15, K.CHAIN_BROKEN),
    Edit("forged append", _forge_append, 27, K.CHAIN_BROKEN),
    Edit("replay from another workspace", _replay_other_workspace, 14, K.CHAIN_BROKEN),
    Edit("replay from another workspace, rechained", _replay_other_workspace_rechained, 14, K.BODY_FOREIGN),
    Edit("replay of an old row", _replay_old, 18, K.CHAIN_BROKEN),
    Edit("replay of an old row, rechained", _replay_old_rechained, 26, K.DUPLICATE_EVENT),
    *(Edit(f"column {name}", _set("events", 25, **{name: "x:y"}), 26, K.COLUMN_CHANGED) for name in _EVENT_COLUMNS),
    Edit("column emptied", _set("events", 25, object_id=None), 26, K.COLUMN_CHANGED),
    Edit("head hash changed", _set_head(chain_hash=bytes(32)), 0, K.HEAD_MISMATCH),
    Edit("head sequence raised", _set_head(sequence=27), 27, K.TAIL_CUT),
    Edit("head sequence lowered", _set_head(sequence=25), 0, K.HEAD_MISMATCH),
    Edit("policy revision changed", _set_head(policy_revision=1), 0, K.POLICY_REVISION_CHANGED),
    Edit("ledger id changed", lambda led: setattr(led, "identity", replace(led.identity, ledger_id=UUID(int=1))), 1,
         K.CHAIN_BROKEN),
]  # fmt: skip

TABLE_EDITS = [
    Edit("core changed", _change_core("versions", 0, object_type="episode"), 2, K.VERSION_CHANGED),
    Edit("core no longer JSON", _set("versions", 0, core=b"["), 2, K.VERSION_CHANGED),
    *(
        Edit(f"version column {name}", _set("versions", 0, **{name: value}), 2, K.VERSION_COLUMN_CHANGED)
        for name, value in _VERSION_COLUMNS.items()
    ),
    Edit("pointer rolled back", _roll_pointer_back, 26, K.ROLLED_BACK),
    Edit("tables rolled back", _roll_tables_back, 26, K.VERSION_MISSING),
    Edit("pointer to no version", _set("objects", 0, sequence=9), 0, K.POINTER_CHANGED),
    Edit("pointer to another id", _set("objects", 0, version_id="urn:uuid:v"), 25, K.POINTER_CHANGED),
    Edit("pointer's type changed", _set("objects", 0, object_type="goal"), 0, K.OBJECT_TYPE_CHANGED),
    Edit("pointer deleted", _delete("objects", 0), 25, K.ROW_MISSING),
    Edit("pointer added", _add("objects", ObjectRow("urn:obj:z", "fact", "urn:uuid:v", 1)), 0, K.ROW_WITHOUT_EVENT),
    Edit("version deleted", _delete("versions", 1), 3, K.VERSION_MISSING),
    Edit("version added", lambda led: led.versions.append(replace(led.versions[0], sequence=9)), 0,
         K.VERSION_WITHOUT_EVENT),
    Edit("version event skips a number", _rewrite(4, True, payload={"object_sequence": 3}), 4, K.VERSION_SEQUENCE_GAP),
    Edit("version event without digest", _rewrite(4, True, payload={"envelope_digest": None}), 4, K.PAYLOAD_MALFORMED),
    Edit("grant core changed", _change_core("delegation_versions", 0, usage_limit=50), 10, K.VERSION_CHANGED),
    Edit("grant version deleted", _delete("delegation_versions", 3), 24, K.VERSION_MISSING),
    Edit("grant version id changed", _set("delegation_versions", 0, version_id="urn:x"), 10, K.VERSION_COLUMN_CHANGED),
    Edit("uses lowered", _set("delegations", 0, uses=1), 18, K.USES_CHANGED),
    Edit("uses raised", _set("delegations", 2, uses=5), 0, K.USES_CHANGED),
    Edit("unrevoked by the flag", _set("delegations", 2, revoked=False), 24, K.REVOKED_FLAG_CHANGED),
    Edit("revoked by the flag", _set("delegations", 0, revoked=True), 0, K.REVOKED_FLAG_CHANGED),
    Edit("grant rolled back", _set("delegations", 2, sequence=1), 24, K.ROLLED_BACK),
    Edit("grant deleted", _delete("delegations", 1), 15, K.ROW_MISSING),
    Edit("grant added", lambda led: led.delegations.append(replace(led.delegations[0], delegation_id="urn:grant:z")), 0,
         K.ROW_WITHOUT_EVENT),
    Edit("terms widened in the event", _rewrite(11, True, payload={"usage_limit": 9}), 11, K.VERSION_COLUMN_CHANGED),
    Edit("limit narrowed in the event", _rewrite(11, True, payload={"usage_limit": 1}), 11, K.VERSION_COLUMN_CHANGED),
    Edit("rule added", _add("rules", _RULE), 0, K.RULE_WITHOUT_EVENT),
    Edit("rule removed", _delete("rules", 1), 0, K.RULE_MISSING),
    Edit("bootstrap rule removed", _delete("rules", 0), 0, K.RULE_MISSING),
    Edit("rule changed", _set("rules", 1, effect="deny"), 7, K.RULE_CHANGED),
    Edit("removed rule put back", _add("rules", RuleRow("rule:2", "actor:bob", "read", "fact", "urn:obj:a", "deny")), 0,
         K.RULE_WITHOUT_EVENT),
    Edit("permit added", _add("cross_scope_rules", CrossScopeRuleRow("rule:9", "ws:x", "delegation")), 0,
         K.RULE_WITHOUT_EVENT),
    Edit("permit removed", _delete("cross_scope_rules", 0), 0, K.RULE_MISSING),
    Edit("permit changed", _set("cross_scope_rules", 0, source_scope_id="ws:x"), 8, K.RULE_CHANGED),
    Edit("binding added", _add("bindings", BindingRow("actor:eve", "role:owner")), 0, K.RULE_WITHOUT_EVENT),
    Edit("binding removed", _delete("bindings", 0), 0, K.RULE_MISSING),
    Edit("removal of a rule that never was", _rewrite(21, True, payload={"effect": "allow"}), 21, K.RULE_CONTRADICTED),
    Edit("rule added twice", _rewrite(7, True, payload={"rule_id": "rule:2"}), 7, K.RULE_CONTRADICTED),
    Edit("rule without effect", _rewrite(7, True, payload={"effect": None}), 7, K.PAYLOAD_MALFORMED),
    Edit("revision gone back", _rewrite(9, True, payload={"policy_revision": 2}), 9, K.POLICY_REVISION_CHANGED),
]  # fmt: skip
