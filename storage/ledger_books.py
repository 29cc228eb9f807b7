"""What a ledger's events account for, from versions to the policy, kept as books and closed against the tables.

Part of `ledger_check` (ledger.md, Proof). An entry is made when its event is met and struck out when the row that it
accounts for is met; what is left when the books are closed is missing in the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final

from storage.ledger_policy_book import Body, Note, PolicyBook, UnreadablePayloadError, field_of
from storage.ledger_relationship_book import RelationshipBook
from storage.ledger_version_log import VersionLog, core_of
from storage.model import ledger_rows
from storage.model.ledger_rows import DelegationRow, DelegationVersionRow, EventRow, FindingKind, ObjectRow

_VERSION_EVENTS: Final = {
    "object_created",
    "object_updated",
    "lifecycle_transitioned",
    "availability_transitioned",
    "retention_transitioned",
    "validation_transitioned",
    "object_redacted",
    "object_deleted",
}
_NAME_FIELDS: Final = ("tenant_id", "scope_id", "object_id", "version_id", "sequence")
_CORE_COLUMNS: Final = tuple(
    column.name
    for column in fields(ledger_rows.VersionRow)
    if column.name not in ("object_id", "version_id", "sequence", "ledger_sequence", "core", "actor_id")
)


class VersionBook:
    """Objects and their versions."""

    def __init__(self, names: dict[str, str], note: Note) -> None:
        self._names = names
        self._note = note
        self._log = VersionLog("object", note)
        self._object_types: dict[str, str] = {}

    def enter(self, row: EventRow, body: Body) -> None:
        """An event that makes a version."""
        payload = body["payload"]
        number = field_of(payload, "object_sequence", int)
        digest = field_of(payload, "envelope_digest", str)
        self._log.enter(
            row.sequence, field_of(body, "object_id", str), number, field_of(body, "version_id", str), digest
        )

    def take_version(self, row: ledger_rows.VersionRow) -> None:
        """A version's row: digest, then core against columns."""
        place = f"object {row.object_id} version {row.sequence}"
        version = self._log.strike(row.object_id, row.sequence, row.version_id, row.core)
        if version is None:
            return
        if not version.first_event <= row.ledger_sequence <= version.last_event:
            self._note(version.first_event, FindingKind.VERSION_COLUMN_CHANGED, f"{place}: ledger_sequence")
        core = core_of(row.core)
        if core is None or type(core.get("object_type")) is not str or type(core.get("actor")) is not dict:
            self._note(version.first_event, FindingKind.VERSION_MALFORMED, place)
            return
        expected = {column: getattr(row, column) for column in _CORE_COLUMNS}
        expected.update(self._names, object_id=row.object_id, version_id=row.version_id, sequence=row.sequence)
        changed = [column for column, value in expected.items() if core.get(column) != value]
        if core["actor"].get("actor_id") != row.actor_id:
            changed.append("actor_id")
        for column in changed:
            self._note(version.first_event, FindingKind.VERSION_COLUMN_CHANGED, f"{place}: {column}")
        first_type = self._object_types.setdefault(row.object_id, core["object_type"])
        if first_type != core["object_type"]:
            self._note(version.first_event, FindingKind.OBJECT_TYPE_CHANGED, place)

    def take_object(self, row: ObjectRow) -> None:
        """An object's pointer."""
        self._log.strike_pointer(row.object_id, row.sequence, row.version_id)
        if row.object_id in self._object_types and self._object_types[row.object_id] != row.object_type:
            self._note(0, FindingKind.OBJECT_TYPE_CHANGED, f"object {row.object_id}")

    def close(self) -> None:
        """No more rows."""
        self._log.close()


@dataclass(frozen=True, slots=True)
class _Terms:
    not_before_us: int
    not_after_us: int
    usage_limit: int | None
    parent_delegation_id: str | None
    lineage: tuple[str, ...]


class GrantBook:
    """Grants made here and their uses; of grants made elsewhere, only that their uses are numbered upwards."""

    def __init__(self, names: dict[str, str], note: Note) -> None:
        self._names = names
        self._note = note
        self._log = VersionLog("delegation", note)
        self._terms: dict[str, _Terms] = {}
        self._revoked_by_event: dict[str, int] = {}
        self._uses: dict[str, int] = {}
        self._last_use_event: dict[str, int] = {}
        # The event bears an earlier operation's time: after a backward step of the clock, not the time judged by.
        self.time_stood = False
        # Of grants made elsewhere: the first event and the last number of a use.
        self._foreign: dict[str, tuple[int, int]] = {}

    def enter_grant(self, row: EventRow, body: Body) -> None:
        """A grant is made."""
        payload = body["payload"]
        limit = field_of(payload, "usage_limit", int) if "usage_limit" in payload else None
        parent = field_of(payload, "parent_delegation_id", str) if "parent_delegation_id" in payload else None
        not_before, not_after = field_of(payload, "not_before_us", int), field_of(payload, "not_after_us", int)
        grant = self._enter_version(row, body)
        if grant in self._terms:
            return
        if grant in self._foreign:
            self._note(self._foreign[grant][0], FindingKind.EXERCISED_WITHOUT_GRANT, f"delegation {grant}")
        if parent is not None and parent not in self._terms:
            self._note(row.sequence, FindingKind.DELEGATION_CHAIN_CHANGED, f"delegation {grant}")
        above = self._terms[parent].lineage if parent in self._terms else ()
        self._terms[grant] = _Terms(not_before, not_after, limit, parent, (*above, grant))

    def enter_revocation(self, row: EventRow, body: Body) -> None:
        """A grant is revoked."""
        self._revoked_by_event.setdefault(self._enter_version(row, body), row.sequence)

    def _enter_version(self, row: EventRow, body: Body) -> str:
        payload = body["payload"]
        grant = field_of(body, "delegation_id", str)
        digest = field_of(payload, "delegation_digest", str)
        number = field_of(payload, "delegation_sequence", int)
        self._log.enter(row.sequence, grant, number, field_of(body, "version_id", str), digest)
        return grant

    def enter_use(self, row: EventRow, body: Body) -> None:
        """A grant is exercised: it and all above it are used once more."""
        payload = body["payload"]
        grant = field_of(body, "delegation_id", str)
        chain = field_of(payload, "chain", list)
        version = field_of(payload, "delegation_sequence", int)
        if any(type(link) is not str for link in chain):
            raise UnreadablePayloadError("chain")
        if len({*chain}) < len(chain) or not chain or chain[-1] != grant:
            raise UnreadablePayloadError("chain")
        place = f"delegation {grant}"
        for link in chain:
            if link in self._terms:
                self._use(row, link, self._terms[link])
        terms = self._terms.get(grant)
        if terms is None:
            first_event, last_number = self._foreign.get(grant, (row.sequence, 0))
            numbered = row.use_number > last_number
            self._foreign[grant] = (first_event, row.use_number)
            if "mirror_of" in payload:
                self._note(row.sequence, FindingKind.EXERCISED_WITHOUT_GRANT, place)
        else:
            numbered = row.use_number == self._uses[grant]
            if tuple(chain) != terms.lineage:
                self._note(row.sequence, FindingKind.DELEGATION_CHAIN_CHANGED, place)
            if version != self._log.newest_number(grant):
                self._note(row.sequence, FindingKind.EXERCISED_OTHER_VERSION, place)
        if not numbered:
            self._note(row.sequence, FindingKind.USE_NUMBER_CHANGED, place)

    def _use(self, row: EventRow, grant: str, terms: _Terms) -> None:
        place = f"delegation {grant}"
        uses = self._uses[grant] = self._uses.get(grant, 0) + 1
        self._last_use_event[grant] = row.sequence
        if grant in self._revoked_by_event:
            self._note(row.sequence, FindingKind.EXERCISED_AFTER_REVOCATION, place)
        late = row.recorded_at_us > terms.not_after_us and not self.time_stood
        if row.recorded_at_us < terms.not_before_us or late:
            self._note(row.sequence, FindingKind.EXERCISED_OUTSIDE_WINDOW, place)
        if terms.usage_limit is not None and uses > terms.usage_limit:
            self._note(row.sequence, FindingKind.USAGE_LIMIT_EXCEEDED, place)

    def take_grant(self, row: DelegationRow) -> None:
        """A grant's pointer, counter and flag."""
        self._log.strike_pointer(row.delegation_id, row.sequence, row.version_id)
        if row.delegation_id not in self._terms:
            return
        place = f"delegation {row.delegation_id}"
        uses = self._uses.get(row.delegation_id, 0)
        if row.uses < uses:
            self._note(self._last_use_event[row.delegation_id], FindingKind.USES_CHANGED, place)
        elif row.uses > uses:
            self._note(0, FindingKind.USES_CHANGED, place)
        revoked_by = self._revoked_by_event.get(row.delegation_id, 0)
        if row.revoked is not (revoked_by > 0):
            self._note(revoked_by, FindingKind.REVOKED_FLAG_CHANGED, place)

    def take_version(self, row: DelegationVersionRow) -> None:
        """A grant's version: digest, then core against its names and the terms that were granted."""
        version = self._log.strike(row.delegation_id, row.sequence, row.version_id, row.core)
        if version is None:
            return
        place = f"delegation {row.delegation_id} version {row.sequence}"
        core = core_of(row.core)
        if core is None:
            self._note(version.first_event, FindingKind.VERSION_MALFORMED, place)
            return
        expected: dict[str, Any] = dict(
            self._names, delegation_id=row.delegation_id, version_id=row.version_id, sequence=row.sequence
        )
        terms = self._terms.get(row.delegation_id)
        if terms is not None:
            expected.update(not_before_us=terms.not_before_us, not_after_us=terms.not_after_us)
            expected.update(usage_limit=terms.usage_limit, parent_delegation_id=terms.parent_delegation_id)
        for column, value in expected.items():
            if core.get(column) != value:
                self._note(version.first_event, FindingKind.VERSION_COLUMN_CHANGED, f"{place}: {column}")

    def close(self) -> None:
        """No more rows."""
        self._log.close()


class LedgerBooks:
    """All books of one workspace."""

    def __init__(self, tenant_id: str, scope_id: str, note: Note) -> None:
        names = {"tenant_id": tenant_id, "scope_id": scope_id}
        self.versions = VersionBook(names, note)
        self.relationships = RelationshipBook(names, note)
        self.grants = GrantBook(names, note)
        self.policy = PolicyBook(note)
        self._operation_id = ""
        self._time_us = self._earlier_us = -1
        self._entries: Final[dict[str, Callable[[EventRow, Body], None]]] = {
            "relationship_created": self.relationships.enter,
            "relationship_updated": self.relationships.enter,
            "delegation_granted": self.grants.enter_grant,
            "delegation_revoked": self.grants.enter_revocation,
            "delegation_exercised": self.grants.enter_use,
            "workspace_created": self.policy.enter_bootstrap,
            "policy_rule_added": self.policy.enter_addition,
            "role_bound": self.policy.enter_addition,
            "policy_rule_removed": self.policy.enter_removal,
            "role_unbound": self.policy.enter_removal,
            **dict.fromkeys(_VERSION_EVENTS, self.versions.enter),
        }

    def enter(self, row: EventRow, body: Body) -> None:
        """Enters an event where it belongs; raises UnreadablePayloadError. Other types account for nothing."""
        if row.operation_id != self._operation_id:
            self._operation_id, self._earlier_us = row.operation_id, self._time_us
        self._time_us = row.recorded_at_us
        self.grants.time_stood = row.recorded_at_us == self._earlier_us
        enter = self._entries.get(body["event_type"])
        if enter is not None:
            enter(row, body)
        elif "envelope_digest" in body["payload"] and "object_id" in body:
            self.versions.enter(row, body)

    def take_object(self, row: ObjectRow) -> None:
        """An object's pointer, and whether it is told to be related."""
        self.versions.take_object(row)
        self.relationships.take_end(row)

    def close(self, policy_revision: int) -> None:
        """No more rows; `policy_revision` is the head's."""
        self.versions.close()
        self.relationships.close()
        self.grants.close()
        self.policy.close(policy_revision)
