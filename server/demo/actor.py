"""One actor: an operating-system process that holds a token and a channel, and knows the contract and nothing else.

Run as `python -m server.demo.actor`. Standard input and output are JSON, one object a line. The first line in is
`{"address", "token"}` (a token of null: no credential). Each further line is a call,
`{"id", "method": "MemoryService/Read", "request": {...}, "retry": false}`, with the request in protobuf's JSON form.
Calls run side by side. Each is answered by one line, `{"id", "ok": true, "response"}` or
`{"id", "ok": false, "code", "reason", "metadata", "message"}`. The process ends when its input does.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import grpc
from google.protobuf import descriptor_pool, json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2

from remit.v1 import (
    admin_pb2,
    delegation_pb2,
    derived_pb2,
    discovery_pb2,
    ledger_pb2,
    memory_pb2,
    portability_pb2,
    snapshot_pb2,
)

CONTRACT: Final = (
    admin_pb2,
    delegation_pb2,
    derived_pb2,
    discovery_pb2,
    ledger_pb2,
    memory_pb2,
    portability_pb2,
    snapshot_pb2,
)
CALL_SECONDS: Final = 60.0
_LINE_BYTES_MAX: Final = 16 << 20
_ATTEMPTS_MAX: Final = 8
_BACKOFF_SECONDS: Final = 0.1
_STATUS_KEY: Final = "grpc-status-details-bin"
_WORTH_RETRYING: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)


class Actor:
    """A channel and what is called over it."""

    def __init__(self, address: str, token: str | None) -> None:
        self._channel = grpc.aio.insecure_channel(address)
        self._metadata = (("authorization", f"Bearer {token}"),) if token is not None else ()

    async def close(self) -> None:
        """Closes the channel."""
        await self._channel.close()

    def _caller(
        self, method: MethodDescriptor, path: str, request_class: type[Message]
    ) -> Callable[[Message], Awaitable[Message]]:
        """Returns what makes the call: of a stream of requests it sends one, of a stream of responses it takes one."""
        arity = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
        call = getattr(self._channel, arity)(
            path,
            request_serializer=request_class.SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )

        async def made(request: Message) -> Message:
            sent = iter([request]) if method.client_streaming else request
            answered = call(sent, metadata=self._metadata, timeout=CALL_SECONDS)
            if not method.server_streaming:
                return cast("Message", await answered)
            try:
                return cast("Message", await anext(aiter(answered)))
            finally:
                answered.cancel()

        return made

    async def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Makes the call and returns the line that answers it.

        A call that says `retry` is repeated while the service is unavailable or busy; its idempotency key makes that
        safe.
        """
        service, _, name = command["method"].partition("/")
        method = descriptor_pool.Default().FindServiceByName(f"remit.v1.{service}").methods_by_name[name]
        request = json_format.ParseDict(command["request"], GetMessageClass(method.input_type)())
        call = self._caller(method, f"/remit.v1.{command['method']}", type(request))
        attempts_left = _ATTEMPTS_MAX if command.get("retry") else 1
        while True:
            attempts_left -= 1
            try:
                response = await call(request)
            except grpc.aio.AioRpcError as error:
                if attempts_left and error.code() in _WORTH_RETRYING:
                    wait_seconds = _BACKOFF_SECONDS * 2 ** (_ATTEMPTS_MAX - attempts_left)
                    await asyncio.sleep(wait_seconds * random.uniform(0.5, 1.0))  # noqa: S311  (not for secrets)
                    continue
                return {"id": command["id"], "ok": False, **_told(error)}
            told = json_format.MessageToDict(response, preserving_proto_field_name=True)
            return {"id": command["id"], "ok": True, "response": told}


def _told(error: grpc.aio.AioRpcError) -> dict[str, Any]:
    info = error_details_pb2.ErrorInfo()
    for key, value in error.trailing_metadata() or ():
        if key == _STATUS_KEY:
            for detail in status_pb2.Status.FromString(value).details:
                detail.Unpack(info)
    return {
        "code": error.code().name,
        "reason": info.reason,
        "metadata": dict(info.metadata),
        "message": error.details() or "",
    }


async def serve() -> None:
    """Answers calls until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LINE_BYTES_MAX)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    opening = json.loads(await reader.readline())
    actor = Actor(opening["address"], opening["token"])
    running: set[asyncio.Task[None]] = set()

    async def answer(command: dict[str, Any]) -> None:
        line = json.dumps(await actor.answer(command))
        # One write of one line: lines of calls that run side by side never mix.
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    try:
        while line := await reader.readline():
            task = loop.create_task(answer(json.loads(line)))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.gather(*running)
    finally:
        await actor.close()


if __name__ == "__main__":
    # The terminal's interrupt is for the demonstration, which then closes this process's input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(serve())
