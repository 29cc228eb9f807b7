"""`remit export`: a workspace into a file, through a running service."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from remit.v1 import portability_pb2
from server.cli.export_file import header_line, record_line, trailer_line
from server.cli.service import bearer, open_channel, refusals_told, service_options


@click.command()
@service_options
@click.option("--scope", "scope_id", required=True, help="The workspace.")
@click.option(
    "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write, JSON lines."
)
@click.option("--snapshot", "snapshot_id", default="", help="Export a sealed snapshot instead of what stands now.")
@click.option("--include-derived", is_flag=True, help="Vectors and embedding spaces too.")
@click.option("--include-ledger", is_flag=True, help="The ledger too.")
@click.option("--include-delegations", is_flag=True, help="Grants too.")
@click.option("--json", "as_json", is_flag=True, help="Report as one JSON object.")
@refusals_told
def export(
    address: str,
    token: str,
    ca_file: Path | None,
    scope_id: str,
    output: Path,
    snapshot_id: str,
    include_derived: bool,
    include_ledger: bool,
    include_delegations: bool,
    as_json: bool,
) -> None:
    """Export a workspace into a file, as of one moment.

    What was deleted or redacted comes without content. The file appears whole or not at all.
    """
    request = portability_pb2.ExportWorkspaceRequest(
        scope_id=scope_id,
        snapshot_id=snapshot_id,
        include_derived=include_derived,
        include_ledger=include_ledger,
        include_delegations=include_delegations,
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, disable=as_json)
    header, trailer = portability_pb2.ExportHeader(), portability_pb2.ExportTrailer()
    with open_channel(address, ca_file) as channel, progress, _appearing_whole(output) as writer:
        task = progress.add_task("exporting", total=None)
        method = channel.unary_stream(
            "/remit.v1.PortabilityService/ExportWorkspace",
            request_serializer=portability_pb2.ExportWorkspaceRequest.SerializeToString,
            response_deserializer=portability_pb2.ExportWorkspaceResponse.FromString,
        )
        for response in method(request, metadata=bearer(token)):
            match response.WhichOneof("item"):
                case "header":
                    header = response.header
                    writer.write(header_line(header) + b"\n")
                case "record":
                    writer.write(record_line(response.record.kind, response.record.record) + b"\n")
                    progress.advance(task)
                case _:
                    trailer = response.trailer
                    writer.write(trailer_line(trailer) + b"\n")
        if not trailer.digest:
            raise click.ClickException("the service ended the export before its trailer")
    _report(header, trailer, output, as_json)


def _report(
    header: portability_pb2.ExportHeader, trailer: portability_pb2.ExportTrailer, output: Path, as_json: bool
) -> None:
    if as_json:
        report = {
            "scope_id": header.scope_id,
            "ledger_sequence": header.ledger_sequence,
            "record_count": trailer.record_count,
            "digest": trailer.digest.hex(),
            "memory_digest": trailer.memory_digest.hex(),
            "output": str(output),
        }
        click.echo(json.dumps(report))
        return
    click.echo(f"{trailer.record_count} records as of ledger sequence {header.ledger_sequence}")
    click.echo(f"digest {trailer.digest.hex()}")
    click.echo(f"memory digest {trailer.memory_digest.hex()}")


@contextmanager
def _appearing_whole(file: Path) -> Iterator[IO[bytes]]:
    """Gives a writer beside `file`, which takes its place once it is synchronised. Only the owner may read it."""
    descriptor, name = tempfile.mkstemp(dir=file.absolute().parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as writer:
            yield writer
            writer.flush()
            os.fsync(writer.fileno())
        Path(name).replace(file)
    finally:
        Path(name).unlink(missing_ok=True)
