"""`make bench`: every figure beside the floor it is judged by, measured in one run; a table, and JSON.

Ratios only mean something within one run, and a machine's speed moves even there: so the loads take turns, in rounds, and
a ratio is the median of the rounds' ratios. Targets are those the product sets itself; a figure that misses its target
says so and the run still ends.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

import psycopg
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from storage import migrate
from storage.embedded import EmbeddedPostgres, EmbeddedServer
from storage.embedded.bootstrap import add_pgvector
from tests.bench import decisions, figures, floors, vectors
from tests.bench.floors import EchoServer
from tests.bench.load import rate
from tests.cluster import ADMIN, TENANT, Cluster
from tests.conftest import DatabaseDsns, dsns, reachable_folder


@dataclass(frozen=True)
class Figure:
    """One line of the table. `target` is the least (or, with `at_most`, the greatest) value that is good enough."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_most: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target


@contextmanager
def _cluster(server: EmbeddedServer, name: str) -> Iterator[Cluster]:
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f"create database {name} owner remit_ddl")
    database: DatabaseDsns = dsns(server, name)
    add_pgvector(server, name)
    migrate.upgrade(database.ddl)
    cluster = Cluster(database, reachable_folder("remit-bench-"))
    try:
        cluster.add_tenant(TENANT, ADMIN)
        yield cluster
    finally:
        cluster.close()


@dataclass
class Rates:
    """What each load reached, round by round."""

    by_load: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def of(self, load: str) -> float:
        """The median of the rounds."""
        return median(self.by_load[load])

    def ratio(self, load: str, floor: str) -> float:
        """The median of the ratios, each of one round."""
        return median(a / b for a, b in zip(self.by_load[load], self.by_load[floor], strict=True))


def run(seconds: int, rounds: int, report: Callable[[str], None]) -> list[Figure]:
    """Measures everything; `report` is told each step."""
    folder = reachable_folder("remit-bench-")
    with EmbeddedPostgres(folder) as server:
        superuser = server.dsn("postgres", "remit")
        rates = Rates()
        with ExitStack() as running:
            echo = running.enter_context(EchoServer())
            cluster = running.enter_context(_cluster(server, "bench_one"))
            two_processes = running.enter_context(_cluster(server, "bench_two"))
            one = cluster.start_server(REMIT_LOG_LEVEL="WARNING").address
            two = two_processes.start_server(REMIT_LOG_LEVEL="WARNING", REMIT_WORKERS="2").address
            report("preparing")
            bench = figures.Bench(cluster, one)
            floors.prepare(superuser)
            loads = {
                "echo": partial(rate, echo, figures.echo, seconds=seconds),
                "raw": partial(floors.raw_inserts, superuser, folder, seconds),
                "naive": partial(floors.naive_ledger, superuser, folder, seconds),
                "create": partial(rate, one, bench.create(1), seconds=seconds),
                "create 100": partial(rate, one, bench.create(100), seconds=seconds),
                "create two": partial(
                    rate, two, figures.Bench(two_processes, two).create(100), seconds=seconds, channels=8
                ),
                "read": partial(rate, one, bench.read(), seconds=seconds),
                "metered create": partial(rate, one, bench.metered_create(1), seconds=seconds),
                "metered read": partial(rate, one, bench.metered_read(1), seconds=seconds),
                "chain read": partial(rate, one, bench.metered_read(4), seconds=seconds),
                "denied": partial(rate, one, bench.denied(), seconds=seconds),
                "lone create": partial(rate, one, bench.create(1), seconds=seconds, in_flight=1),
            }
            for number in range(rounds):
                for name, load in loads.items():
                    report(f"round {number + 1} of {rounds}: {name}")
                    rates.by_load[name].append(load())
            report("checks")
            checks = rate(one, bench.batch_check(100), seconds=seconds, in_flight=4) * 100
            chain_share = decisions.hash_chain_share(superuser, rates.of("create"))
            report("offline verification")
            verified = decisions.offline_events_a_second(bench, folder)
        with _cluster(server, "bench_vectors") as cluster:
            cluster.start_server(REMIT_LOG_LEVEL="WARNING")
            searched = vectors.measure(cluster, report)
    report("decisions")
    compiled_us, casbin_us = decisions.decision_microseconds(10_000)
    return [
        *_calls(rates),
        Figure("BatchCheckDelegation of 100", checks, "verdicts/s", 20_000),
        Figure("decision at 10,000 rules", compiled_us, "us", 5.0, at_most=True),
        Figure("  Casbin's own", casbin_us, "us"),
        Figure("hash chain, share of an append", chain_share, "x", 0.05, at_most=True),
        Figure("offline verification", verified[0], "events/s", 100_000),
        Figure("  by one process", verified[1], "events/s"),
        *_searches(searched),
    ]


def _calls(rates: Rates) -> list[Figure]:
    return [
        Figure("bare unary echo", rates.of("echo"), "calls/s"),
        Figure("raw durable inserts, 16 clients", rates.of("raw"), "rows/s"),
        Figure("naive ledger, 16 clients", rates.of("naive"), "appends/s"),
        Figure("authorized Read, 32 in flight", rates.of("read"), "calls/s"),
        Figure("  to the bare echo", rates.ratio("read", "echo"), "x", 0.5),
        Figure("authorized Create, one hot workspace", rates.of("create"), "calls/s"),
        Figure("  to raw inserts", rates.ratio("create", "raw"), "x", 0.12),
        Figure("  to the naive ledger", rates.ratio("create", "naive"), "x", 1.2),
        Figure("Create over 100 workspaces, to one", rates.ratio("create 100", "create"), "x", 1.0),
        Figure("Create with two processes, to one", rates.ratio("create two", "create 100"), "x", 1.0),
        Figure("Create, one in flight", rates.of("lone create"), "calls/s"),
        Figure("metered Create, to Create", rates.ratio("metered create", "create"), "x", 0.7),
        Figure("metered Read, to Create", rates.ratio("metered read", "create"), "x", 0.7),
        Figure("denials, to Create", rates.ratio("denied", "create"), "x", 0.7),
        Figure("chain of 4 grants, to one", rates.ratio("chain read", "metered read"), "x", 0.8),
    ]


def _searches(searched: vectors.VectorFigures) -> list[Figure]:
    whole = vectors.SIZES[0]
    sizes = [Figure(f"exact search of {size:,} x 384", ms, "ms") for size, ms in searched.exact_ms.items()]
    return [
        *sizes,
        Figure("  recall", searched.exact_recall, "x", 1.0),
        Figure(f"  who may find 100 of {whole:,}: rows", searched.few_found, "rows", 100),
        Figure("    time", searched.exact_few_ms, "ms"),
        Figure(f"approximate search of {whole:,}", searched.approximate_ms, "ms"),
        Figure("  to the exact one", searched.approximate_ms / searched.exact_ms[whole], "x", 0.6, at_most=True),
        Figure("  recall", searched.approximate_recall, "x", 0.95),
        Figure("  index made in", searched.rebuild_seconds, "s"),
    ]


def main() -> None:
    """Runs, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3, help="duration of each load in a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of all loads")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    options = parser.parse_args()
    console = Console()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("bench", total=12 * options.rounds + 9)

        def report(step: str) -> None:
            progress.update(task, advance=1, description=step)

        found = run(options.seconds, options.rounds, report)
    table = Table("figure", "value", "unit", "target", "")
    for one in found:
        target = "" if one.target is None else f"{'<=' if one.at_most else '>='} {one.target:g}"
        verdict = {None: "", True: "met", False: "[red]missed[/red]"}[one.met]
        table.add_row(
            one.name, f"{one.value:,.3g}" if one.value < 100 else f"{one.value:,.0f}", one.unit, target, verdict
        )
    console.print(table)
    options.out.mkdir(exist_ok=True)
    path = options.out / f"bench-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps([asdict(one) | {"met": one.met} for one in found], indent=2))
    console.print(f"written to {path}")


if __name__ == "__main__":
    tempfile.tempdir = "/var/tmp"
    main()
