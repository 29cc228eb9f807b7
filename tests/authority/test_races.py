"""Revocations, limits and rules raced over three processes: the ledger's order is the order of authority."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.authority.account import entry_of
from tests.authority.fleet import Fleet, answer_of, is_success, reasons_of, settled
from tests.authority.scene import DELEGATE, MIDDLE, Scene, exercises_after_revocation
from tests.cluster import Refusal

ROUNDS = int(os.environ.get("REMIT_RACE_ROUNDS", "100"))
_LIMIT = 4


class _Arrangement:
    """Where a grant lives, where it is exercised, and which grant of its chain is revoked."""

    def __init__(self, fleet: Fleet, *, crosses: bool, is_child: bool) -> None:
        self.home = Scene(fleet)
        self.place = Scene(fleet) if crosses else self.home
        self.is_child = is_child
        if crosses:
            self.place.permit(self.home)
        self.target: dict[str, Any] = {"target_scope_id": self.place.scope_id} if crosses else {}
        self.object_id = self.place.create().object_id

    def grant(self) -> tuple[str, str]:
        """The grant to exercise, and the one to revoke."""
        if not self.is_child:
            made = self.home.grant("read", usage_limit=_LIMIT, **self.target)
            return made, made
        parent = self.home.grant("read", to=MIDDLE, usage_limit=_LIMIT, max_redelegations=1, **self.target)
        fields = self.home.below(parent, usage_limit=_LIMIT, **self.target)
        return self.home.grant("read", by=MIDDLE, **fields), parent


def _race(arrangement: _Arrangement, revoker: int, readers: tuple[int, ...]) -> Counter[str]:
    """One round: reads before, beside and after a revocation; returns what those before and beside came to."""
    home, place, object_id = arrangement.home, arrangement.place, arrangement.object_id
    exercised, revoked = arrangement.grant()
    reads = [place.reading(object_id, exercised, server=server) for server in readers]
    revocation = home.revoking(revoked, revoker)
    reads += [place.reading(object_id, exercised, server=server) for server in readers]
    answer_of(revocation)
    late = [place.reading(object_id, exercised, server=server) for server in {*readers, revoker}]
    assert set(reasons_of([settled(one) for one in late])) == {"DELEGATION_NOT_EFFECTIVE"}
    outcomes = Counter(reasons_of([settled(one) for one in reads]))
    assert set(outcomes) <= {"OK", "DELEGATION_NOT_EFFECTIVE", "USAGE_LIMIT_EXHAUSTED"}
    assert outcomes["OK"] <= _LIMIT
    # The ledger counts what was answered with success, no more and no less.
    assert home.standing(revoked).uses == outcomes["OK"]
    return outcomes


def _hold_to_order(arrangement: _Arrangement, outcomes: Counter[str]) -> None:
    home, place = arrangement.home, arrangement.place
    events = home.events("delegation_exercised", "delegation_revoked")
    assert exercises_after_revocation(events) == []
    assert sum(entry_of(event).event_type == "delegation_exercised" for event in events) == outcomes["OK"]
    assert len(place.events("delegation_exercised")) == outcomes["OK"]
    for scene in {home, place}:
        scene.verify()
    # A race that only ever goes one way is none.
    assert min(outcomes["OK"], outcomes["DELEGATION_NOT_EFFECTIVE"]) > 0


@pytest.mark.req("X-05")
@pytest.mark.req("P-18.2-06")
@pytest.mark.parametrize(
    ("crosses", "is_child"),
    [(False, False), (False, True), (True, False), (True, True)],
    ids=["same workspace", "parent in the same workspace", "across workspaces", "parent elsewhere"],
)
def test_no_exercise_stands_after_its_revocation(fleet: Fleet, crosses: bool, is_child: bool) -> None:
    arrangement = _Arrangement(fleet, crosses=crosses, is_child=is_child)
    outcomes: Counter[str] = Counter()
    for turn in range(ROUNDS):
        revoker, first, second = (turn % 3, (turn + 1) % 3, (turn + 2) % 3)
        outcomes += _race(arrangement, revoker, (first, second, first, second))
    _hold_to_order(arrangement, outcomes)


@pytest.mark.req("P-18.2-06")
@pytest.mark.parametrize("crosses", [False, True], ids=["same workspace", "across workspaces"])
def test_a_revocation_holds_against_exercises_of_its_own_batch(fleet: Fleet, crosses: bool) -> None:
    """One process, so that revocation and exercises wait together and are committed together."""
    arrangement = _Arrangement(fleet, crosses=crosses, is_child=False)
    outcomes: Counter[str] = Counter()
    for turn in range(ROUNDS):
        outcomes += _race(arrangement, turn % 3, (turn % 3,) * 4)
    _hold_to_order(arrangement, outcomes)


def test_no_sub_grant_stands_after_the_revocation_of_its_parent(scene: Scene) -> None:
    made = 0
    for turn in range(ROUNDS):
        parent = scene.grant("read", to=MIDDLE, max_redelegations=1)
        message = scene.grant_message("read", **scene.below(parent))
        grants = [scene.start("delegation.GrantDelegation", message, MIDDLE, (turn + index) % 3) for index in range(3)]
        revocation = scene.revoking(parent, turn % 3)
        grants += [scene.start("delegation.GrantDelegation", message, MIDDLE, (turn + index) % 3) for index in range(3)]
        answer_of(revocation)
        outcomes = Counter(reasons_of([settled(one) for one in grants]))
        assert set(outcomes) <= {"OK", "DELEGATION_NOT_EFFECTIVE"}
        made += outcomes["OK"]
    ended: set[str] = set()
    granted = 0
    for event in scene.events("delegation_granted", "delegation_revoked"):
        if entry_of(event).event_type == "delegation_revoked":
            ended.add(event.delegation_id)
        elif parent_id := json.loads(event.payload_json).get("parent_delegation_id"):
            assert parent_id not in ended
            granted += 1
    assert granted == made > 0
    scene.verify()


def test_revoking_on_every_process_at_once_is_one_revocation(scene: Scene) -> None:
    for _ in range(10):
        delegation_id = scene.grant("read")
        answers = [answer_of(call) for call in [scene.revoking(delegation_id, index % 3) for index in range(9)]]
        assert len({answer.event_id for answer in answers}) == 1
        assert {answer.delegation.sequence for answer in answers} == {2}
    assert len(scene.events("delegation_revoked")) == 10


@pytest.mark.case("B04")
@pytest.mark.req("P-18.2-06")
def test_a_warm_process_allows_nothing_once_a_revocation_was_answered(scene: Scene) -> None:
    object_id = scene.create().object_id
    for turn in range(ROUNDS):
        warm, other = turn % 3, (turn + 1) % 3
        delegation_id = scene.grant("read", server=other)
        assert is_success(scene.read(object_id, delegation_id, server=warm))
        scene.revoke(delegation_id, other)
        assert scene.read(object_id, delegation_id, server=warm).denial_reason == "DELEGATION_NOT_EFFECTIVE"
        assert scene.check(delegation_id, server=warm).denial_reason == "DELEGATION_NOT_EFFECTIVE"
    assert len(scene.events("delegation_exercised")) == ROUNDS


@pytest.mark.case("B04")
@pytest.mark.req("X-07")
@pytest.mark.parametrize("way", ["rule", "deny", "role"])
def test_a_warm_process_allows_nothing_once_a_removal_was_answered(scene: Scene, way: str) -> None:
    object_id = scene.create().object_id
    scene.add_rule(DELEGATE, "query")
    scene.add_rule("role:reader", "read")
    for turn in range(ROUNDS):
        warm, other = turn % 3, (turn + 1) % 3
        undo = _give_and_take(scene, way, other)
        assert is_success(scene.read(object_id, server=warm))
        undo()
        refusal = scene.read(object_id, server=warm)
        assert refusal.denial_reason == ("EXPLICIT_DENY" if way == "deny" else "NO_RULE")


def _give_and_take(scene: Scene, way: str, server: int) -> Callable[[], object]:
    """Gives the delegate the right to read; returns what takes it away again."""
    if way == "role":
        scene.bind(DELEGATE, "role:reader", server)
        return lambda: scene.unbind(DELEGATE, "role:reader", server)
    rule_id = scene.add_rule(DELEGATE, "read", server=server)
    if way == "rule":
        return lambda: scene.remove_rule(rule_id, server)
    # Adding a standing rule answers with its id, so that the last turn's deny is found.
    scene.remove_rule(scene.add_rule(DELEGATE, "read", allows=False, server=server), server)
    return lambda: scene.add_rule(DELEGATE, "read", allows=False, server=server)


@pytest.mark.case("B04")
@pytest.mark.req("X-07")
def test_who_lost_a_right_is_told_of_no_other_failure(scene: Scene) -> None:
    """Whatever else is wrong with a call is nothing to who may not make it any more, on a warm process either."""
    taken = scene.create().object_id
    scene.add_rule(DELEGATE, "query")
    irrevocable = scene.grant("read", to=MIDDLE, revocable=False)
    nowhere = {"target_scope_id": "workspace:absent"}
    keyed = scene.creation(object_id=taken, object_type="claim", idempotency_key="key")
    calls: dict[str, Callable[[], object]] = {
        "delegate": lambda: scene.grant("read", by=DELEGATE, server=1, **nowhere),
        "delegation.revoke": lambda: scene.revoke(irrevocable, server=1, by=DELEGATE),
        "create": lambda: scene.call("memory.Create", keyed, DELEGATE, 1),
    }
    failures = {"delegate": "POLICY_DENIED", "delegation.revoke": "POLICY_DENIED", "create": "INVALID_REQUEST"}
    for action, call in calls.items():
        rule_id = scene.add_rule(DELEGATE, action)
        with pytest.raises(Refusal) as failed:
            call()
        assert failed.value.reason == failures[action]
        scene.remove_rule(rule_id)
        with pytest.raises(Refusal) as denied:
            call()
        assert denied.value.denial_reason == "NO_RULE"
    assert scene.denials() == ["NO_RULE"] * 3


@pytest.mark.req("X-07")
@pytest.mark.parametrize("way", ["rule", "role", "grant"])
def test_a_right_just_given_is_never_refused(scene: Scene, way: str) -> None:
    object_id = scene.create().object_id
    scene.add_rule(DELEGATE, "query")
    scene.add_rule("role:reader", "read")
    for turn in range(3 * ROUNDS):
        giver, asked = turn % 3, (turn + 1) % 3
        if way == "grant":
            assert is_success(scene.read(object_id, scene.grant("read", server=giver), server=asked))
            continue
        take = _give_and_take(scene, way, giver)
        assert is_success(scene.read(object_id, server=asked))
        take()
    assert scene.denials() == []


@pytest.mark.case("B01")
@pytest.mark.req("P-15.4-11")
@pytest.mark.req("X-05")
@pytest.mark.req("X-02")
def test_a_limit_is_never_passed(scene: Scene) -> None:
    object_id = scene.create().object_id
    delegation_id = scene.grant("read", usage_limit=5)
    reads = [scene.reading(object_id, delegation_id, server=index % 3) for index in range(200)]
    outcomes = Counter(reasons_of([settled(one) for one in reads]))
    assert outcomes == {"OK": 5, "USAGE_LIMIT_EXHAUSTED": 195}
    assert [event.use_number for event in scene.events("delegation_exercised")] == [1, 2, 3, 4, 5]
    assert scene.denials() == ["USAGE_LIMIT_EXHAUSTED"] * 195
    assert scene.standing(delegation_id).uses == 5
    scene.verify()


@pytest.mark.case("B14")
def test_no_rewriting_of_rules_admits_a_stranger_for_a_moment(scene: Scene) -> None:
    object_id = scene.create().object_id
    # The caller belongs to the workspace, so that each call is decided by rules.
    scene.add_rule(DELEGATE, "query")
    scene.bind("actor:reader", "role:reader")
    outcomes: Counter[str] = Counter()
    is_over = threading.Event()

    def hammer(server: int) -> None:
        while not is_over.is_set():
            calls = [scene.reading(object_id, server=server) for _ in range(3)]
            outcomes.update(reasons_of([settled(one) for one in calls]))

    threads = [threading.Thread(target=hammer, args=(server,)) for server in range(3)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(125):
            server = turn % 3
            allowed = scene.add_rule("role:reader", "read", server=server)
            denied = scene.add_rule(DELEGATE, "read", allows=False, server=server)
            scene.remove_rule(allowed, server)
            scene.remove_rule(denied, server)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert set(outcomes) <= {"NO_RULE", "EXPLICIT_DENY", "SERVICE_UNAVAILABLE"}, outcomes
    assert outcomes["NO_RULE"] > 0
    # Every denial that was answered is in the ledger, and nothing else is.
    assert Counter(scene.denials()) == {
        name: count for name, count in outcomes.items() if name != "SERVICE_UNAVAILABLE"
    }


@pytest.mark.case("B05")
def test_what_is_decided_is_kept_by_tenant_and_workspace(fleet: Fleet) -> None:
    """The same names in two tenants, opposite rules; and two workspaces of one tenant with opposite rules."""
    first = Scene(fleet)
    same_name = Scene(fleet, "globex", first.scope_id)
    other = Scene(fleet)
    for scene, may_read in ((first, True), (same_name, False), (other, False)):
        scene.add_rule(DELEGATE, "read", allows=may_read)
        scene.add_rule(DELEGATE, "query", allows=not may_read)
    object_id = "urn:object:1"
    for scene in (first, same_name, other):
        scene.create(object_id=object_id)
    grants = {scene: scene.grant("read", to=MIDDLE) for scene in (first, same_name, other)}
    scenes = list(itertools.islice(itertools.cycle((first, same_name, other)), 150))
    reads = [(scene, scene.reading(object_id, server=index % 3)) for index, scene in enumerate(scenes)]
    for scene, reading in reads:
        assert reasons_of([settled(reading)]) == ["OK" if scene is first else "EXPLICIT_DENY"]
    for scene, delegation_id in grants.items():
        for elsewhere in (first, same_name, other):
            answer = elsewhere.read(object_id, delegation_id, MIDDLE, server=1)
            assert reasons_of([answer]) == ["OK" if elsewhere is scene else "DELEGATION_NOT_EFFECTIVE"]
