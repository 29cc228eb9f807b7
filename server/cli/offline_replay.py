"""Replay of a ledger's events against the rows of an export (ledger.md, Proof).

Part of the offline verification (`offline_verifier`): the standard library alone, nothing of the service. Events come
first, rows after them, each once; what is kept is one entry for each version, grant and rule. `offline_tables` feeds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.cli.offline_findings import Findings
from server.cli.offline_format import read_count, read_integer, read_items, read_text

_RULE_FIELDS = ("subject", "action", "object_type", "object_id", "effect")


class Lineage:
    """Versions of objects, or of grants: what the events name against the rows and the pointers."""

    def __init__(self, noun: str, findings: Findings) -> None:
        self._noun = noun
        self._findings = findings
        # (owner, number) -> version id, digest, first and last event that name it; taken out when its row is met.
        self._named: dict[tuple[str, int], tuple[str, str, int, int]] = {}
        # owner -> newest number, its version id, its first event.
        self._newest: dict[str, tuple[int, str, int]] = {}

    def newest(self, owner: str) -> int:
        """Returns the newest version number that the events named so far, 0 for none."""
        return self._newest.get(owner, (0, "", 0))[0]

    def name(self, sequence: int, owner: str, number: int, version_id: str, digest: str) -> None:
        """An event names a version: the next of its owner, or once more the newest (an operation of two events)."""
        newest = self._newest[owner][0] if owner in self._newest else 0
        if number == newest and newest:
            stated_id, stated_digest, first, _ = self._named[owner, number]
            if (stated_id, stated_digest) == (version_id, digest):
                self._named[owner, number] = (version_id, digest, first, sequence)
                return
        if number != newest + 1:
            self._findings.add(sequence, "VERSION_SEQUENCE_GAP", f"{self._noun} {owner} version {number}")
        if number > newest:
            self._named[owner, number] = (version_id, digest, sequence, sequence)
            self._newest[owner] = (number, version_id, sequence)

    def row(self, owner: str, number: int, version_id: str, digest: str, ledger_sequence: int | None) -> int | None:
        """A version row with its core's digest: returns its event's sequence when it is the very version named there."""
        named = self._named.pop((owner, number), None)
        if named is None:
            self._findings.add(0, "VERSION_WITHOUT_EVENT", f"{self._noun} {owner} version {number}")
            return None
        stated_id, stated_digest, first, last = named
        if stated_id != version_id:
            self._findings.add(first, "VERSION_COLUMN_CHANGED", f"{self._noun} {owner} version {number}: version_id")
        if stated_digest != digest:
            self._findings.add(first, "VERSION_CHANGED", f"{self._noun} {owner} version {number}")
            return None
        if ledger_sequence is not None and not first <= ledger_sequence <= last:
            place = f"{self._noun} {owner} version {number}: ledger_sequence"
            self._findings.add(first, "VERSION_COLUMN_CHANGED", place)
        return first

    def pointer(self, owner: str, number: int, version_id: str) -> None:
        """A pointer row: it must stand at the newest version that the events name."""
        newest = self._newest.pop(owner, None)
        if newest is not None and newest[0] == number and newest[1] == version_id:
            return
        place = f"{self._noun} {owner}"
        if newest is None:
            self._findings.add(0, "ROW_WITHOUT_EVENT", place)
        elif number < newest[0]:
            self._findings.add(newest[2], "ROLLED_BACK", place)
        elif number > newest[0]:  # ahead of the events: no event can be named
            self._findings.add(0, "POINTER_CHANGED", place)
        else:
            self._findings.add(newest[2], "POINTER_CHANGED", place)

    def finish(self) -> None:
        """The rows are at their end: what the events name and no row holds is missing."""
        for (owner, number), (_, _, first, _) in self._named.items():
            self._findings.add(first, "VERSION_MISSING", f"{self._noun} {owner} version {number}")
        for owner, (_, _, sequence) in self._newest.items():
            self._findings.add(sequence, "ROW_MISSING", f"{self._noun} {owner}")


# A use of a grant: that, its version, the grants from the root to it, whether this is the copy of a use elsewhere.
Use = tuple[str, int, list[str], bool]
_TERMS = ("not_before_us", "not_after_us", "usage_limit", "parent_delegation_id")


@dataclass(slots=True)
class _Grant:
    """What the events say of a grant; of one whose home is elsewhere only `foreign_at` and `use_number` are known."""

    granted_at: int = 0
    revoked_at: int = 0
    foreign_at: int = 0
    # From the root grant to this one.
    chain: list[str] = field(default_factory=list)
    not_before_us: int = 0
    not_after_us: int = 0
    usage_limit: int | None = None
    parent_delegation_id: str | None = None
    uses: int = 0
    used_at: int = 0
    use_number: int = 0


class GrantReplay:
    """Grants: versions, revocations, and every use against chain, revocation, window and limit (authority.md, Use)."""

    def __init__(self, tenant_id: str, scope_id: str, findings: Findings) -> None:
        self.lineage = Lineage("delegation", findings)
        self._names = {"tenant_id": tenant_id, "scope_id": scope_id}
        self._findings = findings
        self._grants: dict[str, _Grant] = {}
        self._operation_id = ""
        self._time_us = self._earlier_us = -(2**63)

    def pass_time(self, time_us: int, operation_id: str) -> None:
        """An event of any type was recorded at `time_us`."""
        self.pass_operations(operation_id, time_us, self.earlier_us(operation_id))

    def earlier_us(self, operation_id: str) -> int:
        """Returns the time recorded last before an operation, which is under way or would begin now."""
        return self._earlier_us if operation_id == self._operation_id else self._time_us

    def pass_operations(self, operation_id: str, time_us: int, earlier_us: int) -> None:
        """Events were recorded up to `time_us`, the last ones by an operation before which it was `earlier_us`."""
        self._operation_id, self._time_us, self._earlier_us = operation_id, time_us, earlier_us

    def granted(self, sequence: int, body: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        """A grant is made; its terms stand in the payload and once more in the core of every version."""
        limit = read_count(payload, "usage_limit") if "usage_limit" in payload else None
        parent_id = read_text(payload, "parent_delegation_id") if "parent_delegation_id" in payload else None
        window = read_integer(payload, "not_before_us"), read_integer(payload, "not_after_us")
        grant_id = self._name_version(sequence, body, payload)
        grant = self._grants.setdefault(grant_id, _Grant())
        if grant.granted_at:
            return
        if grant.foreign_at:
            self._findings.add(grant.foreign_at, "EXERCISED_WITHOUT_GRANT", f"delegation {grant_id}")
        parent = self._grants.get(parent_id) if parent_id is not None else _Grant(granted_at=sequence)
        if parent is None or not parent.granted_at:
            self._findings.add(sequence, "DELEGATION_CHAIN_CHANGED", f"delegation {grant_id}")
        grant.chain = [*(parent.chain if parent is not None else ()), grant_id]
        grant.granted_at, grant.usage_limit, grant.parent_delegation_id = sequence, limit, parent_id
        grant.not_before_us, grant.not_after_us = window

    def revoked(self, sequence: int, body: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        """A grant is revoked, by a new version of it."""
        grant = self._grants.setdefault(self._name_version(sequence, body, payload), _Grant())
        grant.revoked_at = grant.revoked_at or sequence

    def _name_version(self, sequence: int, body: Mapping[str, Any], payload: Mapping[str, Any]) -> str:
        grant_id, digest = read_text(body, "delegation_id"), read_text(payload, "delegation_digest")
        number, version_id = read_count(payload, "delegation_sequence"), read_text(body, "version_id")
        self.lineage.name(sequence, grant_id, number, version_id, digest)
        return grant_id

    def exercised(self, sequence: int, time_us: int, earlier_us: int, use_number: int, use: Use) -> None:
        """A use of the last grant of the chain, and of each above it; `earlier_us` as of its operation.

        A grant whose home is another workspace has no events here but its uses; there its own ledger accounts for them.
        """
        leaf_id, version, chain, mirrored = use
        leaf = self._grants.get(leaf_id)
        if leaf is None:
            leaf = self._grants[leaf_id] = _Grant()
        if leaf.granted_at:
            if chain != leaf.chain:
                self._findings.add(sequence, "DELEGATION_CHAIN_CHANGED", f"delegation {leaf_id}")
            if version != self.lineage.newest(leaf_id):
                self._findings.add(sequence, "EXERCISED_OTHER_VERSION", f"delegation {leaf_id}")
        else:
            leaf.foreign_at = leaf.foreign_at or sequence
            if mirrored:
                self._findings.add(sequence, "EXERCISED_WITHOUT_GRANT", f"delegation {leaf_id}")
        for link in chain:
            grant = self._grants.get(link)
            if grant is not None and grant.granted_at:
                self._use(sequence, time_us, earlier_us, grant, link)
        if use_number != leaf.uses if leaf.granted_at else use_number <= leaf.use_number:
            self._findings.add(sequence, "USE_NUMBER_CHANGED", f"delegation {leaf_id}")
        leaf.use_number = use_number

    def _use(self, sequence: int, time_us: int, earlier_us: int, grant: _Grant, grant_id: str) -> None:
        grant.uses += 1
        grant.used_at = sequence
        if grant.revoked_at:
            self._findings.add(sequence, "EXERCISED_AFTER_REVOCATION", f"delegation {grant_id}")
        # When the clock has stepped back, the time recorded is that of an earlier operation, not the one judged by.
        if time_us < grant.not_before_us or (time_us > grant.not_after_us and time_us != earlier_us):
            self._findings.add(sequence, "EXERCISED_OUTSIDE_WINDOW", f"delegation {grant_id}")
        if grant.usage_limit is not None and grant.uses > grant.usage_limit:
            self._findings.add(sequence, "USAGE_LIMIT_EXCEEDED", f"delegation {grant_id}")

    def version_row(self, row: Mapping[str, Any], digest: str, core: Mapping[str, Any] | None) -> None:
        """A grant's version row with its core's digest; `core` is None when its bytes are no JSON object."""
        grant_id, number = row["delegation_id"], row["sequence"]
        event = self.lineage.row(grant_id, number, row["version_id"], digest, None)
        if event is None:
            return
        place = f"delegation {grant_id} version {number}"
        if core is None:
            self._findings.add(event, "VERSION_MALFORMED", place)
            return
        for key in ("tenant_id", "scope_id", "delegation_id", "version_id", "sequence"):
            if core.get(key) != self._names.get(key, row.get(key)):
                self._findings.add(event, "VERSION_COLUMN_CHANGED", f"{place}: {key}")
        grant = self._grants.get(grant_id)
        for key in _TERMS if grant is not None and grant.granted_at else ():
            if core.get(key) != getattr(grant, key):
                self._findings.add(event, "VERSION_COLUMN_CHANGED", f"{place}: {key}")

    def row(self, row: Mapping[str, Any]) -> None:
        """A grant's pointer, counter and flag."""
        grant_id = row["delegation_id"]
        self.lineage.pointer(grant_id, row["sequence"], row["version_id"])
        grant = self._grants.get(grant_id)
        if grant is None or not grant.granted_at:
            return
        if row["uses"] != grant.uses:  # more than the events say: no event can be named
            event = grant.used_at if row["uses"] < grant.uses else 0
            self._findings.add(event, "USES_CHANGED", f"delegation {grant_id}")
        if row["revoked"] != bool(grant.revoked_at):
            self._findings.add(grant.revoked_at, "REVOKED_FLAG_CHANGED", f"delegation {grant_id}")


class PolicyReplay:
    """Rules, permits for other workspaces and role bindings, and the revision that moves with them."""

    def __init__(self, findings: Findings) -> None:
        self.revision = 0
        self._findings = findings
        # What the events leave standing: name -> content and the event that added it.
        self._standing: dict[tuple[str, ...], tuple[tuple[str, ...], int]] = {}

    def bootstrap(self, sequence: int, payload: Mapping[str, Any]) -> None:
        """The workspace begins. The tenant root's record of another workspace changes nothing here."""
        if "created_scope_id" in payload:
            return
        entries = [_rule_entry(rule) for rule in read_items(payload, "rules")]
        entries += [_binding_entry(binding) for binding in read_items(payload, "bindings")]
        revision = read_count(payload, "policy_revision")
        for name, content in entries:
            self._add(sequence, name, content)
        self._move(sequence, revision)

    def changed(self, sequence: int, event_type: str, payload: Mapping[str, Any]) -> None:
        """A rule or a binding is added or taken away."""
        name, content = (_rule_entry if event_type.startswith("policy_rule") else _binding_entry)(payload)
        revision = read_count(payload, "policy_revision")
        if event_type in ("policy_rule_added", "role_bound"):
            self._add(sequence, name, content)
        elif self._standing.pop(name, (None, 0))[0] != content:
            self._findings.add(sequence, "RULE_CONTRADICTED", " ".join(name))
        self._move(sequence, revision)

    def row(self, name: tuple[str, ...], content: tuple[str, ...]) -> None:
        """A rule, permit or binding of the tables."""
        stated, sequence = self._standing.pop(name, (None, 0))
        if stated is None:
            self._findings.add(0, "RULE_WITHOUT_EVENT", " ".join(name))
        elif stated != content:
            self._findings.add(sequence, "RULE_CHANGED", " ".join(name))

    def finish(self, head_revision: int | None) -> None:
        """The rows are at their end; `head_revision` is None when the export has no head."""
        for name in self._standing:
            # Its row was taken, or the event of its removal: so the event that added it is not the place.
            self._findings.add(0, "RULE_MISSING", " ".join(name))
        if head_revision not in (None, self.revision):
            self._findings.add(0, "POLICY_REVISION_CHANGED", "head")

    def _add(self, sequence: int, name: tuple[str, ...], content: tuple[str, ...]) -> None:
        if name in self._standing:
            self._findings.add(sequence, "RULE_CONTRADICTED", " ".join(name))
        self._standing[name] = (content, sequence)

    def _move(self, sequence: int, revision: int) -> None:
        if revision <= self.revision:
            self._findings.add(sequence, "POLICY_REVISION_CHANGED", "payload")
        self.revision = max(revision, self.revision)


def _rule_entry(rule: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(rule, dict) and "source_scope_id" in rule:
        return ("cross_scope_rule", read_text(rule, "rule_id")), (
            read_text(rule, "source_scope_id"),
            read_text(rule, "kind"),
        )
    return ("rule", read_text(rule, "rule_id")), tuple(read_text(rule, key) for key in _RULE_FIELDS)


def _binding_entry(binding: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return ("binding", read_text(binding, "actor_id"), read_text(binding, "role_id")), ()
