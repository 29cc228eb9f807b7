"""How commands reach a running service: its address, the token, and what it answers when it refuses."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import click
import grpc

P = ParamSpec("P")
R = TypeVar("R")

_STANDARD_INPUT = "-"
_MESSAGE_BYTES_MAX = 64 << 20


def service_options(command: Callable[P, R]) -> Callable[P, R]:
    """The options of a command that calls the service: --address, --token, --ca-file."""
    command = click.option(
        "--ca-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="PEM file of the authority of the service's certificate; without it the connection is plaintext.",
    )(command)
    command = click.option("--token", required=True, help="Bearer token; - reads it from standard input.")(command)
    return click.option("--address", required=True, help="HOST:PORT of the service.")(command)


def open_channel(address: str, ca_file: Path | None) -> grpc.Channel:
    """Returns a channel to the service; to be closed by who opened it."""
    options = [("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX)]
    if ca_file is None:
        return grpc.insecure_channel(address, options=options)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(ca_file.read_bytes()), options=options)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """Returns the metadata of a call with the token, which `-` stands for on standard input."""
    if token == _STANDARD_INPUT:
        token = sys.stdin.read().strip()
    return (("authorization", f"Bearer {token}"),)


def refusals_told(command: Callable[P, R]) -> Callable[P, R]:
    """A command that the service refuses says why and exits 1, without a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except grpc.RpcError as error:
            call = cast("grpc.Call", error)
            raise click.ClickException(f"{call.code().name}: {call.details()}") from None

    return run
