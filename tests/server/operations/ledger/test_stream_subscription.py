"""StreamSubscription and AcknowledgeSubscription: at least once, in order, with an end that is told (PAMSPEC 10.8)."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.contract.conftest import free_port
from tests.faults.waiting import until
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.ledger.subscriptions import (
    CLOSED,
    CREATED,
    acknowledge,
    end_of,
    poll,
    reset,
    sequences,
    stream,
    subscribe,
    take,
    unsubscribe,
)

SUBSCRIBER = "actor:subscriber"
ON_LAG = ledger_pb2.BACKPRESSURE_CLOSE_ON_LAG


@pytest.mark.req("P-10.8-03", "P-10.8-04", "P-18.3-02")
def test_a_stream_brings_the_events_of_several_writers_in_order(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    subscription = subscribe(workspace, CREATED)

    def write(number: int) -> list[str]:
        client = replicas.client(workspace.owner.actor_id, server=number % 3)
        return [workspace.create(client).object_id for _ in range(50)]

    with stream(subscription, workspace.owner) as opened, ThreadPoolExecutor(4) as writers:
        written = [writers.submit(write, number) for number in range(4)]
        found = take(opened, 200)
    assert {event.object_id for event in found} == {object_id for each in written for object_id in each.result()}
    assert sequences(found) == sorted(set(sequences(found)))
    listed = workspace.events(event_classes=[CREATED])
    assert [event.SerializeToString() for event in found] == [event.SerializeToString() for event in listed]


@pytest.mark.req("P-10.8-05")
def test_what_was_not_acknowledged_comes_again_under_the_same_id(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED)
    with stream(subscription, workspace.owner) as dropped:
        workspace.create()
        [first] = take(dropped, 1)
        workspace.create()
        [second] = take(dropped, 1)
    with stream(subscription, workspace.owner) as resumed:
        again = take(resumed, 2)
    assert [event.event_id for event in again] == [first.event_id, second.event_id]
    assert again == [first, second]
    assert acknowledge(subscription, workspace.owner, first.sequence) == first.sequence
    # Not back, and not twice.
    assert acknowledge(subscription, workspace.owner, first.sequence - 1) == first.sequence
    with stream(subscription, workspace.owner) as resumed:
        assert take(resumed, 1) == [second]
        acknowledge(subscription, workspace.owner, second.sequence)
        third = workspace.create()
        assert [event.object_id for event in take(resumed, 1)] == [third.object_id]


@pytest.mark.req("P-10.8-06")
def test_the_caller_closes_or_the_service_does(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED)
    [rule_id] = workspace.allow(SUBSCRIBER, "subscribe")
    subscriber = workspace.cluster.client(SUBSCRIBER)
    other = subscribe(workspace, CREATED, client=subscriber)
    with stream(subscription, workspace.owner) as own, stream(other, subscriber) as others:
        unsubscribe(subscription, workspace.owner)
        events, closed = end_of(own)
        assert (events, closed.close_reason, closed.resumable) == ([], "unsubscribed", False)
        remove_rule(workspace, rule_id)
        events, closed = end_of(others)
        assert (events, closed.close_reason, closed.resumable) == ([], "access_lost", False)
    # A closed one streams its end and nothing else.
    for ended, client in ((subscription, workspace.owner), (other, subscriber)):
        request = ledger_pb2.StreamSubscriptionRequest(scope_id=ended.scope_id, subscription_id=ended.subscription_id)
        with client.ledger.StreamSubscription(request) as late:
            events, told = end_of(late)
        assert events == []
        assert told.close_reason in {"unsubscribed", "access_lost"}


@pytest.mark.req("P-10.8-07")
def test_a_shutdown_tells_how_far_it_came(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]],
) -> None:
    with running_cluster(clone_database, servers=2) as cluster:
        workspace = Workspace(cluster)
        client = cluster.client(workspace.owner.actor_id, server=1)
        subscription = subscribe(workspace, CREATED)
        opened = stream(subscription, client)
        before = [workspace.create().object_id for _ in range(3)]
        found = take(opened, 3)
        assert cluster.servers[1].terminate() == 0
        events, closed = end_of(opened)
        assert events == []
        assert closed.last_delivered_sequence == found[-1].sequence
        assert (closed.close_reason, closed.resumable) == ("shutdown_resumable", True)
        after = [workspace.create().object_id for _ in range(3)]
        # A new one from there on loses nothing, and neither does the old one, which stayed open.
        next_one = subscribe(workspace, CREATED, after_sequence=closed.last_delivered_sequence)
        assert [event.object_id for event in poll(next_one, workspace.owner).events] == after
        assert workspace.events(event_classes=[CLOSED]) == []
        with stream(subscription, workspace.owner) as resumed:
            assert [event.object_id for event in take(resumed, 6)] == before + after


def test_a_newer_stream_takes_over(replicas: Cluster) -> None:
    """In the same process and from another: the older one is told, and the subscription goes on."""
    workspace = Workspace(replicas)
    subscription = subscribe(workspace, CREATED)
    streams = []
    for server in (0, 0, 1, 2):
        newest = stream(subscription, replicas.client(workspace.owner.actor_id, server=server))
        for older in streams[-1:]:
            events, closed = end_of(older)
            assert (events, closed.close_reason, closed.resumable) == ([], "taken_over", True)
        streams.append(newest)
    made = workspace.create()
    assert [event.object_id for event in take(newest, 1)] == [made.object_id]
    newest.cancel()
    assert workspace.events(event_classes=[CLOSED]) == []


@pytest.mark.parametrize("server", [0, 1])
def test_who_lags_is_closed_with_what_it_was_given(replicas: Cluster, server: int) -> None:
    workspace = Workspace(replicas)
    delivery = {"backpressure": ON_LAG, "lag_max_events": 5, "batching_max_events": 3}
    subscription = subscribe(workspace, CREATED, delivery=delivery)
    acknowledging = replicas.client(workspace.owner.actor_id, server=server)
    with stream(subscription, workspace.owner) as opened:
        for _ in range(6):
            workspace.create()
        first = take(opened, 5)
        # Acknowledged in time, by whichever process, it goes on.
        acknowledge(subscription, acknowledging, first[-1].sequence)
        second = take(opened, 1)
        made = [workspace.create() for _ in range(6)]
        events, closed = end_of(opened)
    assert sequences(events) == sequences(workspace.events(event_classes=[CREATED]))[6:10]
    assert (closed.close_reason, closed.resumable) == ("lag", False)
    assert closed.last_delivered_sequence == events[-1].sequence
    assert second[0].object_id not in {result.object_id for result in made}
    assert poll(subscription, workspace.owner).close_reason == "lag"
    # A new one after it loses nothing.
    after = subscribe(workspace, CREATED, after_sequence=closed.last_delivered_sequence)
    assert [event.object_id for event in poll(after, workspace.owner).events] == [m.object_id for m in made[-2:]]


def test_who_takes_nothing_is_closed_though_its_stream_cannot_move(workspace: Workspace) -> None:
    """More gathers than the transport holds, so that only what is behind the stream can tell."""
    delivery = {"backpressure": ON_LAG, "lag_max_events": 450, "batching_max_events": 10}
    subscription = subscribe(workspace, CREATED, delivery=delivery)
    with stream(subscription, workspace.owner) as opened:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: workspace.create(purpose="p" * 256, correlation_id="c" * 256), range(500)))
        until(lambda: workspace.events(event_classes=[CLOSED]), "the close of who takes nothing")
        events, closed = end_of(opened)
    assert (closed.close_reason, closed.resumable) == ("lag", False)
    assert closed.last_delivered_sequence == events[-1].sequence
    assert sequences(events) == sequences(workspace.events(event_classes=[CREATED]))[: len(events)]
    assert len(events) <= 450


def test_who_blocks_is_waited_for(workspace: Workspace) -> None:
    """Nothing is taken for a while, and then everything is there, in order: more than fits the transport's windows."""
    subscription = subscribe(workspace, CREATED, delivery={"batching_max_events": 10})
    with stream(subscription, workspace.owner) as opened:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: workspace.create(), range(400)))
        found = take(opened, 400)
    assert sequences(found) == sequences(workspace.events(event_classes=[CREATED]))
    assert poll(subscription, workspace.owner, max_events=1000).events[-1] == found[-1]


def test_events_wait_for_each_other_as_long_as_they_may(workspace: Workspace) -> None:
    delivery = {"batching_max_events": 3, "batching_max_wait_ms": 60_000}
    subscription = subscribe(workspace, CREATED, delivery=delivery)
    with stream(subscription, workspace.owner) as opened:
        for _ in range(3):
            workspace.create()
        batch = next(opened).batch
    assert len(batch.events) == 3
    assert batch.cursor == batch.events[-1].sequence
    brief = subscribe(workspace, CREATED, delivery={"batching_max_events": 3, "batching_max_wait_ms": 50})
    with stream(brief, workspace.owner) as opened:
        workspace.create()
        assert len(next(opened).batch.events) == 1


def test_a_quiet_stream_gives_signs_of_life(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED, delivery={"keepalive_interval_ms": 20})
    with stream(subscription, workspace.owner) as opened:
        workspace.allow("actor:somebody", "read")
        head = len(workspace.events())
        while (response := next(opened)).keepalive.cursor < head:
            assert response.HasField("keepalive")


def test_a_stream_goes_on_from_where_it_is_reset_to(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    subscription = subscribe(workspace, CREATED)
    elsewhere = replicas.client(workspace.owner.actor_id, server=1)
    with stream(subscription, workspace.owner) as opened:
        for _ in range(3):
            workspace.create()
        found = take(opened, 3)
        acknowledge(subscription, workspace.owner, found[-1].sequence)
        reset(subscription, elsewhere, found[0].sequence)
        assert take(opened, 2) == found[1:]


@pytest.mark.req("P-18.3-05")
def test_after_the_close_a_stream_delivers_nothing(replicas: Cluster) -> None:
    """Closed through one process and streamed by another: no event behind the close in the ledger comes."""
    workspace = Workspace(replicas)
    elsewhere = replicas.client(workspace.owner.actor_id, server=1)
    for _ in range(10):
        subscription = subscribe(workspace, CREATED)
        with stream(subscription, elsewhere) as opened:
            workspace.create()
            unsubscribe(subscription, workspace.owner)
            workspace.create()
            events, closed = end_of(opened)
        [end] = [
            event
            for event in workspace.events(event_classes=[CLOSED])
            if subscription.subscription_id in event.payload_json
        ]
        assert all(event.sequence < end.sequence for event in events)
        assert closed.close_reason == "unsubscribed"


def test_what_a_stream_passed_without_authority_never_comes(workspace: Workspace) -> None:
    """Q37, though events around it are not acknowledged and come again."""
    workspace.allow(SUBSCRIBER, "subscribe", object_type="claim")
    client = workspace.cluster.client(SUBSCRIBER)
    subscription = subscribe(workspace, CREATED, client=client)
    task = {"object_type": "task", "canonical_content": b'{"title":"x"}'}
    with stream(subscription, client) as opened:
        first, _, second = workspace.create(), workspace.create(**task), workspace.create()
        found = take(opened, 2)
        assert [event.object_id for event in found] == [first.object_id, second.object_id]
    # The same process makes durable what was passed before another stream begins.
    workspace.allow(SUBSCRIBER, "subscribe", object_type="task")
    with stream(subscription, client) as opened:
        third = workspace.create(**task)
        assert [event.object_id for event in take(opened, 3)] == [m.object_id for m in (first, second, third)]


def gauges(port: int, *names: str) -> dict[str, float]:
    """What a process tells of itself now."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        lines = response.read().decode().splitlines()
    return {name: float(line.split()[1]) for name in names for line in lines if line.startswith(f"{name} ")}


def test_a_cancelled_stream_leaves_nothing_behind(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]],
) -> None:
    port = free_port()
    with running_cluster(clone_database, REMIT_METRICS_LISTEN=f"127.0.0.1:{port}") as cluster:
        workspace, other = Workspace(cluster), Workspace(cluster)
        names = ("remit_subscription_streams", "remit_watched_workspaces")
        before = gauges(port, *names)
        streams = [stream(subscribe(place, CREATED), place.owner) for place in (workspace, other) for _ in range(20)]
        assert gauges(port, *names) == {names[0]: 40.0, names[1]: 2.0}
        workspace.create()
        for opened in streams:
            opened.cancel()
        until(lambda: gauges(port, *names) == before, "streams and watches gone")
        assert before == dict.fromkeys(names, 0.0)


def test_a_stream_ends_with_its_token(cluster: Cluster) -> None:
    workspace = Workspace(cluster)
    subscription = subscribe(workspace, CREATED)
    # The token expired twenty-eight seconds ago: inside the leeway, which has two seconds left.
    token = cluster.token(workspace.owner.actor_id, ttl_seconds=-28)
    client = Client(cluster.servers[0].address, token, workspace.owner.actor_id)
    with stream(subscription, client) as opened, pytest.raises(Refusal) as refused:
        next(opened)
    assert refused.value.reason == "UNAUTHENTICATED"
    client.close()
