"""The service and an independent oracle answer a long random walk alike, over three processes."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter

import pytest

from tests.authority.bursts import Bursts
from tests.authority.fleet import Fleet
from tests.authority.oracle import (
    EXHAUSTED,
    EXPLICIT_DENY,
    NO_RULE,
    NOT_EFFECTIVE,
    OBJECT,
    OBJECT_TYPE,
    OK,
    OPERATION,
)
from tests.authority.walk import Walk

STEPS = int(os.environ.get("REMIT_ORACLE_STEPS", "2000"))
SEED = int(os.environ.get("REMIT_ORACLE_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
EPISODE_STEPS = 500
_BURST_EVERY = 50


# What a walk of the default length always comes to, in some step.
_OUTCOMES = (
    *(OK, NO_RULE, EXPLICIT_DENY, NOT_EFFECTIVE, EXHAUSTED, OPERATION, OBJECT, OBJECT_TYPE),
    *("POLICY_DENIED", "SCOPE_NOT_FOUND", "OBJECT_NOT_FOUND"),
    *("agreement", "replayed", "limits spent", "killed idle"),
)


@pytest.mark.req("P-15.4-09")
@pytest.mark.req("X-02")
@pytest.mark.req("X-06")
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
    if STEPS >= 2000:
        assert [outcome for outcome in _OUTCOMES if not tally[outcome]] == []
    print(dict(tally.most_common()), file=sys.stderr)
