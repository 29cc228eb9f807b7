"""The rules of authority, written a second time: what each call must answer, and what the ledgers must hold after it.

One `Oracle` is one tenant. It takes calls one after another, at the clock it is given, and answers from plain tables
and plain loops: no cache, no compiled rules, no revisions, nothing of the service's. `Answer.reasons` holds more than
one coarse reason only where the rules do not say which of several comes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

ANY = "*"
OK = "OK"
NO_RULE = "NO_RULE"
EXPLICIT_DENY = "EXPLICIT_DENY"
NOT_EFFECTIVE = "DELEGATION_NOT_EFFECTIVE"
EXHAUSTED = "USAGE_LIMIT_EXHAUSTED"
OPERATION = "OPERATION_NOT_GRANTED"
OBJECT = "OBJECT_NOT_GRANTED"
OBJECT_TYPE = "OBJECT_TYPE_NOT_GRANTED"
ALLOWED: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Rule:
    """`subject` is allowed or denied `action`; action, type and id may each be `*`."""

    subject: str
    action: str
    object_type: str = ANY
    object_id: str = ANY
    allows: bool = True

    def covers(self, object_type: str, object_id: str) -> bool:
        """Whether it is about the object; "everything" is covered by `*` alone."""
        return self.object_type in (object_type, ANY) and self.object_id in (object_id, ANY)

    def touches(self, types: frozenset[str] | None, ids: frozenset[str] | None) -> bool:
        """Whether it is about anything within these restrictions; None restricts nothing."""
        of_type = types is None or self.object_type == ANY or self.object_type in types
        return of_type and (ids is None or self.object_id == ANY or self.object_id in ids)


@dataclass(eq=False)
class Grant:
    """A grant, its ancestors, its counter. Both ends of the window are inside it."""

    delegation_id: str
    home: str
    target: str | None
    grantor: str
    delegate: str
    operations: frozenset[str]
    not_before_us: int
    not_after_us: int
    types: frozenset[str] | None = None
    ids: frozenset[str] | None = None
    limit: int | None = None
    revocable: bool = True
    depth: int = 0
    parent: Grant | None = None
    revoked: bool = False
    uses: int = 0

    @property
    def place(self) -> str:
        """The one workspace in which it can be exercised."""
        return self.target or self.home

    @property
    def chain(self) -> list[Grant]:
        """Itself and its ancestors, the root first."""
        return [*(self.parent.chain if self.parent else []), self]

    @property
    def remaining(self) -> int | None:
        """Uses left here and above; None when nothing counts."""
        return min((one.limit - one.uses for one in self.chain if one.limit is not None), default=None)


@dataclass
class Stored:
    """An object; its type never changes."""

    object_type: str
    deleted: bool = False


@dataclass(frozen=True)
class Entry:
    """An event that a ledger must hold. `about` is the grant concerned, or the coarse reasons a denial may have."""

    event_type: str
    actor: str
    about: frozenset[str] = frozenset()
    use_number: int = 0


@dataclass
class Workspace:
    """The policy of one workspace, its objects, who was ever party to a grant there, and the events owed since."""

    scope_id: str
    rules: dict[str, Rule] = field(default_factory=dict)
    bindings: set[tuple[str, str]] = field(default_factory=set)
    permits: dict[str, str] = field(default_factory=dict)
    objects: dict[str, Stored] = field(default_factory=dict)
    parties: set[str] = field(default_factory=set)
    owed: list[Entry] = field(default_factory=list)

    def rules_of(self, actor: str, action: str) -> list[Rule]:
        """The rules about the actor or a role it is bound to."""
        subjects = {actor} | {role for bound, role in self.bindings if bound == actor}
        return [rule for rule in self.rules.values() if rule.subject in subjects and rule.action in (action, ANY)]

    def is_member(self, actor: str) -> bool:
        """Whether the workspace is there for the actor at all."""
        ruled = any(rule.subject == actor for rule in self.rules.values())
        return ruled or any(bound == actor for bound, _ in self.bindings) or actor in self.parties

    def holds_everywhere(self, actor: str, action: str) -> bool:
        """Whether the actor may do it on everything."""
        covering = [rule for rule in self.rules_of(actor, action) if rule.covers(ANY, ANY)]
        return bool(covering) and all(rule.allows for rule in covering)


@dataclass(frozen=True)
class Call:
    """What is asked. `object_type` is the type of an object to be made; `rows`: a listing filtered by the authority."""

    scope_id: str
    actor: str
    action: str
    operation: str
    object_id: str | None = None
    object_type: str | None = None
    rows: bool = False
    delegation_id: str | None = None

    @property
    def is_new(self) -> bool:
        """Whether the object is to be made by the call."""
        return self.action == "create"


@dataclass(frozen=True)
class Answer:
    """The code, for a denial its possible coarse reasons, for a listing the ids of its rows."""

    code: str
    reasons: frozenset[str] = frozenset()
    rows: frozenset[str] | None = None


def denied(*reasons: str) -> Answer:
    """A denial."""
    return Answer("ACCESS_DENIED", frozenset(reasons))


class Oracle:
    """One tenant. Who uses it changes the tables as calls succeed; the oracle only looks."""

    def __init__(self) -> None:
        self.clock_us = 0
        self.workspaces: dict[str, Workspace] = {}
        self.grants: dict[str, Grant] = {}

    # What a call needs

    def judge(self, call: Call, *, ignore_uses: bool = False) -> frozenset[str]:
        """The coarse reasons for which the call is denied, none when it is allowed."""
        place = self.workspaces[call.scope_id]
        if call.delegation_id is None:
            return self._own(place, call)
        grant = self.grants.get(call.delegation_id)
        if grant is None or not self.stands(grant, call.actor, call.scope_id):
            return frozenset({NOT_EFFECTIVE})
        return self._conveyed(place, call, grant, ignore_uses)

    def _own(self, place: Workspace, call: Call) -> frozenset[str]:
        rules = place.rules_of(call.actor, call.action)
        if call.rows or (call.object_id is None and not call.is_new):
            if any(rule.covers(ANY, ANY) and not rule.allows for rule in rules):
                return frozenset({EXPLICIT_DENY})
            reached = _reaches_rows(rules) if call.rows else place.holds_everywhere(call.actor, call.action)
            return ALLOWED if reached else frozenset({NO_RULE})
        object_id = call.object_id or ANY
        if call.is_new:
            covering = [rule for rule in rules if rule.covers(call.object_type or ANY, object_id)]
            if any(not rule.allows for rule in covering):
                return frozenset({EXPLICIT_DENY})
            return ALLOWED if covering else frozenset({NO_RULE})
        allowed, refused = _types(rules, object_id)
        if ANY in refused:
            return frozenset({EXPLICIT_DENY})
        # Whatever depends on the type must not tell it, nor whether there is an object.
        stored = place.objects.get(object_id)
        unlimited = ANY in allowed and not refused
        within = stored is not None and _admits(rules, stored.object_type, object_id)
        return ALLOWED if unlimited or within else frozenset({NO_RULE})

    def stands(self, grant: Grant, actor: str, scope_id: str) -> bool:
        """Rules 1 and 2: here, permitted from its home, for this actor, unrevoked, inside every window."""
        if grant.place != scope_id or grant.delegate != actor:
            return False
        if grant.home != scope_id and grant.home not in self.workspaces[scope_id].permits.values():
            return False
        return all(not one.revoked and one.not_before_us <= self.clock_us <= one.not_after_us for one in grant.chain)

    def _conveyed(self, place: Workspace, call: Call, grant: Grant, ignore_uses: bool) -> frozenset[str]:
        """Rules 3 to 6, and last whatever depends on the type an object is stored with."""
        chain = grant.chain
        if any(call.operation not in one.operations for one in chain):
            return frozenset({OPERATION})
        outside = set()
        if not call.rows and any(one.ids is not None and call.object_id not in one.ids for one in chain):
            outside.add(OBJECT)
        if call.is_new and any(one.types is not None and call.object_type not in one.types for one in chain):
            outside.add(OBJECT_TYPE)
        if outside:
            return frozenset(outside)
        if not ignore_uses and grant.remaining is not None and grant.remaining <= 0:
            return frozenset({EXHAUSTED})
        grantors = place.rules_of(chain[0].grantor, call.action)
        delegates = [rule for one in chain for rule in place.rules_of(one.delegate, call.action) if not rule.allows]
        if call.rows:
            if not _reaches_rows(grantors):
                return frozenset({NOT_EFFECTIVE})
            return frozenset({EXPLICIT_DENY}) if any(rule.covers(ANY, ANY) for rule in delegates) else ALLOWED
        object_id = call.object_id or ANY
        if call.is_new:
            object_type = call.object_type or ANY
            if not _admits(grantors, object_type, object_id):
                return frozenset({NOT_EFFECTIVE})
            return frozenset({EXPLICIT_DENY}) if any(r.covers(object_type, object_id) for r in delegates) else ALLOWED
        allowed, refused = _types(grantors, object_id)
        if ANY in refused or (ANY not in allowed and allowed <= refused):
            return frozenset({NOT_EFFECTIVE})
        if any(rule.covers(ANY, object_id) for rule in delegates):
            return frozenset({EXPLICIT_DENY})
        return self._by_stored_type(place, object_id, chain, grantors, delegates)

    def _by_stored_type(
        self, place: Workspace, object_id: str, chain: list[Grant], grantors: list[Rule], delegates: list[Rule]
    ) -> frozenset[str]:
        allowed, refused = _types(grantors, object_id)
        limits = [one.types for one in chain if one.types is not None]
        grantor_is_limited = ANY not in allowed or bool(refused)
        delegate_is_limited = any(rule.object_id in (object_id, ANY) for rule in delegates)
        if not (limits or grantor_is_limited or delegate_is_limited):
            return ALLOWED
        stored = place.objects.get(object_id)
        if stored is not None:
            kind = stored.object_type
            within = all(kind in limit for limit in limits) and _admits(grantors, kind, object_id)
            if within and not any(rule.covers(kind, object_id) for rule in delegates):
                return ALLOWED
        return frozenset({OBJECT_TYPE if limits else NOT_EFFECTIVE if grantor_is_limited else EXPLICIT_DENY})

    def rows(self, call: Call) -> frozenset[str]:
        """The ids of the objects that an allowed listing gives."""
        place = self.workspaces[call.scope_id]
        grant = None if call.delegation_id is None else self.grants[call.delegation_id]
        chain = [] if grant is None else grant.chain
        holders = place.rules_of(chain[0].grantor if chain else call.actor, call.action)
        delegates = [rule for one in chain for rule in place.rules_of(one.delegate, call.action) if not rule.allows]

        def is_given(object_id: str, kind: str) -> bool:
            limited = all(
                (one.types is None or kind in one.types) and (one.ids is None or object_id in one.ids) for one in chain
            )
            refused = any(rule.covers(kind, object_id) for rule in delegates)
            return limited and not refused and _admits(holders, kind, object_id)

        living = ((key, stored.object_type) for key, stored in place.objects.items() if not stored.deleted)
        return frozenset(key for key, kind in living if is_given(key, kind))


def _types(rules: Iterable[Rule], object_id: str) -> tuple[set[str], set[str]]:
    """The types that the rules allow and deny on an id, `*` for every type."""
    about = [rule for rule in rules if rule.object_id in (object_id, ANY)]
    allowed = {rule.object_type for rule in about if rule.allows}
    return allowed, {rule.object_type for rule in about if not rule.allows}


def _admits(rules: Iterable[Rule], object_type: str, object_id: str) -> bool:
    covering = [rule for rule in rules if rule.covers(object_type, object_id)]
    return bool(covering) and all(rule.allows for rule in covering)


def _reaches_rows(rules: list[Rule]) -> bool:
    """Whether any row can be given: some allowance is not denied as a whole."""
    refusals = [rule for rule in rules if not rule.allows]
    return any(
        rule.allows and not any(no.covers(rule.object_type, rule.object_id) for no in refusals) for rule in rules
    )
