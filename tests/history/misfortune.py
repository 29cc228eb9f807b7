"""Faults of a history: killed servers, a killed database, cut connections, commits that are lost, unanswered or late."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from tests.cluster import Cluster
from tests.faults.postgres_process import OwnPostgres
from tests.faults.wire import Loss, Relay
from tests.history.pool import Progress

_STALLED_SECONDS = 120.0
# Each once before any comes again.
_KINDS = ("kill server", "lose commit", "cut connections", "kill database", "kill server", "lose commit")


class Misfortune:
    """Strikes once in every `every` operations, or as fast as it can. `struck` counts what happened."""

    def __init__(
        self, cluster: Cluster, postgres: OwnPostgres, relay: Relay, progress: Progress, seed: str, every: int
    ) -> None:
        self.struck: Counter[str] = Counter()
        self._cluster, self._postgres, self._relay = cluster, postgres, relay
        self._progress, self._every = progress, every
        self._draw = random.Random(seed)
        self._strikes: dict[str, Callable[[], None]] = {
            "kill server": self._kill_server,
            "kill database": self._kill_database,
            "cut connections": self._cut_connections,
            "lose commit": self._lose_commit,
        }

    def run(self, operations: int) -> None:
        """Returns when so many operations are done, and every kind has struck; raises when they do not go on."""
        number = 0
        while not self._progress.is_over.is_set():
            has_struck = len(self.struck) == len(self._strikes)
            wanted = min((number + 1) * self._every, operations)
            assert self._progress.wait_until(wanted, _STALLED_SECONDS), f"stalled after {dict(self.struck)}"
            if self._progress.done >= operations and has_struck:
                return
            kind = _KINDS[number % len(_KINDS)]
            # What was held back since the last time arrives now, long after its caller was answered.
            with suppress(OSError):
                self._relay.land()
            self._strikes[kind]()
            self.struck[kind] += 1
            number += 1

    def _kill_server(self) -> None:
        victim = self._draw.choice(self._cluster.servers)
        victim.kill()
        victim.start()

    def _kill_database(self) -> None:
        self._postgres.kill()
        self._postgres.start()

    def _cut_connections(self) -> None:
        with self._cluster.superuser() as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'remit_server' and pid %% 2 = %s",
                (self._draw.randrange(2),),
            )

    def _lose_commit(self) -> None:
        self._relay.lose(self._draw.choice((Loss.REQUEST, Loss.ANSWER, Loss.CONNECTION, Loss.LATE, Loss.LATE)))
