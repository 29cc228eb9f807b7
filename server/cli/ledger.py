"""`remit ledger`: verify an exported ledger, and write one (ledger.md, Proof)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from server.cli.connection import data_dir_option, database_url_option, database_urls, read_settings, told_plainly
from server.cli.offline_verifier import VerificationReport, verify_file
from storage.database import Database
from storage.ledger_export import export_source
from storage.ledger_snapshot import ledger_snapshot

EXIT_FINDINGS = 1
PROGRESS_SECONDS = 0.1


@click.group("ledger")
def ledger() -> None:
    """Export and verify the ledger of a workspace."""


@ledger.command("verify")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--known-sequence", type=click.IntRange(min=0), help="Sequence of a place of the chain kept from earlier."
)
@click.option("--known-hash", help="Chain hash at that place, in hex.")
@click.option("--chain-only", is_flag=True, help="Verify the chain and the head, without replaying the events; faster.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes that read the file; by default one for each core, and only one for a small file or a pipe.",
)
@click.option("--json", "as_json", is_flag=True, help="Report as one JSON object.")
@click.pass_context
def verify_command(
    context: click.Context,
    file: Path,
    known_sequence: int | None,
    known_hash: str | None,
    chain_only: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Verify FILE, an exported ledger, without the service.

    Exits with 0 when nothing is wrong, 1 when something is, 2 when the command is not understood. A cut with a
    rewritten head, or a store rolled back as a whole, can only be found against a place kept from earlier.
    """
    known_bytes = _known_hash(known_sequence, known_hash)
    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    # Without refreshing by itself it has no thread, so that the verification can fork.
    with Progress(*columns, console=errors, transient=True, disable=as_json, auto_refresh=False) as progress:
        task = progress.add_task("verifying", total=file.stat().st_size or None)
        shown = time.monotonic()

        def show(done: int) -> None:
            nonlocal shown
            if time.monotonic() - shown > PROGRESS_SECONDS:
                shown = time.monotonic()
                progress.update(task, completed=done, refresh=True)

        report = verify_file(file, known_sequence, known_bytes, show, replay=not chain_only, jobs=jobs)
    if as_json:
        click.echo(json.dumps({**asdict(report), "head_hash": report.head_hash.hex()}))
    else:
        _print_report(report, chain_only)
    if not report.ok:
        context.exit(EXIT_FINDINGS)


@ledger.command("export")
@click.option("--tenant", "tenant_id", required=True, help="The tenant.")
@click.option("--scope", "scope_id", required=True, help="The workspace.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; else standard output.")
@database_url_option
@data_dir_option
@told_plainly
def export_command(tenant_id: str, scope_id: str, out: Path | None, database_url: str | None, data_dir: object) -> None:
    """Export the ledger of a workspace, with the tables it accounts for, as of one moment.

    The file holds ids, states and digests, never content. `remit ledger verify` verifies it without the service; the
    file of --out appears whole or not at all.
    """
    settings = read_settings(database_url=database_url, data_dir=data_dir)
    with database_urls(settings) as urls:
        try:
            count = asyncio.run(_export(urls.server, tenant_id, scope_id, out))
        except OSError as error:
            if out is None:
                raise
            raise click.ClickException(f"can't write {out}: {error.strerror}") from None
    if count is None:
        raise click.ClickException(f"tenant {tenant_id} has no workspace {scope_id}")
    click.echo(f"{count} lines", err=True)


async def _export(dsn: str, tenant_id: str, scope_id: str, out: Path | None) -> int | None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    async with Database(dsn, size_max=1) as database, ledger_snapshot(database, tenant_id, scope_id) as snapshot:
        if snapshot is None:
            return None
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("exporting", total=snapshot.row_count)

            async def lines() -> AsyncIterator[str]:
                async for line in export_source(snapshot.source):
                    yield line
                    progress.advance(task)

            return await _write(lines(), out)


async def _write(lines: AsyncIterator[str], out: Path | None) -> int:
    if out is not None:
        return await write_export(lines, out)
    count = 0
    async for line in lines:
        sys.stdout.write(line + "\n")
        count += 1
    sys.stdout.flush()
    return count


def _known_hash(known_sequence: int | None, known_hash: str | None) -> bytes | None:
    if (known_sequence is None) != (known_hash is None):
        raise click.UsageError("--known-sequence and --known-hash come together")
    if known_hash is None:
        return None
    try:
        value = bytes.fromhex(known_hash)
    except ValueError:
        value = b""
    if len(value) != 32:
        raise click.BadParameter("32 bytes in hex are needed", param_hint="--known-hash")
    return value


def _print_report(report: VerificationReport, chain_only: bool) -> None:
    console = Console()
    if report.findings:
        table = Table("sequence", "finding", "place", title=f"Findings: {report.finding_count}, first bad place first")
        for finding in report.findings:
            table.add_row(str(finding.sequence or "-"), finding.kind, Text(_printable(finding.place)))
        console.print(table)
        if report.finding_count > len(report.findings):
            console.print(f"{report.finding_count - len(report.findings)} more findings are not shown")
    what = "chain" if chain_only else "ledger"
    verdict = Text(f"The {what} verifies.", "green") if report.ok else Text(f"The {what} does NOT verify.", "bold red")
    console.print(verdict)
    scope = "events were not replayed" if chain_only else "replayed against the tables"
    console.print(f"{report.count} events; {scope}")
    # Printed whole and plain: this is what is kept as the known place of the next verification.
    click.echo(f"head: sequence {report.head_sequence}, chain hash {report.head_hash.hex() or '-'}")


def _printable(place: str) -> str:
    """Ids in a file are anybody's bytes: no control character of theirs reaches the terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in place)


async def write_export(lines: AsyncIterator[str], file: Path) -> int:
    """Writes the lines of an export to `file` and returns their number.

    The file appears whole or not at all. Raises OSError when it can't be written, and what `lines` raises.
    """
    count = 0
    with _appearing_whole(file) as writer:
        async for line in lines:
            writer.write(line + "\n")
            count += 1
    return count


@contextmanager
def _appearing_whole(file: Path) -> Iterator[TextIO]:
    """Gives a writer beside `file`, which takes its place once it is synchronised. Only the owner may read it."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as writer:
            yield writer
            writer.flush()
            os.fsync(writer.fileno())
        Path(name).replace(file)
    finally:
        Path(name).unlink(missing_ok=True)
