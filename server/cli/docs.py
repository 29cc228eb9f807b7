"""`remit docs`: writes the reference pages that are made from the sources. For a checkout, so it is hidden."""

from __future__ import annotations

from pathlib import Path

import click

from server.cli.docs_api import CompilerMissingError, ProtoRefusedError, api_reference
from server.cli.docs_settings import settings_reference


def pages(checkout: Path) -> dict[Path, str]:
    """Returns each generated page of the checkout with the text it should have.

    Raises CompilerMissingError and ProtoRefusedError.
    """
    return {
        checkout / "docs" / "api.md": api_reference(checkout / "proto"),
        checkout / "docs" / "settings.md": settings_reference(),
    }


@click.command(hidden=True)
@click.option(
    "--checkout",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Folder of the checkout; the current one by default.",
)
def docs(checkout: Path) -> None:
    """Write docs/api.md and docs/settings.md from the sources."""
    try:
        written = pages(checkout)
    except (CompilerMissingError, ProtoRefusedError) as error:
        raise click.ClickException(type(error).__doc__ or "") from error
    for path, text in written.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(path)
