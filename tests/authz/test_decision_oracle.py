"""The evaluator against an oracle that knows nothing of indexes, steps or order."""

from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from authz.decision import ABSENT, AccessRequest, Allowed, CoarseReason, Denied, NeedsType, Touched, decide
from authz.delegation import Chain, GrantFacts
from authz.policy import Binding, Enforcer, Rule

HERE = "ws:here"
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


# Each ends a chain; most chains have none, so that most cases come to the rules and restrictions.
FAULTS = (
    {"operations": frozenset({"query"})},
    {"not_before_us": NOW + 1},
    {"not_after_us": NOW - 1},
    {"revoked": True},
    {"usage_limit": 2, "uses": 2},
    {"grantor_id": "actor:other"},
    {"parent_id": "urn:grant:other"},
)


def a_rule(pick: Random) -> tuple[str, str, str, str, str]:
    return (
        pick.choice([*ACTORS, "role:r"]),
        pick.choice(["read", "update", "*"]),
        pick.choice(["*", *TYPES]),
        pick.choice(["*", "*", *IDS]),
        pick.choice(["allow", "allow", "deny"]),
    )


def a_chain(pick: Random) -> Chain:
    made: list[GrantFacts] = []
    for depth in range(pick.choice([1, 1, 2, 3])):
        delegate = pick.choice(["actor:d", "actor:e"])
        fields = {
            "operations": frozenset({"read", "update"}),
            "object_types": pick.choice([None, None, None, frozenset({"task"}), frozenset({"task", "claim"})]),
            "object_ids": pick.choice([None, None, None, frozenset({"urn:x:1", "urn:x:2"})]),
            "not_before_us": pick.choice([0, NOW]),
            "not_after_us": pick.choice([NOW, 100]),
            "usage_limit": pick.choice([None, 2]),
            "uses": pick.choice([0, 1]),
        }
        made.append(below(made[-1], delegate, **fields) if depth else grant(delegate_id=delegate, **fields))
    if pick.random() < 0.2:
        at = pick.randrange(len(made))
        made[at] = replace(made[at], **pick.choice(FAULTS))
    return tuple(made)


def a_case(seed: int):
    """(rules, bindings, chain, actor, action, ignore_uses), each kind about as often as any other."""
    pick = Random(seed)
    rows = [a_rule(pick) for _ in range(pick.randrange(5))]
    chain = a_chain(pick) if pick.random() < 0.75 else None
    delegate = "actor:d" if chain is None else chain[-1].delegate_id
    if pick.random() < 0.75:
        rows.append(("actor:d" if chain is None else "actor:g", pick.choice(["read", "*"]), "*", "*", "allow"))
    pick.shuffle(rows)
    bindings = [Binding(pick.choice(ACTORS), "role:r") for _ in range(pick.randrange(3))]
    actor = "actor:g" if pick.random() < 0.1 else delegate
    return rows, bindings, chain, actor, pick.choice(["read", "read", "update"]), pick.random() < 0.3


cases = st.integers(0, 2**64 - 1).map(a_case)


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


@settings(max_examples=1500, deadline=None)
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
        assert any(isinstance(one, Allowed) for one in known.values())


@settings(max_examples=1500, deadline=None)
@given(case=cases, kind=st.sampled_from(TYPES), object_id=st.none() | st.sampled_from(IDS))
def test_new_objects_are_decided_as_the_oracle_does(case, kind, object_id) -> None:
    oracle, built, asked = prepared(case, touched=(Touched(object_id, kind, new=True),))
    chain, ignore_uses = case[2], case[5]
    decision = decide(asked, built, chain, NOW, ignore_uses=ignore_uses)
    # A server-made id is none that a rule or a list can name.
    assert isinstance(decision, Allowed) == expected(oracle, case, kind, object_id or "urn:uuid:made")


@settings(max_examples=1500, deadline=None)
@given(case=cases, picks=st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(TYPES)), min_size=1, max_size=3))
def test_every_touched_object_must_be_allowed(case, picks) -> None:
    oracle, built, asked = prepared(case, touched=tuple(Touched(object_id, kind) for object_id, kind in picks))
    decision = decide(asked, built, case[2], NOW, ignore_uses=case[5])
    everything = all(expected(oracle, case, kind, object_id) for object_id, kind in picks)
    assert isinstance(decision, Allowed) == everything


@settings(max_examples=1500, deadline=None)
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


@settings(max_examples=1500, deadline=None)
@given(case=cases)
def test_a_call_about_nothing_in_particular_needs_everything(case) -> None:
    _, built, asked = prepared(case, touched=())
    rows, bound, chain, _, _, ignore_uses = case
    decision = decide(asked, built, chain, NOW, ignore_uses=ignore_uses)
    oracle = Oracle([rule for rule in rows if rule[2:4] == ("*", "*")], bound)
    assert isinstance(decision, Allowed) == expected(oracle, case, "*", "*")
