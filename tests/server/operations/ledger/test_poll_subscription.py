"""PollSubscription: the answer moves the cursor, and nothing comes twice (PAMSPEC 18.3; Q33, Q36)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.server.operations.delegation.grants import remove_rule
from tests.server.operations.ledger.subscriptions import (
    CLOSED,
    CREATED,
    OPENED,
    UPDATED,
    acknowledge,
    poll,
    reset,
    sequences,
    subscribe,
    unsubscribe,
)
from tests.server.operations.memory.requests import update

SUBSCRIBER = "actor:subscriber"


def polled_out(subscription: ledger_pb2.Subscription, client: Client, **fields: int) -> list[ledger_pb2.LedgerEvent]:
    """All that polls bring until one is empty."""
    found: list[ledger_pb2.LedgerEvent] = []
    while events := poll(subscription, client, **fields).events:
        found.extend(events)
    return found


@pytest.mark.req("P-10.8-03", "P-10.8-04")
def test_events_of_several_writers_all_arrive_in_order(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED)

    def write(number: int) -> list[str]:
        client = workspace.cluster.client(f"actor:writer{number}")
        return [workspace.create(client).object_id for _ in range(50)]

    for number in range(4):
        workspace.allow(f"actor:writer{number}", "create")
    found: list[ledger_pb2.LedgerEvent] = []
    with ThreadPoolExecutor(4) as writers:
        written = [writers.submit(write, number) for number in range(4)]
        while len(found) < 200:
            found.extend(poll(subscription, workspace.owner, wait_ms=10_000, max_events=30).events)
        made = {object_id for each in written for object_id in each.result()}
    assert {event.object_id for event in found} == made
    assert len(found) == len(made) == 200
    assert sequences(found) == sorted(set(sequences(found)))
    assert sequences(found) == sequences(workspace.events(event_classes=[CREATED]))


@pytest.mark.req("P-18.3-02", "P-18.3-03")
def test_matching_events_are_delivered_and_others_are_not(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED)
    first = workspace.create()
    update(workspace, first.object_id, first.version_id)
    second = workspace.create()
    response = poll(subscription, workspace.owner)
    assert [event.object_id for event in response.events] == [first.object_id, second.object_id]
    assert {event.event_type for event in response.events} == {CREATED}
    assert response.last_delivered_sequence == response.events[-1].sequence
    listed = workspace.events(event_classes=[CREATED])
    assert [event.SerializeToString() for event in response.events] == [e.SerializeToString() for e in listed]


@pytest.mark.req("P-18.3-04")
def test_nothing_comes_again_unless_the_cursor_is_reset(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED)
    for _ in range(3):
        workspace.create()
    first = poll(subscription, workspace.owner)
    assert len(first.events) == 3
    second = poll(subscription, workspace.owner)
    assert list(second.events) == []
    assert second.cursor >= first.events[-1].sequence
    standing = reset(subscription, workspace.owner, first.events[0].sequence).subscription
    assert standing.acknowledged_sequence == first.events[0].sequence
    assert sequences(poll(subscription, workspace.owner).events) == sequences(first.events[1:])
    assert list(poll(subscription, workspace.owner).events) == []
    reset(subscription, workspace.owner, 0)
    assert sequences(poll(subscription, workspace.owner).events) == sequences(first.events)


@pytest.mark.req("P-18.3-05")
def test_after_the_close_nothing_is_delivered(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED)
    workspace.create()
    [event] = poll(subscription, workspace.owner).events
    workspace.create()
    unsubscribe(subscription, workspace.owner)
    workspace.create()
    for _ in range(2):
        response = poll(subscription, workspace.owner, wait_ms=20_000)
        assert list(response.events) == []
        assert (response.closed, response.close_reason) == (True, "unsubscribed")
        assert response.last_delivered_sequence == event.sequence
    with pytest.raises(Refusal) as refused:
        reset(subscription, workspace.owner, 0)
    assert refused.value.reason == "POLICY_DENIED"
    assert acknowledge(subscription, workspace.owner, response.cursor) == response.cursor


def test_a_poll_brings_as_much_as_it_is_asked_for(workspace: Workspace) -> None:
    subscription = subscribe(workspace, CREATED, after_sequence=0)
    for _ in range(5):
        workspace.create()
    pages = [sequences(poll(subscription, workspace.owner, max_events=2).events) for _ in range(4)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert list(chain.from_iterable(pages)) == sequences(workspace.events(event_classes=[CREATED]))


def test_a_long_history_without_a_match_is_passed_by_several_polls(workspace: Workspace) -> None:
    made = workspace.create()
    version_id = made.version_id
    for _ in range(30):
        version_id = update(workspace, made.object_id, version_id).version_id
    subscription = subscribe(workspace, OPENED, after_sequence=0)
    [opened] = polled_out(subscription, workspace.owner)
    assert opened.event_type == OPENED


@pytest.mark.parametrize("server", [0, 1])
def test_a_poll_waits_for_what_any_process_writes(replicas: Cluster, server: int) -> None:
    workspace = Workspace(replicas)
    subscription = subscribe(workspace, CREATED)
    waiting = replicas.client(workspace.owner.actor_id, server=server)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(poll, subscription, waiting, wait_ms=25_000)
        # Other events don't end the wait.
        workspace.allow("actor:somebody", "read")
        made = workspace.create()
        assert [event.object_id for event in answer.result().events] == [made.object_id]


def test_polls_at_once_share_the_events_and_none_gets_one_twice(replicas: Cluster) -> None:
    workspace = Workspace(replicas)
    subscription = subscribe(workspace, CREATED)
    done = threading.Event()

    def take(number: int) -> list[int]:
        client = replicas.client(workspace.owner.actor_id, server=number % 3)
        taken: list[int] = []
        while True:
            last = done.is_set()
            events = poll(subscription, client, max_events=3, wait_ms=100).events
            taken.extend(sequences(events))
            assert sequences(events) == sorted(sequences(events))
            if last and not events:
                return taken

    with ThreadPoolExecutor(6) as pool:
        takers = [pool.submit(take, number) for number in range(6)]
        for _ in range(60):
            workspace.create()
        done.set()
        found = [sequence for taker in takers for sequence in taker.result()]
    assert sorted(found) == sequences(workspace.events(event_classes=[CREATED]))


def test_who_loses_every_right_finds_its_subscription_closed(workspace: Workspace) -> None:
    """Membership goes with the last rule; the end of what it had is told to the subscriber still (Q36, Q37)."""
    [rule_id] = workspace.allow(SUBSCRIBER, "subscribe")
    client = workspace.cluster.client(SUBSCRIBER)
    subscription = subscribe(workspace, CREATED, client=client)
    made = workspace.create()
    [event] = poll(subscription, client).events
    assert event.object_id == made.object_id
    workspace.create()
    remove_rule(workspace, rule_id)
    for _ in range(2):
        response = poll(subscription, client)
        assert (list(response.events), response.closed, response.close_reason) == ([], True, "access_lost")
        assert response.last_delivered_sequence == event.sequence
    [closed] = workspace.events(event_classes=[CLOSED])
    assert closed.actor.actor_id == "actor:remit:subscriptions"
    workspace.allow(SUBSCRIBER, "subscribe")
    assert poll(subscription, client).closed


def test_what_was_passed_without_authority_never_comes(workspace: Workspace) -> None:
    """Q37: the cursor passes what is out of bounds, and a right given later does not bring it back."""
    workspace.allow(SUBSCRIBER, "subscribe", object_type="claim")
    client = workspace.cluster.client(SUBSCRIBER)
    subscription = subscribe(workspace, CREATED, client=client)
    task = {"object_type": "task", "canonical_content": b'{"title":"x"}'}
    workspace.create(**task)
    claim = workspace.create()
    assert [event.object_id for event in poll(subscription, client).events] == [claim.object_id]
    workspace.allow(SUBSCRIBER, "subscribe", object_type="task")
    later = workspace.create(**task)
    assert [event.object_id for event in poll(subscription, client).events] == [later.object_id]


def test_what_the_ledger_alone_knows_needs_the_right_to_read_it(workspace: Workspace) -> None:
    workspace.allow(SUBSCRIBER, "subscribe")
    client = workspace.cluster.client(SUBSCRIBER)
    subscription = subscribe(workspace, client=client, after_sequence=0)
    made = workspace.create()
    with pytest.raises(Refusal):
        workspace.read(made.object_id, client)
    assert {event.event_type for event in polled_out(subscription, client)} == {CREATED}
    workspace.allow(SUBSCRIBER, "ledger.read")
    reset(subscription, client, 0)
    before = workspace.events()
    assert sequences(polled_out(subscription, client))[: len(before)] == sequences(before)
    assert UPDATED not in {event.event_type for event in before}
