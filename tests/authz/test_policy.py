"""The compiled enforcer says what Casbin says, whatever the rules and their order."""

import asyncio

import casbin
import pytest
from casbin.model import Model
from hypothesis import given, settings
from hypothesis import strategies as st

from authz.errors import InvalidFacts
from authz.policy import Binding, CrossScopeRule, Enforcer, Rule, casbin_enforcer
from authz.reach import Extent, Reach, widest

ACTORS = ["actor:a", "actor:b", "actor:A", "actor:role:r"]
ROLES = ["role:r", "role:s", "role:actor:a"]
ACTIONS = ["read", "update", "delegation.read"]
TYPES = ["task", "claim", "com.example.task"]
IDS = ["urn:x:1", "urn:x:2", "urn:X:1"]
STRANGERS = ["actor:stranger", "role:r", "role:s", "a", "", "actor:a ", "*"]

facts = st.tuples(
    st.sampled_from(ACTORS + ROLES),
    st.sampled_from([*ACTIONS, "*"]),
    st.sampled_from([*TYPES, "*"]),
    st.sampled_from([*IDS, "*"]),
    st.sampled_from(["allow", "allow", "deny"]),
)
rule_sets = st.lists(facts, max_size=12)
binding_sets = st.lists(st.builds(Binding, st.sampled_from(ACTORS), st.sampled_from(ROLES)), max_size=6)
requests = st.tuples(
    st.sampled_from(ACTORS + STRANGERS),
    st.sampled_from([*ACTIONS, "never", "*"]),
    st.sampled_from([*TYPES, "never", "*"]),
    st.sampled_from([*IDS, "urn:x:never", "*"]),
)


def numbered(rows: list[tuple[str, str, str, str, str]]) -> list[Rule]:
    return [Rule(f"urn:rule:{number:03}", *row) for number, row in enumerate(rows)]


def built(rules: list[Rule], bindings: list[Binding] | None = None) -> Enforcer:
    return Enforcer.build("t", "ws:1", 1, 1, rules, bindings or [], [])


def rule(subject: str, action: str = "read", kind: str = "*", object_id: str = "*", effect: str = "allow") -> Rule:
    name = f"rule:{subject}/{action}/{kind}/{object_id}/{effect}".replace("*", "any")
    return Rule(name, subject, action, kind, object_id, effect)


@pytest.mark.case("B08")
@settings(max_examples=300, deadline=None)
@given(rows=rule_sets, bindings=binding_sets, asked=st.lists(requests, min_size=1, max_size=12), data=st.data())
def test_the_compiled_enforcer_equals_casbin_in_any_order(rows, bindings, asked, data) -> None:
    rules = numbered(rows)
    ours = built(rules, bindings)
    shuffled = built(data.draw(st.permutations(rules)), data.draw(st.permutations(bindings)))
    reference = casbin_enforcer(data.draw(st.permutations(rules)), bindings)
    for request in asked:
        verdict = ours.check(*request)
        assert verdict.allowed == reference.enforce(*request), request
        assert verdict == shuffled.check(*request) == ours.check(*request)
        if verdict.allowed:
            assert verdict.rule_id is not None
        assert (ours.denies(*request) is not None) == verdict.explicit_deny


@settings(max_examples=300, deadline=None)
@given(rows=rule_sets, bindings=binding_sets, asked=requests)
def test_reaches_agree_with_single_checks(rows, bindings, asked) -> None:
    enforcer = built(numbered(rows), bindings)
    actor, action, kind, object_id = asked
    allowed = enforcer.check(*asked).allowed
    assert enforcer.reach(actor, action).admits(kind, object_id) == allowed
    types = enforcer.type_reach(actor, action, object_id)
    if kind != "*":
        assert types.admits(kind) == allowed
    possible = [one for one in [*TYPES, "never"] if enforcer.check(actor, action, one, object_id).allowed]
    expected = Extent.NONE if not possible else Extent.ALL if len(possible) == len(TYPES) + 1 else Extent.SOME
    assert types.extent is expected
    some = any(enforcer.check(actor, action, k, i).allowed for k in [*TYPES, "nv"] for i in [*IDS, "urn:x:nv"])
    assert enforcer.reach(actor, action).empty == (not some)
    assert (action in enforcer.actions_of(actor)) == (action in ACTIONS and some)


@given(pairs=st.sets(st.tuples(st.sampled_from([*TYPES, "*"]), st.sampled_from([*IDS, "*"]))))
def test_dropping_included_pairs_changes_no_filter(pairs) -> None:
    whole, short = Reach(frozenset(pairs), frozenset()), Reach(widest(pairs), frozenset())
    for kind in [*TYPES, "never"]:
        for object_id in [*IDS, "urn:x:never"]:
            assert whole.admits(kind, object_id) == short.admits(kind, object_id)


@pytest.mark.case("B15")
@pytest.mark.parametrize("request_", [("actor:a", "read", "task", "urn:x:1"), ("", "", "", ""), ("*", "*", "*", "*")])
def test_an_empty_rule_set_denies(request_) -> None:
    assert built([]).check(*request_) == (False, None, False)
    assert not casbin_enforcer([], []).enforce(*request_)


def test_a_deny_only_effect_would_allow_on_no_rules() -> None:
    """The trap the model's effect avoids: what is not denied is not thereby allowed."""
    model = Model()
    model.load_model_from_text(
        "[request_definition]\nr = sub, act\n[policy_definition]\np = sub, act, eft\n"
        "[policy_effect]\ne = !some(where (p.eft == deny))\n[matchers]\nm = r.sub == p.sub && r.act == p.act\n"
    )
    assert casbin.Enforcer(model).enforce("actor:stranger", "read")
    assert not built([rule("actor:a", effect="deny")]).check("actor:stranger", "read", "task", "urn:x:1").allowed


def test_a_deny_overrides_an_allow_of_any_width() -> None:
    enforcer = built([rule("actor:a", kind="task", object_id="urn:x:1"), rule("role:r", "*", effect="deny")], [])
    assert enforcer.check("actor:a", "read", "task", "urn:x:1").allowed
    bound = built([rule("actor:a"), rule("role:r", "*", effect="deny")], [Binding("actor:a", "role:r")])
    verdict = bound.check("actor:a", "read", "task", "urn:x:1")
    assert verdict.explicit_deny
    assert verdict.rule_id == "rule:role:r/any/any/any/deny"


def test_a_user_named_like_a_role_is_not_one() -> None:
    """Casbin's g() holds for equal names: the guard in the model, and ours, is what keeps a role's name from acting."""
    rules = [rule("role:owner", "*")]
    plain = casbin_enforcer(rules, [])
    for name in ("role:owner", "owner", "actor:role:owner", "ROLE:OWNER"):
        assert not plain.enforce(name, "read", "task", "urn:x:1")
        assert not built(rules).check(name, "read", "task", "urn:x:1").allowed
    assert built(rules, [Binding("actor:role:owner", "role:owner")]).check("actor:role:owner", "read", "*", "*").allowed


@pytest.mark.parametrize("name", ["urn:x:1", "urn:x:12", "xurn:x:1", "urn:x:.*", ".*", "urn:x:1\n"])
def test_names_match_whole_and_literally_never_as_patterns(name: str) -> None:
    """regexMatch is unanchored; here a dot is a dot and a prefix is another name."""
    enforcer = built([rule("actor:a", object_id="urn:x:1"), rule("actor:a", "update", object_id="urn:x:.*")])
    assert enforcer.check("actor:a", "read", "task", name).allowed == (name == "urn:x:1")
    assert enforcer.check("actor:a", "update", "task", name).allowed == (name == "urn:x:.*")


@pytest.mark.case("B06")
def test_ids_compare_byte_for_byte() -> None:
    enforcer = built([rule("actor:A", kind="task", object_id="urn:x:A")])
    assert enforcer.check("actor:A", "read", "task", "urn:x:A").allowed
    for actor, kind, object_id in [
        ("actor:a", "task", "urn:x:A"),
        ("actor:A", "Task", "urn:x:A"),
        ("actor:A", "task", "urn:x:a"),
    ]:
        assert not enforcer.check(actor, "read", kind, object_id).allowed


def test_a_request_for_everything_is_met_by_rules_for_everything_only() -> None:
    enforcer = built([rule("actor:a", kind="task"), rule("actor:a", object_id="urn:x:1"), rule("actor:b")])
    assert not enforcer.check("actor:a", "read", "*", "*").allowed
    assert enforcer.check("actor:a", "read", "task", "*").allowed
    assert enforcer.check("actor:b", "read", "*", "*").allowed


@pytest.mark.case("B07")
def test_near_duplicates_and_repeated_facts_each_count_alone() -> None:
    twice = [Rule("r:2", "actor:a", "read", "task", "*", "allow"), Rule("r:1", "actor:a", "read", "task", "*", "allow")]
    near = Rule("r:3", "actor:a", "read", "task", "urn:x:1", "allow")
    assert built([*twice, near]).check("actor:a", "read", "task", "urn:x:9").rule_id == "r:1"
    assert built([twice[0], near]).check("actor:a", "read", "task", "urn:x:9").rule_id == "r:2"
    assert not built([near]).check("actor:a", "read", "task", "urn:x:9").allowed
    assert built([near]).check("actor:a", "read", "task", "urn:x:1").allowed


def test_removing_a_rule_in_memory_cannot_reach_an_enforcer_that_decides() -> None:
    """Casbin changes its memory before any store: ours is built from a snapshot and has nothing to change."""
    rules = [rule("actor:a")]
    enforcer = built(rules)
    rules.clear()
    assert enforcer.check("actor:a", "read", "task", "urn:x:1").allowed
    reference = casbin_enforcer([rule("actor:a")], [])
    assert isinstance(reference, casbin.Enforcer)
    assert reference.adapter is None
    assert reference.watcher is None
    assert not reference.auto_save


@pytest.mark.case("B14")
async def test_a_reload_admits_no_stranger_in_between() -> None:
    """A new enforcer is built aside and swapped in whole; loading in place would clear the live rules first."""
    live = built([rule("actor:a"), rule("actor:b", effect="deny")])
    admitted = []

    async def hammer() -> None:
        while not done:
            admitted.append(live.check("actor:b", "read", "task", "urn:x:1").allowed)
            await asyncio.sleep(0)

    done = False
    task = asyncio.create_task(hammer())
    for number in range(500):
        live = built([rule("actor:a", object_id=f"urn:x:{number}"), rule("actor:b", effect="deny")])
        await asyncio.sleep(0)
    done = True
    await task
    assert len(admitted) >= 500
    assert not any(admitted)


@pytest.mark.case("B05")
def test_each_workspace_of_each_tenant_has_rules_of_its_own() -> None:
    one = Enforcer.build("t1", "ws:1", 1, 1, [rule("actor:a")], [], [])
    two = Enforcer.build("t2", "ws:1", 1, 1, [rule("actor:a", effect="deny")], [], [])
    for _ in range(3):
        assert one.check("actor:a", "read", "task", "urn:x:1").allowed
        assert not two.check("actor:a", "read", "task", "urn:x:1").allowed


def test_members_are_actors_with_a_rule_or_a_role() -> None:
    rules = [rule("actor:a"), rule("actor:d", effect="deny"), rule("role:r")]
    enforcer = built(rules, [Binding("actor:b", "role:empty")])
    assert enforcer.members == {"actor:a", "actor:b", "actor:d"}


def test_a_role_of_a_role_is_refused_as_are_other_malformed_facts() -> None:
    for rules, bindings in [
        ([], [Binding("role:r", "role:s")]),
        ([], [Binding("actor:a", "actor:b")]),
        ([rule("somebody")], []),
        ([rule("actor:a", effect="permit")], []),
        ([rule("actor:a", kind="")], []),
        ([rule("actor:a"), rule("actor:a")], []),
    ]:
        with pytest.raises(InvalidFacts):
            built(rules, bindings)


def test_cross_scope_rules_name_source_and_kind() -> None:
    permits = [CrossScopeRule("r:2", "ws:2", "delegation"), CrossScopeRule("r:1", "ws:2", "delegation")]
    enforcer = Enforcer.build("t", "ws:1", 1, 1, [], [], permits)
    assert enforcer.permits_cross_scope("ws:2", "delegation")
    assert enforcer.cross_scope_rule("ws:2", "delegation") == "r:1"
    assert not enforcer.permits_cross_scope("ws:2", "relation")
    assert not enforcer.permits_cross_scope("ws:1", "delegation")


def test_the_memo_grows_with_the_rules_not_with_what_is_asked() -> None:
    enforcer = built([rule("actor:a", kind="task", object_id="urn:x:1")])
    for number in range(1_000):
        enforcer.check("actor:a", "read", f"type{number}", f"urn:y:{number}")
        enforcer.check(f"actor:{number}", "read", "task", "urn:x:1")
        enforcer.type_reach("actor:a", "read", f"urn:y:{number}")
    assert len(enforcer._verdict_memo) + len(enforcer._type_memo) == 2


def test_ids_with_commas_are_one_field() -> None:
    """Casbin's text loader splits on commas; ours never makes text of a rule."""
    odd = Rule("r:1", "actor:a", "read", "task", 'urn:x:1, "allow', "deny")
    assert casbin_enforcer([odd, rule("actor:a")], []).enforce("actor:a", "read", "task", "urn:x:1")
    assert built([odd, rule("actor:a")]).check("actor:a", "read", "task", 'urn:x:1, "allow').explicit_deny
