"""Holds the journal of a load to the ledger and the tables (C13; P-12-06)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg

from remit.v1 import ledger_pb2
from tests.cluster import Client, Workspace
from tests.faults.load import Attempt

_EFFECTS = {
    "create": {"object_created": 1},
    "update": {"object_updated": 1, "provenance_updated": 1},
    "exercise_create": {"object_created": 1, "delegation_exercised": 1},
    "exercise_read": {"delegation_exercised": 1},
}

_EVENTS = """
select operation_id, event_type, event_id, object_id, version_id from remit.ledger_events
 where tenant_id = %s and scope_id = %s
"""
_TORN = {
    "versions without their event": """
        select v.object_id, v.sequence from remit.memory_versions v where not exists (
            select from remit.ledger_events e where e.tenant_id = v.tenant_id and e.scope_id = v.scope_id
               and e.sequence = v.ledger_sequence and e.object_id = v.object_id and e.version_id = v.version_id)""",
    "events without their version": """
        select e.scope_id, e.sequence from remit.ledger_events e
         where e.event_type like 'object\\_%' and not exists (
            select from remit.memory_versions v where v.tenant_id = e.tenant_id and v.scope_id = e.scope_id
               and v.ledger_sequence = e.sequence and v.version_id = e.version_id)""",
    "objects whose pointer is not their last version": """
        select o.object_id from remit.memory_objects o where o.version_id is distinct from (
            select v.version_id from remit.memory_versions v where v.tenant_id = o.tenant_id
               and v.scope_id = o.scope_id and v.object_id = o.object_id order by v.sequence desc limit 1)""",
    "versions with holes": """
        select object_id from remit.memory_versions group by tenant_id, scope_id, object_id
        having count(*) <> max(sequence)""",
    "versions whose content is missing": """
        select v.version_id from remit.memory_versions v where v.content_id is not null and not exists (
            select from remit.memory_contents c where c.tenant_id = v.tenant_id and c.scope_id = v.scope_id
               and c.object_id = v.object_id and c.content_id = v.content_id)""",
    "contents of no version": """
        select c.content_id from remit.memory_contents c where not exists (
            select from remit.memory_versions v where v.tenant_id = c.tenant_id and v.scope_id = c.scope_id
               and v.object_id = c.object_id
               and c.content_id in (v.content_id, v.provenance_content_id, v.integrity_content_id))""",
    "keys whose answer does not stand": """
        select i.key from remit.idempotency_keys i where i.result ? 'version_id' and not exists (
            select from remit.memory_versions v where v.tenant_id = i.tenant_id and v.scope_id = i.scope_id
               and v.version_id = i.result ->> 'version_id')""",
    "grants whose counter is not their events": """
        select d.delegation_id, d.uses from remit.delegations d where d.uses <> (
            select count(*) from remit.ledger_events e where e.tenant_id = d.tenant_id and e.scope_id = d.scope_id
               and e.delegation_id = d.delegation_id and e.event_type = 'delegation_exercised')""",
    "uses numbered twice": """
        select delegation_id, use_number from remit.ledger_events where event_type = 'delegation_exercised'
        group by tenant_id, scope_id, delegation_id, use_number having count(*) > 1""",
    "sequences with holes": """
        select scope_id from remit.ledger_events group by tenant_id, scope_id having count(*) <> max(sequence)""",
}


def check_nothing_torn(connection: psycopg.Connection[Any]) -> None:
    """No row of the database stands without those it was committed with."""
    for what, query in _TORN.items():
        assert connection.execute(query.encode()).fetchall() == [], what


def check_attempts(workspace: Workspace, attempts: Iterable[Attempt]) -> None:
    """What was acknowledged is there exactly once, with the ids of the answer; what was not, at most once."""
    with workspace.cluster.superuser() as connection:
        rows = connection.execute(_EVENTS, (workspace.tenant_id, workspace.scope_id)).fetchall()
    effects: dict[str, Counter[str]] = {}
    versions: set[tuple[str, str, str]] = set()
    event_ids: set[str] = set()
    for operation_id, event_type, event_id, object_id, version_id in rows:
        effects.setdefault(operation_id, Counter())[event_type] += 1
        versions.add((operation_id, object_id, version_id))
        event_ids.add(event_id)
    for attempt in attempts:
        found = effects.get(attempt.operation_id, Counter())
        wanted = Counter(_EFFECTS[attempt.kind])
        if attempt.answer is None:
            assert found in (Counter(), wanted), (attempt, found)
            continue
        assert found == wanted, (attempt.kind, attempt.operation_id, found)
        if attempt.kind != "exercise_read":
            result = attempt.answer.result
            assert (attempt.operation_id, result.object_id, result.version_id) in versions
            assert set(result.event_ids) <= event_ids


def check_ledger(workspace: Workspace, client: Client) -> None:
    """VerifyLedger finds nothing."""
    request = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id)
    report = client.ledger.VerifyLedger(request)
    assert report.ok, report.findings


def check_offline(workspace: Workspace, folder: Path) -> None:
    """An export of the ledger verifies without the service, too."""
    file = folder / "export"
    command = [sys.executable, "-m", "server", "ledger"]
    environment = workspace.cluster.environment()
    named = ["--tenant", workspace.tenant_id, "--scope", workspace.scope_id, "--out", os.fspath(file)]
    subprocess.run([*command, "export", *named], env=environment, check=True, capture_output=True)
    verified = subprocess.run([*command, "verify", os.fspath(file)], env=environment, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def check_account(workspace: Workspace, attempts: Iterable[Attempt], server: int = 0) -> None:
    """All of it, but the offline check."""
    with workspace.cluster.superuser() as connection:
        check_nothing_torn(connection)
    check_attempts(workspace, attempts)
    check_ledger(workspace, workspace.cluster.client(workspace.owner.actor_id, workspace.tenant_id, server))
