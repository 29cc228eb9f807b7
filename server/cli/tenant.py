"""`remit tenant`: adds and lists tenants."""

from __future__ import annotations

import asyncio
import json
import sys

import click
from rich.console import Console
from rich.table import Table

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
from server.tenants import add_tenant
from storage.commands import Status
from storage.commit import Coalescer
from storage.database import Database
from storage.migrate import upgrade
from storage.model.identifiers import is_actor_id, is_tenant_id
from storage.model.times import iso_text
from storage.tenants import list_tenants


@click.group()
def tenant() -> None:
    """Adds and lists tenants."""


async def create(settings: Settings, urls: DatabaseUrls, tenant_id: str, administrators: tuple[str, ...]) -> bool:
    """Adds a tenant; returns False when it was there already. The development issuer then speaks for it."""
    async with Database(urls.server, size_max=2) as database:
        outcome = await add_tenant(Coalescer(database), tenant_id, administrators)
    if settings.issuers_file is None:
        DevelopmentIssuer(settings.data_dir).add_tenant(tenant_id)
    return outcome.status is Status.ACCEPTED


@tenant.command()
@click.argument("tenant_id")
@click.option("--admin", "administrators", multiple=True, required=True, help="An actor, actor:NAME; may be repeated.")
@database_url_option
@data_dir_option
@told_plainly
def add(tenant_id: str, administrators: tuple[str, ...], database_url: str | None, data_dir: object) -> None:
    """Adds tenant TENANT_ID with its root scope tenant:TENANT_ID and its first administrators."""
    if not is_tenant_id(tenant_id):
        raise click.BadParameter("must be 1 to 63 of a-z, 0-9 and -", param_hint="TENANT_ID")
    for administrator in administrators:
        if not is_actor_id(administrator):
            raise click.BadParameter("must be actor:NAME", param_hint="--admin")
    settings = read_settings(database_url=database_url, data_dir=data_dir)
    with database_urls(settings) as urls:
        if settings.database_url is None and urls.ddl is not None:
            upgrade(urls.ddl)
        added = asyncio.run(create(settings, urls, tenant_id, administrators))
    if not added:
        click.echo(f"tenant {tenant_id} is there already; nothing was changed", err=True)
        sys.exit(1)
    click.echo(f"added tenant {tenant_id}; root scope tenant:{tenant_id}; administrators {', '.join(administrators)}")


@tenant.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@data_dir_option
@told_plainly
def list_(as_json: bool, data_dir: object) -> None:
    """Lists tenants. Needs the DDL role's URL (REMIT_MIGRATE_DATABASE_URL) or the embedded database."""
    settings = read_settings(data_dir=data_dir)
    with database_urls(settings) as urls:
        if urls.ddl is None:
            raise click.UsageError("set REMIT_MIGRATE_DATABASE_URL")
        if settings.migrate_database_url is None:
            upgrade(urls.ddl)
        tenants = list_tenants(urls.ddl)
    if as_json:
        rows = [{"tenant_id": t.tenant_id, "created_at": iso_text(t.created_at_us)} for t in tenants]
        click.echo(json.dumps(rows))
        return
    table = Table("tenant", "added")
    for t in tenants:
        table.add_row(t.tenant_id, iso_text(t.created_at_us))
    Console().print(table)
