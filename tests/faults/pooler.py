"""A transaction-pooling PgBouncer before a PostgreSQL of the test's own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.faults.postgres_process import OwnPostgres
from tests.faults.waiting import until

_PORT = 6432


@contextmanager
def transaction_pooler(postgres: OwnPostgres, *, server_connections: int = 3) -> Iterator[str]:
    """The connection string of a pooler that shares so few connections; skips the test where there is none to run."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed (Debian package pgbouncer)")
    server = postgres.server
    # It must not be root either, and has to enter the socket's folder.
    user = pwd.getpwuid(server.socket_dir.stat().st_uid)
    folder = server.home / "pgbouncer"
    folder.mkdir()
    with (server.home / "postgres.ident.conf").open("a") as idents:
        idents.write(f'remit "{user.pw_name}" all\n')
    with psycopg.connect(server.dsn("postgres", "postgres")) as connection:
        connection.execute("select pg_reload_conf()")
    (folder / "users.txt").write_text('"remit_server" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\nremit = host={server.socket_dir} port={server.port} dbname=remit\n"
        f"[pgbouncer]\nlisten_port = {_PORT}\nunix_socket_dir = {folder}\npool_mode = transaction\n"
        f"auth_type = trust\nauth_file = {folder}/users.txt\ndefault_pool_size = {server_connections}\n"
        "max_client_conn = 200\n"
    )
    os.chown(folder, user.pw_uid, -1)
    options = ["-u", user.pw_name] if os.geteuid() == 0 else []
    process = subprocess.Popen([program, "-q", *options, str(folder / "pgbouncer.ini")], stderr=subprocess.DEVNULL)
    try:
        until(lambda: (folder / f".s.PGSQL.{_PORT}").exists() or process.poll() is not None, "the pooler")
        yield make_conninfo("", host=str(folder), port=_PORT, user="remit_server", dbname="remit")
    finally:
        process.terminate()
        process.wait()
