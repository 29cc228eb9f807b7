"""What an earlier schema held reads the same after the upgrade (PAMSPEC 17.2).

The earlier database is made of the rows of a present one, as far as the earlier schema had them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import migrations
from remit.v1 import admin_pb2, delegation_pb2, ledger_pb2, memory_pb2
from storage import migrate
from tests.cluster import ADMIN, Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.waiting import until
from tests.server.operations.memory.requests import ACCEPT_ALL, delete, grant, transition, update

SHIPPED = Path(migrations.__path__[0])
EARLIER = "0001_spine"

_COLUMNS = """
select table_name, array_agg(column_name::text order by ordinal_position) from information_schema.columns
 where table_schema = 'remit' and table_name = any (%s) group by 1"""
_TABLES = "select tablename from pg_tables where schemaname = 'remit' and tablename <> 'alembic_version'"


def _earlier_environment(folder: Path) -> Path:
    """The migrations as they were shipped up to EARLIER."""
    (folder / "versions").mkdir(parents=True)
    for name in ("env.py", "script.py.mako"):
        shutil.copy(SHIPPED / name, folder / name)
    for path in sorted((SHIPPED / "versions").glob("0*.py")):
        if path.stem <= EARLIER:
            shutil.copy(path, folder / "versions")
    return folder


def _carry_over(present: DatabaseDsns, earlier: DatabaseDsns) -> None:
    """Copies every row of the tables and columns that the earlier schema has."""
    with psycopg.connect(present.superuser) as source, psycopg.connect(earlier.superuser) as target:
        tables = [name for (name,) in target.execute(_TABLES)]
        assert len(tables) >= 12
        # Rows come as they stand: neither checked against each other on the way nor written by anybody.
        target.execute("set session_replication_role = replica")
        for name, columns in target.execute(_COLUMNS, (tables,)).fetchall():
            table = sql.Identifier("remit", name)
            fields = sql.SQL(", ").join(map(sql.Identifier, columns))
            reading = sql.SQL("copy (select {} from {}) to stdout").format(fields, table)
            writing = sql.SQL("copy {} ({}) from stdin").format(table, fields)
            with source.cursor().copy(reading) as rows, target.cursor().copy(writing) as taken:
                for row in rows:
                    taken.write(row)


def _fill(workspace: Workspace) -> tuple[list[tuple[str, str]], str]:
    """Objects with versions of all kinds, a grant and a denial; returns the versions and the grant's id."""
    first = workspace.create(canonical_content=b'{"statement":"first", "n":1.0}')
    changed = update(workspace, first.object_id, first.version_id)
    moved = transition(workspace, first.object_id, changed.version_id, "validation", "corroborated")
    gone = workspace.create()
    delete(workspace, gone.object_id, gone.version_id)
    tool = b'{"tool_name":"search","arguments":{}}'
    tool_use = workspace.create(object_type="tool_invocation", canonical_content=tool)
    delegation_id = grant(workspace, "actor:delegate", "read", usage_limit=5)
    workspace.read(first.object_id, workspace.cluster.client("actor:delegate"), delegation_id=delegation_id)
    workspace.allow("actor:reader", "query")
    with pytest.raises(Refusal):
        workspace.read(first.object_id, workspace.cluster.client("actor:reader"))
    versions = [(one.object_id, one.version_id) for one in (first, changed, moved, tool_use)]
    return versions, delegation_id


def _told(workspace: Workspace, client: Client, versions: list[tuple[str, str]], delegation_id: str) -> list[bytes]:
    """Everything that the workspace tells, without the ids of the calls."""
    scope: dict[str, Any] = {"scope_id": workspace.scope_id, "operation_id": "op:same"}
    structured = {"kind": memory_pb2.QUERY_KIND_STRUCTURED, "filters": ACCEPT_ALL}
    answers = [
        client.memory.Read(memory_pb2.ReadRequest(**scope, object_id=name, version_id=version))
        for name, version in versions
    ]
    objects = sorted({name for name, _ in versions})
    answers += [client.memory.InspectHistory(memory_pb2.InspectHistoryRequest(**scope, object_id=n)) for n in objects]
    answers += [
        client.memory.Query(memory_pb2.QueryRequest(**scope, query=structured, limit=100)),
        client.ledger.ListEvents(ledger_pb2.ListEventsRequest(**scope, limit=1000)),
        client.admin.GetWorkspace(admin_pb2.GetWorkspaceRequest(**scope)),
        client.admin.ListPolicyRules(admin_pb2.ListPolicyRulesRequest(**scope)),
        client.delegation.GetDelegation(
            delegation_pb2.GetDelegationRequest(**scope, target_delegation_id=delegation_id)
        ),
    ]
    return [answer.SerializeToString(deterministic=True) for answer in answers]


@pytest.mark.req("P-17.2-01")
def test_data_of_an_earlier_schema_reads_identically(
    clone_database: Callable[[], AbstractContextManager[DatabaseDsns]], empty_database: DatabaseDsns, tmp_path: Path
) -> None:
    migrate.upgrade(empty_database.ddl, script=_earlier_environment(tmp_path / "earlier"))
    assert migrate.current(empty_database.superuser) == EARLIER
    with running_cluster(clone_database) as cluster:
        workspace = Workspace(cluster)
        versions, delegation_id = _fill(workspace)
        _erased(workspace)
        before = _told(workspace, workspace.owner, versions, delegation_id)
        cluster.servers[0].terminate()
        _carry_over(cluster.database, empty_database)
        report = migrate.upgrade(empty_database.ddl)
        assert report.applied
        upgraded = Cluster(empty_database, cluster.folder)
        upgraded.start_server()
        try:
            client = upgraded.client(ADMIN)
            assert _told(workspace, client, versions, delegation_id) == before
            verified = client.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
            assert verified.ok, verified.findings
            # And it goes on from where it stood.
            object_id, version_id = versions[-1]
            workspace.owner, workspace.cluster = client, upgraded
            content = b'{"tool_name":"find","arguments":{}}'
            assert update(workspace, object_id, version_id, canonical_content=content).sequence == 2
        finally:
            upgraded.close()


def _erased(workspace: Workspace) -> None:
    """Returns when the job of the deletion has closed, so that nothing changes any more."""

    def closed() -> bool:
        return any(event.event_type == ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED for event in workspace.events())

    until(closed, "the erasure closes")
