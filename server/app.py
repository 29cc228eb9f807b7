"""The composition root: the only place that constructs. One call of `serve` is one server process."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from authz.jwks import JwksCache
from authz.tokens import TokenVerifier
from server.access import PUBLIC, MethodAccess, declared_access
from server.clock import DatabaseClock
from server.config import Settings
from server.interceptors.authenticate import Verifier, authenticate
from server.interceptors.authorize import authorize
from server.interceptors.deadline import deadline
from server.interceptors.errors import errors
from server.interceptors.frame import Handler
from server.interceptors.request_id import request_id
from server.interceptors.validate import validate
from server.issuers import DevelopmentIssuer, DevelopmentVerifier, IssuerSource, JwksFetcher, read_issuers
from server.rpc import HandlerRegistry, operation_of
from server.services import Services
from server.subscriptions.feeds import LedgerFeeds
from server.views import WorkspaceViews
from server.wire.limits import Limits
from server.wire.validation import compile_validator
from server.workers.capacity import CapacityWorker
from server.workers.erasure import ErasureWorker
from storage import idempotency_keys, objects
from storage.commit import Coalescer
from storage.cursors import CursorCodec
from storage.database import Database
from storage.delegations import load_chains
from storage.encryption import DeploymentKeys
from storage.keystore import DirectoryKeyStore, KeyRing, KeyStore, PostgresKeyStore
from storage.reader import CoalescedReader
from storage.subscriptions import load_subscriptions
from storage.vector_math import load_vector_math

_log = logging.getLogger(__name__)

_AUDITS_MAX = 2
# Not to wait for a database that is away is no reason to refuse one that is there.
_CONNECT_SECONDS_MIN = 5.0


def deployment_keys(settings: Settings) -> DeploymentKeys:
    """Returns the deployment's keys: of the key file, or of one made in the data directory."""
    if settings.kek_file is not None:
        return DeploymentKeys.from_file(settings.kek_file)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return DeploymentKeys.from_file(settings.data_dir / "key-encryption-key", create=True)


def key_store(settings: Settings, keys: DeploymentKeys) -> KeyStore:
    """Returns the key store: its own database, or a folder beside the embedded one."""
    if settings.keystore_url is not None:
        return PostgresKeyStore(settings.keystore_url.get_secret_value(), keys)
    return DirectoryKeyStore(settings.data_dir / "keys", keys)


def verifier_of(settings: Settings) -> Verifier:
    """Returns what proves tokens: the issuers of the file, or the development issuer of the data directory."""
    if settings.issuers_file is not None:
        return _verifier(read_issuers(settings.issuers_file))
    return DevelopmentVerifier(DevelopmentIssuer(settings.data_dir), _verifier)


def _verifier(sources: list[IssuerSource]) -> TokenVerifier:
    cache = JwksCache(JwksFetcher(sources), time.monotonic)
    return TokenVerifier([source.config for source in sources], cache)


@asynccontextmanager
async def services_of(settings: Settings, database_dsn: str) -> AsyncIterator[Services]:
    """Opens everything an operation works with, and closes it after what was accepted is written.

    Raises UnsafeDatabaseRole when the database's arrangement would let this process around the ledger.
    """
    keys = deployment_keys(settings)
    store = key_store(settings, keys)
    database = Database(
        database_dsn,
        size_max=settings.database_pool_max,
        acquire_timeout_seconds=settings.database_acquire_seconds,
        prepared_statements=settings.database_prepared_statements,
    )
    await store.open()
    await database.open(max(settings.startup_wait_seconds, _CONNECT_SECONDS_MIN))
    await database.check_role()
    key_ring = KeyRing(store, page_size=settings.key_page_size)
    feeds = LedgerFeeds(database, page_bytes_max=settings.page_bytes_max)
    coalescer = Coalescer(database, queue_max=settings.queue_max, committed=feeds.committed)
    erasures = ErasureWorker(database, coalescer, key_ring, lambda: objects.tenants_with_open_erasures(database))
    services = Services(
        settings=settings,
        database=database,
        coalescer=coalescer,
        keys=keys,
        key_ring=key_ring,
        cursors=CursorCodec(keys),
        vector_math=await load_vector_math(database),
        views=WorkspaceViews(database),
        clock=DatabaseClock(database),
        erasures=erasures,
        audits=asyncio.Semaphore(_AUDITS_MAX),
        objects=CoalescedReader(lambda tenant, wanted: objects.load_objects(database, tenant, wanted)),
        chains=CoalescedReader(lambda tenant, wanted: load_chains(database, tenant, wanted)),
        idempotency_keys=CoalescedReader(lambda tenant, wanted: idempotency_keys.load_keys(database, tenant, wanted)),
        feeds=feeds,
        subscriptions=CoalescedReader(lambda tenant, wanted: load_subscriptions(database, tenant, wanted)),
    )
    workers = [asyncio.get_running_loop().create_task(run) for run in _workers(services)]
    try:
        yield services
    finally:
        await feeds.close()
        await coalescer.drain()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await key_ring.close()
        await database.close()
        await store.close()


def _workers(services: Services) -> Iterator[Coroutine[Any, Any, None]]:
    settings = services.settings
    yield services.erasures.run()
    if settings.metrics_scopes_max:
        yield CapacityWorker(
            services.database,
            services.views.held,
            scopes_max=settings.metrics_scopes_max,
            interval_seconds=settings.metrics_scopes_seconds,
        ).run()


def registry_of(services: Services, verifier: Verifier) -> HandlerRegistry:
    """Returns every handler, composed. Raises UndeclaredMethod when a method lacks its declaration or operation."""
    settings = services.settings
    limits = Limits(content_bytes_max=settings.content_bytes_max, json_depth_max=settings.json_depth_max)
    registry = HandlerRegistry(verifier)
    for access in declared_access().values():
        registry.add(access, _composed(services, verifier, access, limits))
    return registry


def _composed(services: Services, verifier: Verifier, access: MethodAccess, limits: Limits) -> Handler:
    settings = services.settings
    handler = authorize(services, operation_of(access))
    handler = validate(compile_validator(access.request_class, limits))(handler)
    if access.level != PUBLIC:
        handler = authenticate(verifier)(handler)
    handler = deadline(settings.deadline_seconds_default, settings.deadline_seconds_max)(handler)
    return errors(request_id(handler))


def _server(settings: Settings, *, shares_port: bool) -> grpc.aio.Server:
    # The one place where the gRPC engine is made, so that another can be measured.
    return grpc.aio.server(
        options=[
            # Shared among the workers of one supervisor, and with nobody else.
            ("grpc.so_reuseport", int(shares_port)),
            ("grpc.max_receive_message_length", settings.message_bytes_max),
            ("grpc.max_send_message_length", settings.message_bytes_max),
            ("grpc.max_metadata_size", 16 * 1024),
            ("grpc.keepalive_permit_without_calls", 1),
        ]
    )


@dataclass(eq=False)
class CannotListen(Exception):
    """The service can't listen: the address is another's, or the certificate or its key can't be used."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"can't listen with {self.what}: {self.why}"


def _add_port(server: grpc.aio.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    try:
        if credentials is not None:
            return int(server.add_secure_port(address, credentials))
        return int(server.add_insecure_port(address))
    except RuntimeError:
        tls = "" if credentials is None else ", or the certificate and key are not a pair"
        raise CannotListen(address, f"the address is taken or not this machine's{tls}") from None


def _credentials(settings: Settings) -> grpc.ServerCredentials | None:
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        return None
    return grpc.ssl_server_credentials([(_read(settings.tls_key_file), _read(settings.tls_cert_file))])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CannotListen(str(path), error.strerror or "not readable") from None


async def serve(
    settings: Settings, database_dsn: str, started: Callable[[int], Any], *, supervisor_fd: int | None = None
) -> None:
    """Serves until SIGTERM or SIGINT, then lets accepted calls finish and writes what they left.

    `started(port)` is called once calls are answered. `supervisor_fd` is a pipe whose end means the same as SIGTERM.
    Raises CannotListen, and what services_of raises.
    """
    async with services_of(settings, database_dsn) as services:
        registry = registry_of(services, verifier_of(settings))
        service_names = sorted({name[1:].rsplit("/", 1)[0] for name in registry.methods()})
        health_servicer = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(health_servicer, registry)
        if settings.reflection:
            names = (*service_names, health.SERVICE_NAME, reflection.SERVICE_NAME)
            servicer = reflection.aio.ReflectionServicer(names)
            reflection_pb2_grpc.add_ServerReflectionServicer_to_server(servicer, registry)
        server = _server(settings, shares_port=supervisor_fd is not None)
        registry.install(server)
        port = _add_port(server, settings.listen, _credentials(settings))
        probes = await _start_probes(settings, health_servicer, shares_port=supervisor_fd is not None)
        await server.start()
        for name in ("", *service_names):
            await health_servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
        asked = _stop_asked(supervisor_fd)
        started(port)
        await asked.wait()
        _log.info("draining")
        await health_servicer.enter_graceful_shutdown()
        services.feeds.drain()
        await server.stop(settings.drain_seconds)
        if probes is not None:
            await probes.stop(0)


async def _start_probes(settings: Settings, servicer: Any, *, shares_port: bool) -> grpc.aio.Server | None:
    if settings.health_listen is None:
        return None
    probes = grpc.aio.server(options=[("grpc.so_reuseport", int(shares_port))])
    health_pb2_grpc.add_HealthServicer_to_server(servicer, probes)
    _add_port(probes, settings.health_listen, None)
    await probes.start()
    return probes


def _stop_asked(supervisor_fd: int | None) -> asyncio.Event:
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked.set)
    if supervisor_fd is not None:

        def supervisor_gone() -> None:
            loop.remove_reader(supervisor_fd)
            asked.set()

        loop.add_reader(supervisor_fd, supervisor_gone)
    return asked
