"""SIGTERM under load, for one process and for several on one port."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from remit.v1 import memory_pb2
from tests.cluster import ADMIN, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.account import check_account
from tests.faults.load import Load, grant_to_delegate
from tests.faults.stalling import stalled_head, waiting_appends
from tests.faults.waiting import until

CloneDatabase = Callable[[], AbstractContextManager[DatabaseDsns]]


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def health_of(address: str) -> int | None:
    """The status the health service answers, None when nobody answers."""
    with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        try:
            return int(health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10).status)
        except grpc.RpcError:
            return None


@pytest.fixture
def drained(clone_database: CloneDatabase) -> Iterator[Cluster]:
    with running_cluster(clone_database, servers=0) as cluster:
        yield cluster


@pytest.mark.case("C10")
@pytest.mark.req("X-08")
def test_accepted_calls_finish_and_new_ones_are_refused(drained: Cluster) -> None:
    probes = f"127.0.0.1:{free_port()}"
    server = drained.start_server(REMIT_HEALTH_LISTEN=probes)
    workspace = Workspace(drained)
    delegation_id = grant_to_delegate(workspace)
    assert health_of(probes) == health_of(server.address) == health_pb2.HealthCheckResponse.SERVING
    accepted = drained.client(ADMIN)
    request = memory_pb2.CreateRequest(
        scope_id=workspace.scope_id,
        object_type="claim",
        canonical_content=b'{"statement":"on its way"}',
        provenance={"activity": "observed"},
    ).SerializeToString()
    with Load(workspace, delegation_id, [0], writers_each=4) as load:
        load.wait_acknowledged(3)
        with stalled_head(drained, workspace):
            create = accepted.channel.unary_unary("/remit.v1.MemoryService/Create")
            call = create.future(request, metadata=accepted.metadata)
            until(lambda: waiting_appends(drained), "an append on its way")
            server.process.send_signal(signal.SIGTERM)
            until(lambda: health_of(probes) == health_pb2.HealthCheckResponse.NOT_SERVING, "NOT_SERVING")
            until(lambda: health_of(server.address) is None, "new connections refused")
            assert not call.done()
            assert server.process.poll() is None
        assert call.result(timeout=30)
        load.wait_refused(1)
    assert server.process.wait(timeout=30) == 0
    assert {code for attempt in load.attempts() for code in attempt.refusals} == {grpc.StatusCode.UNAVAILABLE}
    server.start()
    check_account(workspace, load.attempts())


def workers_of(parent: int) -> set[int]:
    """The process ids of the workers of a `remit serve`."""
    return {int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()}


def reached_workers(cluster: Cluster, address: str, workers: set[int]) -> bool:
    """Whether each worker answers: a new connection is given to one of them, whichever it is."""
    port = int(address.rpartition(":")[2])
    reached = {pid for pid in workers if port in listening_ports(pid)}
    return reached == workers and health_of(address) == health_pb2.HealthCheckResponse.SERVING


def listening_ports(pid: int) -> set[int]:
    """The TCP ports a process listens on."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(descriptor).removeprefix("socket:[").removesuffix("]"))
        except FileNotFoundError:
            continue
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


@pytest.mark.req("X-08")
def test_several_workers_share_a_port_and_drain_together(drained: Cluster) -> None:
    server = drained.start_server(REMIT_WORKERS="3")
    parent = server.process.pid
    workers = workers_of(parent)
    # Announced once all of them serve.
    assert len(workers) == 3
    assert reached_workers(drained, server.address, workers)
    workspace = Workspace(drained)
    delegation_id = grant_to_delegate(workspace)
    with Load(workspace, delegation_id, [0], writers_each=6) as load:
        load.wait_acknowledged(3)
        victim = min(workers)
        os.kill(victim, signal.SIGKILL)
        until(lambda: len(workers_of(parent) - {victim}) == 3, "another worker")
        until(lambda: reached_workers(drained, server.address, workers_of(parent)), "three workers that serve")
        load.wait_acknowledged(3)
        server.process.send_signal(signal.SIGTERM)
        load.wait_refused(1)
    assert server.process.wait(timeout=60) == 0
    assert health_of(server.address) is None
    server.start()
    check_account(workspace, load.attempts())


def test_workers_end_with_a_killed_supervisor(drained: Cluster) -> None:
    server = drained.start_server(REMIT_WORKERS="2")
    workers = workers_of(server.process.pid)
    server.kill()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "the end of the workers")


def test_a_port_is_served_by_one_service(drained: Cluster) -> None:
    listen = f"127.0.0.1:{free_port()}"
    drained.start_server(REMIT_LISTEN=listen)
    with pytest.raises(AssertionError, match="the address is taken"):
        drained.start_server(REMIT_LISTEN=listen)


def test_workers_that_can_not_start_end_the_service(drained: Cluster) -> None:
    with drained.superuser() as connection:
        connection.execute("create table remit.planted (n int)")
    with pytest.raises(AssertionError, match="refusing to serve"):
        drained.start_server(REMIT_WORKERS="2")
