"""VerifyLedger, and `remit ledger export` with its verification offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from remit.v1 import ledger_pb2
from server.cli.ledger import ledger
from tests.cluster import Cluster, Refusal, Workspace
from tests.server.operations.memory.requests import delete, grant, history, query_ids, transition, update


def _verify(workspace: Workspace, **fields: Any) -> ledger_pb2.VerifyLedgerResponse:
    request = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id, **fields)
    response: ledger_pb2.VerifyLedgerResponse = workspace.owner.ledger.VerifyLedger(request)
    return response


def _export(cluster: Cluster, scope_id: str, *options: str, tenant_id: str = "acme") -> Any:
    chosen = ["--tenant", tenant_id, "--scope", scope_id, "--database-url", cluster.database.server, *options]
    return CliRunner().invoke(ledger, ["export", *chosen])


def _busy(workspace: Workspace) -> None:
    """Something of everything that a ledger accounts for."""
    made = workspace.create(canonical_content=b'{"secret":"vermilion"}', object_type="claim")
    second = update(workspace, made.object_id, made.version_id, observed_at={"seconds": 1, "nanos": 123_456_789})
    transition(workspace, made.object_id, second.version_id, "validation", "corroborated")
    gone = workspace.create(canonical_content='{"b":1,"a":1.0,"é":"\\u0001 vermilion"}'.encode())
    delete(workspace, gone.object_id, gone.version_id)
    workspace.allow("actor:reader", "query")
    workspace.deny("actor:reader", "read")
    with pytest.raises(Refusal):
        workspace.read(made.object_id, workspace.cluster.client("actor:reader"))
    delegation_id = grant(workspace, "actor:delegate", "query", usage_limit=5)
    query_ids(workspace, workspace.cluster.client("actor:delegate"), delegation_id=delegation_id)
    while not workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED]):
        pass  # the deletion erases what it hid, and says so


@pytest.mark.req("P-7.7-03", "P-7.7-09")
@pytest.mark.case("C02")
@pytest.mark.case("C03")
def test_a_busy_ledger_verifies_here_and_offline(workspace: Workspace, tmp_path: Path) -> None:
    _busy(workspace)
    report = _verify(workspace)
    assert report.ok, report.findings
    events = workspace.events()
    assert (report.count, report.head_sequence) == (len(events), len(events))
    assert report.head_hash == events[-1].chain_hash
    file = tmp_path / "ledger.jsonl"
    exported = _export(workspace.cluster, workspace.scope_id, "--out", str(file))
    assert exported.exit_code == 0, exported.output
    verified = CliRunner().invoke(ledger, ["verify", str(file), "--json"])
    assert verified.exit_code == 0, verified.output
    offline = json.loads(verified.stdout)
    assert (offline["ok"], offline["head_hash"]) == (True, report.head_hash.hex())
    # The same lines go to standard output, and everything that was recorded holds nothing of the content.
    assert _export(workspace.cluster, workspace.scope_id).stdout == file.read_text()


@pytest.mark.req("P-7.7-10")
def test_what_was_deleted_is_nowhere_in_the_record(workspace: Workspace, tmp_path: Path) -> None:
    _busy(workspace)
    secret = b"vermilion"
    gone = [entry for entry in history(workspace, after_sequence=0) if entry.event.event_type == 10]
    object_id = gone[0].event.object_id
    assert secret not in b"".join(entry.SerializeToString() for entry in history(workspace, object_id=object_id))
    assert secret not in b"".join(event.SerializeToString() for event in workspace.events())
    assert secret.decode() not in _export(workspace.cluster, workspace.scope_id).stdout


def test_a_place_kept_from_earlier_is_compared(workspace: Workspace) -> None:
    workspace.create()
    kept = _verify(workspace)
    workspace.create()
    known = {"sequence": kept.head_sequence, "chain_hash": kept.head_hash}
    assert _verify(workspace, known=known).ok
    other = _verify(workspace, known=known | {"chain_hash": bytes(32)})
    assert [(finding.sequence, finding.kind) for finding in other.findings] == [
        (kept.head_sequence, "KNOWN_PLACE_CHANGED")
    ]
    ahead = _verify(workspace, known=known | {"sequence": 1000})
    assert [(finding.sequence, finding.kind) for finding in ahead.findings] == [(1000, "KNOWN_PLACE_MISSING")]
    for sequence in (2**63, 2**64 - 1):
        assert not _verify(workspace, known=known | {"sequence": sequence}).ok
    with pytest.raises(Refusal) as refused:
        _verify(workspace, known=known | {"chain_hash": b"short"})
    assert (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["known.chain_hash"])


def test_verification_needs_its_right(workspace: Workspace) -> None:
    workspace.allow("actor:reader", "ledger.read")
    request = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id)
    with pytest.raises(Refusal) as refused:
        workspace.cluster.client("actor:reader").ledger.VerifyLedger(request)
    assert refused.value.denial_reason == "NO_RULE"


def test_the_tenants_root_scope_verifies(cluster: Cluster) -> None:
    request = ledger_pb2.VerifyLedgerRequest(scope_id="tenant:acme")
    assert cluster.client("actor:admin").ledger.VerifyLedger(request).ok


def test_a_workspace_that_is_not_there_is_not_exported(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    for scope_id, tenant_id in (("workspace:none", "acme"), (workspace.scope_id, "globex")):
        result = _export(workspace.cluster, scope_id, "--out", str(file), tenant_id=tenant_id)
        assert result.exit_code == 1
        assert "no workspace" in result.output
    assert list(tmp_path.iterdir()) == []
