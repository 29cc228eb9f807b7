"""The cases of PAMSPEC-Delegation (section 18.2), each a function of a fresh workspace and the place it is in."""

from __future__ import annotations

import time
from typing import Any

from remit.v1 import delegation_pb2
from tests.cluster import Workspace
from tests.conformance.lite import Case, code
from tests.conformance.places import Place

DELEGATE = "actor:delegate"


def _grant(workspace: Workspace, *operations: str, begins: int = -60, ends: int = 3600, **fields: Any) -> Any:
    now = int(time.time())
    request = delegation_pb2.GrantDelegationRequest(
        scope_id=workspace.scope_id,
        policy_basis="conformance",
        delegated_actor={"actor_id": DELEGATE, "actor_kind": "agent"},
        granted_operations=operations or ["read"],
        not_before={"seconds": now + begins},
        not_after={"seconds": now + ends},
        **fields,
    )
    return workspace.owner.delegation.GrantDelegation(request).delegation


def _check(
    workspace: Workspace,
    place: Place,
    delegation_id: str,
    operation: str = "read",
    object_id: str = "urn:x:any",
    actor_id: str = DELEGATE,
) -> Any:
    request = delegation_pb2.CheckDelegationRequest(
        scope_id=workspace.scope_id,
        check={
            "target_delegation_id": delegation_id,
            "delegated_actor_id": actor_id,
            "operation": operation,
            "object_id": object_id,
        },
    )
    return place.client(actor_id).delegation.CheckDelegation(request)


def case_grant_binds_what_it_says(workspace: Workspace, place: Place) -> None:
    made = _grant(workspace, "read", "update", granted_object_ids={"values": ["urn:x:1"]})
    assert (made.granting_actor.actor_id, made.delegated_actor.actor_id) == ("actor:admin", DELEGATE)
    assert list(made.granted_operations) == ["read", "update"]
    assert list(made.granted_object_ids.values) == ["urn:x:1"]
    assert made.policy_basis == "conformance"
    assert made.not_before.seconds < made.not_after.seconds
    assert (made.scope_id, made.sequence) == (workspace.scope_id, 1)


def case_check_gives_grant_or_denies(workspace: Workspace, place: Place) -> None:
    there: Any = place
    made = _grant(workspace)
    assert _check(workspace, place, made.delegation_id).delegation == made
    assert code(lambda: _check(workspace, place, made.delegation_id, operation="delete")) == "access_denied"
    workspace.allow("actor:another", "read")
    assert code(lambda: _check(workspace, place, made.delegation_id, actor_id="actor:another")) == "access_denied"
    other = Workspace(there)
    other.allow(DELEGATE, "read")
    assert code(lambda: _check(other, place, made.delegation_id)) == "access_denied"


def case_inverted_window_rejected(workspace: Workspace, place: Place) -> None:
    assert code(lambda: _grant(workspace, begins=10, ends=5)) == "policy_denied"


def case_outside_window_denied(workspace: Workspace, place: Place) -> None:
    early, late = _grant(workspace, begins=600), _grant(workspace, begins=-600, ends=-60)
    for made in (early, late):
        assert code(lambda made=made: _check(workspace, place, made.delegation_id)) == "access_denied"


def case_usage_limit_enforced(workspace: Workspace, place: Place) -> None:
    made = _grant(workspace, usage_limit=2)
    assert [_check(workspace, place, made.delegation_id).remaining_uses for _ in range(2)] == [1, 0]
    assert code(lambda: _check(workspace, place, made.delegation_id)) == "access_denied"


def case_revoke_takes_effect_at_once(workspace: Workspace, place: Place) -> None:
    made = _grant(workspace)
    _check(workspace, place, made.delegation_id)
    request = delegation_pb2.RevokeDelegationRequest(
        scope_id=workspace.scope_id, target_delegation_id=made.delegation_id, reason="done", policy_basis="conformance"
    )
    workspace.owner.delegation.RevokeDelegation(request)
    assert code(lambda: _check(workspace, place, made.delegation_id)) == "access_denied"


def case_object_ids_enforced(workspace: Workspace, place: Place) -> None:
    made = _grant(workspace, granted_object_ids={"values": ["urn:x:1"]})
    _check(workspace, place, made.delegation_id, object_id="urn:x:1")
    assert code(lambda: _check(workspace, place, made.delegation_id, object_id="urn:x:2")) == "access_denied"


DELEGATION: dict[str, Case] = {name: case for name, case in globals().items() if name.startswith("case_")}
