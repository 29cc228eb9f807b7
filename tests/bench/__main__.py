"""`make bench`: every figure beside the floor it is judged by, measured in one run; a table, and JSON.

Ratios only mean something within one run. Targets are those the product sets itself; a figure that misses its target says
so and the run still ends.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from storage import migrate
from storage.embedded import EmbeddedPostgres, EmbeddedServer
from storage.embedded.bootstrap import add_pgvector
from tests.bench import decisions, figures, vectors
from tests.bench.floors import EchoServer, naive_ledger, raw_inserts
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


def run(seconds: int, report: Callable[[str], None]) -> list[Figure]:
    """Measures everything; `report` is told each step."""
    found: list[Figure] = []
    folder = reachable_folder("remit-bench-")
    with EmbeddedPostgres(folder) as server:
        superuser = server.dsn("postgres", "remit")
        report("floors")
        with EchoServer() as address:
            echo = rate(address, figures.echo, seconds=seconds)
        raw = raw_inserts(superuser, folder, seconds)
        naive = naive_ledger(superuser, folder, seconds)
        found += [
            Figure("bare unary echo", echo, "calls/s"),
            Figure("raw durable inserts, 16 clients", raw, "rows/s"),
            Figure("naive ledger, 16 clients", naive, "appends/s"),
        ]
        with _cluster(server, "bench_one") as cluster:
            one = cluster.start_server(REMIT_LOG_LEVEL="WARNING").address
            bench = figures.Bench(cluster, one)
            report("create")
            create = rate(one, bench.create(1), seconds=seconds)
            hundred = rate(one, bench.create(100), seconds=seconds)
            report("read")
            read = rate(one, bench.read(), seconds=seconds)
            report("metered and denied")
            metered_create = rate(one, bench.metered_create(1), seconds=seconds)
            metered_read = rate(one, bench.metered_read(1), seconds=seconds)
            chain_read = rate(one, bench.metered_read(4), seconds=seconds)
            denied = rate(one, bench.denied(), seconds=seconds)
            report("checks")
            checks = rate(one, bench.batch_check(100), seconds=seconds, in_flight=4) * 100
            lone = rate(one, bench.create(1), seconds=seconds, in_flight=1)
            chain_share = decisions.hash_chain_share(superuser, create)
            report("offline verification")
            verified = decisions.offline_events_a_second(bench, folder)
        report("two processes")
        with _cluster(server, "bench_two") as cluster:
            two = cluster.start_server(REMIT_LOG_LEVEL="WARNING", REMIT_WORKERS="2").address
            create_two = rate(two, figures.Bench(cluster, two).create(100), seconds=seconds, channels=8)
        with _cluster(server, "bench_vectors") as cluster:
            cluster.start_server(REMIT_LOG_LEVEL="WARNING")
            searched = vectors.measure(cluster, report)
    report("decisions")
    compiled_us, casbin_us = decisions.decision_microseconds(10_000)
    found += [
        Figure("authorized Read, 32 in flight", read, "calls/s"),
        Figure("  to the bare echo", read / echo, "x", 0.5),
        Figure("authorized Create, one hot workspace", create, "calls/s"),
        Figure("  to raw inserts", create / raw, "x", 0.12),
        Figure("  to the naive ledger", create / naive, "x", 1.2),
        Figure("Create over 100 workspaces, to one", hundred / create, "x", 1.0),
        Figure("Create with two processes, to one", create_two / hundred, "x", 1.0),
        Figure("Create, one in flight", lone, "calls/s"),
        Figure("metered Create, to Create", metered_create / create, "x", 0.7),
        Figure("metered Read, to Create", metered_read / create, "x", 0.7),
        Figure("denials, to Create", denied / create, "x", 0.7),
        Figure("chain of 4 grants, to one", chain_read / metered_read, "x", 0.8),
        Figure("BatchCheckDelegation of 100", checks, "verdicts/s", 20_000),
        Figure("decision at 10,000 rules", compiled_us, "us", 5.0, at_most=True),
        Figure("  Casbin's own", casbin_us, "us"),
        Figure("hash chain, share of an append", chain_share, "x", 0.05, at_most=True),
        Figure("offline verification", verified[0], "events/s", 100_000),
        Figure("  by one process", verified[1], "events/s"),
        *_searches(searched),
    ]
    return found


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
    parser.add_argument("--seconds", type=int, default=8, help="duration of each load")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    options = parser.parse_args()
    console = Console()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("bench", total=11)

        def report(step: str) -> None:
            progress.update(task, advance=1, description=step)

        found = run(options.seconds, report)
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
