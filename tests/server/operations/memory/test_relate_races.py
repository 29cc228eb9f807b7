"""What is related at the same time as something else: the order of the ledger decides (authority.md, The second check)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from remit.v1 import ledger_pb2
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import events_of, revoke
from tests.server.operations.memory.relationships import again, relate
from tests.server.operations.memory.requests import delete, grant, history

CREATED = ledger_pb2.EVENT_TYPE_RELATIONSHIP_CREATED
CALLERS = 6


def reasons(*calls: Callable[[], Any]) -> list[str]:
    """Runs calls side by side; returns why each was refused, empty for those that were not."""

    def run(call: Callable[[], Any]) -> str:
        try:
            call()
        except Refusal as refusal:
            return refusal.reason
        return ""

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_of_changes_based_on_one_version_one_is_made(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    owners = [replicas.client(workspace.owner.actor_id, server=number % 3) for number in range(CALLERS)]
    made = relate(workspace, workspace.create().object_id, workspace.create().object_id).relationship

    def changing(by: Any) -> Callable[[], Any]:
        return lambda: again(workspace, made, by)

    told = reasons(*map(changing, owners))
    assert sorted(told) == ["", *["VERSION_CONFLICT"] * (CALLERS - 1)]
    entries = history(workspace, relationship_id=made.relationship_id)
    assert len([entry for entry in entries if entry.HasField("relationship")]) == 2


def test_of_those_that_take_one_id_one_has_it(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    owners = [replicas.client(workspace.owner.actor_id, server=number % 3) for number in range(CALLERS)]
    ends = workspace.create().object_id, workspace.create().object_id

    def taking(by: Any) -> Callable[[], Any]:
        return lambda: relate(workspace, *ends, by, relationship_id="rel:one")

    assert sorted(reasons(*map(taking, owners))) == ["", *["INVALID_REQUEST"] * (CALLERS - 1)]
    assert len(workspace.events(event_classes=[CREATED])) == 1


def test_nothing_is_related_to_what_is_deleted(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    owners = [replicas.client(workspace.owner.actor_id, server=number % 3) for number in range(CALLERS)]
    source = workspace.create().object_id
    for _ in range(3):
        target = workspace.create()

        relating = [partial(relate, workspace, source, target.object_id, by) for by in owners]
        removal = reasons(*relating, partial(delete, workspace, target.object_id, target.version_id))
        assert removal[-1] == ""
        assert set(removal) <= {"", "RELATIONSHIP_CONFLICT"}
        [gone] = workspace.events(object_id=target.object_id, event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_DELETED])
        made = [event for event in workspace.events(event_classes=[CREATED]) if target.object_id in event.payload_json]
        assert len(made) == removal[:-1].count("")
        assert all(event.sequence < gone.sequence for event in made)


def test_no_use_of_a_grant_stands_after_its_revocation(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    delegates = [replicas.client("actor:racing-linker", server=number % 3) for number in range(CALLERS)]
    ends = workspace.create().object_id, workspace.create().object_id
    delegation_id = grant(workspace, "actor:racing-linker", "relate", usage_limit=CALLERS - 1)

    def relating(by: Any) -> Callable[[], Any]:
        return lambda: relate(workspace, *ends, by, delegation_id=delegation_id)

    told = reasons(*map(relating, delegates), lambda: revoke(workspace, delegation_id))
    assert set(told) <= {"", "ACCESS_DENIED"}
    [revoked] = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_REVOKED)
    used = events_of(workspace, ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED)
    assert all(event.sequence < revoked.sequence for event in used)
    assert [event.use_number for event in used] == list(range(1, len(used) + 1))
    assert len(used) == len(workspace.events(event_classes=[CREATED])) == told[:-1].count("") <= CALLERS - 1
