"""Where conformance cases run: against a server process over gRPC, and against the same handlers without a transport.

Both offer what `tests.cluster.Workspace` asks of a cluster, so that a case is written once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Protocol

import grpc

from server.app import registry_of, services_of, verifier_of
from server.config import Settings
from tests.cluster import ADMIN, TENANT, Client, Cluster


class Place(Protocol):
    """Somewhere a case can run."""

    def client(self, actor_id: str, tenant_id: str = TENANT) -> Client:
        """An actor's client."""
        ...

    def restart(self) -> None:
        """Ends what serves and starts it anew on the same store; clients made before are of no use."""
        ...


class OverTheWire:
    """A process of `remit serve`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        if not cluster.servers:
            cluster.start_server()

    def client(self, actor_id: str, tenant_id: str = TENANT) -> Client:
        """An actor's client."""
        return self._cluster.client(actor_id, tenant_id)

    def restart(self) -> None:
        """kill -9, and another process."""
        self._cluster.servers[0].kill()
        self._cluster.servers[0].start()


class _Refused(grpc.RpcError):
    """What an aborted call raises, as gRPC's client has it."""

    def __init__(self, code: grpc.StatusCode, details: str, trailing_metadata: Sequence[tuple[str, Any]]) -> None:
        super().__init__(details)
        self._told = (code, details, trailing_metadata)

    def code(self) -> grpc.StatusCode:
        return self._told[0]

    def details(self) -> str:
        return self._told[1]

    def trailing_metadata(self) -> Sequence[tuple[str, Any]]:
        return self._told[2]


class _Context:
    """As much of gRPC's context as handlers use."""

    def __init__(self, metadata: Sequence[tuple[str, str]]) -> None:
        self._metadata = tuple(metadata)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata

    def time_remaining(self) -> None:
        return None

    async def abort(self, code: grpc.StatusCode, details: str, trailing_metadata: Sequence[tuple[str, Any]]) -> None:
        raise _Refused(code, details, trailing_metadata)


class InProcess:
    """The handlers of one process, called on a loop of their own. Stands in for a channel where stubs ask for one."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._settings = Settings(data_dir=cluster.folder, startup_wait_seconds=5.0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._open()

    def client(self, actor_id: str, tenant_id: str = TENANT) -> Client:
        """An actor's client."""
        return Client("", self._cluster.token(actor_id, tenant_id), actor_id, channel=self)

    def restart(self) -> None:
        """Closes everything that was open, and opens it anew."""
        self._close()
        self._open()

    def close(self) -> None:
        """Ends it."""
        self._close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def unary_unary(
        self, path: str, request_serializer: Any, response_deserializer: Any, **_: object
    ) -> Callable[..., Any]:
        """A method of a stub."""

        def call(request: Any, metadata: Sequence[tuple[str, str]] = (), timeout: float | None = None) -> Any:
            handler = self._handler(path)
            answered = handler.unary_unary(request_serializer(request), _Context(metadata))
            return response_deserializer(self._run(answered).result(timeout))

        return call

    def unary_stream(self, *_: object, **__: object) -> None:
        """No case streams."""

    stream_unary = unary_stream

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Takes the handlers that a server would be given."""
        self._handlers = handlers

    def _handler(self, path: str) -> Any:
        details = SimpleNamespace(method=path, invocation_metadata=())
        return next(found for one in self._handlers if (found := one.service(details)) is not None)

    def _run(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _open(self) -> None:
        self._context = services_of(self._settings, self._cluster.database.server)
        services = self._run(self._context.__aenter__()).result()
        server: Any = self
        registry_of(services, verifier_of(self._settings)).install(server)

    def _close(self) -> None:
        self._run(self._context.__aexit__(None, None, None)).result()


@contextmanager
def in_process(cluster: Cluster) -> Iterator[InProcess]:
    """The handlers on the cluster's database."""
    place = InProcess(cluster)
    try:
        yield place
    finally:
        place.close()


__all__ = ["ADMIN", "InProcess", "OverTheWire", "Place", "in_process"]
