"""The service and an independent oracle answer a long random walk alike, over three processes."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.authority.bursts import Bursts
from tests.authority.fleet import Fleet, fleet_of
from tests.authority.walk import Walk
from tests.cluster import running_cluster
from tests.conftest import DatabaseDsns

STEPS = int(os.environ.get("REMIT_ORACLE_STEPS", "2000"))
SEED = int(os.environ.get("REMIT_ORACLE_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
EPISODE_STEPS = 500
_BURST_EVERY = 50


@pytest.fixture(scope="module")
def fleet(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Fleet]:
    """Three processes of the module's own: it stops the clock and kills."""
    with running_cluster(clone_database, servers=3) as cluster, fleet_of(cluster) as fleet:
        yield fleet


def test_the_service_answers_as_the_oracle(fleet: Fleet) -> None:
    tally: Counter[str] = Counter()
    print(f"REMIT_ORACLE_SEED={SEED} REMIT_ORACLE_STEPS={STEPS}", file=sys.stderr)
    for episode, start in enumerate(range(0, STEPS, EPISODE_STEPS)):
        walk = Walk(fleet, SEED * 1000 + episode, tally)
        bursts = Bursts(walk)
        for step in range(1, min(EPISODE_STEPS, STEPS - start) + 1):
            walk.step()
            if step % _BURST_EVERY == 0:
                bursts.any()
        (bursts.kill_at_work if episode % 2 else bursts.kill_idle)()
        walk.close()
    print(dict(tally.most_common()), file=sys.stderr)
