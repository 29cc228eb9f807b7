"""What a ledger's events say of the workspace's policy, closed against the tables of rules, permits and bindings.

Part of `ledger_check` (ledger.md, Proof).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from storage.model.ledger_rows import BindingRow, CrossScopeRuleRow, EventRow, FindingKind, RuleRow

Note = Callable[[int, FindingKind, str], None]
Body = dict[str, Any]
PolicyRow = RuleRow | CrossScopeRuleRow | BindingRow
Value = TypeVar("Value", str, int, list[Any])

_NOUNS: Final = {RuleRow: "rule", CrossScopeRuleRow: "cross_scope_rule", BindingRow: "binding"}


class UnreadablePayloadError(Exception):
    """A payload or body lacks a field that its type of event must have."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def field_of(holder: Any, key: str, expected: type[Value]) -> Value:
    """Returns a field of exactly the expected type; counts are not negative, times (`_us`) may be.

    Raises UnreadablePayloadError.
    """
    value = holder.get(key) if isinstance(holder, dict) else None
    if type(value) is not expected or (isinstance(value, int) and value < 0 and not key.endswith("_us")):
        raise UnreadablePayloadError(key)
    return value


@dataclass(frozen=True, slots=True)
class _Standing:
    row: PolicyRow
    added_by_event: int


class PolicyBook:
    """The rows that the events leave standing, and the revision that moves with them."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._revision = 0
        self._standing: dict[str, _Standing] = {}

    def enter_bootstrap(self, row: EventRow, body: Body) -> None:
        """The workspace begins. In the tenant's root the event may tell of another workspace, which changes nothing."""
        payload = body["payload"]
        if "created_scope_id" in payload:
            return
        rules = field_of(payload, "rules", list) if "rules" in payload else []
        bindings = field_of(payload, "bindings", list) if "bindings" in payload else []
        stated: list[PolicyRow] = [*map(_rule_in, rules), *map(_binding_in, bindings)]
        revision = field_of(payload, "policy_revision", int)
        for policy_row in stated:
            self._add(row.sequence, policy_row)
        self._move(row.sequence, revision)

    def enter_addition(self, row: EventRow, body: Body) -> None:
        """A rule or a permit is added, or an actor bound."""
        stated, revision = _stated(body), field_of(body["payload"], "policy_revision", int)
        self._add(row.sequence, stated)
        self._move(row.sequence, revision)

    def enter_removal(self, row: EventRow, body: Body) -> None:
        """A rule or a permit is removed, or an actor unbound."""
        stated, revision = _stated(body), field_of(body["payload"], "policy_revision", int)
        standing = self._standing.pop(_name(stated), None)
        if standing is None or standing.row != stated:
            self._note(row.sequence, FindingKind.RULE_CONTRADICTED, _name(stated))
        self._move(row.sequence, revision)

    def take(self, row: PolicyRow) -> None:
        """A row of the tables: it must be standing, as it was added."""
        standing = self._standing.pop(_name(row), None)
        if standing is None:
            self._note(0, FindingKind.RULE_WITHOUT_EVENT, _name(row))
        elif standing.row != row:
            self._note(standing.added_by_event, FindingKind.RULE_CHANGED, _name(row))

    def close(self, head_revision: int) -> None:
        """No more rows: what still stands is missing there, and the head has the last revision."""
        for name in self._standing:
            # At no event: its row may be gone, or the event that took it away.
            self._note(0, FindingKind.RULE_MISSING, name)
        if head_revision != self._revision:
            self._note(0, FindingKind.POLICY_REVISION_CHANGED, "head")

    def _add(self, event: int, row: PolicyRow) -> None:
        if _name(row) in self._standing:
            self._note(event, FindingKind.RULE_CONTRADICTED, _name(row))
        self._standing[_name(row)] = _Standing(row, event)

    def _move(self, event: int, revision: int) -> None:
        if revision > self._revision:
            self._revision = revision
        else:
            self._note(event, FindingKind.POLICY_REVISION_CHANGED, "payload")


def _name(row: PolicyRow) -> str:
    ids = (row.actor_id, row.role_id) if isinstance(row, BindingRow) else (row.rule_id,)
    return " ".join((_NOUNS[type(row)], *ids))


def _stated(body: Body) -> PolicyRow:
    if body["event_type"] in ("role_bound", "role_unbound"):
        return _binding_in(body["payload"])
    return _rule_in(body["payload"])


def _rule_in(value: Any) -> RuleRow | CrossScopeRuleRow:
    if isinstance(value, Mapping) and "source_scope_id" in value:
        rule_id, source = field_of(value, "rule_id", str), field_of(value, "source_scope_id", str)
        return CrossScopeRuleRow(rule_id, source, field_of(value, "kind", str))
    return RuleRow(
        rule_id=field_of(value, "rule_id", str),
        subject=field_of(value, "subject", str),
        action=field_of(value, "action", str),
        object_type=field_of(value, "object_type", str),
        object_id=field_of(value, "object_id", str),
        effect=field_of(value, "effect", str),
    )


def _binding_in(value: Any) -> BindingRow:
    return BindingRow(field_of(value, "actor_id", str), field_of(value, "role_id", str))
