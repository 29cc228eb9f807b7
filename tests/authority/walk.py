"""A seeded random walk over everything that gives, takes or uses authority, each answer held against the oracle.

An episode has workspaces of its own, of the same names in two tenants. Every step goes to one of the processes, chosen
anew. The clock stands still between steps that move it.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from typing import Any

from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2
from tests.authority.account import Account, Exercise, compare, hold_to_revocations
from tests.authority.choices import OWNER_ROLE, TENANTS, Choices
from tests.authority.fleet import Fleet, is_success
from tests.authority.granting_oracle import judge_grant, judge_revocation
from tests.authority.messages import (
    agree,
    check_of,
    exercise_message,
    explain_message,
    grant_message,
    permit_message,
    revoke_message,
    rule_message,
    told,
)
from tests.authority.offline import verify_exports
from tests.authority.oracle import OK, Answer, Call, Entry, Grant, Rule, Workspace
from tests.cluster import ADMIN, Refusal

START_US = 1_900_000_000_000_000
_STEPS = {
    "exercise": 56,
    "grant": 8,
    "sub_grant": 9,
    "revoke": 4,
    "add_rule": 5,
    "remove_rule": 4,
    "bind": 3,
    "unbind": 2,
    "permit": 2,
    "move_clock": 7,
    "replay": 4,
}
_CHECKED_FIRST = 0.4


class Disagreement(AssertionError):
    """The service and the oracle answered a step differently."""


class Walk:
    """One episode. `tally` counts what the steps came to, over all episodes that share it."""

    def __init__(self, fleet: Fleet, seed: int, tally: Counter[str] | None = None) -> None:
        self.fleet = fleet
        self.random = random.Random(seed)
        self.name = f"{seed}-{uuid.uuid4().hex[:8]}"
        self.tally = Counter() if tally is None else tally
        self.accounts = [Account(tenant_id) for tenant_id in TENANTS]
        self.scopes = [f"workspace:{self.name}-{letter}" for letter in "htq"]
        self.choices = Choices(self.random, self.scopes)
        self.history: list[str] = []
        self._replays: list[tuple[Account, Exercise, str, Any]] = []
        self._move_to(START_US)
        for account in self.accounts:
            self._open(account)

    def _open(self, account: Account) -> None:
        for scope_id in self.scopes:
            request = admin_pb2.CreateWorkspaceRequest(
                scope_id=f"tenant:{account.tenant_id}", new_scope_id=scope_id, scope_kind="workspace"
            )
            self.ask(account, "admin.CreateWorkspace", request, ADMIN, expected=Answer(OK))
            place = Workspace(scope_id, bindings={(ADMIN, OWNER_ROLE)})
            place.rules["bootstrap"] = Rule(OWNER_ROLE, "*")
            account.oracle.workspaces[scope_id] = place
            for rule in self.choices.first_rules():
                self._add_rule(account, ADMIN, scope_id, rule)
            for actor, role in self.choices.first_bindings():
                self._bind(account, ADMIN, scope_id, actor, role)
            for object_id, object_type in self.choices.first_objects():
                self._exercise(account, Exercise(Call(scope_id, ADMIN, "create", "create", object_id, object_type)))
        self._permit(account, self.scopes[1], self.scopes[0])

    # One step

    def step(self) -> None:
        """Takes one step in one of the tenants."""
        account = self.random.choices(self.accounts, (3, 1))[0]
        [kind] = self.random.choices(list(_STEPS), list(_STEPS.values()))
        self.tally[kind] += 1
        getattr(self, f"_step_{kind}")(account)

    def server(self) -> int:
        """The process that the next call goes to."""
        return self.random.choice(self.fleet.serving)

    def ask(self, account: Account, method: str, request: Any, actor: str, *, expected: Answer) -> Any:
        """The answer to a call, which must be the one expected."""
        server = self.server()
        answer = self.fleet.ask(method, request, actor, server, account.tenant_id)
        given = told(answer)
        self._note(f"{account.tenant_id}/{server} {actor} {method} -> {given.code} {sorted(given.reasons)}", request)
        if not agree(expected, given):
            raise Disagreement(f"expected {expected}, given {given}\n" + "\n".join(self.history[-6:]))
        self.tally[given.code] += 1
        for reason in given.reasons:
            self.tally[reason] += 1
        return answer

    def _note(self, line: str, request: Any) -> None:
        self.history.append(f"{line} at {self.accounts[0].oracle.clock_us - START_US:+d}\n  {request!s:.900}".rstrip())
        del self.history[:-20]

    # Exercises

    def _step_exercise(self, account: Account) -> None:
        self._exercise(account, self.choices.exercise(account))

    def _exercise(self, account: Account, exercise: Exercise) -> None:
        call = exercise.call
        expected = account.answer(exercise)
        if expected.code != "SCOPE_NOT_FOUND" and self.random.random() < _CHECKED_FIRST:
            self._agreement(account, call, expected)
        can_repeat = call.action not in ("read", "query") and not exercise.is_check and call.object_id is not None
        key = uuid.uuid4().hex if can_repeat and self.random.random() < 0.3 else ""
        method, request = exercise_message(account, exercise, key)
        answer = self.ask(account, method, request, call.actor, expected=expected)
        account.settle(exercise, expected, answer)
        if key and is_success(answer):
            self._replays.append((account, exercise, method, request))

    def _agreement(self, account: Account, call: Call, expected: Answer) -> None:
        """A dry check, a batch and an explanation say what the call will be told, to whoever may ask."""
        reasons = expected.reasons if expected.code == "ACCESS_DENIED" else frozenset()
        asker = self.random.choice([call.actor, ADMIN])
        message = explain_message(call, asker)
        explained = self.ask(account, "delegation.ExplainAccess", message, asker, expected=Answer(OK))
        self._hold(reasons, explained.allowed, explained.denial_reason, "explained")
        if call.delegation_id is None:
            return
        grant = account.oracle.grants.get(call.delegation_id)
        if grant is not None and call.scope_id in (grant.home, grant.place):
            asker = self.random.choice([asker, grant.grantor])
        check = check_of(call)
        dry = delegation_pb2.CheckDelegationRequest(scope_id=call.scope_id, check=check, dry_run=True)
        verdict = Answer("ACCESS_DENIED", reasons) if reasons else Answer(OK)
        self.ask(account, "delegation.CheckDelegation", dry, asker, expected=verdict)
        other = self.choices.exercise_by_grant(account, call.scope_id, call.actor).call
        checks = [check, check_of(other), check]
        batch = delegation_pb2.BatchCheckDelegationRequest(scope_id=call.scope_id, checks=checks)
        asker = self.random.choice([call.actor, ADMIN])
        answer = self.ask(account, "delegation.BatchCheckDelegation", batch, asker, expected=Answer(OK))
        for one, about in zip(answer.verdicts, (reasons, account.oracle.judge(other), reasons), strict=True):
            self._hold(about, one.allowed, one.denial_reason, "in the batch")
        self.tally["agreement"] += 1

    def _hold(self, reasons: frozenset[str], allowed: bool, reason: str, where: str) -> None:
        if allowed != (not reasons) or (reasons and reason not in reasons):
            raise Disagreement(f"{where}: {allowed} {reason}, the oracle: {reasons}\n" + "\n".join(self.history[-3:]))

    def _step_replay(self, account: Account) -> None:
        if not self._replays:
            return
        account, exercise, method, request = self.random.choice(self._replays)
        expected = account.answer(exercise, is_replay=True)
        answer = self.ask(account, method, request, exercise.call.actor, expected=expected)
        account.denied(exercise.call.scope_id, exercise.call.actor, expected)
        if is_success(answer):
            assert answer.result.replayed
            self.tally["replayed"] += 1

    # Grants

    def _step_grant(self, account: Account) -> None:
        self.grant(account, self.choices.grant(account))

    def _step_sub_grant(self, account: Account) -> None:
        wanted = self.choices.sub_grant(account)
        if wanted is not None:
            self.grant(account, wanted)

    def grant(self, account: Account, wanted: Grant) -> Grant | None:
        """Asks for a grant; returns it when it was made."""
        expected = judge_grant(account.oracle, wanted.grantor, wanted)
        answer = self.ask(
            account, "delegation.GrantDelegation", grant_message(wanted), wanted.grantor, expected=expected
        )
        if not is_success(answer):
            account.denied(wanted.home, wanted.grantor, expected)
            return None
        wanted.delegation_id = answer.delegation.delegation_id
        account.made(wanted)
        return wanted

    def _step_revoke(self, account: Account) -> None:
        scope_id, actor, delegation_id = self.choices.revocation(account)
        expected = judge_revocation(account.oracle, scope_id, actor, delegation_id)
        request = revoke_message(scope_id, delegation_id)
        answer = self.ask(account, "delegation.RevokeDelegation", request, actor, expected=expected)
        if is_success(answer):
            account.revoked(account.oracle.grants[delegation_id], actor)
        account.denied(scope_id, actor, expected)

    # Policy

    def _step_add_rule(self, account: Account) -> None:
        scope_id, actor = self.choices.administrator()
        self._add_rule(account, actor, scope_id, self.choices.rule(account))

    def _policy(self, account: Account, actor: str, scope_id: str, method: str, request: Any) -> Any:
        """The response of a change of policy; None when the actor may not make it."""
        call = Call(scope_id, actor, "admin.policy", "")
        place = account.oracle.workspaces[scope_id]
        expected = Answer("SCOPE_NOT_FOUND")
        if place.is_member(actor):
            reasons = account.oracle.judge(call)
            expected = Answer("ACCESS_DENIED", reasons) if reasons else Answer(OK)
        answer = self.ask(account, method, request, actor, expected=expected)
        account.denied(scope_id, actor, expected)
        return None if isinstance(answer, Refusal) else answer

    def _add_rule(self, account: Account, actor: str, scope_id: str, rule: Rule) -> None:
        place = account.oracle.workspaces[scope_id]
        response = self._policy(account, actor, scope_id, "admin.AddPolicyRule", rule_message(scope_id, rule))
        if response is not None:
            assert response.replayed == (response.rule.rule_id in place.rules)
            if not response.replayed:
                place.owed.append(Entry("policy_rule_added", actor))
            place.rules[response.rule.rule_id] = rule

    def _step_remove_rule(self, account: Account) -> None:
        scope_id, actor = self.choices.administrator()
        place = account.oracle.workspaces[scope_id]
        removable = [rule_id for rule_id in place.rules if rule_id != "bootstrap"]
        rule_id = self.random.choice([*removable, *place.permits]) if removable or place.permits else "urn:never:1"
        if rule_id in place.permits and self.random.random() < 0.7:
            return
        request = admin_pb2.RemovePolicyRuleRequest(scope_id=scope_id, rule_id=rule_id)
        response = self._policy(account, actor, scope_id, "admin.RemovePolicyRule", request)
        if response is not None:
            known = place.rules.pop(rule_id, None) or place.permits.pop(rule_id, None)
            assert response.replayed == (known is None)
            if known is not None:
                place.owed.append(Entry("policy_rule_removed", actor))

    def _step_bind(self, account: Account) -> None:
        scope_id, administrator = self.choices.administrator()
        self._bind(account, administrator, scope_id, *self.choices.binding())

    def _bind(self, account: Account, administrator: str, scope_id: str, actor: str, role: str) -> None:
        request = admin_pb2.BindRoleRequest(scope_id=scope_id, actor_id=actor, role_id=role)
        response = self._policy(account, administrator, scope_id, "admin.BindRole", request)
        place = account.oracle.workspaces[scope_id]
        if response is not None and (actor, role) not in place.bindings:
            place.bindings.add((actor, role))
            place.owed.append(Entry("role_bound", administrator))

    def _step_unbind(self, account: Account) -> None:
        scope_id, administrator = self.choices.administrator()
        actor, role = self.choices.binding()
        request = admin_pb2.UnbindRoleRequest(scope_id=scope_id, actor_id=actor, role_id=role)
        response = self._policy(account, administrator, scope_id, "admin.UnbindRole", request)
        place = account.oracle.workspaces[scope_id]
        if response is not None and (actor, role) in place.bindings:
            place.bindings.remove((actor, role))
            place.owed.append(Entry("role_unbound", administrator))

    def _step_permit(self, account: Account) -> None:
        target, source = self.random.sample(self.scopes, 2)
        self._permit(account, target, source)

    def _permit(self, account: Account, target: str, source: str) -> None:
        response = self._policy(account, ADMIN, target, "admin.AddPolicyRule", permit_message(target, source))
        place = account.oracle.workspaces[target]
        if response.cross_scope_rule.rule_id not in place.permits:
            place.permits[response.cross_scope_rule.rule_id] = source
            place.owed.append(Entry("policy_rule_added", ADMIN))

    # The clock

    def _step_move_clock(self, account: Account) -> None:
        self._move_to(self.choices.time(account))

    def _move_to(self, now_us: int) -> None:
        self.fleet.set_clock(now_us)
        for account in self.accounts:
            account.oracle.clock_us = now_us

    # The ledgers

    def events_since(self, account: Account, scope_id: str) -> list[ledger_pb2.LedgerEvent]:
        """Events that were not compared yet; they count as compared now."""
        after = account.seen.get(scope_id, 0)
        events = self.fleet.events(scope_id, after, account.tenant_id, self.server())
        account.seen[scope_id] = events[-1].sequence if events else after
        return events

    def compare_ledgers(self, account: Account) -> None:
        """Every ledger of the tenant holds what it owes, in order."""
        for scope_id, place in account.oracle.workspaces.items():
            try:
                compare(place.owed, self.events_since(account, scope_id))
            except AssertionError as error:
                raise Disagreement(f"{account.tenant_id} {scope_id}: {error}") from None
            place.owed.clear()

    def close(self) -> None:
        """The end of the episode: ledgers, counters and chains are what the oracle says, and verify, here and offline."""
        heads: list[tuple[bool, int, bytes]] = []
        for account in self.accounts:
            self.compare_ledgers(account)
            for scope_id in self.scopes:
                everything = self.fleet.events(scope_id, 0, account.tenant_id, self.server())
                hold_to_revocations(account.oracle.grants, everything)
                request = ledger_pb2.VerifyLedgerRequest(scope_id=scope_id)
                verified = self.fleet.call(
                    "ledger.VerifyLedger", request, server=self.server(), tenant_id=account.tenant_id
                )
                assert verified.ok, verified.findings
                assert verified.count == everything[-1].sequence == len(everything)
                heads.append((True, verified.head_sequence, verified.head_hash))
                self._compare_counters(account, scope_id)
                self.tally["events"] += len(everything)

        ledgers = [(account.tenant_id, scope_id) for account in self.accounts for scope_id in self.scopes]
        reports = verify_exports(self.fleet.cluster.database.server, ledgers)
        assert [(report.ok, report.head_sequence, report.head_hash) for report in reports] == heads

    def _compare_counters(self, account: Account, scope_id: str) -> None:
        standings: dict[str, Any] = {}
        cursor = ""
        while True:
            request = delegation_pb2.ListDelegationsRequest(scope_id=scope_id, limit=1000, cursor=cursor)
            page = self.fleet.call("delegation.ListDelegations", request, tenant_id=account.tenant_id)
            standings |= {one.delegation.delegation_id: one for one in page.delegations}
            cursor = page.cursor
            if not cursor:
                break
        grants = [one for one in account.oracle.grants.values() if scope_id in (one.home, one.place)]
        assert set(standings) == {one.delegation_id for one in grants}
        for grant in grants:
            standing = standings[grant.delegation_id]
            left = standing.remaining_uses if standing.HasField("remaining_uses") else None
            assert (standing.uses, left) == (grant.uses, grant.remaining)
            assert standing.delegation.sequence == 1 + grant.revoked
