"""What a tenant is owed: the oracle's answers to whole calls, what each changes, and the events its ledgers must hold."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from remit.v1 import ledger_pb2
from tests.authority.oracle import (
    NO_RULE,
    OK,
    Answer,
    Call,
    Entry,
    Grant,
    Oracle,
    Stored,
    Workspace,
)

_EVENT_OF = {
    "create": "object_created",
    "update": "object_updated",
    "transition.validation": "validation_transitioned",
    "delete": "object_deleted",
}
AUTHORITY_EVENTS = {
    *_EVENT_OF.values(),
    "access_denied",
    "delegation_granted",
    "delegation_exercised",
    "delegation_revoked",
    "policy_rule_added",
    "policy_rule_removed",
    "role_bound",
    "role_unbound",
}
_NEXT_STATE = {"unverified": "corroborated", "corroborated": "disputed", "disputed": "corroborated"}


@dataclass(frozen=True)
class Exercise:
    """A call on an object or on rows. `is_check` meters it through CheckDelegation; `is_stale` names a wrong version."""

    call: Call
    is_check: bool = False
    is_stale: bool = False


@dataclass
class Account:
    """One tenant. `versions` and `states` are what its objects stand at; `seen` is how far each ledger was compared."""

    tenant_id: str
    oracle: Oracle = field(default_factory=Oracle)
    versions: dict[tuple[str, str], str] = field(default_factory=dict)
    states: dict[tuple[str, str], str] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    def next_state(self, scope_id: str, object_id: str) -> str:
        """The state that the next transition of the object goes to."""
        return _NEXT_STATE[self.states.get((scope_id, object_id), "unverified")]

    def answer(self, exercise: Exercise, *, is_replay: bool = False) -> Answer:
        """What the exercise must be answered with."""
        call = exercise.call
        place = self.oracle.workspaces[call.scope_id]
        if not place.is_member(call.actor):
            return Answer("SCOPE_NOT_FOUND")
        reasons = self.oracle.judge(call, ignore_uses=is_replay)
        if reasons:
            return Answer("ACCESS_DENIED", reasons)
        if is_replay or exercise.is_check:
            return Answer(OK)
        if call.rows:
            return Answer(OK, rows=self.oracle.rows(call))
        stored = place.objects.get(call.object_id or "")
        if call.is_new:
            return Answer(OK) if stored is None else self._taken(call, stored)
        if stored is None:
            return Answer("OBJECT_NOT_FOUND")
        if stored.deleted:
            return Answer("OBJECT_DELETED")
        return Answer("VERSION_CONFLICT" if exercise.is_stale and call.action != "read" else OK)

    def _taken(self, call: Call, stored: Stored) -> Answer:
        reading = dataclasses.replace(call, action="read", operation="read", object_type=None)
        knows = not self.oracle.judge(reading, ignore_uses=True)
        return Answer("OBJECT_DELETED" if knows and stored.deleted else "INVALID_REQUEST")

    def denied(self, scope_id: str, actor: str, answer: Answer) -> bool:
        """Owes the event of a denial; whether the answer is one."""
        if answer.code not in ("ACCESS_DENIED", "SCOPE_NOT_FOUND"):
            return False
        reasons = answer.reasons or frozenset({NO_RULE})
        self.oracle.workspaces[scope_id].owed.append(Entry("access_denied", actor, reasons))
        return True

    def settle(self, exercise: Exercise, answer: Answer, response: Any) -> None:
        """Changes what the exercise changed, and owes its events."""
        call = exercise.call
        if self.denied(call.scope_id, call.actor, answer) or answer.code != OK:
            return
        place = self.oracle.workspaces[call.scope_id]
        if not exercise.is_check and call.action in _EVENT_OF:
            self._change(place, call, response.result)
            place.owed.append(Entry(_EVENT_OF[call.action], call.actor))
        if call.delegation_id is not None:
            self.take_use(self.oracle.grants[call.delegation_id])

    def _change(self, place: Workspace, call: Call, result: Any) -> None:
        key = (place.scope_id, result.object_id)
        self.versions[key] = result.version_id
        if call.is_new:
            assert call.object_type is not None
            place.objects[result.object_id] = Stored(call.object_type)
            self.states[key] = "unverified"
            return
        stored = place.objects[result.object_id]
        stored.deleted = call.action == "delete"
        if call.action == "transition.validation":
            self.states[key] = _NEXT_STATE[self.states[key]]

    def take_use(self, grant: Grant) -> None:
        """One use here and of every ancestor, and the event, mirrored in the grant's home."""
        for one in grant.chain:
            one.uses += 1
        entry = Entry("delegation_exercised", grant.delegate, frozenset({grant.delegation_id}), grant.uses)
        for scope_id in {grant.place, grant.home}:
            self.oracle.workspaces[scope_id].owed.append(entry)

    def made(self, grant: Grant) -> None:
        """A grant was made."""
        self.oracle.grants[grant.delegation_id] = grant
        for scope_id in {grant.place, grant.home}:
            self.oracle.workspaces[scope_id].parties |= {grant.grantor, grant.delegate}
        entry = Entry("delegation_granted", grant.grantor, frozenset({grant.delegation_id}))
        self.oracle.workspaces[grant.home].owed.append(entry)

    def revoked(self, grant: Grant, actor: str) -> None:
        """A grant was revoked, perhaps for the second time."""
        if not grant.revoked:
            grant.revoked = True
            entry = Entry("delegation_revoked", actor, frozenset({grant.delegation_id}))
            self.oracle.workspaces[grant.home].owed.append(entry)


def entry_of(event: ledger_pb2.LedgerEvent) -> Entry:
    """An event of a ledger as the account would owe it."""
    event_type = ledger_pb2.EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower()
    about: set[str] = set()
    if event_type.startswith("delegation_"):
        about.add(event.delegation_id)
    elif event_type == "access_denied":
        about.add(json.loads(event.payload_json)["denial_reason"])
    return Entry(event_type, event.actor.actor_id, frozenset(about), event.use_number)


def compare(owed: list[Entry], events: list[ledger_pb2.LedgerEvent]) -> None:
    """The ledger holds what is owed, in this order, and nothing else of authority's events."""
    held = [entry for event in events if (entry := entry_of(event)).event_type in AUTHORITY_EVENTS]
    for index, (one, other) in enumerate(zip(owed, held, strict=False)):
        is_same = (one.event_type, one.actor, one.use_number) == (other.event_type, other.actor, other.use_number)
        assert is_same, f"event {index}: owed {one}, held {other}"
        assert other.about <= one.about, f"event {index}: owed {one}, held {other}"
    assert len(held) == len(owed), f"owed {owed[len(held) :]}, held {held[len(owed) :]}"


def hold_to_revocations(grants: dict[str, Grant], events: list[ledger_pb2.LedgerEvent]) -> None:
    """In ledger order no exercise stands after a revocation in its chain, and use numbers count up to the limit.

    Asked of the home ledger, where exercises of other workspaces are mirrored.
    """
    ended: set[str] = set()
    uses: dict[str, int] = {}
    for event in events:
        entry = entry_of(event)
        if entry.event_type == "delegation_revoked":
            ended |= entry.about
        if entry.event_type != "delegation_exercised" or event.delegation_id not in grants:
            continue
        grant = grants[event.delegation_id]
        if grant.home != event.scope_id:
            continue
        chain = [one.delegation_id for one in grant.chain]
        assert json.loads(event.payload_json)["chain"] == chain
        assert not ended & set(chain), f"{event.delegation_id} exercised at {event.sequence} after a revocation"
        for one in grant.chain:
            uses[one.delegation_id] = uses.get(one.delegation_id, 0) + 1
            assert one.limit is None or uses[one.delegation_id] <= one.limit
        assert event.use_number == uses[event.delegation_id]
