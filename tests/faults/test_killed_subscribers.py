"""kill -9 of a subscriber, and of the server it streams from: on resume everything is there, once each and in order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import grpc
import pytest

from remit.v1 import ledger_pb2
from tests.cluster import ADMIN, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.ledger.subscriptions import CREATED, acknowledge, poll, sequences, stream, subscribe, take

EVENTS = 50


@pytest.fixture
def two_servers(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database, servers=2) as cluster:
        yield cluster


def begun(cluster: Cluster, subscription: ledger_pb2.Subscription) -> subprocess.Popen[str]:
    """A subscriber in a process of its own, whose stream is under way."""
    address, token = cluster.servers[0].address, cluster.token(ADMIN)
    ids = (subscription.scope_id, subscription.subscription_id)
    command = [sys.executable, "-m", "tests.faults.subscriber_process", address, token, *ids]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def ended(process: subprocess.Popen[str]) -> list[int]:
    """Kills it; returns all that it was given."""
    process.kill()
    printed, _ = process.communicate()
    return [int(line) for line in printed.split()]


@pytest.mark.req("P-10.8-03", "P-10.8-05")
def test_what_happens_while_the_subscriber_is_dead_comes_once_each(two_servers: Cluster) -> None:
    workspace = Workspace(two_servers)
    subscription = subscribe(workspace, CREATED)
    first = begun(two_servers, subscription)
    for _ in range(5):
        workspace.create()
    assert first.stdout is not None
    seen = [int(first.stdout.readline()) for _ in range(5)]
    seen += ended(first)
    missed = [workspace.create().object_id for _ in range(EVENTS)]
    second = begun(two_servers, subscription)
    assert second.stdout is not None
    # Its last acknowledgement may have died with it: then that event comes again, and no other.
    resumed = [int(second.stdout.readline())]
    while resumed[-1] != workspace.events(event_classes=[CREATED])[-1].sequence:
        resumed.append(int(second.stdout.readline()))
    assert ended(second) == []
    created = workspace.events(event_classes=[CREATED])
    assert [event.object_id for event in created][-EVENTS:] == missed
    assert seen == sequences(created)[:5]
    assert resumed[-EVENTS:] == sequences(created)[-EVENTS:]
    assert resumed[:-EVENTS] in ([], seen[-1:])


@pytest.mark.req("P-10.8-05", "P-18.3-04")
@pytest.mark.parametrize("same_server", [True, False])
def test_what_happens_while_the_server_is_dead_comes_once_each(two_servers: Cluster, same_server: bool) -> None:
    workspace = Workspace(two_servers)
    writer = two_servers.client(ADMIN, server=1)
    streamed, polled = (subscribe(workspace, CREATED) for _ in range(2))
    opened = stream(streamed, workspace.owner)
    workspace.create(writer)
    [first] = take(opened, 1)
    acknowledge(streamed, workspace.owner, first.sequence)
    assert sequences(poll(polled, workspace.owner).events) == [first.sequence]
    two_servers.servers[0].kill()
    with pytest.raises(Refusal) as refused:
        next(opened)
    assert refused.value.code is grpc.StatusCode.UNAVAILABLE
    for _ in range(EVENTS):
        workspace.create(writer)
    if same_server:
        two_servers.servers[0].start()
    client = two_servers.client(ADMIN, server=0 if same_server else 1)
    with stream(streamed, client) as resumed:
        found = take(resumed, EVENTS)
    missed = sequences(workspace.events(writer, event_classes=[CREATED]))[1:]
    assert len(missed) == EVENTS
    assert sequences(found) == missed
    assert sequences(poll(polled, client, max_events=1000).events) == missed
    assert list(poll(polled, client).events) == []
