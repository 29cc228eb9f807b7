"""The connection is lost at COMMIT: the caller gets the right answer all the same, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest

from remit.v1 import delegation_pb2, memory_pb2
from tests.cluster import ADMIN, TENANT, Client, Cluster, Refusal, Workspace
from tests.conftest import DatabaseDsns, reachable_folder
from tests.faults.account import check_ledger, check_nothing_torn
from tests.faults.load import DELEGATE, grant_to_delegate
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until
from tests.faults.wire import Loss, Relay
from tests.server.operations.ledger.subscriptions import poll, subscribe

LOSSES = list(Loss)


@pytest.fixture(scope="module")
def relay(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[tuple[Relay, Cluster]]:
    with clone_database() as database, Relay(database.server) as made:
        cluster = Cluster(replace(database, server=made.dsn), reachable_folder("remit-cluster-"))
        try:
            cluster.add_tenant(TENANT, ADMIN)
            cluster.start_server()
            yield made, cluster
        finally:
            cluster.close()


@pytest.fixture
def workspace(relay: tuple[Relay, Cluster]) -> Workspace:
    return Workspace(relay[1])


def events_of(workspace: Workspace, operation_id: str) -> dict[str, int]:
    """How many events of each type an operation left."""
    with workspace.cluster.superuser() as connection:
        rows = connection.execute(
            "select event_type, count(*) from remit.ledger_events where scope_id = %s and operation_id = %s group by 1",
            (workspace.scope_id, operation_id),
        ).fetchall()
    return dict(rows)


def check_whole(workspace: Workspace) -> None:
    with workspace.cluster.superuser() as connection:
        check_nothing_torn(connection)
    check_ledger(workspace, workspace.owner)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_create_is_answered_and_stands_once(relay: tuple[Relay, Cluster], workspace: Workspace, loss: Loss) -> None:
    relay[0].lose(loss)
    created = workspace.create(operation_id="op:lost")
    assert relay[0].lost[-1] is loss
    relay[0].land()
    assert events_of(workspace, "op:lost") == {"object_created": 1}
    assert workspace.read(created.object_id).envelope.version_id == created.version_id
    assert workspace.create(operation_id="op:lost").version_id == created.version_id
    check_whole(workspace)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_update_is_answered_and_stands_once(relay: tuple[Relay, Cluster], workspace: Workspace, loss: Loss) -> None:
    """It would meet a version conflict with itself, were it simply done again."""
    created = workspace.create()
    relay[0].lose(loss)
    update = memory_pb2.UpdateRequest(
        scope_id=workspace.scope_id,
        operation_id="op:lost",
        object_id=created.object_id,
        expected_version_id=created.version_id,
        update_mask=["canonical_content"],
        canonical_content=b'{"statement":"second"}',
        provenance={"activity": "observed"},
    )
    updated = workspace.owner.memory.Update(update).result
    relay[0].land()
    assert updated.sequence == 2
    assert workspace.read(created.object_id).envelope.version_id == updated.version_id
    check_whole(workspace)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_metered_exercise_takes_one_use(relay: tuple[Relay, Cluster], workspace: Workspace, loss: Loss) -> None:
    """With one use left, taking it twice would be refused."""
    created = workspace.create()
    delegation_id = grant_to_delegate(workspace, usage_limit=1)
    delegate = relay[1].client(DELEGATE)
    relay[0].lose(loss)
    read = memory_pb2.ReadRequest(
        scope_id=workspace.scope_id, operation_id="op:lost", object_id=created.object_id, delegation_id=delegation_id
    )
    assert delegate.memory.Read(read).envelope.version_id == created.version_id
    relay[0].land()
    assert events_of(workspace, "op:lost") == {"delegation_exercised": 1}
    check_whole(workspace)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_check_tells_the_uses_that_are_left(relay: tuple[Relay, Cluster], workspace: Workspace, loss: Loss) -> None:
    delegation_id = grant_to_delegate(workspace, usage_limit=5)
    stored = workspace.create()
    relay[0].lose(loss)
    request = delegation_pb2.CheckDelegationRequest(
        scope_id=workspace.scope_id,
        operation_id="op:lost",
        check=delegation_pb2.DelegationCheck(
            target_delegation_id=delegation_id,
            delegated_actor_id=DELEGATE,
            operation="read",
            object_id=stored.object_id,
        ),
    )
    answer = relay[1].client(DELEGATE).delegation.CheckDelegation(request)
    relay[0].land()
    assert answer.HasField("remaining_uses")
    assert answer.remaining_uses == 4
    assert events_of(workspace, "op:lost") == {"delegation_exercised": 1}


@pytest.mark.parametrize("loss", LOSSES)
def test_each_of_a_batch_is_answered_and_stands_once(
    relay: tuple[Relay, Cluster], workspace: Workspace, loss: Loss
) -> None:
    made, cluster = relay
    owner: Client = cluster.client(ADMIN)
    with ThreadPoolExecutor(17) as pool:
        with stalled_head(cluster, workspace):
            # What comes while the first one waits for its turn goes together, and is lost together.
            first = pool.submit(workspace.create, owner)
            until(lambda: waiting_appends(cluster) == 1, "the first append")
            batch = [pool.submit(workspace.create, owner, operation_id=f"op:lost-{n}") for n in range(16)]
            made.lose(loss)
        results = [first.result(), *(call.result() for call in batch)]
    assert made.lost[-1] is loss
    made.land()
    assert len({result.object_id for result in results}) == 17
    for number in range(16):
        assert events_of(workspace, f"op:lost-{number}") == {"object_created": 1}
    check_whole(workspace)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_poll_loses_no_event(relay: tuple[Relay, Cluster], workspace: Workspace, loss: Loss) -> None:
    """Its answer is the only one that ever brings them."""
    subscription = subscribe(workspace)
    made = [workspace.create().object_id for _ in range(3)]
    relay[0].lose(loss)
    first = poll(subscription, workspace.owner, max_events=10)
    relay[0].land()
    second = poll(subscription, workspace.owner, max_events=10)
    assert [event.object_id for event in [*first.events, *second.events]] == made


def test_loss_after_loss_ends_as_unavailable(relay: tuple[Relay, Cluster], workspace: Workspace) -> None:
    """However long connections are lost, the caller is answered, and the server goes on."""
    for _ in range(100):
        relay[0].lose(Loss.REQUEST)
    with pytest.raises(Refusal) as refused:
        workspace.create(operation_id="op:lost")
    assert relay[0].relent() > 50
    assert refused.value.reason == "SERVICE_UNAVAILABLE"
    assert events_of(workspace, "op:lost") == {}
    workspace.create(operation_id="op:lost")
    assert events_of(workspace, "op:lost") == {"object_created": 1}
    check_whole(workspace)


def test_a_commit_still_under_way_is_waited_for(relay: tuple[Relay, Cluster], workspace: Workspace) -> None:
    """The caller is cut off while its commit waits for a lock: looking it up without that lock would miss it."""
    made, cluster = relay
    with ThreadPoolExecutor(1) as pool, stalled_head(cluster, workspace):
        made.lose(Loss.CONNECTION)
        call = pool.submit(workspace.create, operation_id="op:lost")
        until(lambda: waiting_appends(cluster) == 2, "the commit, and the question what became of it")
        assert not call.done()
    created = call.result()
    assert events_of(workspace, "op:lost") == {"object_created": 1}
    assert workspace.read(created.object_id).envelope.version_id == created.version_id
    check_whole(workspace)
