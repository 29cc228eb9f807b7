"""Order, identity and provenance can't be changed from behind, and it shows when they were (PAMSPEC 15.6)."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from remit.v1 import ledger_pb2
from tests.cluster import Workspace
from tests.server.operations.memory.requests import update

GUARDED = ("ledger_events", "ledger_heads", "memory_versions", "memory_objects", "memory_contents")
CHANGES = ("update {} set scope_id = 'workspace:x'", "delete from {}", "truncate {}")


@pytest.mark.req("P-15.6-01")
def test_the_role_of_the_service_changes_neither_ledger_nor_versions(workspace: Workspace) -> None:
    made = workspace.create()
    update(workspace, made.object_id, made.version_id)
    before = [event.SerializeToString() for event in workspace.events()]
    with psycopg.connect(workspace.cluster.database.server) as connection:
        for table in GUARDED:
            for change in CHANGES:
                connection.execute("select set_config('remit.tenant_id', %s, true)", (workspace.tenant_id,))
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(sql.SQL(change).format(sql.Identifier("remit", table)))
                connection.rollback()
    assert [event.SerializeToString() for event in workspace.events()] == before
    request = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id)
    assert workspace.owner.ledger.VerifyLedger(request).ok
    assert workspace.read(made.object_id, version_id=made.version_id).envelope.provenance == made.envelope.provenance
