"""`remit serve`: one or several server processes on one port."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import time
from collections.abc import Coroutine
from typing import Any, Final

import click
import uvloop
from prometheus_client import REGISTRY, CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from server.app import CannotListen
from server.app import serve as serve_process
from server.cli import tenant as tenants
from server.cli.connection import (
    DatabaseUrls,
    data_dir_option,
    database_url_option,
    database_urls,
    read_settings,
    told_plainly,
)
from server.cli.supervision import Workers, reserve_port
from server.config import Settings, environment_of_child
from server.issuers import DevelopmentIssuer
from server.logs import configure_logs
from storage.errors import DatabaseUnavailable
from storage.migrate import current, head, upgrade

DEVELOPMENT_TENANT = "development"
DEVELOPMENT_ADMIN = "actor:admin"
_COLLECTION_THRESHOLD: Final = 10_000


@click.command()
@click.option("--listen", help="HOST:PORT  [default: 127.0.0.1:50051]")
@click.option("--workers", type=int, help="Server processes on the port.")
@click.option("--reflection/--no-reflection", default=None, help="Serve gRPC reflection to authenticated callers.")
@click.option("--allow-insecure-listen", is_flag=True, default=None, help="Permit a public address without TLS.")
@database_url_option
@data_dir_option
@told_plainly
def serve(**options: Any) -> None:
    """Serves. Every setting is also an environment variable; see docs/settings.md."""
    settings = read_settings(**options)
    _refuse_arrangement(settings)
    configure_logs(settings)
    with database_urls(settings) as urls:
        _prepare(settings, urls)
        if settings.workers == 1:
            _run(serve_process(settings, urls.server, lambda port: _announce(settings, port)))
        else:
            sys.exit(_supervise(settings, urls))


@click.command(hidden=True)
@click.option("--ready-fd", type=int, required=True, help="Pipe to tell that calls are answered.")
@click.option("--alive-fd", type=int, required=True, help="Pipe that closes with the supervisor.")
@told_plainly
def worker(ready_fd: int, alive_fd: int) -> None:
    """One server process of `remit serve --workers`; it takes its settings from the environment."""
    settings = read_settings()
    configure_logs(settings)
    assert settings.database_url is not None
    dsn = settings.database_url.get_secret_value()
    _run(serve_process(settings, dsn, lambda _: os.write(ready_fd, b"\n"), supervisor_fd=alive_fd))


def _run(process: Coroutine[Any, Any, None]) -> None:
    # What is loaded by now stays, and calls leave few cycles: looking at all of it as often as Python does by default
    # was measured at a tenth of a call's work.
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD)
    try:
        uvloop.run(process)
    except CannotListen as error:
        raise click.ClickException(str(error)) from None


def _refuse_arrangement(settings: Settings) -> None:
    if (settings.tls_cert_file is None) != (settings.tls_key_file is None):
        # Half of the pair would mean plaintext where TLS was meant.
        raise click.UsageError("set both of REMIT_TLS_CERT_FILE and REMIT_TLS_KEY_FILE, or neither")
    if settings.issuers_file is None and not settings.development_issuer:
        raise click.UsageError(
            "nobody's tokens are trusted: set REMIT_ISSUERS_FILE, or REMIT_DEVELOPMENT_ISSUER to true"
        )
    if settings.database_url is None and settings.migrate_database_url is not None:
        raise click.UsageError("REMIT_MIGRATE_DATABASE_URL is for migrations: set REMIT_DATABASE_URL to serve")
    if settings.listen_is_loopback or settings.allow_insecure_listen:
        return
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        raise click.UsageError(
            f"{settings.listen} is reachable from other machines: set REMIT_TLS_CERT_FILE and REMIT_TLS_KEY_FILE, "
            "or force it with --allow-insecure-listen"
        )
    if settings.issuers_file is None:
        raise click.UsageError(
            f"{settings.listen} is reachable from other machines and the development issuer is trusted: set "
            "REMIT_ISSUERS_FILE, or force it with --allow-insecure-listen"
        )


def _prepare(settings: Settings, urls: DatabaseUrls) -> None:
    if settings.database_url is None and urls.ddl is not None:
        upgrade(urls.ddl)
    else:
        _wait_for_schema(urls.server, settings.startup_wait_seconds)
    if settings.issuers_file is None and not DevelopmentIssuer(settings.data_dir).tenants():
        asyncio.run(tenants.create(settings, urls, DEVELOPMENT_TENANT, (DEVELOPMENT_ADMIN,)))
        click.echo(f"made the development tenant {DEVELOPMENT_TENANT} with administrator {DEVELOPMENT_ADMIN}")


def _wait_for_schema(dsn: str, seconds: float) -> None:
    give_up_at = time.monotonic() + seconds
    while True:
        problem = "the database can't be reached"
        try:
            found = current(dsn)
            if found == head():
                return
            problem = f"the schema is at {found}, this release needs {head()}: run `remit migrate`"
        except DatabaseUnavailable:
            pass
        if time.monotonic() > give_up_at:
            raise click.ClickException(problem)
        time.sleep(0.2)


def _announce(settings: Settings, port: int, registry: CollectorRegistry = REGISTRY) -> None:
    if settings.metrics_listen is not None:
        host, _, metrics_port = settings.metrics_listen.rpartition(":")
        try:
            start_http_server(int(metrics_port), host, registry)
        except OSError as error:
            raise click.ClickException(f"can't listen on {settings.metrics_listen}: {error.strerror}") from None
    host = settings.listen.rpartition(":")[0]
    click.echo(f"remit serves on {host}:{port}")
    if settings.issuers_file is None:
        first = DevelopmentIssuer(settings.data_dir).tenants()[0]
        data_dir = settings.data_dir
        click.echo("next, in another terminal:")
        click.echo(
            f"  export TOKEN=$(remit token --data-dir {data_dir} --tenant {first} --actor {DEVELOPMENT_ADMIN} --kind human)"
        )
        click.echo(f'  remit manifest --address {host}:{port} --token "$TOKEN"')
    sys.stdout.flush()


def _supervise(settings: Settings, urls: DatabaseUrls) -> int:
    try:
        reserved, address = reserve_port(settings.listen)
    except OSError as error:
        raise click.ClickException(f"can't listen on {settings.listen}: {error.strerror}") from None
    with reserved, tempfile.TemporaryDirectory(prefix="remit-metrics-") as metrics_folder:
        environment = environment_of_child(
            {
                "REMIT_DATABASE_URL": urls.server,
                "REMIT_DATA_DIR": str(settings.data_dir),
                "REMIT_LISTEN": address,
                "REMIT_REFLECTION": str(settings.reflection),
                "REMIT_WORKERS": "1",
                "REMIT_ALLOW_INSECURE_LISTEN": str(settings.allow_insecure_listen),
            }
            # Workers keep their metrics in files there, which costs them a little, and this process serves the sum.
            | ({} if settings.metrics_listen is None else {"PROMETHEUS_MULTIPROC_DIR": metrics_folder})
        )
        port = int(address.rpartition(":")[2])
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=metrics_folder)  # type: ignore[no-untyped-call] # the library's, without hints
        workers = Workers(settings.workers, environment, lambda pid: _forget_gauges(pid, metrics_folder))
        return workers.run(lambda: _announce(settings, port, registry))


def _forget_gauges(pid: int, metrics_folder: str) -> None:
    """What a process had open is not open any more; what it counted stays counted."""
    mark_process_dead(pid, metrics_folder)  # type: ignore[no-untyped-call] # the library's, without hints
