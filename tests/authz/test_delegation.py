"""What a sub-grant may be, and what a grantor must hold."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authz.decision import Denied
from authz.delegation import (
    GrantFacts,
    MissingAuthority,
    chain_remaining_uses,
    denied_delegating,
    grant_authority,
    missing_over,
    narrowing_violation,
)
from authz.policy import CrossScopeRule, Enforcer, Rule
from authz.reasons import ExactReason
from authz.standing import decide_redelegation, ineffective_reason

PARENT = GrantFacts(
    delegation_id="urn:grant:1",
    version_id="urn:version:1",
    sequence=1,
    home_scope_id="ws:1",
    grantor_id="actor:g",
    delegate_id="actor:d",
    operations=frozenset({"read", "update"}),
    object_types=frozenset({"task", "claim"}),
    object_ids=frozenset({"urn:x:1", "urn:x:2"}),
    not_before_us=10,
    not_after_us=20,
    usage_limit=10,
    uses=4,
    max_redelegations=2,
)
CHILD = replace(
    PARENT,
    delegation_id="urn:grant:2",
    grantor_id="actor:d",
    delegate_id="actor:e",
    parent_id="urn:grant:1",
    usage_limit=6,
    uses=0,
    max_redelegations=1,
)


def enforcer(*rules: tuple[str, str, str, str, str], scope_id: str = "ws:1", permits=()) -> Enforcer:
    numbered = [Rule(f"urn:rule:{number}", *rule) for number, rule in enumerate(rules)]
    return Enforcer.build("t", scope_id, 1, 1, numbered, [], permits)


def test_an_equal_child_one_level_lower_only_narrows() -> None:
    assert narrowing_violation(CHILD, PARENT, 6) is None


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("scope_id", {"home_scope_id": "ws:2"}),
        ("target_scope_id", {"target_scope_id": "ws:2"}),
        ("parent_delegation_id", {"parent_id": None}),
        ("granting_actor", {"grantor_id": "actor:e"}),
        ("max_redelegations", {"max_redelegations": 2}),
        ("max_redelegations", {"max_redelegations": -1}),
        ("granted_operations", {"operations": frozenset({"read", "delete"})}),
        ("granted_object_types", {"object_types": None}),
        ("granted_object_types", {"object_types": frozenset({"task", "note"})}),
        ("granted_object_ids", {"object_ids": None}),
        ("granted_object_ids", {"object_ids": frozenset({"urn:x:3"})}),
        ("not_before", {"not_before_us": 9}),
        ("not_after", {"not_after_us": 21}),
        ("usage_limit", {"usage_limit": 7}),
        ("usage_limit", {"usage_limit": None}),
    ],
)
def test_each_widening_names_its_field(field: str, changes) -> None:
    assert narrowing_violation(replace(CHILD, **changes), PARENT, 6) == field


def test_an_unrestricted_parent_may_be_restricted_in_any_way() -> None:
    parent = replace(PARENT, object_types=None, object_ids=None, usage_limit=None)
    assert narrowing_violation(CHILD, parent, None) is None
    assert narrowing_violation(replace(CHILD, usage_limit=None), parent, None) is None


@pytest.mark.case("B13")
def test_redelegation_is_off_unless_the_parent_allows_it_and_ends_at_the_cap() -> None:
    off = replace(PARENT, max_redelegations=0)
    assert narrowing_violation(replace(CHILD, max_redelegations=0), off, 6) == "max_redelegations"
    assert narrowing_violation(replace(CHILD, max_redelegations=8), replace(PARENT, max_redelegations=9), 6) is not None
    levels, parent = 0, replace(PARENT, max_redelegations=8)
    while True:
        child = replace(
            parent,
            delegation_id=f"{parent.delegation_id}/1",
            parent_id=parent.delegation_id,
            grantor_id=parent.delegate_id,
            max_redelegations=max(0, parent.max_redelegations - 1),
        )
        if narrowing_violation(child, parent, parent.usage_limit) is not None:
            break
        levels, parent = levels + 1, child
    assert levels == 8


restrictions = st.none() | st.frozensets(st.sampled_from(["a", "b", "c"]), min_size=1)


@given(child=restrictions, parent=restrictions, rows=st.lists(st.sampled_from(["a", "b", "c", "d"])))
def test_narrowing_means_that_no_row_is_gained(child, parent, rows) -> None:
    narrowed = narrowing_violation(replace(CHILD, object_types=child), replace(PARENT, object_types=parent), 6) is None
    universe = {"a", "b", "c", "d"}
    assert narrowed == ((universe if child is None else child) <= (universe if parent is None else parent))


def test_uses_left_count_every_ancestor() -> None:
    assert chain_remaining_uses((PARENT, CHILD)) == 6
    assert chain_remaining_uses((replace(PARENT, uses=12), CHILD)) == 0
    assert chain_remaining_uses((replace(PARENT, usage_limit=None), replace(CHILD, usage_limit=None))) is None


# --- what the grantor must hold --------------------------------------------------------------------------------------

TYPES, IDS = ["task", "claim"], ["urn:x:1", "urn:x:2", "urn:x:3"]
rule_sets = st.lists(
    st.tuples(
        st.just("actor:g"),
        st.sampled_from(["read", "*"]),
        st.sampled_from([*TYPES, "*"]),
        st.sampled_from([*IDS, "*"]),
        st.sampled_from(["allow", "allow", "allow", "deny"]),
    ),
    max_size=7,
)


@settings(max_examples=400, deadline=None)
@given(
    rules=rule_sets,
    types=st.none() | st.frozensets(st.sampled_from(TYPES), min_size=1),
    ids=st.none() | st.frozensets(st.sampled_from(IDS), min_size=1),
)
def test_a_grantor_holds_what_it_holds_on_every_pair(rules, types, ids) -> None:
    built = enforcer(*rules)
    pairs = [(kind, object_id) for kind in types or ["*"] for object_id in ids or ["*"]]
    missing = missing_over(built, "actor:g", "read", types, ids)
    assert (missing is None) == all(built.check("actor:g", "read", *pair).allowed for pair in pairs)
    if missing is not None:
        assert (missing.object_type, missing.object_id) in pairs
        assert not built.check("actor:g", "read", missing.object_type, missing.object_id).allowed


def test_unrestricted_needs_everything() -> None:
    built = enforcer(("actor:g", "read", "task", "*", "allow"))
    assert grant_authority(built, "actor:g", ["read"], frozenset({"task"}), None) is None
    assert grant_authority(built, "actor:g", ["read"], None, None) == MissingAuthority("read", "read", "*", "*", None)


def test_transition_needs_all_four_dimensions() -> None:
    three = [
        ("actor:g", f"transition.{name}", "*", "*", "allow") for name in ("lifecycle", "availability", "retention")
    ]
    missing = grant_authority(enforcer(*three), "actor:g", ["transition"], None, None)
    assert missing is not None
    assert (missing.operation, missing.action) == ("transition", "transition.validation")
    four = [*three, ("actor:g", "transition.validation", "*", "*", "allow")]
    assert grant_authority(enforcer(*four), "actor:g", ["transition"], None, None) is None


@pytest.mark.parametrize("operation", ["obliterate_universe", "review", "delegate", "transition.lifecycle", "*"])
def test_what_is_no_operation_is_held_by_nobody(operation: str) -> None:
    built = enforcer(("actor:g", "*", "*", "*", "allow"))
    assert grant_authority(built, "actor:g", [operation], None, None) is not None


def test_an_explicit_deny_names_its_rule() -> None:
    built = enforcer(("actor:g", "read", "*", "*", "allow"), ("actor:g", "read", "task", "*", "deny"))
    missing = grant_authority(built, "actor:g", ["read"], frozenset({"task", "claim"}), None)
    assert missing == MissingAuthority("read", "read", "task", "*", "urn:rule:1")


# --- how a grant stands ----------------------------------------------------------------------------------------------

HOLDS = (("actor:g", "read", "*", "*", "allow"), ("actor:g", "update", "*", "*", "allow"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"revoked": True}, ExactReason.REVOKED),
        ({"not_before_us": 16}, ExactReason.NOT_YET_VALID),
        ({"not_after_us": 14}, ExactReason.EXPIRED),
        ({"uses": 10}, ExactReason.USAGE_LIMIT_EXHAUSTED),
    ],
)
def test_a_childs_standing_follows_its_parent(changes, reason) -> None:
    assert ineffective_reason(enforcer(*HOLDS), (replace(PARENT, **changes), CHILD), 15) == reason


def test_a_grant_stands_while_one_of_its_operations_does() -> None:
    assert ineffective_reason(enforcer(HOLDS[0]), (PARENT,), 15) is None
    assert ineffective_reason(enforcer(), (PARENT,), 15) is ExactReason.GRANTOR_LOST_AUTHORITY
    denied = enforcer(*HOLDS, ("actor:d", "*", "*", "*", "deny"))
    assert ineffective_reason(denied, (PARENT,), 15) is ExactReason.EXPLICIT_DENY
    assert ineffective_reason(enforcer(*HOLDS), (), 15) is ExactReason.DELEGATION_UNKNOWN


def redelegation(built: Enforcer, actor_id: str = "actor:d", now_us: int = 15, effective=None, **changes):
    return decide_redelegation(
        actor_id=actor_id,
        operations=frozenset({"read"}),
        object_types=frozenset({"task"}),
        object_ids=frozenset({"urn:x:1"}),
        home=built,
        effective=effective or built,
        chain=(replace(PARENT, **changes),),
        now_us=now_us,
    )


def test_the_delegate_of_an_effective_parent_needs_no_other_right() -> None:
    assert not isinstance(redelegation(enforcer(*HOLDS)), Denied)


@pytest.mark.parametrize(
    ("fields", "exact"),
    [
        ({"actor_id": "actor:g"}, ExactReason.DELEGATE_MISMATCH),
        ({"revoked": True}, ExactReason.REVOKED),
        ({"now_us": 21}, ExactReason.EXPIRED),
        ({"uses": 10}, ExactReason.USAGE_LIMIT_EXHAUSTED),
        ({"grantor_id": "actor:x"}, ExactReason.GRANTOR_LOST_AUTHORITY),
        ({"home_scope_id": "ws:2"}, ExactReason.DELEGATION_UNKNOWN),
    ],
)
def test_a_parent_that_is_not_effective_passes_nothing_on(fields, exact) -> None:
    decision = redelegation(enforcer(*HOLDS), **fields)
    assert isinstance(decision, Denied)
    assert decision.exact is exact


@pytest.mark.parametrize(
    ("deny", "refused"),
    [
        (("delegate", "*", "*"), True),
        (("*", "*", "*"), True),
        (("delegate", "task", "*"), True),
        (("delegate", "claim", "*"), False),
        (("delegate", "*", "urn:x:1"), True),
        (("delegate", "*", "urn:x:2"), False),
        (("read", "*", "*"), False),
    ],
)
def test_an_explicit_deny_of_delegate_refuses_what_it_touches(deny, refused: bool) -> None:
    built = enforcer(*HOLDS, ("actor:d", *deny, "deny"))
    assert denied_delegating(built, "actor:d", frozenset({"task"}), frozenset({"urn:x:1"})) == refused
    assert isinstance(redelegation(built), Denied) == refused


def test_what_is_exercised_elsewhere_is_held_there() -> None:
    permits = [CrossScopeRule("urn:rule:cross", "ws:1", "delegation")]
    there = enforcer(*HOLDS, scope_id="ws:2", permits=permits)
    here = enforcer()
    assert not isinstance(redelegation(here, effective=there, target_scope_id="ws:2"), Denied)
    unpermitted = redelegation(here, effective=enforcer(*HOLDS, scope_id="ws:2"), target_scope_id="ws:2")
    assert isinstance(unpermitted, Denied)
    assert unpermitted.exact is ExactReason.CROSS_SCOPE_RULE_MISSING
