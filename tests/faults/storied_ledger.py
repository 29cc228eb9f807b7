"""A ledger with a history, its two verifications, and the hashes as a forger would recompute them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from click.testing import CliRunner

from remit.v1 import ledger_pb2
from server.cli.ledger import ledger
from tests.cluster import Cluster, Workspace
from tests.server.operations.memory.relationships import again, relate
from tests.server.operations.memory.requests import grant, query_ids, transition, update

Connection = psycopg.Connection[Any]
Places = list[tuple[int, str]]


@dataclass
class Story:
    """A workspace with a history: an object of three versions, another one, a relationship of two, an exercised grant."""

    workspace: Workspace
    made: Any
    second: Any
    third: Any
    other: Any
    delegation_id: str
    related: Any

    @property
    def scope_id(self) -> str:
        return self.workspace.scope_id

    def at(self, event_id: str) -> int:
        """The sequence of an event."""
        [found] = [event for event in self.workspace.events() if event.event_id == event_id]
        return int(found.sequence)

    def head(self) -> tuple[int, bytes]:
        """The newest place of the chain."""
        report = verify(self.workspace)
        return report.head_sequence, report.head_hash


def tell(cluster: Cluster) -> Story:
    """Makes the workspace and its history."""
    workspace = Workspace(cluster)
    made = workspace.create(canonical_content=b'{"n":1}')
    second = update(workspace, made.object_id, made.version_id)
    other = workspace.create(object_type="task")
    delegation_id = grant(workspace, "actor:delegate", "query", usage_limit=9)
    query_ids(workspace, cluster.client("actor:delegate"), delegation_id=delegation_id)
    third = transition(workspace, made.object_id, second.version_id, "lifecycle", "archived")
    related = relate(workspace, made.object_id, other.object_id)
    again(workspace, related.relationship, relationship_type="part_of")
    workspace.allow("actor:reader", "read")
    return Story(workspace, made, second, third, other, delegation_id, related)


def verify(workspace: Workspace, known: tuple[int, bytes] | None = None) -> ledger_pb2.VerifyLedgerResponse:
    request = ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id)
    if known is not None:
        request.known.sequence, request.known.chain_hash = known
    response: ledger_pb2.VerifyLedgerResponse = workspace.owner.ledger.VerifyLedger(request)
    return response


def verify_offline(workspace: Workspace, folder: Path, known: tuple[int, bytes] | None = None) -> Any:
    cluster, file = workspace.cluster, folder / "ledger.jsonl"
    place = ["--tenant", workspace.tenant_id, "--scope", workspace.scope_id]
    made = CliRunner().invoke(ledger, ["export", *place, "--database-url", cluster.database.server, "--out", str(file)])
    assert made.exit_code == 0, made.output
    options = [] if known is None else ["--known-sequence", str(known[0]), "--known-hash", known[1].hex()]
    result = CliRunner().invoke(ledger, ["verify", str(file), "--json", *options])
    report = json.loads(result.stdout)
    assert result.exit_code == (0 if report["ok"] else 1)
    return report


def found_by_both(story: Story, folder: Path, known: tuple[int, bytes] | None = None) -> Places:
    """Sequence and kind of each finding; both implementations must name the same ones."""
    here = verify(story.workspace, known)
    offline = verify_offline(story.workspace, folder, known)
    places = [(finding.sequence, finding.kind, finding.place) for finding in here.findings if finding.kind != "MAC"]
    assert [(f["sequence"], f["kind"], f["place"]) for f in offline["findings"]] == places
    assert here.ok == (not here.findings)
    return [(sequence, kind) for sequence, kind, _ in places]


def rechain(connection: Connection, scope_id: str) -> None:
    """Recomputes every hash and the head, as somebody would who rewrites a ledger and knows how it is made."""
    tenant_id, ledger_id = connection.execute(
        "select tenant_id, ledger_id from remit.ledger_heads where scope_id = %s", (scope_id,)
    ).fetchone() or ("", None)
    names = b"".join(len(name).to_bytes(4, "big") + name.encode() for name in (tenant_id, scope_id))
    chain = hashlib.sha256(b"\x02" + names + ledger_id.bytes).digest()
    events = connection.execute(
        "select sequence, (extract(epoch from recorded_at) * 1000000)::bigint, use_number, body"
        " from remit.ledger_events where scope_id = %s order by sequence",
        (scope_id,),
    ).fetchall()
    for *numbers, body in events:
        leaf = hashlib.sha256(b"\x00" + b"".join(n.to_bytes(8, "big") for n in numbers) + body).digest()
        chain = hashlib.sha256(b"\x01" + chain + leaf).digest()
        connection.execute(
            "update remit.ledger_events set leaf_hash = %s, chain_hash = %s where scope_id = %s and sequence = %s",
            (leaf, chain, scope_id, numbers[0]),
        )
    connection.execute(
        "update remit.ledger_heads set sequence = %s, chain_hash = %s where scope_id = %s",
        (events[-1][0], chain, scope_id),
    )
