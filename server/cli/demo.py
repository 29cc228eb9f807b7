"""`remit demo`: the main job, played by separate client processes on a server of its own, told and checked."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.cli.connection import data_dir_option, told_plainly
from server.demo import printing
from server.demo.account import Account
from server.demo.cast import ActorEnded
from server.demo.input import SAMPLE, DemoInput, MalformedInput, read_input
from server.demo.performance import Standings, perform
from server.demo.play import DUTIES, PARTS, Play
from server.demo.stage import ServerNotStarted, Stage, database_of

EXIT_DIFFERS = 1
EXIT_INPUT = 2
EXIT_INTERRUPTED = 130
_PERFORMANCE = "performance"


class _Interrupted(Exception):
    """A signal asked for the end."""


@click.command()
@click.option(
    "--input",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of *.jsonl (conversations), *users*.json and *orders*.json; else a small input of its own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the account as one JSON object.")
@data_dir_option
@told_plainly
def demo(folder: Path | None, as_json: bool, data_dir: Path | None) -> None:
    """Shows the service at work, with each actor a process of its own, and checks every outcome.

    Starts a server with an embedded database in a new temporary folder, or in --data-dir, which is kept. Exits with 0
    when each outcome is the expected one, 1 when not, 2 when the input can't be used.
    """
    console = _console(as_json)
    try:
        data = read_input(folder or SAMPLE)
        with _ended_by_signals(), _folder(data_dir) as place:
            sys.exit(_perform(place, data, console, as_json))
    except MalformedInput as error:
        click.echo(f"remit: {error}", err=True)
        sys.exit(EXIT_INPUT)
    except (ServerNotStarted, ActorEnded) as error:
        click.echo(f"remit: {error}", err=True)
        sys.exit(EXIT_DIFFERS)
    except (_Interrupted, asyncio.CancelledError):
        click.echo("remit: interrupted; everything that was started has ended", err=True)
        sys.exit(EXIT_INTERRUPTED)


def _perform(place: Path, data: DemoInput, console: Console, as_json: bool) -> int:
    started = time.monotonic()
    console.print(Text("Starting the embedded PostgreSQL and migrating its schema ...", "dim"))
    with database_of(place) as stage:
        console.print(Text("Adding two tenants, starting `remit serve` on loopback and the actors ...", "dim"))
        account, standings = asyncio.run(_performed(stage, data, console))
    if as_json:
        click.echo(json.dumps(printing.as_json(account, standings), ensure_ascii=False))
    printing.tell_grants(console, account, standings)
    printing.tell_result(console, account)
    console.print(Text(f"{time.monotonic() - started:.0f} s", "dim"))
    return EXIT_DIFFERS if account.surprises else 0


async def _performed(stage: Stage, data: DemoInput, console: Console) -> tuple[Account, Standings]:
    this = asyncio.current_task()
    assert this is not None
    this.set_name(_PERFORMANCE)
    return await perform(
        stage,
        data,
        lambda act: printing.tell_introduction(console, act),
        lambda act: printing.tell_act(console, act),
        lambda play: _introduce(console, play),
        console,
    )


def _console(as_json: bool) -> Console:
    """With --json the account for people goes to standard error, so that a long run is not silent."""
    console = Console(stderr=as_json, highlight=False)
    width = console.width if console.is_terminal else printing.WIDTH
    console.width = max(printing.WIDTH_MIN, min(width, printing.WIDTH_MAX))
    return console


def _introduce(console: Console, play: Play) -> None:
    console.print(Text(f"remit serves on {play.stage.address}; data in {play.stage.data_dir}", "dim"))
    printing.tell_heading(console, "Who plays: each a process of its own, holding its own token and nothing else")
    table = Table("who", "actor", "kind", "tenant", "role", "process", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for part in PARTS:
        pid = str(play.player(part).pid)
        who = Text.assemble((part.called, "bold"), ": ", DUTIES[part.called])
        table.add_row(who, part.actor_id, part.actor_kind, part.tenant_id, part.role_id or "none", pid)
    console.print(table)


@contextmanager
def _folder(data_dir: Path | None) -> Iterator[Path]:
    """The data directory that was given, or a new one that is removed at the end."""
    if data_dir is not None:
        data_dir.mkdir(parents=True, exist_ok=True)
        yield data_dir.absolute()
        return
    made = Path(tempfile.mkdtemp(prefix="remit-demo-"))
    try:
        # The database server of root runs as another user, who has to pass through.
        made.chmod(0o711)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """The first interrupt or termination ends the performance in order; further ones don't disturb that."""
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(_number: int, _frame: FrameType | None) -> None:
        for number in previous:
            signal.signal(number, signal.SIG_IGN)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise _Interrupted from None
        for task in asyncio.all_tasks(loop):
            if task.get_name() == _PERFORMANCE:
                loop.call_soon_threadsafe(task.cancel)

    for number in previous:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
