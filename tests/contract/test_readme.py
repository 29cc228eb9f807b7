"""The README's walk, made as a reader makes it: its commands as processes, its requests through reflection.

The client here shares no code with the server, the contract's generated modules included: it knows what reflection tells.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.rpc import error_details_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status

from tests.conftest import reachable_folder

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CALL = re.compile(
    r'^call "\$(?P<token>\w+)" (?P<method>\w+/\w+) <<JSON(?:  # refused: (?P<refused>\w+))?\n(?P<request>.*?)^JSON$',
    re.MULTILINE | re.DOTALL,
)
_KEPT = re.compile(r"^(?P<name>\w+)=\S+  # (?P<path>[\w.]+) of the answer$", re.MULTILINE)
_TOKEN = re.compile(r"^(?P<name>\w+)=\$\((?P<command>remit token .*)\)$", re.MULTILINE)
_SECONDS = 60.0


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def steps() -> list[re.Match[str]]:
    """The calls, and what is kept of their answers, in order."""
    text = "\n".join(_BLOCK.findall(readme()))
    return sorted([*_CALL.finditer(text), *_KEPT.finditer(text)], key=lambda found: found.start())


class Reader:
    """Somebody who has the README, a shell and a reflection client."""

    def __init__(self, folder: Path) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
        self.environment = inherited | {"REMIT_DATA_DIR": str(folder), "REMIT_LISTEN": "127.0.0.1:0"}
        self.folder = folder

    def arguments(self, line: str) -> list[str]:
        program, *arguments = shlex.split(line)
        assert program == "remit"
        return [sys.executable, "-m", "server", *arguments]

    def run(self, line: str) -> str:
        ran = subprocess.run(
            self.arguments(line), env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout.strip()


@dataclass
class Reflected:
    """A channel, a caller's credential, and the contract as reflection tells it."""

    channel: grpc.Channel
    metadata: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        credential = _Credential(self.metadata)
        database = ProtoReflectionDescriptorDatabase(grpc.intercept_channel(self.channel, credential))
        self.services = set(database.get_services())
        self.pool = descriptor_pool.DescriptorPool(database)

    def call(self, method: str, request: str) -> dict[str, Any]:
        service, _, name = method.partition("/")
        described = self.pool.FindServiceByName(f"remit.v1.{service}").FindMethodByName(name)
        inquiry = json_format.Parse(request, message_factory.GetMessageClass(described.input_type)())
        answer = self.channel.unary_unary(
            f"/remit.v1.{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(described.output_type).FromString,
        )(inquiry, metadata=self.metadata, timeout=_SECONDS)
        return dict(json_format.MessageToDict(answer))


class _Credential(grpc.StreamStreamClientInterceptor):
    def __init__(self, metadata: tuple[tuple[str, str], ...]) -> None:
        self._metadata = metadata

    def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return continuation(details._replace(metadata=self._metadata), requests)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    folder = reachable_folder("remit-readme-")
    yield Reader(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def address(reader: Reader) -> Iterator[str]:
    """The README's server, on a free port."""
    [line] = re.findall(r"^remit serve.*$", readme(), re.MULTILINE)
    with (reader.folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            reader.arguments(line), env=reader.environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            for told in process.stdout:
                if found := re.search(r"remit serves on (\S+)", told):
                    threading.Thread(target=process.stdout.read, daemon=True).start()
                    yield found[1]
                    break
            else:
                raise AssertionError((reader.folder / "server.log").read_text())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=_SECONDS) == 0


@pytest.fixture(scope="module")
def clients(reader: Reader, address: str) -> Iterator[dict[str, Reflected]]:
    """A client for each token of the README, by the name it has there."""
    [added] = re.findall(r"^remit tenant add .*$", readme(), re.MULTILINE)
    assert "added tenant shop" in reader.run(added)
    with grpc.insecure_channel(address) as channel:
        yield {
            found["name"]: Reflected(channel, (("authorization", f"Bearer {reader.run(found['command'])}"),))
            for found in _TOKEN.finditer(readme())
        }


@pytest.fixture(scope="module")
def answers(clients: dict[str, Reflected]) -> list[tuple[re.Match[str], dict[str, Any] | str]]:
    """Each call of the README with its answer, or the denial reason of its refusal."""
    kept: dict[str, str] = {}
    made: list[tuple[re.Match[str], dict[str, Any] | str]] = []
    for step in steps():
        if "path" in step.groupdict():
            value: Any = made[-1][1]
            for name in step["path"].split("."):
                value = value[name]
            kept[step["name"]] = value
            continue
        request = re.sub(r"\$(\w+)", lambda name: kept[name[1]], step["request"])
        try:
            made.append((step, clients[step["token"]].call(step["method"], request)))
        except grpc.RpcError as error:
            made.append((step, denial_reason(error)))
    return made


def denial_reason(error: grpc.RpcError) -> str:
    info = error_details_pb2.ErrorInfo()
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        detail.Unpack(info)
    return info.metadata["denial_reason"] or f"{error.code().name}: {error.details()}"


def test_each_call_of_the_readme_ends_as_it_says(
    answers: list[tuple[re.Match[str], dict[str, Any] | str]],
) -> None:
    assert len(answers) == 12
    for step, answer in answers:
        if step["refused"]:
            assert answer == step["refused"]
        else:
            assert isinstance(answer, dict), answer


def test_the_ledger_of_the_walk_holds_what_the_readme_says(
    answers: list[tuple[re.Match[str], dict[str, Any] | str]],
) -> None:
    listed, verified = answers[-2][1], answers[-1][1]
    assert isinstance(listed, dict)
    assert isinstance(verified, dict)
    types = [event["eventType"].removeprefix("EVENT_TYPE_") for event in listed["events"]]
    assert types.count("DELEGATION_GRANTED") == 1
    assert types.count("DELEGATION_EXERCISED") == 1
    assert types.count("DELEGATION_REVOKED") == 1
    assert types.count("ACCESS_DENIED") == 2
    assert verified["ok"]


def test_the_exported_ledger_of_the_walk_verifies(
    reader: Reader, answers: list[tuple[re.Match[str], dict[str, Any] | str]]
) -> None:
    for command in ("export", "verify"):
        [line] = re.findall(rf"^remit ledger {command} .*$", readme(), re.MULTILINE)
        told = reader.run(line)
    assert "verifies" in told
    head = answers[-1][1]
    assert isinstance(head, dict)
    assert f"sequence {head['headSequence']}" in told


def test_reflection_tells_every_service(clients: dict[str, Reflected]) -> None:
    services = clients["ANN"].services
    assert {"remit.v1.MemoryService", "remit.v1.DelegationService", "remit.v1.LedgerService"} <= services
    for service in services:
        clients["ANN"].pool.FindServiceByName(service)


def test_newer_reflection_clients_are_sent_to_the_version_that_is_served(
    address: str, clients: dict[str, Reflected]
) -> None:
    """A client that asks by the newer name falls back to the older one on UNIMPLEMENTED, and on nothing else."""
    with grpc.insecure_channel(address) as channel:
        ask = channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            request_serializer=descriptor_pb2.FileDescriptorSet.SerializeToString,
            response_deserializer=descriptor_pb2.FileDescriptorSet.FromString,
        )
        with pytest.raises(grpc.RpcError) as caught:
            list(ask(iter([descriptor_pb2.FileDescriptorSet()]), metadata=clients["ANN"].metadata, timeout=_SECONDS))
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_the_files_that_the_readme_names_are_there() -> None:
    named = re.findall(r"\]\(([\w/.]+)\)", readme()) + re.findall(r"`((?:helm|server)/[\w/.]+|Dockerfile)`", readme())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_settings_that_the_readme_names_are_there() -> None:
    settings = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    assert [name for name in re.findall(r"REMIT_[A-Z_]+", readme()) if f"`{name}`" not in settings] == []
