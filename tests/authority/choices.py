"""What a walk tries next: mostly what is allowed or only just not, over few names, so that everything meets."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from tests.authority.account import Account, Exercise
from tests.authority.granting_oracle import judge_grant
from tests.authority.oracle import (
    EXHAUSTED,
    EXPLICIT_DENY,
    NO_RULE,
    NOT_EFFECTIVE,
    OBJECT,
    OBJECT_TYPE,
    OK,
    OPERATION,
    Answer,
    Call,
    Grant,
    Rule,
)
from tests.cluster import ADMIN, OTHER_TENANT, TENANT

TENANTS = (TENANT, OTHER_TENANT)
OWNER_ROLE = "role:owner"
ACTORS = ("actor:ada", "actor:bo", "actor:cy", "actor:dee", "actor:eve")
ROLES = ("role:lead", "role:reader", "role:writer")
TYPES = ("claim", "task", "entity")
OPERATIONS = ("create", "read", "update", "transition", "delete", "query")
_ACTIONS = ("create", "read", "update", "transition.validation", "delete", "query")
_LEAD_ACTIONS = (*_ACTIONS, "transition.lifecycle", "transition.availability", "transition.retention", "delegate")
_LONG_US = 10_000_000_000
_SHORT_US = 40
_TRIES = 12
_AIMS = (
    NO_RULE,
    EXPLICIT_DENY,
    NOT_EFFECTIVE,
    EXHAUSTED,
    OPERATION,
    OBJECT,
    OBJECT_TYPE,
    "OBJECT_NOT_FOUND",
    "OBJECT_DELETED",
    "VERSION_CONFLICT",
)
_AIMS_OF_GRANTS = (NO_RULE, EXPLICIT_DENY, NOT_EFFECTIVE, EXHAUSTED, "POLICY_DENIED")
_Choice = TypeVar("_Choice")


def _action(operation: str) -> str:
    return "transition.validation" if operation == "transition" else operation


class Choices:
    """Draws from one generator. Object ids are few and grow slowly; one of them is never created."""

    def __init__(self, generator: random.Random, scopes: list[str]) -> None:
        self.random = generator
        self.scopes = scopes
        self._object_count = 6
        self._origin_us: int | None = None

    def first_rules(self) -> list[Rule]:
        """What roles may do at first."""
        lead = [Rule("role:lead", action) for action in _LEAD_ACTIONS]
        reader = [Rule("role:reader", action) for action in ("read", "query")]
        writer = [Rule("role:writer", action, "claim") for action in ("create", "update", "read")]
        return [*lead, *reader, *writer]

    def first_objects(self) -> list[tuple[str, str]]:
        """Ids and types of what is there at first."""
        return [(f"urn:object:{index}", self._one_of(TYPES)) for index in range(self._object_count)]

    def first_bindings(self) -> list[tuple[str, str]]:
        """Who has which role at first."""
        pairs = [("actor:ada", "role:lead"), ("actor:bo", "role:reader"), ("actor:cy", "role:writer")]
        return [pair for pair in pairs if self.random.random() < 0.9]

    def _one_of(self, options: tuple[_Choice, ...] | list[_Choice]) -> _Choice:
        return self.random.choice(options)

    def _aiming(
        self, draw: Callable[[], _Choice], outcome: Callable[[_Choice], Answer], aims: tuple[str, ...]
    ) -> _Choice:
        """The first of some draws that comes to what is aimed at: half the time success, else one of the aims."""
        aim = OK if self.random.random() < 0.5 else self._one_of(aims)
        for _ in range(_TRIES):
            drawn = draw()
            answer = outcome(drawn)
            if aim == answer.code or aim in answer.reasons:
                break
        return drawn

    def _object_id(self) -> str:
        if self.random.random() < 0.05:
            return "urn:absent:1"
        return f"urn:object:{self.random.randrange(max(0, self._object_count - 9), self._object_count)}"

    def _some(self, options: tuple[str, ...], most: int) -> frozenset[str]:
        return frozenset(self.random.sample(options, self.random.randint(1, min(most, len(options)))))

    # Exercises

    def exercise(self, account: Account) -> Exercise:
        """A call by a rule or by a grant, here or there."""
        if self.random.random() < 0.35 or not account.oracle.grants:
            return self._aiming(self._by_rule, account.answer, _AIMS)
        return self.exercise_by_grant(account, None, None)

    def exercise_by_grant(self, account: Account, scope_id: str | None, actor: str | None) -> Exercise:
        """A call that names a grant; workspace and caller are mostly the grant's where they are not given."""

        def draw() -> Exercise:
            grant = self._grant(account)
            place = scope_id or (grant.place if grant and self.random.random() < 0.95 else self._one_of(self.scopes))
            caller = actor or (grant.delegate if grant and self.random.random() < 0.95 else self._one_of(ACTORS))
            operations = sorted(grant.operations) if grant and self.random.random() < 0.9 else list(OPERATIONS)
            operation = self._one_of(operations)
            ids = sorted(grant.ids) if grant and grant.ids and self.random.random() < 0.8 else None
            delegation_id = grant.delegation_id if grant else "urn:never:1"
            return self._call(place, caller, operation, ids, delegation_id)

        return self._aiming(draw, account.answer, _AIMS)

    def _by_rule(self) -> Exercise:
        actor = self._one_of([*ACTORS, ADMIN])
        return self._call(self._one_of(self.scopes), actor, self._one_of(OPERATIONS), None, None)

    def _call(
        self, scope_id: str, actor: str, operation: str, ids: list[str] | None, delegation_id: str | None
    ) -> Exercise:
        object_id: str | None = None if operation == "query" else self._one_of(ids) if ids else self._object_id()
        object_type = None
        if operation == "create":
            object_type = self._one_of(TYPES)
            if ids is None and self.random.random() < 0.7:
                self._object_count += self.random.random() < 0.3
                object_id = f"urn:object:{self._object_count - 1}"
            elif ids is None and self.random.random() < 0.3:
                object_id = None
        call = Call(
            scope_id, actor, _action(operation), operation, object_id, object_type, operation == "query", delegation_id
        )
        if delegation_id is not None and self.random.random() < 0.1:
            return Exercise(call, is_check=True)
        return Exercise(call, is_stale=self.random.random() < 0.15)

    # Grants

    def _grant(self, account: Account) -> Grant | None:
        """Mostly one of the newest; None for one that is not there."""
        grants = list(account.oracle.grants.values())
        if not grants or self.random.random() < 0.02:
            return None
        return self._one_of(grants[-12:] if self.random.random() < 0.7 else grants)

    def _edge(self, account: Account) -> int:
        spread = self._one_of([0, 0, _SHORT_US, _LONG_US])
        return account.oracle.clock_us + self.random.randint(0, spread)

    def grant(self, account: Account) -> Grant:
        """A grant on the caller's own authority."""

        def draw() -> Grant:
            now = account.oracle.clock_us
            home = self._one_of(self.scopes)
            # Its own home as a target is no request at all.
            targets = [*(one for one in self.scopes if one != home), "workspace:absent"]
            crosses = self.random.random() < 0.35
            wide = self.random.random() < 0.7
            return Grant(
                delegation_id="",
                home=home,
                target=self._one_of(targets) if crosses else None,
                grantor=self._one_of([*ACTORS, ADMIN, ADMIN]),
                delegate=self._one_of(ACTORS),
                operations=self._some(OPERATIONS, 4),
                not_before_us=now - _LONG_US if wide else now - self.random.randint(-2, _SHORT_US),
                not_after_us=now + _LONG_US if wide else now + self.random.randint(-2, _SHORT_US),
                types=self._some(TYPES, 2) if self.random.random() < 0.3 else None,
                ids=frozenset(self._object_id() for _ in range(3)) if self.random.random() < 0.35 else None,
                limit=self.random.randint(1, 6) if self.random.random() < 0.5 else None,
                revocable=self.random.random() < 0.9,
                depth=self._one_of([0, 1, 2, 8]),
            )

        return self._aiming(draw, lambda one: judge_grant(account.oracle, one.grantor, one), _AIMS_OF_GRANTS)

    def sub_grant(self, account: Account) -> Grant | None:
        """A grant below another, narrower mostly, wider in one field sometimes; None when there is nothing to narrow."""
        parents = [one for one in account.oracle.grants.values() if one.depth > 0 or self.random.random() < 0.1]
        if not parents:
            return None

        def draw() -> Grant:
            parent = self._one_of(parents[-10:])
            types = parent.types or frozenset(TYPES)
            ids = parent.ids or frozenset(self._object_id() for _ in range(3))
            left = parent.remaining
            limit = self.random.randint(1, 4) if self.random.random() < 0.4 else None
            child = Grant(
                delegation_id="",
                home=parent.home,
                target=parent.target,
                grantor=parent.delegate if self.random.random() < 0.95 else self._one_of(ACTORS),
                delegate=self._one_of(ACTORS),
                operations=self._some(tuple(sorted(parent.operations)), 3),
                not_before_us=max(parent.not_before_us, self._edge(account) - _SHORT_US),
                not_after_us=min(parent.not_after_us, self._edge(account) + _SHORT_US),
                types=self._some(tuple(sorted(types)), 2) if parent.types or self.random.random() < 0.2 else None,
                ids=self._some(tuple(sorted(ids)), 2) if parent.ids or self.random.random() < 0.2 else None,
                limit=limit if left is None else self.random.randint(1, max(1, left)),
                depth=max(0, parent.depth - self.random.randint(1, 2)),
                parent=parent,
            )
            if self.random.random() < 0.6:
                child.not_before_us, child.not_after_us = parent.not_before_us, parent.not_after_us
            if self.random.random() < 0.2:
                self._widen(child, parent)
            return child

        return self._aiming(draw, lambda one: judge_grant(account.oracle, one.grantor, one), _AIMS_OF_GRANTS)

    def _widen(self, child: Grant, parent: Grant) -> None:
        match self.random.randrange(8):
            case 0:
                child.operations |= {self._one_of(OPERATIONS)}
            case 1:
                child.types = None if self.random.random() < 0.5 else self._some(TYPES, 3)
            case 2:
                child.ids = None if self.random.random() < 0.5 else frozenset({self._object_id()})
            case 3:
                child.not_before_us = parent.not_before_us - 1
            case 4:
                child.not_after_us = parent.not_after_us + 1
            case 5:
                child.limit = None if self.random.random() < 0.5 else (parent.remaining or 0) + 1
            case 6:
                child.depth = min(8, parent.depth)
            case _:
                child.target = None

    def revocation(self, account: Account) -> tuple[str, str, str]:
        """Workspace, caller and grant of a revocation."""
        grant = self._grant(account)
        if grant is None:
            return self._one_of(self.scopes), self._one_of([*ACTORS, ADMIN]), "urn:never:1"
        scope_id = grant.home if self.random.random() < 0.9 else self._one_of(self.scopes)
        actor = self._one_of([grant.grantor, grant.grantor, ADMIN, self._one_of(ACTORS)])
        return scope_id, actor, grant.delegation_id

    # Policy

    def administrator(self) -> tuple[str, str]:
        """A workspace and who tries to change its policy."""
        return self._one_of(self.scopes), ADMIN if self.random.random() < 0.9 else self._one_of(ACTORS)

    def rule(self, account: Account) -> Rule:
        """Any rule; sometimes one that denies a delegate what it was granted."""
        object_type = self._one_of(TYPES) if self.random.random() < 0.4 else "*"
        object_id = self._object_id() if self.random.random() < 0.3 else "*"
        grant = self._grant(account)
        if grant is not None and self.random.random() < 0.25:
            operation = self._one_of(sorted(grant.operations))
            delegate = self._one_of(grant.chain).delegate
            return Rule(delegate, _action(operation), object_type, object_id, allows=False)
        action = self._one_of([*_LEAD_ACTIONS, *_ACTIONS, "*", "delegate", "admin.policy"])
        subject = self._one_of([*ACTORS, *ROLES])
        return Rule(subject, action, object_type, object_id, allows=self.random.random() < 0.65)

    def binding(self) -> tuple[str, str]:
        """An actor and a role."""
        return self._one_of(ACTORS), self._one_of(ROLES)

    # The clock

    def time(self, account: Account) -> int:
        """A time at the edge of a window, a microsecond beside it, or near where the walk began."""
        if self._origin_us is None:
            self._origin_us = account.oracle.clock_us
        grant = self._grant(account)
        near = self._origin_us + self.random.randint(-_SHORT_US, _SHORT_US)
        if grant is None or self.random.random() < 0.5:
            return near
        edge = self._one_of([grant.not_before_us, grant.not_after_us]) + self._one_of([-1, 0, 1])
        return edge if abs(edge - self._origin_us) < _LONG_US or self.random.random() < 0.3 else near
