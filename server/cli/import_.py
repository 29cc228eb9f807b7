"""`remit import`: an export's file into a workspace, through a running service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from google.protobuf.json_format import MessageToDict
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from remit.v1 import portability_pb2
from server.cli.export_file import BadLineError, read_file
from server.cli.service import bearer, open_channel, refusals_told, service_options

_CALL_SECONDS = 300.0
_RECORDS_PER_MESSAGE = 500
_BYTES_PER_MESSAGE = 1 << 20


@click.command("import")
@service_options
@click.option("--scope", "scope_id", required=True, help="The workspace to import into.")
@click.option(
    "--input",
    "file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of an export, JSON lines.",
)
@click.option("--policy-basis", required=True, help="On what basis.")
@click.option("--remap", is_flag=True, help="Take what is another workspace's as this one's.")
@click.option("--dry-run", is_flag=True, help="Check everything, store nothing.")
@click.option("--json", "as_json", is_flag=True, help="Report as one JSON object.")
@refusals_told
def import_(
    address: str,
    token: str,
    ca_file: Path | None,
    scope_id: str,
    file: Path,
    policy_basis: str,
    remap: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import an export's file into a workspace, all of it or nothing.

    The file is read through before anything is sent; a bad line is named. Exits with 1 when the import is refused.
    """
    total = _checked(file)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, disable=as_json)
    with open_channel(address, ca_file) as channel, progress:
        task = progress.add_task("importing", total=total)

        def show(count: int) -> None:
            progress.advance(task, count)

        first = portability_pb2.ImportWorkspaceRequest(
            scope_id=scope_id, policy_basis=policy_basis, remap=remap, dry_run=dry_run
        )
        method = channel.stream_unary(
            "/remit.v1.PortabilityService/ImportWorkspace",
            request_serializer=portability_pb2.ImportWorkspaceRequest.SerializeToString,
            response_deserializer=portability_pb2.ImportWorkspaceResponse.FromString,
        )
        sent = _messages(file, first, show)
        answer: portability_pb2.ImportWorkspaceResponse = method(sent, metadata=bearer(token), timeout=_CALL_SECONDS)
    if as_json:
        click.echo(json.dumps(MessageToDict(answer, preserving_proto_field_name=True)))
    else:
        _print(answer)


def _checked(file: Path) -> int:
    """Returns how many records the file has, after reading every line of it."""
    try:
        return sum(1 for item in read_file(file) if item.HasField("record"))
    except BadLineError as bad:
        raise click.ClickException(f"{file}: {bad}") from None


def _messages(
    file: Path, first: portability_pb2.ImportWorkspaceRequest, show: Callable[[int], None]
) -> Iterator[portability_pb2.ImportWorkspaceRequest]:
    message = portability_pb2.ImportWorkspaceRequest(scope_id=first.scope_id)
    size = 0
    for item in read_file(file):
        match item.WhichOneof("item"):
            case "header":
                first.header.CopyFrom(item.header)
                yield first
            case "record":
                if message.records and (
                    len(message.records) >= _RECORDS_PER_MESSAGE or size + len(item.record.record) > _BYTES_PER_MESSAGE
                ):
                    show(len(message.records))
                    yield message
                    message, size = portability_pb2.ImportWorkspaceRequest(scope_id=first.scope_id), 0
                message.records.append(item.record)
                size += len(item.record.record)
            case _:
                message.trailer.CopyFrom(item.trailer)
    show(len(message.records))
    yield message


def _print(answer: portability_pb2.ImportWorkspaceResponse) -> None:
    console = Console()
    verdict = (
        "would be stored" if answer.dry_run else "were stored by this import before" if answer.replayed else "stored"
    )
    counts = Table("", "", title=f"Import: {verdict}", show_header=False)
    for name in ("objects", "versions", "relationships", "delegations", "foreign_events", "derived"):
        counts.add_row(name.replace("_", " "), str(getattr(answer, name)))
    console.print(counts)
    if answer.id_map:
        changed = Table("kind", "as exported", "here", title="Ids that changed")
        for mapping in answer.id_map:
            changed.add_row(mapping.kind, mapping.source_id, mapping.id)
        console.print(changed)
    if answer.refusals:
        skipped = Table("record", "kind", "id", "reason", title="Records left out")
        for refusal in answer.refusals:
            skipped.add_row(str(refusal.record_number), refusal.kind, refusal.id, refusal.reason)
        console.print(skipped)
