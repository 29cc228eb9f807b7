"""`remit migrate`: brings the schemas to this release."""

from __future__ import annotations

import click
import psycopg

from server.cli.connection import data_dir_option, database_urls, read_settings, told_plainly
from storage.keystore.postgres import create_schema
from storage.migrate import upgrade


@click.command()
@click.option("--phase", type=click.Choice(["pre", "post"]), help="Only revisions for before, or after, the new code.")
@data_dir_option
@told_plainly
def migrate(phase: str | None, data_dir: object) -> None:
    """Applies what is pending. Uses REMIT_MIGRATE_DATABASE_URL (the DDL role), or the embedded PostgreSQL.

    With REMIT_MIGRATE_KEYSTORE_URL the key store's schema is created too, for the role of REMIT_KEYSTORE_URL.
    """
    settings = read_settings(data_dir=data_dir)
    with database_urls(settings) as urls:
        if urls.ddl is None:
            raise click.UsageError("set REMIT_MIGRATE_DATABASE_URL")
        report = upgrade(urls.ddl, phase)  # type: ignore[arg-type]  # click gives one of the choices
    for revision in report.applied:
        click.echo(f"applied {revision}")
    click.echo(f"schema at {report.after}" + (f", pending {', '.join(report.pending)}" if report.pending else ""))
    if settings.migrate_keystore_url is not None:
        if settings.keystore_url is None:
            raise click.UsageError("set REMIT_KEYSTORE_URL, whose role is to use the key store")
        role = psycopg.conninfo.conninfo_to_dict(settings.keystore_url.get_secret_value()).get("user")
        create_schema(settings.migrate_keystore_url.get_secret_value(), server_role=str(role))
        click.echo("key store ready")
