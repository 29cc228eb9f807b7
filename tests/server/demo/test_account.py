"""The account tells what came as expected from what did not."""

from typing import Any

from server.demo.account import DONE, Account, Act, denied, outcome_of
from server.demo.cast import Answer, Part, Player

EXHAUSTED = denied("USAGE_LIMIT_EXHAUSTED")


def player(role_id: str | None = None) -> Player:
    """A player without a process: nothing is called here."""
    made = Player.__new__(Player)
    made.part = Part("Bo", "shop", "actor:bo", "agent", role_id)
    return made


def answer(number: int, reason: str = "", **response: Any) -> Answer:
    if not reason:
        return Answer(f"demo:{number}", True, response)
    return Answer(f"demo:{number}", False, {}, "PERMISSION_DENIED", "ACCESS_DENIED", {"denial_reason": reason}, "no")


def account() -> Account:
    made = Account(lambda act: None, lambda act: None)
    made.begin("1  An act", "")
    return made


def keep(made: Account, answers: list[Answer], expected: list[Any]) -> None:
    made.keep(player(), "reads", "MemoryService/Read", "workspace:w", answers, expected)


def test_outcomes_are_expected_in_any_order() -> None:
    made = account()
    keep(
        made,
        [answer(1, "USAGE_LIMIT_EXHAUSTED"), answer(2), answer(3, "USAGE_LIMIT_EXHAUSTED")],
        [DONE, *[EXHAUSTED] * 2],
    )
    assert [(line.outcome, line.times, line.operation_ids) for line in made.lines] == [
        (DONE, 1, ("demo:2",)),
        (EXHAUSTED, 2, ("demo:1", "demo:3")),
    ]
    assert made.surprises == []


def test_one_success_too_many_is_a_surprise() -> None:
    made = account()
    keep(made, [answer(1), answer(2)], [DONE, EXHAUSTED])
    assert [(line.outcome, line.expected, line.as_expected) for line in made.lines] == [
        (DONE, DONE, True),
        (DONE, EXHAUSTED, False),
    ]
    assert len(made.surprises) == 1


def test_another_reason_is_a_surprise() -> None:
    made = account()
    keep(made, [answer(1, "NO_RULE")], [EXHAUSTED])
    assert made.surprises == [
        "1  An act: Bo reads: expected access_denied USAGE_LIMIT_EXHAUSTED, seen access_denied NO_RULE (no)"
    ]


def test_a_check_that_fails_is_a_surprise() -> None:
    made = account()
    made.check("entries", [1, 2], [1, 2])
    made.check("verifies", True, False)
    assert made.surprises == ["1  An act: verifies: expected yes, seen no"]


def test_repeats_are_told_apart() -> None:
    made = account()
    keep(made, [answer(1, result={"replayed": True}), answer(2, replayed=True), answer(3, result={})], [DONE] * 3)
    assert [(line.times, line.repeats) for line in made.lines] == [(3, 2)]


def test_the_authority_is_named() -> None:
    made = account()
    for role_id, reason in (("role:auditor", ""), ("role:auditor", "NO_RULE"), (None, "NO_RULE")):
        expected = outcome_of(answer(1, reason))
        made.keep(player(role_id), "reads", "MemoryService/Read", "workspace:w", [answer(1, reason)], [expected])
    assert [line.authority for line in made.lines] == [
        "own rule, role:auditor",
        "no rule, no grant",
        "no rule, no grant",
    ]


def test_acts_are_told_when_they_begin_and_end() -> None:
    told: list[str] = []

    def tell(when: str) -> Any:
        def keep_title(act: Act) -> None:
            told.append(f"{when} {act.title}")

        return keep_title

    made = Account(tell("begin"), tell("end"))
    made.begin("1", "")
    made.begin("2", "")
    made.end()
    made.end()
    assert told == ["begin 1", "end 1", "begin 2", "end 2"]
