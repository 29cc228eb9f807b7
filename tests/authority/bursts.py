"""Bursts of calls at once, where only counts are determined, and processes killed, idle or at work."""

from __future__ import annotations

from typing import Any

from remit.v1 import memory_pb2
from tests.authority.account import Account, Exercise, entry_of
from tests.authority.choices import ACTORS
from tests.authority.fleet import is_success, reasons_of, settled
from tests.authority.messages import exercise_message, revoke_message
from tests.authority.oracle import EXHAUSTED, NOT_EFFECTIVE, OK, Call, Grant
from tests.authority.walk import Walk
from tests.cluster import ADMIN

_WINDOW_US = 10_000_000_000
_STEPS_WITHOUT = 15


class Bursts:
    """What happens to a walk from time to time."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.random = walk.random

    def any(self) -> None:
        """One of them, in one of the tenants."""
        account = self.random.choice(self.walk.accounts)
        kinds = (self.spend_a_limit, self.spend_a_limit, self.change_one_version, self.revoke_meanwhile)
        self.random.choice(kinds)(account)

    def kill_idle(self) -> None:
        """A process is gone for some steps."""
        fleet, walk = self.walk.fleet, self.walk
        server = walk.server()
        fleet.kill(server)
        for _ in range(_STEPS_WITHOUT):
            walk.step()
        fleet.restart(server)
        walk.tally["killed idle"] += 1

    def kill_at_work(self) -> None:
        """A process is killed while a limit is being spent."""
        self.spend_a_limit(self.random.choice(self.walk.accounts), is_killing=True)

    # A limit

    def spend_a_limit(self, account: Account, *, is_killing: bool = False) -> None:
        """More calls than uses, by the delegates of two sub-grants: exactly the uses of their parent succeed."""
        made = self._family(account)
        if made is None:
            return
        root, calls = made
        self.walk.compare_ledgers(account)
        left = root.remaining
        assert left is not None
        count = 3 * left + 6
        asked = [self._start(account, self.random.choice(calls)) for _ in range(count)]
        if is_killing:
            victim = self.walk.server()
            self.walk.fleet.kill(victim)
        answers = [settled(one) for one in asked]
        if is_killing:
            self.walk.fleet.restart(victim)
        outcomes = reasons_of(answers)
        taken, denials = self._taken_meanwhile(account, root)
        if is_killing:
            assert set(outcomes) <= {OK, EXHAUSTED, "UNAVAILABLE"}, outcomes
            assert outcomes.count(OK) <= len(taken) <= left
            assert outcomes.count(EXHAUSTED) <= denials
        else:
            assert sorted(outcomes) == sorted([OK] * left + [EXHAUSTED] * (count - left))
            assert (len(taken), denials) == (left, count - left)
        self.walk.tally["limits spent"] += 1
        self.walk.tally["killed at work"] += is_killing

    def _family(self, account: Account) -> tuple[Grant, list[Call]] | None:
        """A limited grant of `read` with two grants below it, and calls that exercise them; None when not possible now."""
        home, target = self.walk.scopes[0], self.random.choice([None, self.walk.scopes[1]])
        middle, *leaves = self.random.sample(ACTORS, 3)
        limit = self.random.randint(1, 4)
        root = self.walk.grant(account, self._reading(account, home, target, ADMIN, middle, limit, None))
        if root is None:
            return None
        object_id = self._living(account, root.place)
        calls = []
        for leaf in leaves:
            child = self.walk.grant(account, self._reading(account, home, target, middle, leaf, limit, root))
            if child is not None and object_id is not None:
                calls.append(Call(root.place, leaf, "read", "read", object_id, delegation_id=child.delegation_id))
        calls = [call for call in calls if account.answer(Exercise(call)).code == OK]
        return (root, calls) if calls else None

    def _reading(
        self,
        account: Account,
        home: str,
        target: str | None,
        grantor: str,
        delegate: str,
        limit: int | None,
        parent: Grant | None,
        operation: str = "read",
    ) -> Grant:
        now = account.oracle.clock_us
        window = (parent.not_before_us, parent.not_after_us) if parent else (now - _WINDOW_US, now + _WINDOW_US)
        return Grant(
            "",
            home,
            target,
            grantor,
            delegate,
            frozenset({operation}),
            *window,
            limit=limit,
            depth=0 if parent else 1,
            parent=parent,
        )

    def _living(self, account: Account, scope_id: str) -> str | None:
        objects = account.oracle.workspaces[scope_id].objects
        living = [object_id for object_id, stored in objects.items() if not stored.deleted]
        return self.random.choice(living) if living else None

    def _start(self, account: Account, call: Call) -> Any:
        method, request = exercise_message(account, Exercise(call))
        return self.walk.fleet.start(method, request, call.actor, self.walk.server(), account.tenant_id)

    def _taken_meanwhile(self, account: Account, grant: Grant) -> tuple[list[str], int]:
        """The grants exercised since the last comparison, in order, and how many calls were denied where it is used.

        The counters are made to agree.
        """
        exercised: dict[str, list[str]] = {}
        denials = 0
        for scope_id in {grant.home, grant.place}:
            entries = [entry_of(event) for event in self.walk.events_since(account, scope_id)]
            uses = [one for entry in entries if entry.event_type == "delegation_exercised" for one in entry.about]
            exercised[scope_id] = uses
            denials += sum(entry.event_type == "access_denied" for entry in entries)
        taken = exercised[grant.home]
        assert exercised[grant.place] == taken
        for delegation_id in taken:
            for one in account.oracle.grants[delegation_id].chain:
                one.uses += 1
        return taken, denials

    # A version

    def change_one_version(self, account: Account) -> None:
        """Updates of one version at once: one is the next version, and only if it came by grant a use is taken."""
        scope_id = self.random.choice(self.walk.scopes)
        object_id = self._living(account, scope_id)
        delegate = self.random.choice(ACTORS)
        wanted = self._reading(account, scope_id, None, ADMIN, delegate, None, None, "update")
        grant = self.walk.grant(account, wanted) if object_id else None
        if grant is None:
            return
        by_rule = Call(scope_id, ADMIN, "update", "update", object_id)
        by_grant = Call(scope_id, delegate, "update", "update", object_id, delegation_id=grant.delegation_id)
        if account.answer(Exercise(by_grant)).code != OK:
            return
        self.walk.compare_ledgers(account)
        asked = [self._start(account, self.random.choice([by_rule, by_grant])) for _ in range(9)]
        answers = [settled(one) for one in asked]
        assert sorted(reasons_of(answers)) == sorted([OK] + ["VERSION_CONFLICT"] * 8)
        [won] = [answer for answer in answers if is_success(answer)]
        assert isinstance(won, memory_pb2.UpdateResponse)
        account.versions[(scope_id, object_id or "")] = won.result.version_id
        is_by_grant = won.result.envelope.actor.actor_id == delegate
        taken, denials = self._taken_meanwhile(account, grant)
        assert (len(taken), denials) == (is_by_grant, 0)
        self.walk.tally["versions contended"] += 1

    # A revocation

    def revoke_meanwhile(self, account: Account) -> None:
        """Calls with a revocation among them: what succeeded stands before it, what follows it is denied."""
        made = self._family(account)
        if made is None:
            return
        root, calls = made
        self.walk.compare_ledgers(account)
        asked = [self._start(account, self.random.choice(calls)) for _ in range(6)]
        request = revoke_message(root.home, root.delegation_id)
        revoking = self.walk.fleet.start(
            "delegation.RevokeDelegation", request, ADMIN, self.walk.server(), account.tenant_id
        )
        asked += [self._start(account, self.random.choice(calls)) for _ in range(6)]
        assert is_success(settled(revoking))
        answers = [settled(one) for one in asked]
        late = [settled(self._start(account, self.random.choice(calls))) for _ in range(2)]
        assert set(reasons_of(late)) == {NOT_EFFECTIVE}
        outcomes = reasons_of(answers)
        assert set(outcomes) <= {OK, NOT_EFFECTIVE, EXHAUSTED}
        root.revoked = True
        taken, denials = self._taken_meanwhile(account, root)
        assert outcomes.count(OK) == len(taken) <= (root.limit or 0)
        assert denials == len(outcomes) - len(taken) + len(late)
        self.walk.tally["revocations raced"] += 1
