"""Windows of grants by the database's clock: at each edge, forward and back, and while a commit waits for its lock."""

from __future__ import annotations

from typing import Any

import pytest

from remit.v1 import common_pb2
from tests.authority.fleet import Fleet, is_success, settled
from tests.authority.messages import timestamp
from tests.authority.scene import DELEGATE, GRANTOR, MIDDLE, Scene

START_US = 1_900_000_000_000_000
NOT_EFFECTIVE = "DELEGATION_NOT_EFFECTIVE"


def _window(start_us: int, end_us: int) -> dict[str, Any]:
    return {"not_before": timestamp(start_us), "not_after": timestamp(end_us)}


@pytest.mark.req("P-15.4-10")
@pytest.mark.req("P-18.2-04")
def test_both_ends_of_a_window_are_inside_it(fleet: Fleet, scene: Scene) -> None:
    fleet.set_clock(START_US)
    object_id = scene.create().object_id
    end_us = START_US + 1_000_000
    delegation_id = scene.grant("read", **_window(START_US, end_us))
    times = [(START_US, True), (START_US - 1, False), (START_US + 1, True), (end_us - 1, True), (end_us, True)]
    # Past its end it stays past only as long as the clock says so.
    times += [(end_us + 1, False), (end_us, True), (START_US - 1, False), (START_US, True), (end_us + 1, False)]
    for index, (now_us, is_inside) in enumerate(times):
        fleet.set_clock(now_us)
        server = index % 3
        for answer in (
            scene.read(object_id, delegation_id, server=server),
            scene.check(delegation_id, object_id=object_id, server=server),
        ):
            assert is_success(answer) if is_inside else answer.denial_reason == NOT_EFFECTIVE
        assert scene.standing(delegation_id, server).effective == is_inside
        assert scene.standing(delegation_id).delegation.lifecycle_state == common_pb2.LIFECYCLE_STATE_ACTIVE
    exact = [reason for now_us, is_inside in times if not is_inside for reason in _why(now_us, START_US)]
    assert scene.denials("exact_reason") == exact
    scene.verify()


def _why(now_us: int, start_us: int) -> list[str]:
    return ["NOT_YET_VALID" if now_us < start_us else "EXPIRED"] * 2


def test_a_window_above_closes_everything_below(fleet: Fleet, scene: Scene) -> None:
    fleet.set_clock(START_US)
    object_id = scene.create().object_id
    window = _window(START_US, START_US + 10)
    parent = scene.grant("read", to=MIDDLE, max_redelegations=1, **window)
    child = scene.grant("read", by=MIDDLE, parent_delegation_id=parent, **window)
    for server in range(3):
        fleet.set_clock(START_US + 10)
        assert is_success(scene.read(object_id, child, server=server))
        fleet.set_clock(START_US + 11)
        assert scene.read(object_id, child, server=server).denial_reason == NOT_EFFECTIVE


@pytest.mark.req("P-15.4-10")
@pytest.mark.parametrize("metered", ["read", "create", "check"])
def test_a_grant_that_expires_while_a_call_waits_is_not_exercised(fleet: Fleet, scene: Scene, metered: str) -> None:
    fleet.set_clock(START_US)
    object_id = scene.create().object_id
    delegation_id = scene.grant("read", "create", **_window(START_US, START_US + 5))
    with fleet.holding(scene.scope_id) as until_waiting:
        if metered == "create":
            request = scene.creation(object_type="claim", delegation_id=delegation_id)
            call = scene.start("memory.Create", request, DELEGATE, 1)
        elif metered == "read":
            call = scene.reading(object_id, delegation_id, server=1)
        else:
            call = scene.checking(delegation_id, server=1)
        until_waiting(1)
        fleet.set_clock(START_US + 6)
    assert settled(call).denial_reason == NOT_EFFECTIVE
    assert scene.denials("exact_reason") == ["EXPIRED"]
    assert scene.standing(delegation_id).uses == 0
    assert [event.object_id for event in scene.events("object_created")] == [object_id]


def test_a_grant_that_begins_while_a_call_waits_is_exercised_by_the_clock_of_the_commit(
    fleet: Fleet, scene: Scene
) -> None:
    """Read before the clock stepped back over the window's beginning: judged again under the lock."""
    fleet.set_clock(START_US)
    object_id = scene.create().object_id
    delegation_id = scene.grant("read", **_window(START_US, START_US + 5))
    with fleet.holding(scene.scope_id) as until_waiting:
        call = scene.reading(object_id, delegation_id, server=1)
        until_waiting(1)
        fleet.set_clock(START_US - 1)
    assert settled(call).denial_reason == NOT_EFFECTIVE
    assert scene.denials("exact_reason") == ["NOT_YET_VALID"]


@pytest.mark.req("P-18.2-06")
def test_a_revocation_that_waits_first_ends_the_exercise_that_waits_behind_it(fleet: Fleet, scene: Scene) -> None:
    object_id = scene.create().object_id
    delegation_id = scene.grant("read")
    assert is_success(scene.read(object_id, delegation_id, server=1))
    with fleet.holding(scene.scope_id) as until_waiting:
        revocation = scene.revoking(delegation_id, server=0)
        until_waiting(1)
        call = scene.reading(object_id, delegation_id, server=1)
        until_waiting(2)
    assert is_success(settled(revocation))
    assert settled(call).denial_reason == NOT_EFFECTIVE
    assert scene.denials("exact_reason") == ["REVOKED"]
    assert scene.standing(delegation_id).uses == 1


@pytest.mark.req("P-18.2-06")
@pytest.mark.parametrize("revoked", ["itself", "its parent"])
def test_the_same_across_workspaces(fleet: Fleet, scene: Scene, revoked: str) -> None:
    """The grant lives in one workspace and is exercised in another: its home is locked as well."""
    place = Scene(fleet)
    place.permit(scene)
    object_id = place.create().object_id
    now_us = fleet.clock_us()
    fields = {"target_scope_id": place.scope_id} | _window(now_us - 60_000_000, now_us + 600_000_000)
    parent = scene.grant("read", to=MIDDLE, max_redelegations=1, **fields)
    child = scene.grant("read", by=MIDDLE, parent_delegation_id=parent, **fields)
    with fleet.holding(scene.scope_id) as until_waiting:
        revocation = scene.revoking(child if revoked == "itself" else parent, server=0)
        until_waiting(1)
        call = place.reading(object_id, child, server=1)
        until_waiting(2)
    assert is_success(settled(revocation))
    assert settled(call).denial_reason == NOT_EFFECTIVE
    assert place.denials("exact_reason") == ["REVOKED"]
    for one in (scene, place):
        assert one.events("delegation_exercised") == []


@pytest.mark.req("P-15.4-12")
@pytest.mark.req("X-07")
def test_a_grantor_that_loses_its_role_while_the_exercise_waits(fleet: Fleet, scene: Scene) -> None:
    object_id = scene.create().object_id
    for action in ("delegate", "read"):
        scene.add_rule("role:reader", action)
    scene.bind(GRANTOR, "role:reader")
    delegation_id = scene.grant("read", by=GRANTOR)
    assert is_success(scene.read(object_id, delegation_id, server=1))
    request = scene.unbinding(GRANTOR, "role:reader")
    with fleet.holding(scene.scope_id) as until_waiting:
        loss = scene.start("admin.UnbindRole", request, server=0)
        until_waiting(1)
        call = scene.reading(object_id, delegation_id, server=1)
        until_waiting(2)
    assert is_success(settled(loss))
    assert settled(call).denial_reason == NOT_EFFECTIVE
    assert scene.denials("exact_reason") == ["GRANTOR_LOST_AUTHORITY"]


def test_a_permit_that_is_removed_while_the_exercise_waits(fleet: Fleet, scene: Scene) -> None:
    place = Scene(fleet)
    permit_id = place.permit(scene)
    object_id = place.create().object_id
    delegation_id = scene.grant("read", target_scope_id=place.scope_id)
    assert is_success(place.read(object_id, delegation_id, server=1))
    with fleet.holding(place.scope_id) as until_waiting:
        removal = place.start("admin.RemovePolicyRule", place.removal(permit_id), server=0)
        until_waiting(1)
        call = place.reading(object_id, delegation_id, server=1)
        until_waiting(2)
    assert is_success(settled(removal))
    assert settled(call).denial_reason == NOT_EFFECTIVE
    assert place.denials("exact_reason") == ["CROSS_SCOPE_RULE_MISSING"]
    # The workspaces stand as they stood: the grant revives with its permit.
    place.permit(scene)
    assert is_success(place.read(object_id, delegation_id, server=1))
