"""What an export's events and rows mean to the replay: an event's effect, a row's columns against its core.

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. Whatever
needs no other line is a function, so that lines can be judged anywhere; `Tables` takes the results in the file's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from server.cli.offline_findings import Findings
from server.cli.offline_format import (
    EVENT_COLUMNS,
    VERSION_COLUMNS,
    MalformedPayloadError,
    read_body,
    read_core,
    read_count,
    read_items,
    read_text,
)
from server.cli.offline_relationships import RelationshipReplay
from server.cli.offline_replay import GrantReplay, Lineage, PolicyReplay, Use

VERSION_EVENTS = frozenset(
    (
        *("object_created", "object_updated", "object_deleted", "object_redacted", "lifecycle_transitioned"),
        *("availability_transitioned", "retention_transitioned", "validation_transitioned"),
    )
)
RELATIONSHIP_EVENTS = frozenset(("relationship_created", "relationship_updated"))
GRANT_EVENTS = frozenset(("delegation_granted", "delegation_revoked"))
POLICY_EVENTS = frozenset(
    ("policy_rule_added", "policy_rule_removed", "role_bound", "role_unbound", "workspace_created")
)

# Events that are replayed from the body as a whole.
REPLAYED_WHOLE = RELATIONSHIP_EVENTS | GRANT_EVENTS | POLICY_EVENTS

# A version that an event names: object, number, version id, digest of the core.
NamedVersion = tuple[str, int, str, str]
# A version row that agrees with its core: object, number, version id, digest, ledger sequence, object type.
VersionRow = tuple[str, int, str, str, int, str]
# An object's pointer: object, number, version id, type, whether it is an end of any relationship.
PointerRow = tuple[str, int, str, str, bool]
# What an event does: it names a version, uses a grant, or (a body that is replayed as a whole) changes a relationship, a
# grant or the policy. One of them, or none.
Effect = tuple[NamedVersion | None, Use | None, dict[str, Any] | None]


def judge_body(
    body_bytes: bytes, columns: Mapping[str, Any], use_number: int, names: Mapping[str, str]
) -> tuple[dict[str, Any] | None, list[tuple[str, str]]]:
    """Returns a body and what is wrong with it, as kinds and places; the body is None when it is none of `names`.

    `names` are the workspace's `tenant_id` and `scope_id`. A body that is returned is to be replayed, whatever is
    wrong with it. BODY_FOREIGN comes with a body all the same: its event id counts, its effect does not.
    """
    body, canonical = read_body(body_bytes)
    if body is None:
        return None, [("BODY_MALFORMED", "body")]
    wrong = [] if canonical else [("BODY_NOT_CANONICAL", "body")]
    named = {column: body.get(column) for column in EVENT_COLUMNS}
    named["actor_id"] = body["actor"]["actor_id"]
    if columns != named:
        wrong += [("COLUMN_CHANGED", column) for column in EVENT_COLUMNS if columns[column] != named[column]]
    if body["tenant_id"] != names["tenant_id"] or body["scope_id"] != names["scope_id"]:
        wrong.append(("BODY_FOREIGN", "body"))
    elif use_number and body["event_type"] != "delegation_exercised":
        wrong.append(("USE_NUMBER_CHANGED", "use_number"))
    return body, wrong


def read_effect(body: dict[str, Any]) -> Effect:
    """Returns what an event does to the tables; raises MalformedPayloadError."""
    event_type, payload = body["event_type"], body["payload"]
    if event_type == "delegation_exercised":
        leaf_id, chain = read_text(body, "delegation_id"), read_items(payload, "chain")
        version = read_count(payload, "delegation_sequence")
        if not all(type(link) is str for link in chain) or chain[-1:] != [leaf_id] or len(set(chain)) != len(chain):
            raise MalformedPayloadError("chain")
        return None, (leaf_id, version, chain, "mirror_of" in payload), None
    if event_type in REPLAYED_WHOLE:
        return None, None, body
    if event_type in VERSION_EVENTS or ("envelope_digest" in payload and "object_id" in body):
        number, digest = read_count(payload, "object_sequence"), read_text(payload, "envelope_digest")
        return (read_text(body, "object_id"), number, read_text(body, "version_id"), digest), None, None
    return None, None, None


def judge_version(record: Mapping[str, Any], core_bytes: bytes, names: Mapping[str, str]) -> tuple[str, list[str]]:
    """Returns the object type that a version's core names and the columns that are not as it says.

    Raises MalformedPayloadError when the core is none.
    """
    core = read_core(core_bytes)
    actor = core.get("actor") if core is not None else None
    if core is None or type(core.get("object_type")) is not str or not isinstance(actor, dict):
        raise MalformedPayloadError("core")
    columns, stated = record["columns"], {**core, "actor_id": actor.get("actor_id")}
    changed = [key for key in _CORE_NAMES if core.get(key) != names.get(key, record.get(key))]
    return core["object_type"], changed + [key for key in VERSION_COLUMNS if columns[key] != stated.get(key)]


_CORE_NAMES = ("tenant_id", "scope_id", "object_id", "version_id", "sequence")


class Tables:
    """Hands each event and each row to the replay that it concerns, in the file's order."""

    def __init__(self, names: Mapping[str, str], findings: Findings) -> None:
        self._names = names
        self._findings = findings
        self._object_types: dict[str, str] = {}
        self._policy = PolicyReplay(findings)
        self.objects = Lineage("object", findings)
        self._relationships = RelationshipReplay(names, findings)
        self.grants = GrantReplay(names["tenant_id"], names["scope_id"], findings)

    def event(self, sequence: int, recorded_at_us: int, use_number: int, body: dict[str, Any]) -> None:
        """Replays one event."""
        operation_id = str(body["operation_id"])
        self.grants.pass_time(recorded_at_us, operation_id)
        try:
            named, use, change = read_effect(body)
        except MalformedPayloadError as error:
            self._findings.add(sequence, "PAYLOAD_MALFORMED", f"payload: {error}")
            return
        if named is not None:
            self.objects.name(sequence, *named)
        elif use is not None:
            earlier_us = self.grants.earlier_us(operation_id)
            self.grants.exercised(sequence, recorded_at_us, earlier_us, use_number, use)
        elif change is not None:
            self.change(sequence, change)

    def change(self, sequence: int, body: Mapping[str, Any]) -> None:
        """Replays a change of a relationship, of a grant or of the policy."""
        event_type, payload = body["event_type"], body["payload"]
        try:
            if event_type in RELATIONSHIP_EVENTS:
                self._relationships.changed(sequence, body, payload)
            elif event_type == "delegation_granted":
                self.grants.granted(sequence, body, payload)
            elif event_type == "delegation_revoked":
                self.grants.revoked(sequence, body, payload)
            elif event_type == "workspace_created":
                self._policy.bootstrap(sequence, payload)
            else:
                self._policy.changed(sequence, event_type, payload)
        except MalformedPayloadError as error:
            self._findings.add(sequence, "PAYLOAD_MALFORMED", f"payload: {error}")

    def row(self, record: Mapping[str, Any], core: bytes) -> None:
        """Compares one row with what the events said of it."""
        kind = record["kind"]
        if kind == "version":
            self._version(record, core)
        elif kind == "object":
            pointer = ("object_id", "sequence", "version_id", "object_type", "related")
            self.pointer(*(record[key] for key in pointer))
        elif kind == "relationship_version":
            self._relationships.version_row(record, sha256(core).hexdigest(), read_core(core))
        elif kind == "relationship":
            self._relationships.row(record)
        elif kind == "delegation":
            self.grants.row(record)
        elif kind == "delegation_version":
            self.grants.version_row(record, sha256(core).hexdigest(), read_core(core))
        else:
            fields = [value for key, value in record.items() if key != "kind"]
            names = 2 if kind == "binding" else 1
            self._policy.row((kind, *fields[:names]), tuple(fields[names:]))

    def pointer(self, object_id: str, number: int, version_id: str, object_type: str, related: bool) -> None:
        """Compares the pointer of an object."""
        self.objects.pointer(object_id, number, version_id)
        self._relationships.end(object_id, related)
        if self._object_types.get(object_id, object_type) != object_type:
            self._findings.add(0, "OBJECT_TYPE_CHANGED", f"object {object_id}")

    def version(self, row: VersionRow) -> None:
        """Compares a version that agrees with its core."""
        object_id, number, version_id, digest, ledger_sequence, object_type = row
        event = self.objects.row(object_id, number, version_id, digest, ledger_sequence)
        if event is not None:
            self._keep_type(event, object_id, number, object_type)

    def finish(self, policy_revision: int | None) -> None:
        """The rows are at their end; `policy_revision` is the head's, None without one."""
        self.objects.finish()
        self._relationships.finish()
        self.grants.lineage.finish()
        self._policy.finish(policy_revision)

    def _version(self, record: Mapping[str, Any], core_bytes: bytes) -> None:
        object_id, number, digest = record["object_id"], record["sequence"], sha256(core_bytes).hexdigest()
        event = self.objects.row(object_id, number, record["version_id"], digest, record["ledger_sequence"])
        if event is None:
            return
        place = f"object {object_id} version {number}"
        try:
            object_type, changed = judge_version(record, core_bytes, self._names)
        except MalformedPayloadError:
            self._findings.add(event, "VERSION_MALFORMED", place)
            return
        for key in changed:
            self._findings.add(event, "VERSION_COLUMN_CHANGED", f"{place}: {key}")
        self._keep_type(event, object_id, number, object_type)

    def _keep_type(self, event: int, object_id: str, number: int, object_type: str) -> None:
        if self._object_types.setdefault(object_id, object_type) != object_type:
            self._findings.add(event, "OBJECT_TYPE_CHANGED", f"object {object_id} version {number}")
