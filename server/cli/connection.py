"""Where a command finds the database: the configured one, or the embedded PostgreSQL of the data directory."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
from pydantic import ValidationError

from authz.errors import AuthorizationError
from server.config import Settings
from storage.embedded import EmbeddedPostgres
from storage.errors import StorageError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """Connection strings of the server's role and of the DDL role (None when it is not known here)."""

    server: str
    ddl: str | None


def read_settings(**options: Any) -> Settings:
    """Returns the settings of the environment, overridden by the options that were given; exits 2 naming a bad one."""
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            click.echo(f"setting {'.'.join(map(str, problem['loc']))}: {problem['msg']}", err=True)
        sys.exit(2)


@contextmanager
def database_urls(settings: Settings) -> Iterator[DatabaseUrls]:
    """Gives the database to use; the embedded one runs for as long as somebody uses it."""
    if settings.database_url is not None or settings.migrate_database_url is not None:
        ddl = settings.migrate_database_url
        server = settings.database_url or ddl
        assert server is not None
        yield DatabaseUrls(server.get_secret_value(), None if ddl is None else ddl.get_secret_value())
        return
    with EmbeddedPostgres(settings.data_dir) as embedded:
        yield DatabaseUrls(embedded.dsn("remit_server"), embedded.dsn("remit_ddl"))


def told_plainly(command: Callable[P, R]) -> Callable[P, R]:
    """A command that fails with an error of ours says what it is and exits 1, without a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (StorageError, AuthorizationError) as error:
            click.echo(f"remit: {error}", err=True)
            sys.exit(1)

    return run


def data_dir_option(command: Callable[P, R]) -> Callable[P, R]:
    """The option every command on the embedded database has."""
    return click.option("--data-dir", type=click.Path(path_type=Path), help="Folder of the embedded PostgreSQL.")(
        command
    )


def database_url_option(command: Callable[P, R]) -> Callable[P, R]:
    """The option of commands on the server's database."""
    return click.option("--database-url", help="PostgreSQL URL of the server's role; else the embedded one.")(command)
