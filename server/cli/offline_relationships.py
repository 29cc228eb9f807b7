"""Replay of relationships: their versions and pointers against the events that made them (ledger.md, Proof).

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from server.cli.offline_findings import Findings
from server.cli.offline_format import RELATIONSHIP_COLUMNS, RELATIONSHIP_POINTER_COLUMNS, read_count, read_text
from server.cli.offline_replay import Lineage

_CORE_NAMES = ("tenant_id", "scope_id", "relationship_id", "version_id", "sequence")


class RelationshipReplay:
    """Relationships of one workspace, whose `tenant_id` and `scope_id` are `names`."""

    def __init__(self, names: Mapping[str, str], findings: Findings) -> None:
        self._lineage = Lineage("relationship", findings)
        self._names = names
        self._findings = findings
        # relationship -> number and event of the newest version whose row was met, and what its core says.
        self._cores: dict[str, tuple[int, int, Mapping[str, Any]]] = {}
        # object of the workspace -> the first event that names it as an end
        self._ends: dict[str, int] = {}

    def changed(self, sequence: int, body: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        """An event makes a version."""
        number, digest = read_count(payload, "relationship_sequence"), read_text(payload, "envelope_digest")
        self._lineage.name(sequence, read_text(body, "relationship_id"), number, read_text(body, "version_id"), digest)
        ends = [payload.get("source_object_id")]
        if "target_scope_id" not in payload:
            ends.append(payload.get("target_object_id"))
        for end in ends:
            if isinstance(end, str):
                self._ends.setdefault(end, sequence)

    def version_row(self, row: Mapping[str, Any], digest: str, core: dict[str, Any] | None) -> None:
        """A version row with its core's digest; `core` is None when its bytes are no JSON object."""
        owner, number = row["relationship_id"], row["sequence"]
        event = self._lineage.row(owner, number, row["version_id"], digest, row["ledger_sequence"])
        if event is None:
            return
        place = f"relationship {owner} version {number}"
        actor = None if core is None else core.get("actor")
        if core is None or not isinstance(actor, dict):
            self._findings.add(event, "VERSION_MALFORMED", place)
            return
        # A core names the target's workspace only where it is another.
        said = {"target_scope_id": self._names["scope_id"], **core, "actor_id": actor.get("actor_id")}
        named = {**row, **self._names}
        wrong = [key for key in _CORE_NAMES if said.get(key) != named[key]]
        wrong += [key for key in RELATIONSHIP_COLUMNS if said.get(key) != row["columns"][key]]
        for key in wrong:
            self._findings.add(event, "VERSION_COLUMN_CHANGED", f"{place}: {key}")
        if owner not in self._cores or self._cores[owner][0] < number:
            kept = {key: said.get(key) for key in RELATIONSHIP_POINTER_COLUMNS}
            self._cores[owner] = (number, event, kept)

    def row(self, row: Mapping[str, Any]) -> None:
        """A pointer row: it stands at the newest version, and repeats what that says."""
        owner = row["relationship_id"]
        self._lineage.pointer(owner, row["sequence"], row["version_id"])
        number, event, core = self._cores.pop(owner, (0, 0, {}))
        if number == row["sequence"]:
            for key in core:
                if row[key] != core[key]:
                    self._findings.add(event, "POINTER_CHANGED", f"relationship {owner}: {key}")

    def end(self, object_id: str, related: bool) -> None:
        """An object's pointer row: it says that it is an end. What made it one may also be another workspace's."""
        if not related and object_id in self._ends:
            self._findings.add(self._ends[object_id], "POINTER_CHANGED", f"object {object_id}: related")

    def finish(self) -> None:
        """The rows are at their end."""
        self._lineage.finish()
