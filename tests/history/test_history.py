"""Clients at work on three server processes while servers, connections and the database fail: what they saw holds.

REMIT_HISTORY_OPERATIONS sets how many operations (1,500); REMIT_HISTORY_SEED repeats what a run drew, though not how it
was interleaved.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from remit.v1 import memory_pb2
from tests.cluster import ADMIN, OTHER_TENANT, TENANT, Cluster, Refusal, Workspace
from tests.conftest import reachable_folder
from tests.faults.account import check_ledger
from tests.faults.postgres_process import OwnPostgres, own_postgres
from tests.faults.wire import Relay
from tests.history.ledger_oracle import Ledger, read_export
from tests.history.misfortune import Misfortune
from tests.history.order_oracle import OK, REFUSED, Call
from tests.history.pool import Pool, Progress
from tests.history.verdict import findings, keep
from tests.history.workload import GONE, WEIGHTS, ClientThread, finish
from tests.server.operations.memory.requests import ACCEPT_ALL, query_ids

OPERATIONS = int(os.environ.get("REMIT_HISTORY_OPERATIONS", "1500"))
SEED = os.environ.get("REMIT_HISTORY_SEED") or uuid.uuid4().hex[:8]
STRIKES = max(10, OPERATIONS // 200)
CLIENTS_EACH = 2
SERVERS = 3
SWEPT_MAX = min(3000, OPERATIONS // 5)


@dataclass
class Stage:
    """Three processes on a PostgreSQL of their own; the last reaches it through a relay that can lose commits."""

    cluster: Cluster
    postgres: OwnPostgres
    relay: Relay


@pytest.fixture
def stage() -> Iterator[Stage]:
    with own_postgres() as postgres, Relay(postgres.databases().server) as relay:
        cluster = Cluster(postgres.databases(), reachable_folder("remit-cluster-"))
        try:
            for tenant_id in (TENANT, OTHER_TENANT):
                cluster.add_tenant(tenant_id, ADMIN)
            for _ in range(SERVERS - 1):
                cluster.start_server()
            cluster.start_server(REMIT_DATABASE_URL=relay.dsn)
            yield Stage(cluster, postgres, relay)
        finally:
            cluster.close()


def _exported(workspace: Workspace, folder: Path) -> Ledger:
    """The ledger of the workspace, verified offline too."""
    file = folder / f"{workspace.tenant_id}.jsonl"
    environment = workspace.cluster.environment()
    command = [sys.executable, "-m", "server", "ledger"]
    named = ["--tenant", workspace.tenant_id, "--scope", workspace.scope_id, "--out", os.fspath(file)]
    subprocess.run([*command, "export", *named], env=environment, check=True, capture_output=True)
    verified = subprocess.run([*command, "verify", os.fspath(file)], env=environment, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with file.open(encoding="utf-8") as lines:
        return read_export(lines)


def _swept(workspace: Workspace, calls: list[Call], draw: random.Random) -> list[Call]:
    """Reads versions that were acknowledged, of objects that live and that are gone, when all is quiet."""
    made = [(name, version) for call in calls if call.outcome == OK for name, version in call.versions.items()]
    found = []
    for name, version_id in draw.sample(made, min(len(made), SWEPT_MAX)):
        told = {"kind": "read_version", "operation_id": "op:sweep", "object_id": name, "began_ns": time.monotonic_ns()}
        try:
            answer = workspace.read(name, version_id=version_id)
        except Refusal as refusal:
            if refusal.reason not in GONE:
                raise
            found.append(Call(**told, ended_ns=time.monotonic_ns(), outcome=REFUSED, reason=refusal.reason))
            continue
        content = answer.envelope.canonical_content.decode()
        found.append(
            Call(
                **told, ended_ns=time.monotonic_ns(), outcome=OK, version_id=answer.envelope.version_id, content=content
            )
        )
        assert answer.envelope.version_id == version_id
    return found


def _check_promotions(workspace: Workspace, calls: list[Call]) -> None:
    """From what was promoted one reaches what it was made from."""
    gone = {call.object_id for call in calls if call.kind == "delete" and call.outcome != REFUSED}
    promotions = [call for call in calls if call.kind == "promote" and call.outcome == OK]
    for call in promotions[-50:]:
        [target] = call.versions.keys() - {call.object_id}
        if not gone & {target, call.object_id}:
            request = memory_pb2.TraverseRelationshipsRequest(
                scope_id=workspace.scope_id, start_object_id=target, relationship_types=["derived_from"]
            )
            steps = workspace.owner.memory.TraverseRelationships(request).steps
            assert call.object_id in {step.object.object_id for step in steps}


def _check_query(workspace: Workspace, ledger: Ledger) -> None:
    """A query that lets every lifecycle and validation pass finds what is available, and nothing that is gone."""
    last = [chain[-1] for chain in ledger.chains().values()]
    available = {one.object_id for one in last if one.core["availability_state"] == "available"}
    found = query_ids(workspace, filters=ACCEPT_ALL, limit=1000)
    assert sorted(found) == sorted(available)


@pytest.mark.req("P-7.7-04")
def test_what_clients_saw_is_what_the_ledger_holds(stage: Stage, tmp_path: Path) -> None:
    cluster = stage.cluster
    workspaces = [Workspace(cluster, tenant_id) for tenant_id in (TENANT, OTHER_TENANT)]
    progress = Progress()
    clients: dict[str, list[ClientThread]] = {}
    for workspace in workspaces:
        pool = Pool(workspace.scope_id)
        clients[workspace.tenant_id] = [
            ClientThread(cluster, workspace.tenant_id, number % SERVERS, pool, progress, f"{SEED}-{number}")
            for number in range(SERVERS * CLIENTS_EACH)
        ]
    everybody = [client for several in clients.values() for client in several]
    misfortune = Misfortune(cluster, stage.postgres, stage.relay, progress, SEED, max(1, OPERATIONS // STRIKES))
    for client in everybody:
        client.start()
    try:
        misfortune.run(OPERATIONS)
    finally:
        progress.end()
        for client in everybody:
            client.join()
    told = Counter[str]()
    found: list[str] = []
    for workspace in workspaces:
        calls = finish(clients[workspace.tenant_id])
        workspace.owner = cluster.client(ADMIN, workspace.tenant_id)
        calls += _swept(workspace, calls, random.Random(SEED))
        check_ledger(workspace, workspace.owner)
        _check_promotions(workspace, calls)
        # Both stay behind for a while, so that what is found can be looked into.
        keep(calls, tmp_path / f"{workspace.tenant_id}-calls.jsonl")
        ledger = _exported(workspace, tmp_path)
        _check_query(workspace, ledger)
        found += findings(calls, ledger)
        told.update(f"{call.kind} {call.outcome} {call.reason}".strip() for call in calls)
    summary = f"seed {SEED}, {dict(misfortune.struck)}, {dict(sorted(told.items()))}"
    print(summary)
    assert found == [], summary
    # A history in which nothing met, or nothing failed, shows nothing.
    assert told["update refused VERSION_CONFLICT"] > 0, summary
    assert all(told[f"{kind} {OK}"] > 0 for kind, weight in WEIGHTS.items() if weight), summary
