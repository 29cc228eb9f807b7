"""The lists of actions and operations agree with each other and with the design."""

import pytest

from authz import permissions
from authz.permissions import (
    ALL_ACTIONS,
    CONDITIONAL,
    DELEGABLE,
    NON_DELEGABLE,
    OWNER_ACTIONS,
    PAMSPEC_OPERATIONS,
    actions_of,
    conveyed_action,
)


def test_the_twelve_operations() -> None:
    operations = {
        "create", "read", "update", "transition", "relate", "query",
        "inspect_history", "redact", "delete", "promote", "subscribe", "unsubscribe",
    }  # fmt: skip
    assert operations == PAMSPEC_OPERATIONS


def test_transition_conveys_four_actions_or_the_one_of_its_dimension() -> None:
    assert actions_of("transition") == {
        "transition.lifecycle",
        "transition.availability",
        "transition.retention",
        "transition.validation",
    }
    assert actions_of("transition", "retention") == {"transition.retention"}
    assert actions_of("transition", "colour") == frozenset()


@pytest.mark.parametrize("operation", ["obliterate_universe", "delegate", "review", "transition.lifecycle", "*", ""])
def test_what_is_no_operation_conveys_nothing(operation: str) -> None:
    assert actions_of(operation) == frozenset()


def test_a_dimension_belongs_to_transition_only() -> None:
    assert actions_of("read", "lifecycle") == frozenset()


def test_no_grant_conveys_a_conditional_action() -> None:
    assert not CONDITIONAL & DELEGABLE
    for action in CONDITIONAL:
        assert all(conveyed_action(action, operation) is None for operation in PAMSPEC_OPERATIONS)


def test_only_the_listing_of_events_is_reached_by_another_name() -> None:
    reached = {
        (action, operation)
        for action in NON_DELEGABLE
        for operation in PAMSPEC_OPERATIONS
        if conveyed_action(action, operation) is not None
    }
    assert reached == {("ledger.read", "inspect_history")}
    assert conveyed_action("ledger.read", "inspect_history") == "inspect_history"


def test_an_owner_holds_all_but_what_the_design_keeps_back() -> None:
    assert {action for action in ALL_ACTIONS if action.startswith("lifecycle.")} == permissions.LIFECYCLE_ACTIONS
    kept_back = ALL_ACTIONS - OWNER_ACTIONS
    assert kept_back == permissions.LIFECYCLE_ACTIONS | {"transition_override", "release_hold"}


def test_every_action_of_the_module_is_in_the_list() -> None:
    other = {"*", "role:owner", "transition"}
    named = {value for value in vars(permissions).values() if isinstance(value, str) and "\n" not in value}
    actions = {value for value in named if value.replace(".", "").replace("_", "").isalpha() and value.islower()}
    assert actions - other - {"authz.permissions", "authz"} == ALL_ACTIONS
