"""A process that trusts issuers of the tests' own, serves reflection and metrics, and logs all it can."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.cluster import OTHER_TENANT, TENANT, Client, Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns, reachable_folder
from tests.contract.tokens import Issuer, write_issuers
from tests.contract.wire import open_channel


class IssuedCluster:
    """The process, its issuers, and clients with their tokens. `other` speaks for OTHER_TENANT only."""

    def __init__(self, cluster: Cluster, issuer: Issuer, other: Issuer, metrics_port: int) -> None:
        self.cluster = cluster
        self.issuer = issuer
        self.other = other
        self.metrics_address = f"127.0.0.1:{metrics_port}"
        self.folder: Path = cluster.folder
        self.database = cluster.database
        self.servers = cluster.servers

    @property
    def address(self) -> str:
        """Where it serves."""
        return self.servers[0].address

    def client(self, actor_id: str, tenant_id: str = TENANT, token: str = "") -> Client:
        """A client of an actor, or of a token."""
        made = token or self.issuer.token(actor_id.removeprefix("actor:"), tenant_id)
        return Client(self.address, made, actor_id)


@pytest.fixture(scope="session")
def issued(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[IssuedCluster]:
    """One process for the whole run of a worker; tests keep to workspaces of their own."""
    folder = reachable_folder("remit-issuers-")
    issuer = Issuer(folder, "main", [TENANT, OTHER_TENANT], ["EdDSA", "ES256", "RS256"])
    other = Issuer(folder, "other", [OTHER_TENANT], ["EdDSA"], prefix="actor:other-")
    port = free_port()
    settings = {
        "REMIT_ISSUERS_FILE": str(write_issuers(folder, issuer, other)),
        "REMIT_REFLECTION": "true",
        "REMIT_METRICS_LISTEN": f"127.0.0.1:{port}",
        "REMIT_LOG_LEVEL": "DEBUG",
        "REMIT_LOG_FORMAT": "json",
        "TZ": "America/Los_Angeles",
    }
    with running_cluster(clone_database, **settings) as cluster:
        yield IssuedCluster(cluster, issuer, other, port)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def issued_workspace(issued: IssuedCluster) -> Workspace:
    """A new workspace of the test's own there."""
    clients: Any = issued
    return Workspace(clients)


@pytest.fixture(scope="session")
def issued_channel(issued: IssuedCluster) -> Iterator[grpc.Channel]:
    """A channel without a credential."""
    with open_channel(issued.address) as channel:
        yield channel


@pytest.fixture(scope="session")
def channel(cluster: Cluster) -> Iterator[grpc.Channel]:
    """A channel without a credential to the shared process."""
    with open_channel(cluster.servers[0].address) as opened:
        yield opened


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
