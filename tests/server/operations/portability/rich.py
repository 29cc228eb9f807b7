"""A workspace in which there is something of everything that an export can hold."""

from __future__ import annotations

from typing import Any

from remit.v1 import ledger_pb2
from tests.cluster import ADMIN, TENANT, Cluster, Workspace
from tests.faults.waiting import until
from tests.server.operations.derived.embeddings import register, register_space
from tests.server.operations.memory.redactions import ERASE, redact
from tests.server.operations.memory.relationships import again, relate
from tests.server.operations.memory.requests import delete, grant, transition, update

SECRET = "correct horse battery staple"
ERASED = "the words that were erased"
ODD_CONTENT = b'{ "a" : 1e2,\n "b":[ "x y", 1.50 ] }'
UNKNOWN_TYPE = "com.acme.incident"
ODD_RELATIONSHIP = "https://acme.example/relates#oddly"


class RichWorkspace:
    """Made by calls alone; the attributes name what was made."""

    def __init__(self, cluster: Cluster, tenant_id: str = TENANT) -> None:
        self.workspace = workspace = Workspace(cluster, tenant_id)
        create = workspace.create
        moment = {"seconds": 1_767_225_600, "nanos": 123_456_000}
        self.plain = create()
        update(workspace, self.plain.object_id, self.plain.version_id, canonical_content=ODD_CONTENT)
        self.unknown = create(
            object_type=UNKNOWN_TYPE,
            schema_id="https://acme.example/schemas/incident",
            canonical_content=ODD_CONTENT,
            actor={
                "actor_id": ADMIN,
                "display_name": "An administrator",
                "attestation": {"did_ref": "did:example:1", "issued_at": moment, "capabilities_declared": ["a", "b"]},
            },
            observed_at=moment,
            asserted_at=moment,
            valid_from=moment,
            valid_until=moment,
            quality_signals={"assessed_confidence": 0.25, "last_verified_at": moment, "verification_method_id": "m"},
            integrity={"digest": "d", "algorithm": "a", "signature": "s"},
            provenance={
                "activity": "observed",
                "source_ref": "urn:source",
                "evidence_refs": ["urn:evidence"],
                "observed_at": moment,
                "source_confidence": 0.5,
            },
        )
        self.held = create()
        transition(workspace, self.held.object_id, self.held.version_id, "retention", "legal_hold")
        self.removed = create(canonical_content=b'{"statement":"%s"}' % SECRET.encode())
        delete(workspace, self.removed.object_id, self.removed.version_id)
        self.erased = create(canonical_content=b'{"statement":"%s","rest":1}' % ERASED.encode())
        redact(workspace, self.erased.object_id, self.erased.version_id, "/statement", mode=ERASE)
        self.hidden = create(canonical_content=b'{"statement":"%s"}' % SECRET.encode())
        transition(workspace, self.hidden.object_id, self.hidden.version_id, "availability", "redacted")
        self._relate()
        self._derive()
        grant(workspace, "actor:delegate", "read", "update")
        closed = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED
        until(lambda: len(workspace.events(event_classes=[closed])) == 2, "both erasures are done")

    def _relate(self) -> None:
        made = relate(self.workspace, self.plain.object_id, self.held.object_id).relationship
        again(self.workspace, made, canonical_content=b'{"weight" :2}')
        relate(
            self.workspace,
            self.unknown.object_id,
            self.plain.object_id,
            relationship_type=ODD_RELATIONSHIP,
            canonical_content=ODD_CONTENT,
        )

    def _derive(self) -> None:
        register_space(self.workspace, "space:a")
        register(self.workspace, self.unknown, (0.5, 0.25), artifact_id="artifact:1")
        register(self.workspace, self.held, (0.1, 0.7), artifact_id="artifact:2")


def verified(workspace: Workspace) -> Any:
    """What VerifyLedger finds; it must find nothing."""
    answer = workspace.owner.ledger.VerifyLedger(ledger_pb2.VerifyLedgerRequest(scope_id=workspace.scope_id))
    assert answer.ok, answer.findings
    return answer
