"""Who plays: the actors, each a process of its own, and what their calls were answered."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from typing import Any, Final

from server.demo.stage import Stage, ended

_LINE_BYTES_MAX: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the play. `called` is how the account calls it; `role_id` is the role that gives it rules, if any."""

    called: str
    tenant_id: str
    actor_id: str
    actor_kind: str
    role_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call was answered: `response` in protobuf's JSON form, or the status, reason and metadata of a refusal."""

    operation_id: str
    ok: bool
    response: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    reason: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    message: str = ""


class ActorEnded(Exception):
    """An actor's process ended before it answered."""


class Player:
    """A part and the process that plays it. All it gets is an address and its own token."""

    def __init__(self, part: Part, process: asyncio.subprocess.Process) -> None:
        self.part = part
        self._process = process
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._calls = 0
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def enter(cls, stage: Stage, part: Part, token: str | None = None) -> Player:
        """Starts the process; the token is the development issuer's unless another is given."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "server.demo.actor",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_BYTES_MAX,
            start_new_session=True,
        )
        made = cls(part, process)
        if token is None:
            token = stage.token(part.tenant_id, part.actor_id, part.actor_kind)
        made._send({"address": stage.address, "token": token})
        return made

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    async def call(self, method: str, request: dict[str, Any], operation_id: str, *, retry: bool = False) -> Answer:
        """Makes one call; calls may be made side by side. Raises ActorEnded."""
        self._calls += 1
        number = self._calls
        answered = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        request = {"operation_id": operation_id, **request}
        self._send({"id": number, "method": method, "request": request, "retry": retry})
        assert self._process.stdin is not None
        await self._process.stdin.drain()
        told = await answered
        del told["id"]
        return Answer(operation_id, **told)

    async def leave(self) -> None:
        """Ends the process by closing its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await ended(self._process)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    def _send(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        if self._process.stdin.is_closing() or self._reading.done():
            raise ActorEnded(self.part.called)
        self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            told = json.loads(line)
            answered = self._waiting.pop(told["id"])
            if not answered.done():  # given up by a caller that was cancelled
                answered.set_result(told)
        for answered in self._waiting.values():
            if not answered.done():
                answered.set_exception(ActorEnded(self.part.called))
