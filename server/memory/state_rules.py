"""States that a workspace's policy rules out: the profile Lite, and rules on types (P-18.1-02, P-App-02)."""

from __future__ import annotations

from server.call import Call
from server.domain_errors import InvalidStateTransition, PolicyDenied
from storage.model.states import Dimension, States


def demand_admitted_move(call: Call, object_type: str, dimension: Dimension, from_state: str, to_state: str) -> None:
    """Raises InvalidStateTransition where the workspace rules out that objects of the type take the state."""
    if not call.view.workspace.policy.admits(object_type, dimension, to_state):
        raise InvalidStateTransition(dimension.value, from_state, to_state)


def demand_admitted_start(call: Call, object_type: str, states: States, prefix: str = "") -> None:
    """Raises PolicyDenied where the workspace rules out that a new object of the type starts in one of its states.

    `prefix` is what the names of the request's state fields begin with.
    """
    for dimension in Dimension:
        if not call.view.workspace.policy.admits(object_type, dimension, getattr(states, dimension.value)):
            reason = "the workspace rules out that objects of the type take this state"
            raise PolicyDenied(reason, field=f"{prefix}{dimension.column}")
