"""`remit manifest`: what a running service is, and what the bearer of a token may do there (P-13-06)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import cast

import click
import grpc
from google.protobuf.json_format import MessageToDict
from rich.console import Console
from rich.table import Table

from remit.v1 import discovery_pb2

_CALL_SECONDS = 30.0
_STANDARD_INPUT = "-"


@click.command()
@click.option("--address", required=True, help="HOST:PORT of the service.")
@click.option("--token", required=True, help="Bearer token; - reads it from standard input.")
@click.option(
    "--ca-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PEM file of the authority of the service's certificate; without it the connection is plaintext.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def manifest(address: str, token: str, ca_file: Path | None, as_json: bool) -> None:
    """Print the manifest of the service as the token's actor sees it."""
    if token == _STANDARD_INPUT:
        token = sys.stdin.read().strip()
    try:
        found = _fetch(address, token, ca_file)
    except grpc.RpcError as error:
        call = cast("grpc.Call", error)
        raise click.ClickException(f"{call.code().name}: {call.details()}") from None
    if as_json:
        click.echo(json.dumps(MessageToDict(found, preserving_proto_field_name=True)))
    else:
        _print(found, Console())


def _fetch(address: str, token: str, ca_file: Path | None) -> discovery_pb2.GetManifestResponse:
    if ca_file is None:
        channel = grpc.insecure_channel(address)
    else:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(ca_file.read_bytes()))
    with channel:
        method = channel.unary_unary(
            "/remit.v1.DiscoveryService/GetManifest",
            request_serializer=discovery_pb2.GetManifestRequest.SerializeToString,
            response_deserializer=discovery_pb2.GetManifestResponse.FromString,
        )
        found: discovery_pb2.GetManifestResponse = method(
            discovery_pb2.GetManifestRequest(),
            metadata=(("authorization", f"Bearer {token}"),),
            timeout=_CALL_SECONDS,
        )
    return found


def _print(found: discovery_pb2.GetManifestResponse, console: Console) -> None:
    facts = Table("", "", title="Service", show_header=False)
    facts.add_row("draft", found.spec_version)
    facts.add_row("binding", f"{found.binding} {found.binding_version}")
    facts.add_row("version", found.service_version)
    facts.add_row("profiles", ", ".join(f"{profile.name} {profile.version}" for profile in found.profiles) or "none")
    facts.add_row("authorization", found.authorization_model)
    facts.add_row("object types", ", ".join(found.object_types))
    facts.add_row("ties are broken by", ", ".join(found.tie_break))
    console.print(facts)
    operations = Table("operation", "available", title="Operations")
    for operation in found.operations:
        operations.add_row(operation, "yes" if operation in found.available_operations else "no")
    console.print(operations)
    moves = Table("dimension", "from", "to", "needs besides", title="Moves")
    for move in found.moves:
        moves.add_row(move.dimension, move.from_state, move.to_state, move.required_action)
    console.print(moves)
    scopes = Table("workspace", "actions", title="Workspaces")
    for scope in found.scopes:
        scopes.add_row(scope.scope_id, ", ".join(scope.actions))
    console.print(scopes)
