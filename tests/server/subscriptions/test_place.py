"""Where a stream stands: what is durable of it is neither lost nor given without authority (Q33, Q37)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from server.subscriptions.place import Place
from tests.server.subscriptions.test_feed import ROW

STEPS = st.lists(st.sampled_from(["sent", "withheld", "other"]), max_size=30)


@given(STEPS, st.integers(0, 30), STEPS)
def test_a_later_stream_gets_what_was_not_acknowledged_and_nothing_that_was_withheld(
    steps: list[str], acknowledged: int, later: list[str]
) -> None:
    place = Place(ROW, counts=True)
    sent, withheld = walked(place, steps, 1)
    if sent:
        acknowledged = min(acknowledged, sent[-1])
        place.acknowledge(acknowledged)
        assert place.unacknowledged_count == len([one for one in sent if one > acknowledged])
    else:
        acknowledged = 0
    cursor, delivered, bounds = place.durable(place.position)
    pairs = tuple(zip(bounds[::2], bounds[1::2], strict=True))
    again = Place(
        replace(ROW, acknowledged_sequence=cursor, delivered_sequence=delivered, withheld=pairs), counts=False
    )
    comes = [one for one in range(cursor + 1, place.position + 1) if not again.is_withheld(one)]
    assert set(comes) >= {one for one in sent if one > acknowledged}
    assert not set(comes) & set(withheld)
    assert delivered == (sent[-1] if sent else 0)
    # What a later stream withholds among them stays withheld beside what was.
    for one in comes:
        again.position = one
        if later and later[one % len(later)] == "withheld":
            again.withhold(one)
            withheld.append(one)
        else:
            again.sent(one)
    assert {one for one in range(cursor + 1, place.position + 1) if again.is_withheld(one)}.isdisjoint(
        set(comes) - set(withheld)
    )
    assert all(again.is_withheld(one) for one in withheld if one > cursor)


def walked(place: Place, steps: list[str], first: int) -> tuple[list[int], list[int]]:
    """Takes the place along; returns what was sent and what was withheld."""
    sent, withheld = [], []
    for sequence, step in enumerate(steps, first):
        place.position = sequence
        if step == "sent":
            place.sent(sequence)
            sent.append(sequence)
        elif step == "withheld":
            place.withhold(sequence)
            withheld.append(sequence)
    return sent, withheld
