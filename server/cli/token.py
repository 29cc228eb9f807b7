"""`remit token`: a token of the data directory's development issuer."""

from __future__ import annotations

import click

from server.cli.connection import data_dir_option, read_settings
from server.issuers import DevelopmentIssuer
from storage.model.identifiers import is_actor_id

_TTL_SECONDS_MAX = 7 * 24 * 3600


@click.command()
@click.option("--tenant", "tenant_id", required=True, help="A tenant that was added.")
@click.option("--actor", "actor_id", required=True, help="actor:NAME")
@click.option("--kind", "actor_kind", default="agent", show_default=True, help="Kind of actor.")
@click.option(
    "--ttl", "ttl_seconds", type=click.IntRange(1, _TTL_SECONDS_MAX), default=3600, show_default=True, help="Seconds."
)
@data_dir_option
def token(tenant_id: str, actor_id: str, actor_kind: str, ttl_seconds: int, data_dir: object) -> None:
    """Prints a bearer token for an actor of a tenant. For development only."""
    issuer = DevelopmentIssuer(read_settings(data_dir=data_dir).data_dir)
    if tenant_id not in issuer.tenants():
        raise click.BadParameter("was not added to this data directory", param_hint="--tenant")
    if not is_actor_id(actor_id):
        raise click.BadParameter("must be actor:NAME", param_hint="--actor")
    click.echo(issuer.token(tenant_id, actor_id, actor_kind, ttl_seconds))
