"""What the first release wrote at revision 0001_spine is read identically by this one (PAMSPEC 17.2; P-17.2-01).

The file beside this one holds what that release left behind: its rows, its keys, and what it answered itself when it was
asked for every object, history, event and grant.
"""

from __future__ import annotations

import gzip
import json
import shutil
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import migrations
from remit.v1 import common_pb2, delegation_pb2, ledger_pb2, memory_pb2
from storage import migrate
from tests.cluster import ADMIN, TENANT, Cluster, Refusal, Workspace
from tests.conftest import DatabaseDsns, reachable_folder
from tests.server.operations.memory.requests import history, update
from tests.server.operations.portability.exports import take_export, take_import

SHIPPED = Path(migrations.__path__[0])
LEFT_BEHIND = Path(__file__).with_name("spine_0001.json.gz")


@pytest.fixture(scope="module")
def left_behind() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(LEFT_BEHIND.read_bytes()))
    return found


@pytest.fixture
def first_release(tmp_path: Path) -> Path:
    """A migration environment that ends with revision 0001_spine."""
    folder = tmp_path / "environment"
    (folder / "versions").mkdir(parents=True)
    names = ("env.py", "script.py.mako", "versions/0000_roles_schema.py", "versions/0001_spine.py")
    for name in names:
        shutil.copy(SHIPPED / name, folder / name)
    return folder


@pytest.fixture
def upgraded(empty_database: DatabaseDsns, first_release: Path, left_behind: dict[str, Any]) -> Iterator[Cluster]:
    """A server on the database of the first release, upgraded to this one."""
    assert migrate.upgrade(empty_database.ddl, script=first_release).after == left_behind["revision"]
    with psycopg.connect(empty_database.superuser) as connection:
        connection.execute("set session_replication_role = replica")  # tables in any order
        for name, table in left_behind["tables"].items():
            columns = ", ".join(table["columns"])
            with connection.cursor().copy(f"copy remit.{name} ({columns}) from stdin") as copy:
                copy.write(table["rows"])
    report = migrate.upgrade(empty_database.ddl)
    assert (report.before, report.after) == ("0001_spine", migrate.head())
    folder = reachable_folder("remit-upgraded-")
    for name, data in left_behind["files"].items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(b64decode(data))
    for inside in folder.rglob("*"):
        inside.chmod(0o700 if inside.is_dir() else 0o600)
    cluster = Cluster(empty_database, folder)
    (folder / "development-tenants.json").write_text(json.dumps([TENANT]))
    try:
        cluster.start_server()
        yield cluster
    finally:
        cluster.close()


class UpgradedWorkspace(Workspace):
    """The workspace that the first release left behind."""

    def __init__(self, cluster: Cluster, scope_id: str) -> None:
        self.cluster = cluster
        self.tenant_id = TENANT
        self.scope_id = scope_id
        self.owner = cluster.client(ADMIN)


@pytest.mark.req("P-17.2-01")
def test_what_the_first_release_wrote_reads_identically(upgraded: Cluster, left_behind: dict[str, Any]) -> None:
    workspace = UpgradedWorkspace(upgraded, left_behind["scope_id"])
    assert len(left_behind["objects"]) == 10
    for object_id, answered in left_behind["objects"].items():
        if "refused" in answered:
            with pytest.raises(Refusal) as refusal:
                workspace.read(object_id)
            assert refusal.value.reason == answered["refused"]
        else:
            envelope = common_pb2.MemoryEnvelope.FromString(b64decode(answered["envelope"]))
            assert workspace.read(object_id).envelope == envelope
        entries = [memory_pb2.HistoryEntry.FromString(b64decode(entry)) for entry in answered["history"]]
        found = history(workspace, object_id=object_id)
        assert [entry.ledger_sequence for entry in found] == [entry.ledger_sequence for entry in entries]
        assert [entry.version for entry in found] == [entry.version for entry in entries]
    events = [ledger_pb2.LedgerEvent.FromString(b64decode(event)) for event in left_behind["events"]]
    assert workspace.events()[: len(events)] == events
    listed = workspace.owner.delegation.ListDelegations(
        delegation_pb2.ListDelegationsRequest(scope_id=workspace.scope_id)
    )
    before = [delegation_pb2.DelegationStanding.FromString(b64decode(grant)) for grant in left_behind["delegations"]]
    # Whether a grant is effective is said of now, and its window is over by and by.
    assert [grant.delegation for grant in listed.delegations] == [grant.delegation for grant in before]
    assert [grant.uses for grant in listed.delegations] == [grant.uses for grant in before]
    verified = workspace.owner.ledger.VerifyLedger(
        ledger_pb2.VerifyLedgerRequest(
            scope_id=workspace.scope_id,
            known={"sequence": len(events), "chain_hash": bytes.fromhex(left_behind["head_hash"])},
        )
    )
    assert verified.ok, verified.findings


def test_it_goes_on_from_there(upgraded: Cluster, left_behind: dict[str, Any]) -> None:
    workspace = UpgradedWorkspace(upgraded, left_behind["scope_id"])
    object_id, version_id = next(
        (object_id, envelope.version_id)
        for object_id, answered in left_behind["objects"].items()
        if "envelope" in answered
        for envelope in [common_pb2.MemoryEnvelope.FromString(b64decode(answered["envelope"]))]
        if envelope.object_type == "claim"
    )
    update(workspace, object_id, version_id)
    exported = take_export(workspace, include_ledger=True, include_delegations=True)
    target = Workspace(upgraded)
    assert take_import(target, exported, remap=True).objects == len(left_behind["objects"])
    assert take_export(target).trailer.memory_digest == exported.trailer.memory_digest
