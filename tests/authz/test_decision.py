"""One function decides, by example."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from authz.decision import ABSENT, AccessRequest, Allowed, Denied, NeedsType, Touched, decide
from authz.delegation import Chain, GrantFacts
from authz.errors import MismatchedWorkspace
from authz.policy import Binding, CrossScopeRule, Enforcer, Rule
from authz.reasons import COARSE_OF, CoarseReason, ExactReason

HERE, THERE = "ws:here", "ws:there"
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


def told(decision: Denied) -> tuple[CoarseReason, str | None]:
    return decision.coarse, decision.rule_id


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
