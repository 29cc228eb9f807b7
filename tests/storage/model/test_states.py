"""The table of states and moves (P-9.5-*, Q07, Q08, Q13)."""

import re

import pytest

from storage.model.states import (
    CONDITIONS,
    OBJECT_TYPES,
    STATES,
    Dimension,
    MissingRight,
    check_constraint_sql,
    condition_of,
    default_states,
    is_legal,
    moves,
    moves_check_sql,
    parse_state,
)


def test_table_has_43_of_66_ordered_pairs_and_no_self_edge() -> None:
    pairs = [(d, a, b) for d in Dimension for a in STATES[d] for b in STATES[d]]
    distinct = [pair for pair in pairs if pair[1] != pair[2]]
    legal = [pair for pair in pairs if is_legal(*pair)]
    assert len(distinct) == 66
    assert len(legal) == 43
    assert len(pairs) - len(distinct) == 18
    assert all(a != b for _, a, b in legal)
    assert [(d, a, b) for d, a, b, _ in moves()] == sorted(legal, key=[(d, a, b) for d, a, b, _ in moves()].index)


def test_every_condition_is_on_a_legal_move() -> None:
    assert len(CONDITIONS) == 9
    assert all(is_legal(*edge) for edge in CONDITIONS)
    assert sum(1 for *_, condition in moves() if condition is not None) == 9


@pytest.mark.parametrize(
    ("dimension", "from_state", "to_state", "action", "refusal"),
    [
        (Dimension.LIFECYCLE, "candidate", "active", "activate", MissingRight.ACCESS_DENIED),
        (Dimension.LIFECYCLE, "deprecated", "active", "review", MissingRight.POLICY_DENIED),
        (Dimension.LIFECYCLE, "archived", "active", "transition_override", MissingRight.POLICY_DENIED),
        (Dimension.VALIDATION, "corroborated", "unverified", None, MissingRight.POLICY_DENIED),
        (Dimension.VALIDATION, "rejected", "corroborated", "review", MissingRight.POLICY_DENIED),
        (Dimension.AVAILABILITY, "redacted", "available", "restore", MissingRight.POLICY_DENIED),
        (Dimension.RETENTION, "legal_hold", "retained", "release_hold", MissingRight.LEGAL_HOLD),
        (Dimension.RETENTION, "legal_hold", "expired", "release_hold", MissingRight.LEGAL_HOLD),
        (Dimension.RETENTION, "legal_hold", "pending_deletion", "release_hold", MissingRight.LEGAL_HOLD),
    ],
)
def test_conditional_moves(
    dimension: Dimension, from_state: str, to_state: str, action: str | None, refusal: MissingRight
) -> None:
    condition = condition_of(dimension, from_state, to_state)
    assert condition is not None
    assert (condition.action, condition.refusal) == (action, refusal)
    assert condition.new_provenance is (action is None)


def test_unconditional_and_unknown_moves_have_no_condition() -> None:
    assert condition_of(Dimension.LIFECYCLE, "active", "archived") is None
    assert condition_of(Dimension.RETENTION, "redacted", "available") is None
    assert not is_legal(Dimension.RETENTION, "redacted", "available")


def test_defaults() -> None:
    assert default_states("claim").lifecycle == "active"
    assert default_states("working_memory").lifecycle == "scratch"
    for object_type in OBJECT_TYPES:
        states = default_states(object_type)
        assert (states.availability, states.retention, states.validation) == ("available", "retained", "unverified")


def test_states_of_another_dimension_are_unknown() -> None:
    assert parse_state(Dimension.LIFECYCLE, "redacted") is None
    assert parse_state(Dimension.AVAILABILITY, "redacted") == "redacted"


@pytest.mark.parametrize("dimension", list(Dimension))
def test_generated_sql_names_exactly_the_states_and_moves(dimension: Dimension) -> None:
    check = check_constraint_sql(dimension)
    assert check.startswith(f"{dimension}_state IN (")
    assert re.findall(r"'(\w+)'", check) == [state.value for state in STATES[dimension]]
    pairs = re.findall(r"\('(\w+)', '(\w+)'\)", moves_check_sql(dimension, "a", "b"))
    assert {pair for pair in pairs if is_legal(dimension, *pair)} == set(pairs)
    assert len(pairs) == sum(1 for d, *_ in moves() if d is dimension)
