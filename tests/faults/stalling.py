"""Holding a workspace's ledger head, so that appends that were sent wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.cluster import Cluster, Workspace


@contextmanager
def stalled_head(cluster: Cluster, workspace: Workspace) -> Iterator[None]:
    """Holds the workspace's ledger head, so that appends that were sent cannot commit."""
    with psycopg.connect(cluster.database.superuser) as connection:
        connection.execute("select from remit.ledger_heads where scope_id = %s for update", (workspace.scope_id,))
        yield


def waiting_appends(cluster: Cluster) -> int:
    """How many statements wait for a lock."""
    with cluster.superuser() as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        ).fetchone()
    assert row is not None
    return int(row[0])
