"""The `remit` command."""

from __future__ import annotations

import importlib
import keyword

import click

_COMMANDS = {
    "serve": "server.cli.serve",
    "worker": "server.cli.serve",
    "migrate": "server.cli.migrate",
    "tenant": "server.cli.tenant",
    "token": "server.cli.token",
    "demo": "server.cli.demo",
    "ledger": "server.cli.ledger",
    "manifest": "server.cli.manifest",
    "export": "server.cli.export",
    "import": "server.cli.import_",
    "docs": "server.cli.docs",
}


class _Commands(click.Group):
    """Imports a command when it is asked for, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for name in _COMMANDS if name != "worker"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        # A name that is a word of the language stands there with an underscore behind it.
        name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_Commands)
def main() -> None:
    """Memory for agents, and the authority to use it."""


if __name__ == "__main__":
    main()
