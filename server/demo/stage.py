"""What the play needs around it: the embedded PostgreSQL, the schema, the tenants and a server process on loopback."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from server.cli.connection import DatabaseUrls
from server.cli.tenant import create
from server.config import Settings, environment_of_child
from server.issuers import DevelopmentIssuer
from storage.embedded import EmbeddedPostgres
from storage.migrate import upgrade

_ANNOUNCED: Final = re.compile(rb"remit serves on (\S+:\d+)")
_END_SECONDS: Final = 30.0
_START_SECONDS: Final = 120.0
_TOKEN_SECONDS: Final = 3600


class ServerNotStarted(Exception):
    """The server process ended, or said nothing, before it served. The message names its log."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A data directory with its database, and the address of the server once it runs."""

    data_dir: Path
    urls: DatabaseUrls
    address: str = ""

    @property
    def settings(self) -> Settings:
        """The settings of the processes of this stage; the caller's own REMIT_ variables stay out of it."""
        return Settings.model_construct(data_dir=self.data_dir)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the processes of this stage."""
        settings = {
            "REMIT_DATA_DIR": str(self.data_dir),
            "REMIT_LISTEN": "127.0.0.1:0",
            "REMIT_LOG_LEVEL": "WARNING",
        }
        return environment_of_child(settings, inherit_settings=False)

    def token(self, tenant_id: str, actor_id: str, actor_kind: str) -> str:
        """Returns a token of the development issuer for one actor."""
        return DevelopmentIssuer(self.data_dir).token(tenant_id, actor_id, actor_kind, _TOKEN_SECONDS)

    async def add_tenant(self, tenant_id: str, administrator: str) -> bool:
        """Adds a tenant; returns False when an earlier run on the same data directory did."""
        return await create(self.settings, self.urls, tenant_id, (administrator,))

    async def command(self, *arguments: str) -> tuple[int, str]:
        """Runs a `remit` command on this stage; returns its exit code and what it printed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "server",
            *arguments,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = await process.communicate()
        finally:
            await ended(process, terminate=True)
        assert process.returncode is not None
        return process.returncode, printed.decode(errors="replace")


@contextmanager
def database_of(data_dir: Path) -> Iterator[Stage]:
    """Starts the embedded PostgreSQL of a data directory, or joins it, and brings the schema up to date.

    Raises a class of storage.errors.StorageError.
    """
    with EmbeddedPostgres(data_dir) as embedded:
        urls = DatabaseUrls(embedded.dsn("remit_server"), embedded.dsn("remit_ddl"))
        assert urls.ddl is not None
        upgrade(urls.ddl)
        yield Stage(data_dir, urls)


@asynccontextmanager
async def served(stage: Stage) -> AsyncIterator[Stage]:
    """Runs `remit serve` on a free port of loopback until the block ends. Raises ServerNotStarted."""
    log = stage.data_dir / "demo-server.log"
    with log.open("ab") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "server",
            "serve",
            env=stage.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            # A terminal's interrupt goes to the demonstration alone, which then ends the server.
            start_new_session=True,
        )
        draining: asyncio.Task[bytes] | None = None
        try:
            async with asyncio.timeout(_START_SECONDS):
                address = await _announced(process)
            if address is None:
                raise ServerNotStarted(f"the server did not start; its log is {log}: {_tail(log)}")
            assert process.stdout is not None
            draining = asyncio.get_running_loop().create_task(process.stdout.read())
            yield replace(stage, address=address)
        except TimeoutError:
            if draining is not None:
                raise
            raise ServerNotStarted(f"the server said nothing for {_START_SECONDS:.0f} s; its log is {log}") from None
        finally:
            await ended(process, terminate=True)
            if draining is not None:
                draining.cancel()


async def ended(process: asyncio.subprocess.Process, *, terminate: bool = False) -> None:
    """Waits for a process to end, and kills it when that takes too long or when this wait is given up."""
    if process.returncode is not None:
        return
    try:
        if terminate:
            process.terminate()
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _announced(process: asyncio.subprocess.Process) -> str | None:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        found = _ANNOUNCED.search(line)
        if found:
            return found[1].decode()
    return None


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:].strip()
