"""The service and an independent oracle answer a long random walk alike, over three processes."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter

from tests.authority.bursts import Bursts
from tests.authority.fleet import Fleet
from tests.authority.walk import Walk

STEPS = int(os.environ.get("REMIT_ORACLE_STEPS", "2000"))
SEED = int(os.environ.get("REMIT_ORACLE_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
EPISODE_STEPS = 500
_BURST_EVERY = 50


def test_the_service_answers_as_the_oracle(fleet: Fleet) -> None:
    tally: Counter[str] = Counter()
    print(f"REMIT_ORACLE_SEED={SEED} REMIT_ORACLE_STEPS={STEPS}", file=sys.stderr)
    for episode, start in enumerate(range(0, STEPS, EPISODE_STEPS)):
        # An episode alone is repeated by giving its own seed.
        walk = Walk(fleet, SEED + episode * 1_000_000, tally)
        bursts = Bursts(walk)
        for step in range(1, min(EPISODE_STEPS, STEPS - start) + 1):
            walk.step()
            if step % _BURST_EVERY == 0:
                bursts.any()
        (bursts.kill_at_work if episode % 2 else bursts.kill_idle)()
        walk.close()
    print(dict(tally.most_common()), file=sys.stderr)
