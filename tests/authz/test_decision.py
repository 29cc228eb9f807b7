"""One function decides: against an oracle that knows nothing of indexes, steps or order, and by example."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authz.decision import ABSENT, AccessRequest, Allowed, Denied, NeedsType, Touched, decide
from authz.delegation import Chain, GrantFacts
from authz.errors import MismatchedWorkspace
from authz.policy import Binding, CrossScopeRule, Enforcer, Rule
from authz.reasons import COARSE_OF, CoarseReason, ExactReason

HERE, THERE = "ws:here", "ws:there"
ACTORS = ["actor:g", "actor:d", "actor:e"]
TYPES = ["task", "claim", "note"]
IDS = ["urn:x:1", "urn:x:2", "urn:x:3"]
NOW = 50


def grant(**changes) -> GrantFacts:
    facts = GrantFacts(
        delegation_id="urn:grant:1",
        version_id="urn:version:1",
        sequence=1,
        home_scope_id=HERE,
        grantor_id="actor:g",
        delegate_id="actor:d",
        operations=frozenset({"read"}),
        not_before_us=0,
        not_after_us=100,
    )
    return replace(facts, **changes)


def below(parent: GrantFacts, delegate_id: str, **changes) -> GrantFacts:
    return replace(
        parent,
        delegation_id=parent.delegation_id + "/1",
        version_id=parent.version_id + "/1",
        grantor_id=parent.delegate_id,
        delegate_id=delegate_id,
        parent_id=parent.delegation_id,
        **changes,
    )


def request(actor_id: str = "actor:d", action: str = "read", operation: str | None = "read", **fields) -> AccessRequest:
    fields.setdefault("touched", (Touched("urn:x:1"),))
    return AccessRequest(tenant_id="t", scope_id=HERE, actor_id=actor_id, action=action, operation=operation, **fields)


def enforcer(*rules: tuple[str, str, str, str, str], bindings=(), permits=()) -> Enforcer:
    numbered = [Rule(f"urn:rule:{number}", *rule) for number, rule in enumerate(rules)]
    return Enforcer.build("t", HERE, 1, 1, numbered, bindings, permits)


GRANTOR_READS = ("actor:g", "read", "*", "*", "allow")


# --- the oracle ------------------------------------------------------------------------------------------------------


class Oracle:
    """The meaning of the rules and grants, in loops."""

    def __init__(self, rules: list[tuple[str, str, str, str, str]], bindings: list[Binding]) -> None:
        self.rules, self.bindings = rules, bindings

    def effects(self, actor: str, action: str, kind: str, object_id: str) -> set[str]:
        subjects = {actor} | {bound.role_id for bound in self.bindings if bound.actor_id == actor}
        return {
            effect
            for subject, act, one_kind, one_id, effect in self.rules
            if subject in subjects and act in (action, "*") and one_kind in (kind, "*") and one_id in (object_id, "*")
        }

    def own(self, actor: str, action: str, kind: str, object_id: str) -> bool:
        return self.effects(actor, action, kind, object_id) == {"allow"}

    def by_grant(self, chain: Chain, action: str, kind: str, object_id: str) -> bool:
        within = all(
            (one.object_types is None or kind in one.object_types)
            and (one.object_ids is None or object_id in one.object_ids)
            and "deny" not in self.effects(one.delegate_id, action, kind, object_id)
            for one in chain
        )
        return within and self.own(chain[0].grantor_id, action, kind, object_id)

    @staticmethod
    def standing(chain: Chain, actor: str, operation: str, ignore_uses: bool) -> bool:
        linked = chain[0].parent_id is None and all(
            child.parent_id == parent.delegation_id and child.grantor_id == parent.delegate_id
            for parent, child in pairwise(chain)
        )
        return (
            linked
            and chain[-1].delegate_id == actor
            and all(not one.revoked and one.not_before_us <= NOW <= one.not_after_us for one in chain)
            and all(operation in one.operations for one in chain)
            and (ignore_uses or all(one.usage_limit is None or one.uses < one.usage_limit for one in chain))
        )


def stored_types() -> list[str]:
    return [*TYPES, "com.example.unnamed.type"]


rules = st.lists(
    st.tuples(
        st.sampled_from([*ACTORS, "role:r"]),
        st.sampled_from(["read", "read", "update", "*"]),
        st.sampled_from(["*", "*", *TYPES]),
        st.sampled_from(["*", "*", *IDS]),
        st.sampled_from(["allow", "allow", "allow", "deny"]),
    ),
    max_size=6,
)
bindings = st.lists(st.builds(Binding, st.sampled_from(ACTORS), st.just("role:r")), max_size=2)


def mostly(usual, *rare):
    return st.sampled_from([usual] * 6 + list(rare))


@st.composite
def chains(draw) -> Chain:
    made: list[GrantFacts] = []
    for depth in range(draw(st.integers(1, 3))):
        fields = {
            "operations": draw(mostly(frozenset({"read", "update"}), frozenset({"read"}), frozenset({"query"}))),
            "object_types": draw(mostly(None, frozenset({"task"}), frozenset({"task", "claim"}))),
            "object_ids": draw(mostly(None, frozenset({"urn:x:1"}), frozenset({"urn:x:1", "urn:x:2"}))),
            "not_before_us": draw(mostly(0, NOW, NOW + 1)),
            "not_after_us": draw(mostly(100, NOW, NOW - 1)),
            "revoked": draw(mostly(False, False, True)),
            "usage_limit": draw(mostly(None, 1, 3)),
            "uses": draw(st.sampled_from([0, 0, 1])),
        }
        delegate = draw(st.sampled_from(["actor:d", "actor:d", "actor:e"]))
        if depth == 0:
            made.append(grant(delegate_id=delegate, **fields))
        else:
            made.append(below(made[-1], delegate, **fields))
            if draw(mostly(False, True)):
                made[-1] = replace(made[-1], grantor_id="actor:e", parent_id="urn:grant:other")
    return tuple(made)


cases = st.tuples(
    rules,
    bindings,
    st.none() | chains(),
    st.sampled_from(["actor:d", "actor:d", "actor:g"]),
    st.sampled_from(["read", "read", "update"]),
    st.booleans(),
)


def prepared(case, **fields) -> tuple[Oracle, Enforcer, AccessRequest]:
    rows, bound, _, actor, action, _ = case
    built = enforcer(*rows, bindings=bound)
    return Oracle(rows, bound), built, request(actor, action, action, **fields)


def expected(oracle: Oracle, case, kind: str, object_id: str) -> bool:
    _, _, chain, actor, action, ignore_uses = case
    if chain is None:
        return oracle.own(actor, action, kind, object_id)
    standing = oracle.standing(chain, actor, action, ignore_uses)
    return standing and oracle.by_grant(chain, action, kind, object_id)


def told(decision: Denied) -> tuple[CoarseReason, str | None]:
    return decision.coarse, decision.rule_id


@settings(max_examples=600, deadline=None)
@given(case=cases, object_id=st.sampled_from(IDS))
def test_stored_objects_are_decided_as_the_oracle_does(case, object_id) -> None:
    oracle, built, asked = prepared(case)
    _, _, chain, _, _, ignore_uses = case

    def decided(kind):
        return decide(replace(asked, touched=(Touched(object_id, kind),)), built, chain, NOW, ignore_uses=ignore_uses)

    known = {kind: decided(kind) for kind in stored_types()}
    for kind, decision in known.items():
        assert isinstance(decision, Allowed) == expected(oracle, case, kind, object_id)
    absent, before = decided(ABSENT), decided(None)
    # An absent object is let through to "not found" only where objects of any type would be.
    assert isinstance(absent, Allowed) == all(isinstance(one, Allowed) for one in known.values())
    # Out of bounds and absent cannot be told apart.
    refused = {told(one) for one in [*known.values(), absent] if isinstance(one, Denied)}
    assert len(refused) <= 1
    if isinstance(before, Denied):
        assert {told(before)} == refused
        assert all(isinstance(one, Denied) for one in [*known.values(), absent])
    elif isinstance(before, Allowed):
        assert not refused
    else:
        assert before == NeedsType((object_id,))
        assert isinstance(absent, Denied)


@settings(max_examples=300, deadline=None)
@given(case=cases, kind=st.sampled_from(TYPES), object_id=st.none() | st.sampled_from(IDS))
def test_new_objects_are_decided_as_the_oracle_does(case, kind, object_id) -> None:
    oracle, built, asked = prepared(case, touched=(Touched(object_id, kind, new=True),))
    chain, ignore_uses = case[2], case[5]
    decision = decide(asked, built, chain, NOW, ignore_uses=ignore_uses)
    # A server-made id is none that a rule or a list can name.
    assert isinstance(decision, Allowed) == expected(oracle, case, kind, object_id or "urn:uuid:made")


@settings(max_examples=300, deadline=None)
@given(case=cases, picks=st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(TYPES)), min_size=1, max_size=3))
def test_every_touched_object_must_be_allowed(case, picks) -> None:
    oracle, built, asked = prepared(case, touched=tuple(Touched(object_id, kind) for object_id, kind in picks))
    decision = decide(asked, built, case[2], NOW, ignore_uses=case[5])
    everything = all(expected(oracle, case, kind, object_id) for object_id, kind in picks)
    assert isinstance(decision, Allowed) == everything


@settings(max_examples=300, deadline=None)
@given(case=cases)
def test_filtered_rows_are_those_of_the_oracle(case) -> None:
    oracle, built, asked = prepared(case, touched=(), row_filtered=True)
    decision = decide(asked, built, case[2], NOW, ignore_uses=case[5])
    rows = [(kind, object_id) for kind in stored_types() for object_id in [*IDS, "urn:x:unnamed"]]
    if isinstance(decision, Allowed):
        for row in rows:
            assert decision.admits(*row) == expected(oracle, case, *row)
    else:
        assert isinstance(decision, Denied)
        assert not any(expected(oracle, case, *row) for row in rows)


@settings(max_examples=300, deadline=None)
@given(case=cases)
def test_a_call_about_nothing_in_particular_needs_everything(case) -> None:
    _, built, asked = prepared(case, touched=())
    rows, bound, chain, _, _, ignore_uses = case
    decision = decide(asked, built, chain, NOW, ignore_uses=ignore_uses)
    oracle = Oracle([rule for rule in rows if rule[2:4] == ("*", "*")], bound)
    assert isinstance(decision, Allowed) == expected(oracle, case, "*", "*")


# --- by example ------------------------------------------------------------------------------------------------------


def denied(decision) -> tuple[CoarseReason, ExactReason]:
    assert isinstance(decision, Denied)
    return decision.coarse, decision.exact


def broken() -> Iterator[tuple[str, Chain, ExactReason]]:
    yield "unknown", (), ExactReason.DELEGATION_UNKNOWN
    yield "another delegate", (grant(delegate_id="actor:e"),), ExactReason.DELEGATE_MISMATCH
    yield "another workspace", (grant(home_scope_id=THERE),), ExactReason.SCOPE_MISMATCH
    yield "targets elsewhere", (grant(target_scope_id=THERE),), ExactReason.SCOPE_MISMATCH
    yield (
        "no cross-scope rule",
        (grant(home_scope_id=THERE, target_scope_id=HERE),),
        (ExactReason.CROSS_SCOPE_RULE_MISSING),
    )
    yield "revoked", (grant(revoked=True),), ExactReason.REVOKED
    yield "early", (grant(not_before_us=NOW + 1),), ExactReason.NOT_YET_VALID
    yield "late", (grant(not_after_us=NOW - 1),), ExactReason.EXPIRED
    yield "other operation", (grant(operations=frozenset({"update"})),), ExactReason.OPERATION_NOT_GRANTED
    yield "other id", (grant(object_ids=frozenset({"urn:x:2"})),), ExactReason.OBJECT_NOT_GRANTED
    yield "spent", (grant(usage_limit=1, uses=1),), ExactReason.USAGE_LIMIT_EXHAUSTED
    yield "grantor lost it", (grant(grantor_id="actor:e"),), ExactReason.GRANTOR_LOST_AUTHORITY
    yield "child without its parent", (below(grant(), "actor:d"),), ExactReason.CHAIN_BROKEN
    parent = grant(delegate_id="actor:e")
    for name, changes, exact in [
        ("parent revoked", {"revoked": True}, ExactReason.REVOKED),
        ("parent over", {"not_after_us": NOW - 1}, ExactReason.EXPIRED),
        ("parent spent", {"usage_limit": 1, "uses": 1}, ExactReason.USAGE_LIMIT_EXHAUSTED),
        ("parent narrower", {"operations": frozenset({"query"})}, ExactReason.OPERATION_NOT_GRANTED),
    ]:
        yield name, (replace(parent, **changes), below(parent, "actor:d")), exact


@pytest.mark.parametrize(("chain", "exact"), [pytest.param(*rest, id=name) for name, *rest in broken()])
def test_each_thing_that_ends_a_grant(chain: Chain, exact: ExactReason) -> None:
    # The delegate could do it by itself: naming a grant never falls back on that.
    built = enforcer(GRANTOR_READS, ("actor:d", "read", "*", "*", "allow"))
    assert isinstance(decide(request(), built, None, NOW), Allowed)
    decision = decide(request(), built, chain, NOW)
    assert denied(decision) == (COARSE_OF[exact], exact)


def test_both_ends_of_the_window_are_inside() -> None:
    built = enforcer(GRANTOR_READS)
    chain = (grant(not_before_us=10, not_after_us=20),)
    inside = [now for now in range(5, 25) if isinstance(decide(request(), built, chain, now), Allowed)]
    assert inside == list(range(10, 21))


def test_a_grant_across_workspaces_stands_while_its_rule_does() -> None:
    chain = (grant(home_scope_id=THERE, target_scope_id=HERE),)
    permit = CrossScopeRule("urn:rule:cross", THERE, "delegation")
    assert isinstance(decide(request(), enforcer(GRANTOR_READS, permits=[permit]), chain, NOW), Allowed)
    other = replace(permit, kind="another")
    assert isinstance(decide(request(), enforcer(GRANTOR_READS, permits=[other]), chain, NOW), Denied)


@pytest.mark.case("B03")
def test_a_grantor_that_loses_its_role_ends_child_and_grandchild_and_revives_them() -> None:
    rule = ("role:reader", "read", "*", "*", "allow")
    root = grant(delegate_id="actor:e")
    child = below(root, "actor:f")
    chain = (root, child, below(child, "actor:d"))
    holds = enforcer(rule, bindings=[Binding("actor:g", "role:reader")])
    lost = enforcer(rule)
    assert isinstance(decide(request(), holds, chain, NOW), Allowed)
    for known in (None, "task", ABSENT):
        decision = decide(request(touched=(Touched("urn:x:1", known),)), lost, chain, NOW)
        assert denied(decision) == (CoarseReason.DELEGATION_NOT_EFFECTIVE, ExactReason.GRANTOR_LOST_AUTHORITY)


def test_a_deny_for_any_delegate_of_the_chain_refuses() -> None:
    root = grant(delegate_id="actor:e")
    chain = (root, below(root, "actor:d"))
    leaf = enforcer(GRANTOR_READS, ("actor:d", "read", "*", "urn:x:1", "deny"))
    above = enforcer(GRANTOR_READS, ("actor:e", "read", "*", "urn:x:1", "deny"))
    decision = decide(request(), leaf, chain, NOW)
    assert denied(decision) == (CoarseReason.EXPLICIT_DENY, ExactReason.EXPLICIT_DENY)
    assert decision.rule_id == "urn:rule:1"
    decision = decide(request(), above, chain, NOW)
    assert denied(decision) == (CoarseReason.EXPLICIT_DENY, ExactReason.ANCESTOR_DENIED)
    # The rule is about another actor: it goes to the ledger, not to the caller.
    assert decision.rule_id is None
    assert decision.exact_rule_id == "urn:rule:1"


@pytest.mark.parametrize("action", ["review", "assert_state", "release_hold", "lifecycle.decay", "provenance.read"])
def test_a_grant_never_conveys_a_conditional_action(action: str) -> None:
    built = enforcer(("actor:g", "*", "*", "*", "allow"), ("actor:d", "*", "*", "*", "allow"))
    chain = (grant(operations=frozenset({"read", "update", "transition"})),)
    for operation in ("read", "update", "transition", action, None):
        decision = decide(request(action=action, operation=operation), built, chain, NOW)
        assert denied(decision) == (CoarseReason.OPERATION_NOT_GRANTED, ExactReason.NOT_DELEGABLE)


def test_transition_conveys_each_dimension_the_grantor_still_holds() -> None:
    built = enforcer(("actor:g", "transition.lifecycle", "*", "*", "allow"))
    chain = (grant(operations=frozenset({"transition"})),)
    asked = {
        dimension: request(action=f"transition.{dimension}", operation="transition")
        for dimension in ("lifecycle", "retention")
    }
    moves = {dimension: isinstance(decide(one, built, chain, NOW), Allowed) for dimension, one in asked.items()}
    assert moves == {"lifecycle": True, "retention": False}


def test_events_are_listed_by_a_grant_of_history_and_by_no_other() -> None:
    built = enforcer(("actor:g", "inspect_history", "*", "*", "allow"))
    asked = request(action="ledger.read", operation="inspect_history", touched=(), row_filtered=True)
    chain = (grant(operations=frozenset({"inspect_history"}), object_ids=frozenset({"urn:x:1"})),)
    decision = decide(asked, built, chain, NOW)
    assert isinstance(decision, Allowed)
    assert decision.admits("task", "urn:x:1")
    assert not decision.admits("task", "urn:x:2")
    shut = enforcer(("actor:g", "inspect_history", "*", "*", "allow"), ("actor:d", "ledger.read", "*", "*", "deny"))
    assert denied(decide(asked, shut, chain, NOW))[0] is CoarseReason.EXPLICIT_DENY


def test_lists_fail_closed_on_an_operation_that_touches_nothing() -> None:
    built = enforcer(GRANTOR_READS)
    for field, values, coarse in [
        ("object_ids", {"urn:x:1"}, CoarseReason.OBJECT_NOT_GRANTED),
        ("object_types", {"task"}, CoarseReason.OBJECT_TYPE_NOT_GRANTED),
    ]:
        chain = (grant(**{field: frozenset(values)}),)
        assert denied(decide(request(touched=()), built, chain, NOW))[0] is coarse
        assert denied(decide(request(touched=(Touched(None),)), built, chain, NOW))[0] is coarse
        assert isinstance(decide(request(touched=(), row_filtered=True), built, chain, NOW), Allowed)


def test_a_type_named_by_the_caller_proves_nothing_for_an_object_that_is_there() -> None:
    built = enforcer(GRANTOR_READS)
    chain = (grant(object_types=frozenset({"task"})),)
    assert decide(request(), built, chain, NOW) == NeedsType(("urn:x:1",))
    stored = decide(request(touched=(Touched("urn:x:1", "claim"),)), built, chain, NOW)
    absent = decide(request(touched=(Touched("urn:x:1", ABSENT),)), built, chain, NOW)
    assert denied(stored) == (CoarseReason.OBJECT_TYPE_NOT_GRANTED, ExactReason.OBJECT_TYPE_NOT_GRANTED)
    assert denied(absent) == (CoarseReason.OBJECT_TYPE_NOT_GRANTED, ExactReason.OBJECT_ABSENT)


def test_a_spent_grant_says_so_before_any_type_is_looked_at() -> None:
    built = enforcer(GRANTOR_READS)
    chain = (grant(object_types=frozenset({"task"}), usage_limit=1, uses=1),)
    for known in (None, "task", "claim", ABSENT):
        decision = decide(request(touched=(Touched("urn:x:1", known),)), built, chain, NOW)
        assert denied(decision)[0] is CoarseReason.USAGE_LIMIT_EXHAUSTED


def test_a_replay_is_not_asked_for_uses_but_for_everything_else() -> None:
    built = enforcer(GRANTOR_READS)
    spent = grant(usage_limit=1, uses=1)
    assert isinstance(decide(request(), built, (spent,), NOW, ignore_uses=True), Allowed)
    assert isinstance(decide(request(), built, (replace(spent, revoked=True),), NOW, ignore_uses=True), Denied)


def test_remaining_uses_are_the_least_of_the_chain() -> None:
    built = enforcer(GRANTOR_READS)
    root = grant(delegate_id="actor:e", usage_limit=5, uses=3)
    decision = decide(request(), built, (root, below(root, "actor:d", usage_limit=4, uses=0)), NOW)
    assert isinstance(decision, Allowed)
    assert decision.remaining_uses == 2
    assert decide(request(), built, (grant(),), NOW) == Allowed("urn:rule:0")


def test_a_deny_of_one_type_does_not_tell_that_an_object_of_it_exists() -> None:
    built = enforcer(("actor:d", "read", "*", "*", "allow"), ("actor:d", "read", "claim", "*", "deny"))
    stored = decide(request(touched=(Touched("urn:x:1", "claim"),)), built, None, NOW)
    absent = decide(request(touched=(Touched("urn:x:1", ABSENT),)), built, None, NOW)
    assert isinstance(stored, Denied)
    assert isinstance(absent, Denied)
    assert told(stored) == told(absent) == (CoarseReason.NO_RULE, None)
    assert (stored.exact, stored.exact_rule_id) == (ExactReason.EXPLICIT_DENY, "urn:rule:1")
    assert stored.hides_object
    assert absent.hides_object


def test_a_denial_names_the_object_only_to_who_may_read_it() -> None:
    reads = enforcer(("actor:d", "read", "task", "*", "allow"))
    for known, hides in [("task", False), ("claim", True), (ABSENT, True), (None, True)]:
        decision = decide(request(action="update", touched=(Touched("urn:x:1", known),)), reads, None, NOW)
        assert isinstance(decision, Denied)
        assert decision.hides_object == hides
    nameless = decide(request(action="admin.policy", touched=()), reads, None, NOW)
    assert isinstance(nameless, Denied)
    assert not nameless.hides_object


@pytest.mark.case("B05")
def test_another_workspaces_enforcer_is_never_asked() -> None:
    built = enforcer(GRANTOR_READS)
    for change in ({"tenant_id": "other"}, {"scope_id": THERE}):
        with pytest.raises(MismatchedWorkspace):
            decide(replace(request(), **change), built, None, NOW)
