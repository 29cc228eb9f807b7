"""The coalescer: hands waiting commands to `remit.commit`, many at once and without timers (write-path.md).

A lone command goes alone; what arrives while a batch is in flight goes with the next one. A batch belongs to one
tenant; a workspace is in at most one batch in flight, so that order in its queue is order in its ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import partial

from storage.command_batch import BatchEncoder
from storage.commands import Command, Outcome, Status
from storage.database import Database
from storage.errors import (
    DatabaseUnavailable,
    OutcomeUnknown,
    QueueFull,
    SerializationConflict,
    StatementFailed,
    StorageError,
)
from storage.gathering import Gathering

_log = logging.getLogger(__name__)

_COMMIT = "select command, status, detail, now_us from remit.commit(%s, %b, %s::jsonb, %b) order by command"
_RESOLVE = "select event_id, sequence, use_number from remit.resolve(%s, %b, %b)"
_REMAINING = (
    "select min(usage_limit - uses) from remit.delegations"
    " where tenant_id = %s and scope_id = %s and delegation_id = any (%b)"
)
_DEADLOCK_ATTEMPTS_MAX = 5
_REPEATS_MAX = 5
# Longer than PostgreSQL takes to come back after a crash, shorter than a pod is given to end.
_RESOLVING_SECONDS_MAX = 30.0
# Two that open one tenant or workspace at once have no head to wait at; who comes second waits at these instead.
_OPENED_MEANWHILE = frozenset({"tenants_pkey", "workspaces_pkey", "ledger_heads_pkey"})


@dataclass(slots=True)
class _Waiting:
    command: Command
    answer: asyncio.Future[Outcome]


@dataclass(slots=True)
class _Lane:
    """The queue of one workspace: urgent commands first, then the actors in turn."""

    urgent: deque[_Waiting] = field(default_factory=deque)
    actors: OrderedDict[str, deque[_Waiting]] = field(default_factory=OrderedDict)

    def put(self, waiting: _Waiting) -> None:
        if waiting.command.urgent:
            self.urgent.append(waiting)
        else:
            self.actors.setdefault(waiting.command.actor_id, deque()).append(waiting)

    def take(self) -> Iterator[_Waiting]:
        """Yields what is next; the caller stops when it has enough, `put_back` returns what it could not use."""
        while self.urgent:
            yield self.urgent.popleft()
        while self.actors:
            actor_id, queue = self.actors.popitem(last=False)
            waiting = queue.popleft()
            if queue:
                self.actors[actor_id] = queue
            yield waiting

    def put_back(self, waiting: _Waiting) -> None:
        if waiting.command.urgent:
            self.urgent.appendleft(waiting)
        else:
            self.actors.setdefault(waiting.command.actor_id, deque()).appendleft(waiting)
            self.actors.move_to_end(waiting.command.actor_id, last=False)

    def __bool__(self) -> bool:
        return bool(self.urgent or self.actors)


class Coalescer:
    """Commits commands. `queue_max` bounds what may wait in this process, `batches_max` what is in flight.

    `committed(tenant_id, scope_ids)` is told the workspaces of each batch that was committed, or may have been.
    """

    def __init__(
        self,
        database: Database,
        *,
        queue_max: int = 10_000,
        batch_max: int = 128,
        batches_max: int = 2,
        committed: Callable[[str, Iterable[str]], None] | None = None,
    ) -> None:
        self._database = database
        self._committed = committed
        self._queue_max = queue_max
        self._batch_max = batch_max
        self._batches_max = batches_max
        self._lanes: OrderedDict[tuple[str, str], _Lane] = OrderedDict()
        self._busy: set[tuple[str, str]] = set()
        self._waiting = 0
        self._in_flight: set[asyncio.Task[None]] = set()
        self._gathering = Gathering(self._pump)

    async def submit(self, command: Command) -> Outcome:
        """Returns what became of the command, once that is durable.

        A caller that is cancelled before its command was sent takes it back; afterwards the command stands or falls
        without it. Raises QueueFull when too much waits, DatabaseUnavailable when the database can't be asked.
        """
        if self._waiting >= self._queue_max:
            raise QueueFull
        waiting = _Waiting(command, asyncio.get_running_loop().create_future())
        lane = self._lanes.setdefault((command.tenant_id, command.scope_id), _Lane())
        lane.put(waiting)
        self._waiting += 1
        self._gathering.arrived()
        return await waiting.answer

    async def drain(self) -> None:
        """Returns when nothing waits and nothing is in flight."""
        while self._waiting or self._in_flight:
            await asyncio.wait(self._in_flight) if self._in_flight else await asyncio.sleep(0)

    def _pump(self) -> None:
        while len(self._in_flight) < self._batches_max:
            batch = self._next_batch()
            if not batch:
                return
            scopes = {(w.command.tenant_id, scope) for w in batch for scope in w.command.scopes()}
            self._busy |= scopes
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._in_flight.add(task)
            task.add_done_callback(partial(self._finished, scopes))

    def _finished(self, scopes: set[tuple[str, str]], task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        self._busy -= scopes
        self._gathering.arrived()

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        tenant_id: str | None = None
        for key in list(self._lanes):
            if tenant_id not in (None, key[0]) or key in self._busy:
                continue
            lane = self._lanes[key]
            blocked: list[_Waiting] = []
            for waiting in lane.take():
                if waiting.answer.done():
                    self._waiting -= 1
                elif any((key[0], scope) in self._busy for scope in waiting.command.scopes()):
                    blocked.append(waiting)
                else:
                    batch.append(waiting)
                    self._waiting -= 1
                    tenant_id = key[0]
                if len(batch) >= self._batch_max:
                    break
            for waiting in reversed(blocked):
                lane.put_back(waiting)
            if lane:
                self._lanes.move_to_end(key)
            else:
                del self._lanes[key]
            if len(batch) >= self._batch_max:
                break
        return batch

    async def _run(self, batch: Sequence[_Waiting]) -> None:
        try:
            results = await self._commit([waiting.command for waiting in batch])
        except StatementFailed as error:
            if len(batch) > 1:
                for waiting in batch:
                    await self._run([waiting])
                return
            _log.error("commit refused by the database: %s", error)
            results = [error]
        except Exception as error:  # whoever waits must be answered, whatever went wrong
            # Each waiter raises an exception of its own: one that many raise collects all their tracebacks.
            results = [copy(error) for _ in batch]
        if self._committed is not None:
            scope_ids = {scope for waiting in batch for scope in waiting.command.scopes()}
            self._committed(batch[0].command.tenant_id, scope_ids)
        for waiting, result in zip(batch, results, strict=True):
            if waiting.answer.done():
                continue
            if isinstance(result, Outcome):
                waiting.answer.set_result(result)
            else:
                waiting.answer.set_exception(result)

    async def _commit(self, commands: Sequence[Command]) -> list[Outcome | Exception]:
        """Raises StatementFailed only when nothing of the commands stands, OutcomeUnknown when nobody can tell."""
        encoder = BatchEncoder(commands)
        try:
            return [*await self._send(commands, encoder)]
        except OutcomeUnknown:
            return await self._resolve(commands, encoder.scopes)

    async def _send(self, commands: Sequence[Command], encoder: BatchEncoder) -> list[Outcome]:
        """Raises OutcomeUnknown when the connection was lost with the commands on the way."""
        arguments = (commands[0].tenant_id, encoder.scopes, encoder.commands_json, encoder.blobs)
        condition: str | None = None
        for _ in range(_DEADLOCK_ATTEMPTS_MAX):
            try:
                async with self._database.connection() as connection:
                    cursor = await connection.execute(_COMMIT, arguments)
                    rows = await cursor.fetchall()
            except SerializationConflict as error:
                condition = error.condition
                continue
            except StatementFailed as error:
                if error.constraint in _OPENED_MEANWHILE:
                    condition = error.condition
                    continue
                raise
            return [Outcome(Status(status), detail, now_us) for _, status, detail, now_us in rows]
        raise DatabaseUnavailable(condition)

    async def _resolve(self, commands: Sequence[Command], scopes: Iterable[str]) -> list[Outcome | Exception]:
        """The connection was lost with a batch on the way: find out what stands before anyone is answered.

        Commands whose event stands were accepted; the others wrote nothing and are handed over again, one by one. What
        one of them meets is its own: were it raised, the batch would be run again, with those that stand. Raises
        OutcomeUnknown when the database gives no answer.
        """
        give_up_at = time.monotonic() + _RESOLVING_SECONDS_MAX
        standing = await self._standing(commands, scopes, give_up_at)
        results: list[Outcome | Exception] = []
        for command in commands:
            found = standing.get(_first_event_id(command))
            try:
                results.append(await (self._accepted(command, *found) if found else self._repeat(command, give_up_at)))
            except StorageError as error:
                results.append(error)
        return results

    async def _repeat(self, command: Command, give_up_at: float) -> Outcome:
        """Hands over again a command that did not stand when it was looked up.

        The lost request may still be on its way. Landing after this one it is refused, for its event stands. Landing
        before, it stands itself, and what this one meets is its own shadow: so it is looked up once more. Raises
        OutcomeUnknown when connection after connection was lost, or the time is over.
        """
        encoder = BatchEncoder([command])
        met: Outcome | StorageError = OutcomeUnknown()
        for _ in range(_REPEATS_MAX):
            if time.monotonic() > give_up_at:
                break
            try:
                [met] = await self._send([command], encoder)
            except StorageError as error:
                met = error
            if isinstance(met, Outcome) and met.status is Status.ACCEPTED:
                return met
            found = (await self._standing([command], command.scopes(), give_up_at)).get(_first_event_id(command))
            if found:
                return await self._accepted(command, *found)
            if not isinstance(met, OutcomeUnknown):
                break
        if isinstance(met, StatementFailed):
            raise met
        if isinstance(met, StorageError):
            # This one wrote nothing; the lost one may yet.
            raise OutcomeUnknown(getattr(met, "condition", None)) from None
        return met

    async def _standing(
        self, commands: Sequence[Command], scopes: Iterable[str], give_up_at: float
    ) -> dict[str | None, tuple[int, int]]:
        """Sequence and use number by event id, of the commands' first events that stand."""
        event_ids = [command.events[0].event_id for command in commands if command.events]
        rows = await self._database.persist(
            _RESOLVE,
            (commands[0].tenant_id, sorted(scopes), event_ids),
            give_up_seconds=give_up_at - time.monotonic(),
        )
        return {event_id: (sequence, use_number) for event_id, sequence, use_number in rows}

    async def _accepted(self, command: Command, sequence: int, use_number: int) -> Outcome:
        """The outcome of a command that stands, with the uses that are left now of the grants it exercised.

        How many are left is not told where it can't be read: the command stands all the same.
        """
        chain, remaining = command.chain, None
        if chain is not None and chain.take_use:
            params = (command.tenant_id, chain.home_scope_id, [delegation_id for delegation_id, _ in chain.grants])
            with suppress(StorageError):
                [(remaining,)] = await self._database.tenant_rows(command.tenant_id, _REMAINING, params)
        detail = {"sequence": sequence, "use_number": use_number, "remaining_uses": remaining}
        return Outcome(Status.ACCEPTED, detail, 0)


def _first_event_id(command: Command) -> str | None:
    """What tells whether a command stands. One without an event may be done twice: it meets what it has done."""
    return command.events[0].event_id if command.events else None
