"""The coalescer: hands waiting commands to `remit.commit`, many at once and without timers (write-path.md).

A lone command goes alone; what arrives while a batch is in flight goes with the next one. A batch belongs to one
tenant; a workspace is in at most one batch in flight, so that order in its queue is order in its ledger.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from storage.commands import BatchEncoder, Command, Outcome, Status
from storage.database import Database
from storage.errors import DatabaseUnavailable, OutcomeUnknown, QueueFull, SerializationConflict, StatementFailed

_log = logging.getLogger(__name__)

_COMMIT = "select command, status, detail, now_us from remit.commit(%s, %b, %s::jsonb, %b) order by command"
_RESOLVE = "select event_id, sequence, use_number from remit.resolve(%s, %b, %b)"
_REMAINING = (
    "select min(usage_limit - uses) from remit.delegations"
    " where tenant_id = %s and scope_id = %s and delegation_id = any (%b)"
)
_DEADLOCK_ATTEMPTS_MAX = 5
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
    """Commits commands. `queue_max` bounds what may wait in this process, `batches_max` what is in flight."""

    def __init__(
        self, database: Database, *, queue_max: int = 10_000, batch_max: int = 128, batches_max: int = 2
    ) -> None:
        self._database = database
        self._queue_max = queue_max
        self._batch_max = batch_max
        self._batches_max = batches_max
        self._lanes: OrderedDict[tuple[str, str], _Lane] = OrderedDict()
        self._busy: set[tuple[str, str]] = set()
        self._waiting = 0
        self._in_flight: set[asyncio.Task[None]] = set()
        self._pump_scheduled = False

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
        self._schedule_pump()
        return await waiting.answer

    async def drain(self) -> None:
        """Returns when nothing waits and nothing is in flight."""
        while self._waiting or self._in_flight:
            await asyncio.wait(self._in_flight) if self._in_flight else await asyncio.sleep(0)

    def _schedule_pump(self) -> None:
        if not self._pump_scheduled:
            self._pump_scheduled = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        self._pump_scheduled = False
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
        self._schedule_pump()

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
            outcomes = await self._commit([waiting.command for waiting in batch])
        except StatementFailed as error:
            if len(batch) > 1:
                for waiting in batch:
                    await self._run([waiting])
                return
            _log.error("commit refused by the database: %s", error)
            self._fail(batch, error)
        except Exception as error:  # whoever waits must be answered, whatever went wrong
            self._fail(batch, error)
        else:
            for waiting, outcome in zip(batch, outcomes, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(outcome)

    @staticmethod
    def _fail(batch: Sequence[_Waiting], error: Exception) -> None:
        for waiting in batch:
            if not waiting.answer.done():
                waiting.answer.set_exception(error)

    async def _commit(self, commands: Sequence[Command]) -> list[Outcome]:
        encoder = BatchEncoder(commands)
        arguments = (commands[0].tenant_id, encoder.scopes, encoder.commands_json, encoder.blobs)
        for _ in range(_DEADLOCK_ATTEMPTS_MAX):
            try:
                async with self._database.connection() as connection:
                    cursor = await connection.execute(_COMMIT, arguments)
                    rows = await cursor.fetchall()
            except SerializationConflict:
                continue
            except StatementFailed as error:
                if error.constraint in _OPENED_MEANWHILE:
                    continue
                raise
            except OutcomeUnknown:
                return await self._resolve(commands, encoder.scopes)
            return [Outcome(Status(status), detail, now_us) for _, status, detail, now_us in rows]
        raise DatabaseUnavailable("DeadlockDetected")

    async def _resolve(self, commands: Sequence[Command], scopes: Sequence[str]) -> list[Outcome]:
        """The connection was lost with a batch on the way: find out what stands before anyone is answered.

        Commands whose event stands were accepted; the others wrote nothing and are handed over again.
        """
        first_ids = [command.events[0].event_id for command in commands if command.events]
        rows = await self._database.persist(_RESOLVE, (commands[0].tenant_id, list(scopes), first_ids))
        standing = {event_id: (sequence, use_number) for event_id, sequence, use_number in rows}
        outcomes: list[Outcome] = []
        for command in commands:
            found = standing.get(command.events[0].event_id) if command.events else None
            if found is not None:
                detail = {
                    "sequence": found[0],
                    "use_number": found[1],
                    "remaining_uses": await self._remaining(command),
                }
                outcomes.append(Outcome(Status.ACCEPTED, detail, 0))
            else:
                outcomes.extend(await self._commit([command]))
        return outcomes

    async def _remaining(self, command: Command) -> int | None:
        """The uses left now of the grants a resolved command exercised; None when none is limited."""
        chain = command.chain
        if chain is None or not chain.take_use:
            return None
        delegation_ids = [delegation_id for delegation_id, _ in chain.grants]
        params = (command.tenant_id, chain.home_scope_id, delegation_ids)
        [(remaining,)] = await self._database.tenant_rows(command.tenant_id, _REMAINING, params)
        return None if remaining is None else int(remaining)
