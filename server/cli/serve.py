"""`remit serve`: one or several server processes on one port."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import click
import uvloop
from prometheus_client import start_http_server

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
from server.config import Settings
from server.issuers import DevelopmentIssuer
from server.logs import configure_logs
from storage.errors import DatabaseUnavailable
from storage.migrate import current, head, upgrade

DEVELOPMENT_TENANT = "development"
DEVELOPMENT_ADMIN = "actor:admin"


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
    configure_logs(settings)
    _refuse_exposure(settings)
    with database_urls(settings) as urls:
        _prepare(settings, urls)
        if settings.workers == 1:
            uvloop.run(serve_process(settings, urls.server, lambda port: _announce(settings, port)))
        else:
            sys.exit(_supervise(settings, urls))


@click.command(hidden=True)
@told_plainly
def worker() -> None:
    """One server process of `remit serve --workers`; it takes its settings from the environment."""
    settings = read_settings()
    configure_logs(settings)
    assert settings.database_url is not None
    uvloop.run(serve_process(settings, settings.database_url.get_secret_value()))


def _refuse_exposure(settings: Settings) -> None:
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


def _announce(settings: Settings, port: int) -> None:
    if settings.metrics_listen is not None:
        host, _, metrics_port = settings.metrics_listen.rpartition(":")
        start_http_server(int(metrics_port), host)
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
    host, _, port = settings.listen.rpartition(":")
    reserved = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    # Held for as long as workers run: the port is this service's, also between two of them. It never listens.
    reserved.bind((host.strip("[]"), int(port)))
    port = str(reserved.getsockname()[1])
    environment = os.environ | {
        name: str(value)
        for name, value in {
            "REMIT_DATABASE_URL": urls.server,
            "REMIT_DATA_DIR": settings.data_dir,
            "REMIT_LISTEN": f"{host}:{port}",
            "REMIT_REFLECTION": settings.reflection,
            "REMIT_WORKERS": 1,
            "REMIT_ALLOW_INSECURE_LISTEN": settings.allow_insecure_listen,
        }.items()
    }
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        for child in children:
            child.terminate()

    command = [sys.executable, "-m", "server", "worker"]
    children = [subprocess.Popen(command, env=environment) for _ in range(settings.workers)]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    _announce(settings, int(port))
    while not stopping:
        time.sleep(0.2)
        for index, child in enumerate(children):
            if child.poll() is not None and not stopping:
                click.echo(f"worker {child.pid} ended with {child.returncode}; starting another", err=True)
                time.sleep(0.5)
                children[index] = subprocess.Popen(command, env=environment)
    return max(abs(child.wait()) for child in children)
