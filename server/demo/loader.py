"""Loading the input: many calls in flight, each safe to repeat, with a progress bar."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from server.demo.cast import Answer, Player
from server.demo.input import MalformedInput, Record

IN_FLIGHT: Final = 128
# A result names its invocation, so invocations are there first.
STAGES: Final = ("entity", "observation", "tool_invocation", "tool_result")


def create_request(scope_id: str, record: Record) -> dict[str, Any]:
    """Returns the Create request of a record; its idempotency key is made from the object's id."""
    return {
        "scope_id": scope_id,
        "idempotency_key": "load-" + hashlib.sha256(record.object_id.encode()).hexdigest(),
        "object_type": record.object_type,
        "object_id": record.object_id,
        "canonical_content": base64.b64encode(record.content).decode(),
        "provenance": {"activity": record.activity, "source_ref": f"{record.path.name}#{record.line}"},
    }


async def load(
    player: Player, scope_id: str, records: Sequence[Record], run: str, console: Console | None
) -> dict[str, list[Answer]]:
    """Creates the records, at most IN_FLIGHT at a time; returns the answers by object type.

    `run` begins the operation ids. Without a console there is no progress bar. Raises MalformedInput, naming where the
    record was read, when the service refuses one; what was created before stays.
    """
    answers: dict[str, list[Answer]] = {}
    columns = (TextColumn("{task.description:<16}"), BarColumn(), MofNCompleteColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=console is None) as progress:
        for object_type in STAGES:
            wanted = [record for record in records if record.object_type == object_type]
            task = progress.add_task(object_type, total=len(wanted))
            advance = partial(progress.advance, task)
            answers[object_type] = await _load_stage(player, scope_id, wanted, f"{run}-{object_type}", advance)
    return answers


async def _load_stage(
    player: Player, scope_id: str, records: Sequence[Record], run: str, advance: Callable[[], None]
) -> list[Answer]:
    numbered = iter(list(enumerate(records)))
    answers: list[Answer] = []

    async def work() -> None:
        # All of them draw from one iterator.
        for number, record in numbered:
            answers.append(await _create(player, scope_id, record, f"demo:{run}-{number}"))
            advance()

    workers = [asyncio.get_running_loop().create_task(work()) for _ in range(min(IN_FLIGHT, len(records)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
    return answers


async def _create(player: Player, scope_id: str, record: Record, operation_id: str) -> Answer:
    answer = await player.call("MemoryService/Create", create_request(scope_id, record), operation_id, retry=True)
    if not answer.ok:
        raise MalformedInput(record.path, record.line, f"the service refused {record.object_id}: {answer.message}")
    return answer
