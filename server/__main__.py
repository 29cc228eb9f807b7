"""The `remit` command."""

from __future__ import annotations

import importlib

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
        command: click.Command = getattr(importlib.import_module(module), cmd_name)
        return command


@click.group(cls=_Commands)
def main() -> None:
    """Memory for agents, and the authority to use it."""


if __name__ == "__main__":
    main()
