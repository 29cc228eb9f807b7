"""Figures of parts: the decision, the hash chain, the offline verification."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg

from authz.policy import Enforcer, Rule, casbin_enforcer
from tests.bench.exports import write_typical_export
from tests.bench.figures import Bench

EXPORT_EVENTS = 300_000

_VERIFY = """
import time
from server.cli.offline_verifier import verify_file
started = time.perf_counter()
outcome = verify_file({path!r}, jobs={jobs!r})
seconds = time.perf_counter() - started
assert outcome.ok, outcome.findings[:3]
print(outcome.count / seconds)
"""

_SHA = """
do $$
declare h bytea := sha256(''); b bytea := decode(repeat('ab', 600), 'hex');
begin
    for i in 1..20000 loop
        h := sha256('\\x01'::bytea || h || sha256('\\x00'::bytea || int8send(i) || int8send(i) || int8send(0) || b));
    end loop;
end $$"""


def decision_microseconds(rules: int) -> tuple[float, float]:
    """Microseconds of a decision over so many rules that was not asked before: ours, and Casbin's own."""
    facts = [
        Rule(f"urn:r:{n}", f"actor:a{n % 997}", "read", "claim" if n % 2 else "*", f"mem:{n}", "allow")
        for n in range(rules)
    ]
    enforcer = Enforcer.build("acme", "workspace:w", 1, 0, facts, [], [])
    asked = [(f"actor:a{n % 997}", "read", "claim", f"mem:{n}") for n in range(rules)]
    started = time.perf_counter()
    for one in asked:
        enforcer.check(*one)
    ours = (time.perf_counter() - started) / len(asked)
    reference = casbin_enforcer(facts, [])
    started = time.perf_counter()
    for one in asked[:5]:
        reference.enforce(*one)
    return ours * 1e6, (time.perf_counter() - started) / 5 * 1e6


def hash_chain_share(dsn: str, creates_a_second: float) -> float:
    """The time of one event's two hashes in the database, to the time of one append as measured."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        started = time.perf_counter()
        connection.execute(_SHA)
        seconds = (time.perf_counter() - started) / 20000
    return seconds * creates_a_second


def offline_events_a_second(bench: Bench, folder: Path) -> tuple[float, float]:
    """Events a second of the offline verification, as the command does it and by one process, both with replay.

    Verified are so many events that starting counts for nothing, like those of the hot workspace, whose own export is
    verified first.
    """
    path = folder / "export.jsonl"
    command = [sys.executable, "-m", "server", "ledger", "export", "--tenant", "acme"]
    command += ["--scope", bench.hot.scope_id, "--out", str(path)]
    subprocess.run(command, env=bench.cluster.environment(), check=True, capture_output=True)
    _verified_events_a_second(path, 1)
    write_typical_export(path, EXPORT_EVENTS)
    rates = _verified_events_a_second(path, None), _verified_events_a_second(path, 1)
    path.unlink()
    return rates


def _verified_events_a_second(path: Path, jobs: int | None) -> float:
    """The rate of a verification in a process that has no threads, as the command's has none: it is going to fork."""
    code = _VERIFY.format(path=str(path), jobs=jobs)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)
