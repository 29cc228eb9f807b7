"""Relationships and their versions, against the events that made them.

Part of `ledger_check` (ledger.md, Proof).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from storage.ledger_policy_book import Body, Note, field_of
from storage.ledger_version_log import VersionLog, core_of
from storage.model.ledger_rows import EventRow, FindingKind, ObjectRow, RelationshipRow, RelationshipVersionRow

_NAMES: Final = ("relationship_id", "version_id", "sequence")
# Columns that repeat a field of the core by its name.
_CORE_COLUMNS: Final = tuple(
    column.name
    for column in fields(RelationshipVersionRow)
    if column.name not in (*_NAMES, "ledger_sequence", "core", "actor_id", "target_scope_id")
)
_POINTER_COLUMNS: Final = tuple(column.name for column in fields(RelationshipRow) if column.name not in _NAMES)


class RelationshipBook:
    """Relationships and their versions."""

    def __init__(self, names: dict[str, str], note: Note) -> None:
        self._names = names
        self._note = note
        self._log = VersionLog("relationship", note)
        # By relationship: the number of its newest version met, its event, and what its pointer repeats of it.
        self._said: dict[str, tuple[int, int, dict[str, Any]]] = {}
        # Objects of the workspace that events name as ends, with the first of these events.
        self._ends: dict[str, int] = {}

    def enter(self, row: EventRow, body: Body) -> None:
        """An event that makes a version."""
        payload = body["payload"]
        number = field_of(payload, "relationship_sequence", int)
        digest = field_of(payload, "envelope_digest", str)
        relationship = field_of(body, "relationship_id", str)
        self._log.enter(row.sequence, relationship, number, field_of(body, "version_id", str), digest)
        for end in ("source_object_id",) if "target_scope_id" in payload else ("source_object_id", "target_object_id"):
            if type(payload.get(end)) is str:
                self._ends.setdefault(payload[end], row.sequence)

    def take_version(self, row: RelationshipVersionRow) -> None:
        """A version's row: digest, then core against columns."""
        place = f"relationship {row.relationship_id} version {row.sequence}"
        version = self._log.strike(row.relationship_id, row.sequence, row.version_id, row.core)
        if version is None:
            return
        if not version.first_event <= row.ledger_sequence <= version.last_event:
            self._note(version.first_event, FindingKind.VERSION_COLUMN_CHANGED, f"{place}: ledger_sequence")
        core = core_of(row.core)
        if core is None or type(core.get("actor")) is not dict:
            self._note(version.first_event, FindingKind.VERSION_MALFORMED, place)
            return
        stated = {**core, "target_scope_id": core.get("target_scope_id", self._names["scope_id"])}
        expected = {column: getattr(row, column) for column in (*_NAMES, *_CORE_COLUMNS, "target_scope_id")}
        changed = [column for column, value in {**self._names, **expected}.items() if stated.get(column) != value]
        if core["actor"].get("actor_id") != row.actor_id:
            changed.append("actor_id")
        for column in changed:
            self._note(version.first_event, FindingKind.VERSION_COLUMN_CHANGED, f"{place}: {column}")
        if row.sequence > self._said.get(row.relationship_id, (0,))[0]:
            repeated = {column: stated.get(column) for column in _POINTER_COLUMNS}
            self._said[row.relationship_id] = (row.sequence, version.first_event, repeated)

    def take_relationship(self, row: RelationshipRow) -> None:
        """A relationship's pointer, and what it repeats of the version it names."""
        self._log.strike_pointer(row.relationship_id, row.sequence, row.version_id)
        number, event, said = self._said.pop(row.relationship_id, (0, 0, {}))
        if number != row.sequence:
            return
        for column, value in said.items():
            if getattr(row, column) != value:
                place = f"relationship {row.relationship_id}: {column}"
                self._note(event, FindingKind.POINTER_CHANGED, place)

    def take_end(self, row: ObjectRow) -> None:
        """An object's pointer: it knows that it is an end. What made it one may also be another workspace's."""
        if not row.related and row.object_id in self._ends:
            self._note(self._ends[row.object_id], FindingKind.POINTER_CHANGED, f"object {row.object_id}: related")

    def close(self) -> None:
        """No more rows."""
        self._log.close()
