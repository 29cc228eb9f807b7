"""An explanation is the decision, laid open as far as the asker may see."""

from dataclasses import replace

import pytest

from authz.decision import ABSENT, AccessRequest, Allowed, Denied, Touched, decide
from authz.delegation import GrantFacts
from authz.explain import explain
from authz.policy import Enforcer, Rule

ROOT = GrantFacts(
    delegation_id="urn:grant:1",
    version_id="urn:version:1",
    sequence=1,
    home_scope_id="ws:1",
    grantor_id="actor:g",
    delegate_id="actor:e",
    operations=frozenset({"read"}),
    not_before_us=0,
    not_after_us=100,
)
LEAF = replace(
    ROOT,
    delegation_id="urn:grant:2",
    version_id="urn:version:2",
    grantor_id="actor:e",
    delegate_id="actor:d",
    parent_id="urn:grant:1",
    object_types=frozenset({"task"}),
    usage_limit=1,
)
READ = AccessRequest(
    tenant_id="t",
    scope_id="ws:1",
    actor_id="actor:d",
    action="read",
    operation="read",
    touched=(Touched("urn:x:1"),),
)


def enforcer(*rules: Rule) -> Enforcer:
    return Enforcer.build(
        "t", "ws:1", 7, 7, rules or [Rule("urn:rule:g", "actor:g", "read", "*", "*", "allow")], [], []
    )


def stored(known) -> AccessRequest:
    return replace(READ, touched=(Touched("urn:x:1", known),))


@pytest.mark.parametrize("chain", [None, (), (ROOT, LEAF), (replace(ROOT, revoked=True), LEAF)])
@pytest.mark.parametrize("known", [None, "task", "claim", ABSENT])
@pytest.mark.parametrize("exact", [True, False])
def test_the_decision_is_the_one_that_decide_gives(chain, known, exact: bool) -> None:
    explained = explain(stored(known), enforcer(), chain, 50, exact=exact)
    assert explained.decision == decide(stored(known), enforcer(), chain, 50)


def test_every_hop_is_judged_and_the_failing_one_is_named() -> None:
    explained = explain(stored("task"), enforcer(), (replace(ROOT, revoked=True), replace(LEAF, uses=1)), 50)
    failed = [(one.step, one.reason, one.delegation_id, one.version_id) for one in explained.steps if not one.passed]
    assert failed == [
        ("revocation", "REVOKED", "urn:grant:1", "urn:version:1"),
        ("uses", "USAGE_LIMIT_EXHAUSTED", "urn:grant:2", "urn:version:2"),
    ]
    assert isinstance(explained.decision, Denied)
    assert explained.decision.exact == "REVOKED"
    assert {one.step for one in explained.steps} >= {
        "grant",
        "scope",
        "delegate",
        "window",
        "operation",
        "grantor",
        "deny",
    }


def test_an_allowance_names_the_rule_that_gave_it() -> None:
    explained = explain(stored("task"), enforcer(), (ROOT, LEAF), 50)
    assert isinstance(explained.decision, Allowed)
    assert all(one.passed for one in explained.steps)
    assert [one.rule_id for one in explained.steps if one.step == "grantor"] == ["urn:rule:g"]


def test_an_unknown_type_is_shown_as_undecided() -> None:
    explained = explain(READ, enforcer(), (ROOT, LEAF), 50)
    assert [(one.step, one.passed) for one in explained.steps if not one.passed] == [("stored_type", None)]


def test_an_actor_asking_about_itself_cannot_tell_absent_from_out_of_bounds() -> None:
    chain = (ROOT, LEAF)
    told = [explain(stored(known), enforcer(), chain, 50, exact=False).steps for known in ("claim", ABSENT)]
    assert told[0] == told[1]
    # Nor, once something else refuses, whether there is an object within its bounds.
    spent = (ROOT, replace(LEAF, uses=1))
    told = [explain(stored(known), enforcer(), spent, 50, exact=False).steps for known in ("task", "claim", ABSENT)]
    assert told[0] == told[1] == told[2]


def test_an_actor_asking_about_itself_sees_no_grant_above_its_own_and_no_rule_of_others() -> None:
    rules = [
        Rule("urn:rule:g", "actor:g", "read", "*", "*", "allow"),
        Rule("urn:rule:e", "actor:e", "read", "*", "*", "deny"),
        Rule("urn:rule:d", "actor:d", "read", "*", "*", "deny"),
    ]
    explained = explain(stored("task"), enforcer(*rules), (ROOT, LEAF), 50, exact=False)
    assert {one.delegation_id for one in explained.steps} == {None, "urn:grant:2"}
    assert {one.rule_id for one in explained.steps} == {None, "urn:rule:d"}
