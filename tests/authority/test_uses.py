"""What takes a use and what does not, when calls meet: the last unit, replays, reads of what is being erased."""

from __future__ import annotations

from collections import Counter

import pytest
from google.protobuf.message import Message

from remit.v1 import memory_pb2
from tests.authority.fleet import Fleet, is_success, reasons_of, settled
from tests.authority.scene import DELEGATE, GRANTOR, MIDDLE, Scene

NOT_EFFECTIVE = "DELEGATION_NOT_EFFECTIVE"
EXHAUSTED = "USAGE_LIMIT_EXHAUSTED"


@pytest.mark.case("A09")
@pytest.mark.req("P-15.4-11")
@pytest.mark.req("P-15.4-12")
def test_one_use_for_twenty_readers_then_none_for_anybody(scene: Scene) -> None:
    object_id = scene.create().object_id
    for action in ("delegate", "read"):
        scene.add_rule("role:reader", action)
    scene.bind(GRANTOR, "role:reader")
    delegation_id = scene.grant("read", by=GRANTOR, usage_limit=1)
    reads = [scene.reading(object_id, delegation_id, server=index % 3) for index in range(20)]
    outcomes = Counter(reasons_of([settled(one) for one in reads]))
    assert outcomes == {"OK": 1, EXHAUSTED: 19}
    assert [event.use_number for event in scene.events("delegation_exercised")] == [1]
    for server in range(3):
        revoked, lost = scene.grant("read", by=GRANTOR), scene.grant("read", by=GRANTOR)
        scene.revoke(revoked, server)
        assert scene.read(object_id, revoked, server=(server + 1) % 3).denial_reason == NOT_EFFECTIVE
        scene.unbind(GRANTOR, "role:reader", server)
        assert scene.read(object_id, lost, server=(server + 1) % 3).denial_reason == NOT_EFFECTIVE
        scene.bind(GRANTOR, "role:reader", server)
        assert is_success(scene.read(object_id, lost, server=(server + 1) % 3))
    assert len(scene.events("access_denied")) == 19 + 6


@pytest.mark.case("B03")
@pytest.mark.req("P-15.4-12")
def test_a_chain_falls_and_revives_with_its_root_on_every_process(scene: Scene) -> None:
    object_id = scene.create().object_id
    for action in ("delegate", "read"):
        scene.add_rule("role:reader", action)
    scene.bind(GRANTOR, "role:reader")
    child = scene.grant("read", by=GRANTOR, to=MIDDLE, max_redelegations=1)
    grandchild = scene.grant("read", by=MIDDLE, **scene.below(child))
    for turn in range(6):
        server, other = turn % 3, (turn + 1) % 3
        scene.unbind(GRANTOR, "role:reader", server)
        assert scene.read(object_id, child, MIDDLE, other).denial_reason == NOT_EFFECTIVE
        assert scene.read(object_id, grandchild, server=other).denial_reason == NOT_EFFECTIVE
        scene.bind(GRANTOR, "role:reader", server)
        assert is_success(scene.read(object_id, child, MIDDLE, other))
        assert is_success(scene.read(object_id, grandchild, server=other))
    assert scene.standing(child).uses == 12


@pytest.mark.req("P-15.4-11")
@pytest.mark.parametrize("left", [1, 3])
def test_the_last_units_within_one_batch(fleet: Fleet, scene: Scene, left: int) -> None:
    """The calls of one process pile up behind a lock and are committed together."""
    object_id = scene.create().object_id
    parent = scene.grant("read", to=MIDDLE, usage_limit=left, max_redelegations=1)
    children = [scene.grant("read", by=MIDDLE, **scene.below(parent, usage_limit=left)) for _ in range(2)]
    with fleet.holding(scene.scope_id) as until_waiting:
        reads = [scene.reading(object_id, children[index % 2]) for index in range(30)]
        until_waiting(1)
        # Answered after those calls were taken in: by then they wait in the process.
        for _ in range(5):
            scene.standing(parent)
    outcomes = Counter(reasons_of([settled(one) for one in reads]))
    assert outcomes == {"OK": left, EXHAUSTED: 30 - left}
    assert scene.standing(parent).uses == left
    assert sum(scene.standing(child).uses for child in children) == left
    assert len(scene.events("delegation_exercised")) == left
    scene.verify()


@pytest.mark.req("P-18.2-05")
def test_checks_share_the_limit_of_exercises(scene: Scene) -> None:
    object_id = scene.create().object_id
    delegation_id = scene.grant("read", usage_limit=4)
    calls = [
        scene.reading(object_id, delegation_id, server=index % 3)
        if index % 2
        else scene.checking(delegation_id, server=index % 3)
        for index in range(24)
    ]
    outcomes = Counter(reasons_of([settled(one) for one in calls]))
    assert outcomes == {"OK": 4, EXHAUSTED: 20}
    assert [event.use_number for event in scene.events("delegation_exercised")] == [1, 2, 3, 4]


def test_a_replay_takes_no_use_and_is_authorized_anew(scene: Scene) -> None:
    delegation_id = scene.grant("create", usage_limit=1)
    request = scene.creation(object_type="claim", delegation_id=delegation_id, idempotency_key="key")
    created = scene.call("memory.Create", request, DELEGATE).result
    for server in range(3):
        replayed = scene.call("memory.Create", request, DELEGATE, server).result
        assert replayed.replayed
        assert (replayed.object_id, replayed.version_id) == (created.object_id, created.version_id)
        assert replayed.event_ids == created.event_ids
    other = scene.creation(object_type="claim", delegation_id=delegation_id, idempotency_key="other")
    assert settled(scene.start("memory.Create", other, DELEGATE)).denial_reason == EXHAUSTED
    assert scene.standing(delegation_id).uses == 1
    scene.revoke(delegation_id)
    for server in range(3):
        assert settled(scene.start("memory.Create", request, DELEGATE, server)).denial_reason == NOT_EFFECTIVE
    assert len(scene.events("delegation_exercised")) == len(scene.events("object_created")) == 1


def test_a_key_used_at_once_on_every_process_takes_one_use(scene: Scene) -> None:
    delegation_id = scene.grant("create", usage_limit=5)
    request = scene.creation(object_type="claim", delegation_id=delegation_id, idempotency_key="key")
    calls = [scene.start("memory.Create", request, DELEGATE, index % 3) for index in range(30)]
    results = [settled(one).result for one in calls]
    assert len({result.version_id for result in results}) == 1
    assert sum(not result.replayed for result in results) == 1
    assert scene.standing(delegation_id).uses == 1


@pytest.mark.parametrize("removal", ["OBJECT_DELETED", "OBJECT_REDACTED", "RETENTION_RESTRICTION"])
def test_a_metered_read_gives_nothing_that_was_removed_meanwhile(fleet: Fleet, scene: Scene, removal: str) -> None:
    """The read has the content in its hands when the removal commits before it: it must not give it."""
    created = scene.create()
    delegation_id = scene.grant("read", usage_limit=1)
    common = {
        "scope_id": scene.scope_id,
        "object_id": created.object_id,
        "expected_version_id": created.version_id,
        "policy_basis": "test policy",
    }
    method = "memory.Delete"
    request: Message = memory_pb2.DeleteRequest(**common)
    if removal != "OBJECT_DELETED":
        dimension, state = memory_pb2.DIMENSION_AVAILABILITY, "redacted"
        if removal == "RETENTION_RESTRICTION":
            dimension, state = memory_pb2.DIMENSION_RETENTION, "pending_deletion"
        method = "memory.Transition"
        request = memory_pb2.TransitionRequest(**common, dimension=dimension, target_state=state)
    with fleet.holding(scene.scope_id) as until_waiting:
        removing = scene.start(method, request, server=0)
        until_waiting(1)
        read = scene.reading(created.object_id, delegation_id, server=1)
        until_waiting(2)
    assert is_success(settled(removing))
    assert settled(read).reason == removal
    # What was not given took nothing.
    assert scene.standing(delegation_id).uses == 0
    assert scene.events("delegation_exercised") == []


def test_a_metered_query_gives_nothing_that_was_removed_meanwhile(fleet: Fleet, scene: Scene) -> None:
    gone, kept = scene.create(), scene.create()
    delegation_id = scene.grant("query", usage_limit=1)
    delete = memory_pb2.DeleteRequest(
        scope_id=scene.scope_id,
        object_id=gone.object_id,
        expected_version_id=gone.version_id,
        policy_basis="test policy",
    )
    query = {"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": {"validation_state": [1, 2, 3, 4]}}
    listing = memory_pb2.QueryRequest(scope_id=scene.scope_id, query=query, limit=10, delegation_id=delegation_id)
    with fleet.holding(scene.scope_id) as until_waiting:
        removing = scene.start("memory.Delete", delete, server=0)
        until_waiting(1)
        reading = scene.start("memory.Query", listing, DELEGATE, 1)
        until_waiting(2)
    assert is_success(settled(removing))
    assert [row.object_id for row in settled(reading).results] == [kept.object_id]
    assert scene.standing(delegation_id).uses == 1
