"""One call of each of the draft's operations, all that it needs made beforehand (PAMSPEC 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from remit.v1 import derived_pb2, ledger_pb2, memory_pb2, portability_pb2, snapshot_pb2
from tests.cluster import Client, Workspace

PROVENANCE = {"activity": "observed"}
SPACE = {
    "embedding_space_id": "space:tests",
    "provider": "tests",
    "model": "none",
    "model_revision": "1",
    "dimensions": 3,
    "distance_metric": "cosine",
    "normalization": "none",
    "preprocessing_profile": "none",
    "embedding_kind": "dense",
    "canonicalization_rules": "none",
}


def relation(workspace: Workspace, source: str, target: str, **fields: Any) -> memory_pb2.RelateRequest:
    """A relationship between two objects."""
    fields.setdefault("relationship_type", "supports")
    fields.setdefault("provenance", PROVENANCE)
    return memory_pb2.RelateRequest(
        scope_id=workspace.scope_id,
        source_object_id=source,
        target_object_id=target,
        directionality=memory_pb2.DIRECTIONALITY_DIRECTED,
        **fields,
    )


def redaction(workspace: Workspace, object_id: str, version_id: str, **fields: Any) -> memory_pb2.RedactRequest:
    """A suppression of a part of the content."""
    fields.setdefault("target", {"json_pointers": ["/statement"]})
    fields.setdefault("mode", memory_pb2.REDACTION_MODE_SUPPRESS)
    fields.setdefault("policy_basis", "test")
    return memory_pb2.RedactRequest(
        scope_id=workspace.scope_id, object_id=object_id, expected_version_id=version_id, **fields
    )


def working_memory(workspace: Workspace, client: Client | None = None) -> Any:
    """An object to promote."""
    content = b'{"task_ref":"task:one","content":{"step":1}}'
    return workspace.create(client, object_type="working_memory", canonical_content=content)


def promotion(workspace: Workspace, object_id: str, version_id: str, **fields: Any) -> memory_pb2.PromoteRequest:
    """A promotion to a claim."""
    fields.setdefault("target_object_type", "claim")
    fields.setdefault("target_canonical_content", b'{"statement":"learned"}')
    fields.setdefault("provenance", PROVENANCE)
    return memory_pb2.PromoteRequest(
        scope_id=workspace.scope_id, source_object_id=object_id, expected_version_id=version_id, **fields
    )


def subscription(workspace: Workspace, **fields: Any) -> ledger_pb2.SubscribeRequest:
    """A subscription to everything that is created."""
    fields.setdefault("filter", {"event_classes": {"event_types": [ledger_pb2.EVENT_TYPE_OBJECT_CREATED]}})
    return ledger_pb2.SubscribeRequest(scope_id=workspace.scope_id, **fields)


def calls_of_operations(workspace: Workspace, client: Client) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The draft's twelve operations by name, each with a call that `client` makes of it; in an order that works."""
    scope: dict[str, Any] = {"scope_id": workspace.scope_id}
    memory, ledger = client.memory, client.ledger
    first, second, working = workspace.create(), workspace.create(), working_memory(workspace)
    named: dict[str, Any] = {**scope, "object_id": first.object_id}

    def current() -> str:
        return str(workspace.read(first.object_id).envelope.version_id)

    def unsubscribe() -> Any:
        name = ledger.Subscribe(subscription(workspace)).subscription.subscription_id
        return ledger.Unsubscribe(ledger_pb2.UnsubscribeRequest(**scope, subscription_id=name, reason="done"))

    yield (
        "create",
        lambda: memory.Create(
            memory_pb2.CreateRequest(
                **scope, object_type="claim", canonical_content=b'{"statement":"x"}', provenance=PROVENANCE
            )
        ),
    )
    yield "read", lambda: memory.Read(memory_pb2.ReadRequest(**named))
    yield (
        "update",
        lambda: memory.Update(
            memory_pb2.UpdateRequest(
                **named,
                expected_version_id=current(),
                canonical_content=b'{"statement":"y","rest":1}',
                provenance=PROVENANCE,
            )
        ),
    )
    yield (
        "transition",
        lambda: memory.Transition(
            memory_pb2.TransitionRequest(
                **named,
                expected_version_id=current(),
                dimension=memory_pb2.DIMENSION_VALIDATION,
                target_state="corroborated",
                policy_basis="test",
            )
        ),
    )
    yield "relate", lambda: memory.Relate(relation(workspace, first.object_id, second.object_id))
    yield (
        "query",
        lambda: memory.Query(
            memory_pb2.QueryRequest(**scope, query={"kind": memory_pb2.QUERY_KIND_STRUCTURED}, limit=10)
        ),
    )
    yield "inspect_history", lambda: memory.InspectHistory(memory_pb2.InspectHistoryRequest(**named))
    yield "redact", lambda: memory.Redact(redaction(workspace, first.object_id, current()))
    yield "promote", lambda: memory.Promote(promotion(workspace, working.object_id, working.version_id))
    yield "subscribe", lambda: ledger.Subscribe(subscription(workspace))
    yield "unsubscribe", unsubscribe
    yield (
        "delete",
        lambda: memory.Delete(memory_pb2.DeleteRequest(**named, expected_version_id=current(), policy_basis="test")),
    )


def calls_of_kinds(workspace: Workspace, client: Client) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls of `client` by what the draft says that a scope is enforced on (PAMSPEC 15.2)."""
    scope: dict[str, Any] = {"scope_id": workspace.scope_id}
    operations = dict(calls_of_operations(workspace, client))
    yield "reads", operations["read"]
    yield "writes", operations["create"]
    yield "queries", operations["query"]
    yield "deletion", operations["delete"]
    yield (
        "exports",
        lambda: list(client.portability.ExportWorkspace(portability_pb2.ExportWorkspaceRequest(**scope))),
    )
    header = {"format": "x", "scope_id": workspace.scope_id}
    imported = portability_pb2.ImportWorkspaceRequest(**scope, policy_basis="test", header=header)
    yield "imports", lambda: client.portability.ImportWorkspace(iter([imported]))
    space = derived_pb2.RegisterEmbeddingSpaceRequest(**scope, embedding_space=SPACE)
    yield "indexing", lambda: client.derived.RegisterEmbeddingSpace(space)
    yield "snapshots", lambda: client.snapshot.SealSnapshot(snapshot_pb2.SealSnapshotRequest(**scope))
