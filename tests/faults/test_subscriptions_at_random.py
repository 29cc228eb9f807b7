"""Writers, polls, streams, acknowledgements, resets and killed servers at random, held to a small oracle (Q33, Q37)."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

import grpc
import pytest

from remit.v1 import ledger_pb2
from tests.cluster import Client, Cluster, Refusal, Stream, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.subscriber_oracle import Oracle, Step
from tests.faults.waiting import until
from tests.server.operations.ledger.subscriptions import (
    CREATED,
    acknowledge,
    poll,
    reset,
    sequences,
    subscribe,
)

T = TypeVar("T")

ROUNDS = int(os.environ.get("REMIT_FAULT_ROUNDS", "1"))
SERVERS = 2
SUBSCRIBERS = 6
STEPS = 60
MAY_FAIL = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN}


class Subscriber:
    """Takes random steps with one subscription and writes down what came of them."""

    def __init__(self, cluster: Cluster, workspace: Workspace, actor_id: str, seed: int) -> None:
        self._cluster = cluster
        self._random = random.Random(seed)
        self._actor_id = actor_id
        self._stream: Stream | None = None
        self._clients: dict[str, Client] = {}
        # Signs of life end the wait of a step for events that may not come.
        delivery = {"keepalive_interval_ms": 20, "batching_max_events": 5}
        self.subscription = subscribe(workspace, CREATED, client=self._client(), after_sequence=0, delivery=delivery)
        self.steps: list[Step] = []
        self.takeovers = 0
        self.lost_opens = 0

    def _client(self) -> Client:
        server = self._cluster.servers[self._random.randrange(SERVERS)]
        if server.address not in self._clients:
            token = self._cluster.token(self._actor_id)
            self._clients[server.address] = Client(server.address, token, self._actor_id)
        return self._clients[server.address]

    def _seen(self) -> list[int]:
        return [sequence for step in self.steps for sequence in step.events]

    def act(self) -> None:
        """One step."""
        kind = self._random.choice(["poll", "poll", "open", "received", "received", "received", "acknowledge", "reset"])
        try:
            getattr(self, f"_{kind}")()
        except Refusal as refused:
            if refused.code not in MAY_FAIL:
                raise
            self._drop()

    def _poll(self) -> None:
        most = self._random.randint(1, 8)
        events = self._known(Step("poll", known=False, most=most), lambda: self._polled(most))
        self.steps.append(Step("poll", events=events, most=most))

    def _polled(self, most: int) -> tuple[int, ...]:
        response = poll(self.subscription, self._client(), max_events=most, wait_ms=self._random.choice([0, 30]))
        assert not response.closed
        return tuple(sequences(response.events))

    def _known(self, unknown: Step, call: Callable[[], T]) -> T:
        try:
            return call()
        except Refusal:
            self.steps.append(unknown)
            raise

    def _open(self) -> None:
        self._drop()
        request = ledger_pb2.StreamSubscriptionRequest(
            scope_id=self.subscription.scope_id, subscription_id=self.subscription.subscription_id
        )
        self._stream = self._client().ledger.StreamSubscription(request, timeout=None)
        try:
            first = next(self._stream)
        except Refusal:
            self.lost_opens += 1
            raise
        if not self._is_taken_over(first):
            self.steps.append(Step("open"))

    def _is_taken_over(self, response: ledger_pb2.StreamSubscriptionResponse) -> bool:
        if not response.HasField("closed"):
            return False
        # One that was begun through a process as it was killed may come to be after the one begun next.
        assert (response.closed.close_reason, response.closed.resumable) == ("taken_over", True)
        self.takeovers += 1
        self._drop()
        return True

    def _received(self) -> None:
        if self._stream is None:
            self._open()
        if self._stream is None:
            return
        for _ in range(self._random.randint(1, 4)):
            response = next(self._stream)
            if self._is_taken_over(response):
                return
            self.steps.append(Step("received", events=tuple(sequences(response.batch.events))))

    def _acknowledge(self) -> None:
        seen = self._seen()
        if not seen:
            return
        sequence = self._random.choice([seen[-1], seen[-1], max(seen), self._random.choice(seen)])
        step = Step("acknowledge", known=False, sequence=sequence)
        self._known(step, lambda: acknowledge(self.subscription, self._client(), sequence))
        self.steps.append(Step("acknowledge", sequence=sequence))

    def _reset(self) -> None:
        # A stream under way goes on from there as well, at a moment that only it knows.
        self._drop()
        sequence = self._random.choice([0, *self._seen()[-10:]])
        step = Step("reset", known=False, sequence=sequence)
        self._known(step, lambda: reset(self.subscription, self._client(), sequence))
        self.steps.append(Step("reset", sequence=sequence))

    def _drop(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
        self._stream = None

    def drain(self) -> None:
        """Polls until nothing is left."""
        self._drop()
        while events := self._polled(1000):
            self.steps.append(Step("poll", events=events, most=1000))

    def close(self) -> None:
        """Closes the channels."""
        self._drop()
        for client in self._clients.values():
            client.close()


@pytest.fixture
def servers(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database, servers=SERVERS) as cluster:
        yield cluster


def steps_of(subscribers: list[Subscriber]) -> int:
    """How many steps were taken by all of them."""
    return sum(len(subscriber.steps) for subscriber in subscribers)


def write(cluster: Cluster, workspace: Workspace, done: threading.Event, seed: int) -> None:
    """Creates claims and tasks until told to stop."""
    chosen = random.Random(seed)
    while not done.is_set():
        client = Client(cluster.servers[chosen.randrange(SERVERS)].address, cluster.token(workspace.owner.actor_id))
        with suppress(Refusal):
            for _ in range(chosen.randint(1, 10)):
                kind = chosen.choice(["claim", "task"])
                content = b'{"statement":"x"}' if kind == "claim" else b'{"title":"x"}'
                workspace.create(client, object_type=kind, canonical_content=content)
                done.wait(chosen.random() * 0.02)
        client.close()


@pytest.mark.req("P-10.8-03", "P-10.8-04", "P-10.8-05", "P-18.3-02", "P-18.3-03", "P-18.3-04")
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_whatever_happens_what_had_to_come_came(servers: Cluster, seed: int) -> None:
    workspace = Workspace(servers)
    for number in range(SUBSCRIBERS):
        # Half of them may see claims only: what they never see must not hold up what they do.
        workspace.allow(f"actor:s{number}", "subscribe", object_type="claim" if number % 2 else "*")
    made = [Subscriber(servers, workspace, f"actor:s{n}", 1000 * seed + n) for n in range(SUBSCRIBERS)]
    done = threading.Event()

    def act(subscriber: Subscriber) -> None:
        for _ in range(STEPS):
            subscriber.act()

    with ThreadPoolExecutor(SUBSCRIBERS + 3) as pool:
        writers = [pool.submit(write, servers, workspace, done, seed + n) for n in range(3)]
        acting = [pool.submit(act, subscriber) for subscriber in made]
        try:
            for kills, victim in enumerate((seed % SERVERS, (seed + 1) % SERVERS), 1):
                until(lambda kills=kills: steps_of(made) > kills * STEPS, "some steps")  # type: ignore[misc]
                servers.servers[victim].kill()
                servers.servers[victim].start()
            for future in acting:
                future.result()
        finally:
            done.set()
        for future in writers:
            future.result()
    owner = servers.client(workspace.owner.actor_id)
    created = workspace.events(owner, event_classes=[CREATED])
    claims = [event.sequence for event in created if '"object_type":"claim"' in event.payload_json]
    for number, subscriber in enumerate(made):
        subscriber.drain()
        deliverable = claims if number % 2 else sequences(created)
        oracle = Oracle(deliverable, {subscriber.subscription.start_sequence})
        for step in subscriber.steps:
            oracle.take(step)
        assert deliverable[-1] in oracle.cursors
        assert subscriber.takeovers <= subscriber.lost_opens
        subscriber.close()
    assert len(created) > STEPS
    assert workspace.events(owner, event_classes=[ledger_pb2.EVENT_TYPE_SUBSCRIPTION_CLOSED]) == []
