"""The oracle of subscribers finds what must not be."""

from __future__ import annotations

import pytest

from tests.faults.subscriber_oracle import Oracle, Step

DELIVERABLE = [3, 5, 8, 13]


def judged(*steps: Step) -> set[int]:
    """Where the cursor may be after the steps."""
    oracle = Oracle(DELIVERABLE, {0})
    for step in steps:
        oracle.take(step)
    return oracle.cursors


def test_right_histories_are_right() -> None:
    assert judged(Step("poll", events=(3, 5), most=2), Step("poll", events=(8,), most=9)) == {8}
    assert judged(Step("open"), Step("received", events=(3,)), Step("received", events=(5, 8))) == {0}
    received = (Step("open"), Step("received", events=(3, 5)), Step("acknowledge", sequence=5))
    assert judged(*received, Step("open"), Step("received", events=(8,))) == {5}
    assert judged(*received, Step("reset", sequence=0), Step("poll", events=(3,), most=1)) == {3}
    lost = Step("poll", known=False, most=2)
    for events in ((3, 5), (5, 8), (8,)):
        assert judged(lost, Step("poll", events=events, most=2)) == {events[-1]}


@pytest.mark.parametrize(
    "steps",
    [
        [Step("poll", events=(3,), most=1), Step("poll", events=(3,), most=1)],
        [Step("poll", events=(5,), most=1)],
        [Step("poll", events=(3, 8), most=2)],
        [Step("poll", events=(4,), most=2)],
        [Step("open"), Step("received", events=(3,)), Step("received", events=(8,))],
        [Step("open"), Step("received", events=(5,))],
        [Step("acknowledge", sequence=5), Step("open"), Step("received", events=(5,))],
        [Step("reset", sequence=5), Step("poll", events=(3,), most=1)],
        [Step("poll", known=False, most=1), Step("poll", events=(8,), most=1)],
    ],
)
def test_wrong_histories_are_found(steps: list[Step]) -> None:
    with pytest.raises(AssertionError):
        judged(*steps)
