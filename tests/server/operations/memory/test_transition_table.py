"""Transition: every pair of states over the wire, and the moves that need a right of their own (PAMSPEC 9.5)."""

from __future__ import annotations

import itertools

import pytest

from storage.model.states import Dimension, states_of
from tests.cluster import ADMIN, Refusal, Workspace
from tests.server.operations.memory.requests import transition
from tests.server.operations.memory.standings import DIMENSIONS, EVENT_TYPES, LEGAL, current, made_in, states


@pytest.fixture
def mover(workspace: Workspace) -> Workspace:
    """A workspace whose owner holds every conditional right."""
    workspace.allow(ADMIN, "transition_override", "release_hold")
    return workspace


def test_the_table_has_the_draft_s_size() -> None:
    assert {dimension: {str(state) for state in states_of(Dimension(dimension))} for dimension in DIMENSIONS} == {
        dimension: set(table) for dimension, table in LEGAL.items()
    }
    assert sum(len(targets) for table in LEGAL.values() for targets in table.values()) == 43
    assert sum(len(table) * (len(table) - 1) for table in LEGAL.values()) == 66


@pytest.mark.req("P-9.5-03", "P-9-01", "P-10.4-02")
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_pair_of_states_moves_or_changes_nothing(mover: Workspace, dimension: str) -> None:
    for from_state, to_state in itertools.product(LEGAL[dimension], repeat=2):
        made = made_in(mover, dimension, from_state)
        before = current(mover, made.object_id)
        assert states(before)[dimension] == from_state
        asked = (mover, made.object_id, made.version_id, dimension, to_state)
        legal = to_state in LEGAL[dimension][from_state]
        pair = f"{dimension}: {from_state} -> {to_state}"
        if legal and to_state != "partially_redacted":
            moved = transition(*asked, provenance={"activity": "corrected"}).envelope
            assert states(moved) == states(before) | {dimension: to_state}, pair
            assert (moved.version_id, moved.sequence) != (before.version_id, before.sequence), pair
            assert current(mover, made.object_id).version_id == moved.version_id, pair
            continue
        with pytest.raises(Refusal) as refusal:
            transition(*asked, provenance={"activity": "corrected"})
        if from_state == "deleted":
            expected = "OBJECT_DELETED"
        elif legal:
            expected = "INVALID_REQUEST"  # partially_redacted is reached by naming what is redacted, not by name
        else:
            expected = "INVALID_STATE_TRANSITION"
        assert refusal.value.reason == expected, pair
        assert current(mover, made.object_id) == before, pair
    if dimension != "availability":
        events = mover.events(event_classes=[EVENT_TYPES[dimension]])
        assert len(events) >= sum(map(len, LEGAL[dimension].values()))


@pytest.mark.req("P-9.5-L1", "P-9.5-L3", "P-9.5-V1", "P-9.5-V3", "P-9.5-R1", "P-9.5-R2", "P-9.5-R3")
@pytest.mark.parametrize(
    ("dimension", "from_state"),
    [
        ("lifecycle", "scratch"),
        ("lifecycle", "active"),
        ("validation", "unverified"),
        ("validation", "disputed"),
        ("retention", "retained"),
        ("retention", "expired"),
        ("retention", "pending_deletion"),
    ],
)
def test_moves_without_a_condition_need_the_transition_s_own_right_only(
    workspace: Workspace, dimension: str, from_state: str
) -> None:
    workspace.allow("actor:mover", "read", f"transition.{dimension}")
    mover = workspace.cluster.client("actor:mover")
    for to_state in LEGAL[dimension]:
        if to_state == from_state:
            continue
        made = made_in(workspace, dimension, from_state)
        asked = (workspace, made.object_id, made.version_id, dimension, to_state, mover)
        if to_state in LEGAL[dimension][from_state]:
            assert states(transition(*asked).envelope)[dimension] == to_state
        else:
            with pytest.raises(Refusal) as refusal:
                transition(*asked)
            assert refusal.value.reason == "INVALID_STATE_TRANSITION"


CONDITIONAL = [
    ("lifecycle", "candidate", "active", "activate", "ACCESS_DENIED"),
    ("lifecycle", "deprecated", "active", "review", "POLICY_DENIED"),
    ("lifecycle", "archived", "active", "transition_override", "POLICY_DENIED"),
    ("validation", "rejected", "corroborated", "review", "POLICY_DENIED"),
    ("availability", "redacted", "available", "restore", "POLICY_DENIED"),
    ("retention", "legal_hold", "retained", "release_hold", "LEGAL_HOLD"),
    ("retention", "legal_hold", "expired", "release_hold", "LEGAL_HOLD"),
    ("retention", "legal_hold", "pending_deletion", "release_hold", "LEGAL_HOLD"),
]


@pytest.mark.req("P-9.5-L2", "P-9.5-L5", "P-9.5-L6", "P-9.5-L7", "P-9.5-V4", "P-9.5-A3", "P-9.5-R4")
@pytest.mark.parametrize(("dimension", "from_state", "to_state", "right", "code"), CONDITIONAL)
def test_conditional_moves_need_their_right(
    workspace: Workspace, dimension: str, from_state: str, to_state: str, right: str, code: str
) -> None:
    workspace.allow("actor:mover", "read", f"transition.{dimension}")
    mover = workspace.cluster.client("actor:mover")
    made = made_in(workspace, dimension, from_state)
    asked = (workspace, made.object_id, made.version_id, dimension, to_state, mover)
    with pytest.raises(Refusal) as refusal:
        transition(*asked)
    assert refusal.value.reason == code
    assert current(workspace, made.object_id).version_id == made.version_id
    workspace.allow("actor:mover", right)
    assert states(transition(*asked).envelope)[dimension] == to_state
    if to_state == "available":
        assert workspace.read(made.object_id).envelope.canonical_content == b'{"statement":"x"}'


@pytest.mark.req("P-9.5-L2", "P-9.5-L4", "P-9.5-L5", "P-9.5-L6", "P-9.5-V4")
@pytest.mark.parametrize(
    ("dimension", "from_state", "passes", "refused"),
    [
        ("lifecycle", "candidate", ("deprecated", "archived"), ("superseded", "scratch")),
        ("lifecycle", "superseded", ("archived", "deprecated"), ("active",)),
        ("lifecycle", "deprecated", ("archived",), ("scratch",)),
        ("lifecycle", "archived", ("deprecated",), ("scratch", "candidate", "superseded")),
        ("validation", "rejected", ("disputed",), ("unverified",)),
    ],
)
def test_moves_off_the_table_are_refused_whatever_the_rights(
    mover: Workspace, dimension: str, from_state: str, passes: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    for to_state in passes:
        made = made_in(mover, dimension, from_state)
        assert states(transition(mover, made.object_id, made.version_id, dimension, to_state).envelope) == (
            states(made.envelope) | {dimension: to_state}
        )
    for to_state in refused:
        made = made_in(mover, dimension, from_state)
        with pytest.raises(Refusal) as refusal:
            transition(mover, made.object_id, made.version_id, dimension, to_state)
        assert refusal.value.reason == "INVALID_STATE_TRANSITION"


@pytest.mark.req("P-9.5-V2")
def test_a_corroborated_object_is_unverified_again_by_a_correction_of_its_provenance(workspace: Workspace) -> None:
    for to_state in ("disputed", "rejected"):
        made = made_in(workspace, "validation", "corroborated")
        transition(workspace, made.object_id, made.version_id, "validation", to_state)
    made = made_in(workspace, "validation", "corroborated")
    asked = (workspace, made.object_id, made.version_id, "validation", "unverified")
    with pytest.raises(Refusal) as refusal:
        transition(*asked)
    assert refusal.value.reason == "POLICY_DENIED"
    moved = transition(*asked, provenance={"activity": "corrected"})
    assert states(moved.envelope)["validation"] == "unverified"
    assert moved.envelope.provenance.activity == "corrected"
    assert moved.envelope.provenance.provenance_id != made.envelope.provenance.provenance_id
    events = workspace.events(object_id=made.object_id, event_classes=["EVENT_TYPE_PROVENANCE_UPDATED"])
    assert [event.version_id for event in events] == [moved.version_id]
