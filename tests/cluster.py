"""Server processes under test, and clients that share nothing with them but the contract.

A cluster is a migrated database of its own, a data directory with keys and the development issuer, and any number of
operating-system processes started by `remit serve`.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from remit.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    delegation_pb2_grpc,
    derived_pb2_grpc,
    discovery_pb2_grpc,
    errors_pb2,
    ledger_pb2,
    ledger_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    portability_pb2_grpc,
    snapshot_pb2_grpc,
)
from server.issuers import DevelopmentIssuer
from tests.conftest import DatabaseDsns, reachable_folder

TENANT = "acme"
OTHER_TENANT = "globex"
ADMIN = "actor:admin"
CALL_SECONDS = 60.0
_STARTED = re.compile(r"remit serves on (\S+):(\d+)")


class Refusal(Exception):
    """A call's error with its details decoded."""

    def __init__(self, error: grpc.RpcError) -> None:
        self.code: grpc.StatusCode = error.code()
        self.info = error_details_pb2.ErrorInfo()
        self.pamspec = errors_pb2.PamspecError()
        self.bad_request = error_details_pb2.BadRequest()
        status = rpc_status.from_call(error)
        for detail in status.details if status else ():
            for message in (self.info, self.pamspec, self.bad_request):
                if detail.Is(message.DESCRIPTOR):
                    detail.Unpack(message)
        self.message: str = error.details() or ""
        super().__init__(f"{self.code.name} {self.info.reason} {dict(self.info.metadata)} {self.message}")

    @property
    def reason(self) -> str:
        """ErrorInfo.reason."""
        return self.info.reason

    @property
    def denial_reason(self) -> str:
        """The coarse reason of an access_denied."""
        return self.info.metadata["denial_reason"]

    @property
    def fields(self) -> list[str]:
        """The fields a bad request names."""
        return [violation.field for violation in self.bad_request.field_violations]


class Stream:
    """The answers of a server's stream as they come; a refused one raises Refusal. Cancelled where it is left."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._call)
        except grpc.RpcError as error:
            raise Refusal(error) from None

    def cancel(self) -> None:
        """Ends it from this side; what waits for an answer is refused as CANCELLED."""
        self._call.cancel()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


class _Service:
    """A service's methods: of one request, or of an iterable of them where the client streams."""

    def __init__(self, stub: Any, metadata: tuple[tuple[str, str], ...]) -> None:
        self._stub = stub
        self._metadata = metadata

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._stub, name)

        def call(request: Message | Iterable[Message], timeout: float | None = CALL_SECONDS) -> Any:
            sent = request if isinstance(request, Message) else iter(request)
            try:
                answer = method(sent, metadata=self._metadata, timeout=timeout)
            except grpc.RpcError as error:
                raise Refusal(error) from None
            return Stream(answer) if isinstance(method, grpc.UnaryStreamMultiCallable) else answer

        return call


class Client:
    """An actor's stubs: `client.memory.Read(request)`; a refused call raises Refusal, a stream of answers is a Stream."""

    def __init__(self, address: str, token: str | None, actor_id: str = "", channel: Any = None) -> None:
        self.actor_id = actor_id
        self.channel = channel or grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self.memory = _Service(memory_pb2_grpc.MemoryServiceStub(self.channel), self.metadata)
        self.delegation = _Service(delegation_pb2_grpc.DelegationServiceStub(self.channel), self.metadata)
        self.ledger = _Service(ledger_pb2_grpc.LedgerServiceStub(self.channel), self.metadata)
        self.snapshot = _Service(snapshot_pb2_grpc.SnapshotServiceStub(self.channel), self.metadata)
        self.portability = _Service(portability_pb2_grpc.PortabilityServiceStub(self.channel), self.metadata)
        self.derived = _Service(derived_pb2_grpc.DerivedServiceStub(self.channel), self.metadata)
        self.admin = _Service(admin_pb2_grpc.AdminServiceStub(self.channel), self.metadata)
        self.discovery = _Service(discovery_pb2_grpc.DiscoveryServiceStub(self.channel), self.metadata)

    def close(self) -> None:
        """Closes the channel."""
        self.channel.close()


class ServerProcess:
    """One `remit serve` of a cluster."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self._environment = environment
        self._log = log
        self.start()

    def start(self) -> None:
        """Starts it and waits until it serves."""
        self._errors = self._log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "server", "serve"],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = _STARTED.search(line)
            if found:
                self.address = f"{found[1]}:{found[2]}"
                break
        else:
            raise AssertionError(f"the server did not start: {self._log.read_text()[-4000:]}")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()
        self._errors.close()

    def terminate(self) -> int:
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self._errors.close()
        return code


class Cluster:
    """A database, its keys and issuer, and the processes that serve it."""

    def __init__(self, database: DatabaseDsns, folder: Path) -> None:
        self.database = database
        self.folder = folder
        self.issuer = DevelopmentIssuer(folder)
        self.servers: list[ServerProcess] = []
        self._clients: list[Client] = []

    def environment(self, **settings: str) -> dict[str, str]:
        """The environment of a process of this cluster."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
        return inherited | {
            "REMIT_DATABASE_URL": self.database.server,
            "REMIT_DATA_DIR": str(self.folder),
            "REMIT_LISTEN": "127.0.0.1:0",
            **settings,
        }

    def add_tenant(self, tenant_id: str, *administrators: str) -> None:
        """`remit tenant add`."""
        options = [option for administrator in administrators for option in ("--admin", administrator)]
        command = [sys.executable, "-m", "server", "tenant", "add", tenant_id, *options]
        subprocess.run(command, env=self.environment(), check=True, capture_output=True)

    def start_server(self, **settings: str) -> ServerProcess:
        """Starts one more process."""
        log = self.folder / f"server-{len(self.servers)}.log"
        server = ServerProcess(self.environment(**settings), log)
        self.servers.append(server)
        return server

    def token(self, actor_id: str, tenant_id: str = TENANT, kind: str = "agent", ttl_seconds: int = 3600) -> str:
        """A token of the development issuer."""
        return self.issuer.token(tenant_id, actor_id, kind, ttl_seconds)

    def client(self, actor_id: str, tenant_id: str = TENANT, server: int = 0) -> Client:
        """A client of an actor, connected to one of the processes."""
        made = Client(self.servers[server].address, self.token(actor_id, tenant_id), actor_id)
        grpc.channel_ready_future(made.channel).result(timeout=CALL_SECONDS)
        self._clients.append(made)
        return made

    def superuser(self) -> psycopg.Connection[Any]:
        """A connection behind the service's back."""
        return psycopg.connect(self.database.superuser, autocommit=True)

    def set_clock(self, text: str | None) -> None:
        """Replaces remit.clock(): a timestamp's text to stand still at, None for the real one."""
        body = "select pg_catalog.clock_timestamp()" if text is None else f"select timestamptz '{text}'"
        with self.superuser() as connection:
            connection.execute(
                "create or replace function remit.clock() returns timestamptz "
                f"language sql volatile parallel safe as $${body}$$"
            )

    def close(self) -> None:
        """Ends everything."""
        for made in self._clients:
            made.close()
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()


@contextmanager
def running_cluster(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]], servers: int = 1, **settings: str
) -> Iterator[Cluster]:
    """A cluster of so many processes with the tenants TENANT and OTHER_TENANT, administered by ADMIN."""
    with clone_database() as database:
        folder = reachable_folder("remit-cluster-")
        cluster = Cluster(database, folder)
        try:
            cluster.add_tenant(TENANT, ADMIN)
            cluster.add_tenant(OTHER_TENANT, ADMIN)
            for _ in range(servers):
                cluster.start_server(**settings)
            yield cluster
        finally:
            cluster.close()


@pytest.fixture(scope="session")
def cluster(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    """One process for the whole run of a worker; tests keep to workspaces of their own."""
    with running_cluster(clone_database) as running:
        yield running


@pytest.fixture(scope="session")
def replicas(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    """Three processes on one database; tests keep to workspaces of their own."""
    with running_cluster(clone_database, servers=3) as running:
        yield running


class Workspace:
    """A workspace of a test, owned by ADMIN."""

    def __init__(
        self,
        cluster: Cluster,
        tenant_id: str = TENANT,
        scope_kind: str = "workspace",
        policy: dict[str, Any] | None = None,
    ) -> None:
        self.cluster = cluster
        self.tenant_id = tenant_id
        self.scope_id = f"workspace:{uuid.uuid4().hex}"
        self.owner = cluster.client(ADMIN, tenant_id)
        self.owner.admin.CreateWorkspace(
            admin_pb2.CreateWorkspaceRequest(
                scope_id=f"tenant:{tenant_id}", new_scope_id=self.scope_id, scope_kind=scope_kind, policy=policy
            )
        )

    def allow(self, subject: str, *actions: str, object_type: str = "*", object_id: str = "*") -> list[str]:
        """Adds allow rules; returns their ids."""
        return [self.rule(subject, action, admin_pb2.EFFECT_ALLOW, object_type, object_id) for action in actions]

    def deny(self, subject: str, *actions: str, object_type: str = "*", object_id: str = "*") -> list[str]:
        """Adds deny rules; returns their ids."""
        return [self.rule(subject, action, admin_pb2.EFFECT_DENY, object_type, object_id) for action in actions]

    def rule(self, subject: str, action: str, effect: Any, object_type: str = "*", object_id: str = "*") -> str:
        """Adds a rule; returns its id."""
        rule = admin_pb2.NewPolicyRule(
            subject=subject, action=action, object_type=object_type, object_id=object_id, effect=effect
        )
        request = admin_pb2.AddPolicyRuleRequest(scope_id=self.scope_id, rule=rule)
        return str(self.owner.admin.AddPolicyRule(request).rule.rule_id)

    def events(self, client: Client | None = None, **filters: Any) -> list[Any]:
        """All events, oldest first."""
        client = client or self.owner
        found: list[Any] = []
        cursor = ""
        while True:
            request = ledger_pb2.ListEventsRequest(scope_id=self.scope_id, limit=1000, cursor=cursor, **filters)
            page = client.ledger.ListEvents(request)
            found.extend(page.events)
            cursor = page.cursor
            if not cursor:
                return found

    def create(self, client: Client | None = None, **fields: Any) -> Any:
        """Creates an object; returns the result."""
        values: dict[str, Any] = {"object_type": "claim", "canonical_content": b'{"statement":"x"}'} | fields
        values.setdefault("provenance", {"activity": "observed"})
        request = memory_pb2.CreateRequest(scope_id=self.scope_id, **values)
        return (client or self.owner).memory.Create(request).result

    def read(self, object_id: str, client: Client | None = None, **fields: Any) -> Any:
        """Reads an object; returns the response."""
        request = memory_pb2.ReadRequest(scope_id=self.scope_id, object_id=object_id, **fields)
        return (client or self.owner).memory.Read(request)


@pytest.fixture
def workspace(cluster: Cluster) -> Workspace:
    """A new workspace of the test's own."""
    return Workspace(cluster)
