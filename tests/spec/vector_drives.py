"""How each of the draft's test vectors is brought about, or attempted, by calls of this service."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remit.v1 import delegation_pb2, derived_pb2, ledger_pb2, memory_pb2, snapshot_pb2
from server.wire.json_export import JsonObject, export_delegation, export_envelope, export_event, export_snapshot
from tests.cluster import Client, Cluster, Refusal, Workspace
from tests.contract.operations import SPACE
from tests.server.operations.derived.embeddings import register
from tests.server.operations.memory.requests import delete, history, query_page, transition, update
from tests.server.operations.snapshot.sealing import seal

EDITOR = "actor:editor:001"
OWN_FIELDS = {"scope_id", "version_id", "committed_at", "recorded_at", "provenance_id"}
"""What the service assigns, so that no vector can say it beforehand."""


class Stage:
    """A workspace for one vector, and the vector's actors."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.workspace = Workspace(cluster)
        self._clients: list[Client] = []

    def actor(self, actor_id: str, kind: str, *actions: str) -> Client:
        """An actor of the kind that holds the actions."""
        self.workspace.allow(actor_id, *actions)
        client = Client(self.cluster.servers[0].address, self.cluster.token(actor_id, kind=kind), actor_id)
        self._clients.append(client)
        return client

    def editor(self, *actions: str) -> Client:
        """The editor of most vectors."""
        return self.actor(EDITOR, "human", *actions)

    def close(self) -> None:
        """Closes the channels."""
        for client in self._clients:
            client.close()


def told(given: JsonObject) -> dict[str, Any]:
    """Provenance, integrity, signals and times of a vector as fields of a request."""
    fields: dict[str, Any] = {"provenance": _without(given["provenance"], "provenance_id", "actor", "recorded_at")}
    for name in ("observed_at", "asserted_at", "integrity", "quality_signals"):
        if name in given:
            fields[name] = given[name]
    timed: dict[str, Any] = _with_times(fields)
    return timed


def created(given: JsonObject) -> dict[str, Any]:
    """A vector's object as fields of Create."""
    states = {
        f"{name}_state": f"{name.upper()}_STATE_{given[f'{name}_state'].upper()}"
        for name in ("lifecycle", "availability", "retention", "validation")
    }
    content = json.dumps(given["canonical_content"]).encode()
    named = {"object_id": given["object_id"], "object_type": given["object_type"], "canonical_content": content}
    return named | states | told(given)


def _without(record: JsonObject, *names: str) -> JsonObject:
    return {name: value for name, value in record.items() if name not in names}


def _with_times(value: Any, name: str = "") -> Any:
    """Turns times from text into what a request takes."""
    if isinstance(value, dict):
        return {key: _with_times(item, key) for key, item in value.items()}
    return datetime.fromisoformat(value) if name.endswith(("_at", "_before", "_after")) else value


def comparable(record: JsonObject | None, *dropped: str) -> Any:
    """A record without what the service assigns, its times as instants, at every level."""
    assert record is not None
    omitted = OWN_FIELDS | set(dropped) | {"relationship_refs"}

    def shown(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: shown(item, key) for key, item in value.items() if key not in omitted}
        return _with_times(value, name)

    return shown(record)


def same_object(given: JsonObject, envelope: Any, *dropped: str) -> None:
    """Holds an envelope to a vector's object."""
    assert comparable(export_envelope(envelope).draft, *dropped) == comparable(given, *dropped)


def driven_creation(stage: Stage, given: JsonObject) -> None:
    actor = stage.actor(given["actor"]["actor_id"], given["actor"]["actor_kind"], "create", "assert_state", "read")
    made = stage.workspace.create(actor, **created(given))
    same_object(given, made.envelope)
    same_object(given, stage.workspace.read(given["object_id"], actor).envelope)


def driven_update(stage: Stage, given: JsonObject) -> None:
    editor = stage.editor("create", "assert_state", "update", "read")
    first = stage.workspace.create(editor, **created(given) | {"canonical_content": b"{}"})
    content = json.dumps(given["canonical_content"]).encode()
    place = (stage.workspace, given["object_id"], first.version_id)
    same_object(given, update(*place, editor, canonical_content=content, **told(given)).envelope)


def driven_removal(stage: Stage, given: JsonObject) -> None:
    """Reaches the vector's version: retention first, then availability. Integrity covers the version it came with."""
    actions = ("create", "assert_state", "read", "delete", "redact", "inspect_history", "review")
    editor = stage.editor(*actions, "transition.retention", "transition.availability")
    initial = {"availability_state": "available", "retention_state": "retained"}
    fields = created(given | initial)
    at = stage.workspace.create(editor, **fields)
    for dimension in ("retention", "availability"):
        target = given[f"{dimension}_state"]
        if target == initial[f"{dimension}_state"]:
            continue
        place = (stage.workspace, given["object_id"], at.version_id)
        if target == "deleted":
            at = delete(*place, editor, provenance=fields["provenance"])
        else:
            at = transition(*place, dimension, target, editor, provenance=fields["provenance"])
    # What is suppressed shows no provenance either.
    dropped = ("integrity", "provenance") if given["availability_state"] == "redacted" else ("integrity",)
    same_object(given, at.envelope, *dropped)
    read = stage.workspace.read(given["object_id"], editor, allow_tombstone=True).envelope
    same_object(given, read, "integrity", "provenance")


def driven_move(stage: Stage, given: JsonObject) -> None:
    dimension = given["event_type"].removesuffix("_transitioned")
    editor = stage.editor("create", "assert_state", "activate", f"transition.{dimension}", "inspect_history")
    initial: dict[str, Any] = {f"{dimension}_state": f"{dimension.upper()}_STATE_{given['payload']['from'].upper()}"}
    made = stage.workspace.create(editor, object_id=given["object_id"], object_type="task", **initial)
    named = {"operation_id": given["operation_id"]}
    moved = transition(
        stage.workspace, given["object_id"], made.version_id, dimension, given["payload"]["to"], editor, **named
    )
    entries = history(stage.workspace, editor, object_id=given["object_id"])
    [event] = [
        entry.event for entry in entries if entry.HasField("event") and entry.event.event_id == moved.event_ids[0]
    ]
    assert event.version_id == moved.version_id
    same_event(given, event)


def same_event(given: JsonObject, event: ledger_pb2.LedgerEvent, *dropped: str) -> None:
    """Holds an event to a vector's; our payload says more, so the vector's has to be in it."""
    dropped = ("event_id", "sequence", "payload", *dropped)
    draft = export_event(event).draft
    assert draft is not None
    assert comparable(draft, *dropped) == comparable(given, *dropped)
    assert ("version_id" in draft) == ("version_id" in given)
    payload = given["payload"]
    assert {name: draft["payload"].get(name) for name in payload} == payload


def driven_denial(stage: Stage, given: JsonObject) -> None:
    made = stage.workspace.create(object_id=given["object_id"], object_type="task")
    editor = stage.editor("read")  # whom the ledger may name the object for
    [rule_id] = stage.workspace.deny(EDITOR, "update")
    place = (stage.workspace, made.object_id, made.version_id)
    with pytest.raises(Refusal) as refusal:
        update(*place, editor, operation_id=given["operation_id"])
    assert refusal.value.reason == "ACCESS_DENIED"
    [event] = stage.workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_ACCESS_DENIED])
    same_event(given | {"payload": {"policy_rule_id": rule_id}}, event)


def driven_repetition(stage: Stage, given: JsonObject) -> None:
    editor = stage.editor("create")
    fields: dict[str, Any] = {"object_id": given["object_id"], "operation_id": given["operation_id"]}
    first, again = (stage.workspace.create(editor, **fields) for _ in range(2))
    assert (again.replayed, again.version_id, list(again.event_ids)) == (True, first.version_id, list(first.event_ids))
    [event] = stage.workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_OBJECT_CREATED])
    assert event.version_id == first.version_id
    same_event(given | {"payload": {"object_sequence": given["sequence"]}}, event)


def granted(stage: Stage, given: JsonObject) -> delegation_pb2.Delegation:
    """Grants a vector's delegation, its window moved so that it has begun."""
    actor = given["granting_actor"]
    grantor = stage.actor(actor["actor_id"], actor["actor_kind"], "delegate", "read", "query", "update")
    start, end = (datetime.fromisoformat(given[name]) for name in ("not_before", "not_after"))
    shift = datetime.now(UTC).replace(microsecond=0) - start
    restrictions: dict[str, Any] = {
        name: {"values": given[name]} for name in ("granted_object_types", "granted_object_ids") if name in given
    }
    optional: dict[str, Any] = {name: given[name] for name in ("usage_limit", "revocable") if name in given}
    request = delegation_pb2.GrantDelegationRequest(
        scope_id=stage.workspace.scope_id,
        policy_basis=given["policy_basis"],
        delegated_actor=given["delegated_actor"],
        granted_operations=given["granted_operations"],
        not_before=start + shift,
        not_after=end + shift,
        **restrictions,
        **optional,
    )
    delegation: delegation_pb2.Delegation = grantor.delegation.GrantDelegation(request).delegation
    return delegation


def driven_grant(stage: Stage, given: JsonObject) -> None:
    draft = export_delegation(granted(stage, given)).draft
    assert draft is not None
    # Its window, its id, the words of its provenance and that nobody has reviewed it yet are ours.
    dropped = ("delegation_id", "not_before", "not_after", "activity", "validation_state")
    assert comparable(draft, *dropped) == comparable(given, *dropped)
    start, end = (datetime.fromisoformat(draft[name]) for name in ("not_before", "not_after"))
    assert end - start == timedelta(hours=1)


def driven_query(stage: Stage, given: JsonObject) -> None:
    made = stage.workspace.create(validation_state="VALIDATION_STATE_CORROBORATED")
    stage.workspace.create()
    filters: dict[str, Any] = {
        name: [f"{name.upper()}_{state.upper()}" for state in states]
        for name, states in given["query"]["filters"].items()
    }
    page = query_page(
        stage.workspace, filters=filters, limit=given["pagination"]["limit"], operation_id=given["operation_id"]
    )
    assert [row.object_id for row in page.results] == [made.object_id]
    assert page.operation_id == given["operation_id"]
    assert page.applied_filters == memory_pb2.QueryFilters(**filters)
    assert page.metadata.order == memory_pb2.QUERY_ORDER_LEDGER_ASCENDING
    assert ["sequence", *page.metadata.tie_break] == given["ordering"]["tie_break"]


def refused_creation(stage: Stage, given: JsonObject) -> None:
    fields = created({"provenance": {}} | given)
    request = memory_pb2.CreateRequest(scope_id=stage.workspace.scope_id if "scope_id" in given else "", **fields)
    if "provenance" not in given:
        request.ClearField("provenance")
    stage.editor("create", "assert_state").memory.Create(request)


def refused_content(object_type: str) -> Callable[[Stage, JsonObject], None]:
    def refused(stage: Stage, given: JsonObject) -> None:
        content = json.dumps(given).encode()
        stage.workspace.create(stage.editor("create"), object_type=object_type, canonical_content=content)

    return refused


def refused_move(dimension: str) -> Callable[[Stage, JsonObject], None]:
    def refused(stage: Stage, given: JsonObject) -> None:
        initial: dict[str, Any] = {f"{dimension}_state": f"{dimension.upper()}_STATE_{given['from'].upper()}"}
        made = stage.workspace.create(**initial)
        transition(stage.workspace, made.object_id, made.version_id, dimension, given["to"])

    return refused


def refused_promotion(stage: Stage, given: JsonObject) -> None:
    states = given["details"]
    made = stage.workspace.create(lifecycle_state=f"LIFECYCLE_STATE_{states['from'].upper()}")
    writer = stage.editor("create", "update", "transition.lifecycle")
    named = {"operation_id": given["operation_id"]}
    transition(stage.workspace, made.object_id, made.version_id, "lifecycle", states["to"], writer, **named)


def refused_deletion(stage: Stage, given: JsonObject) -> None:
    made = stage.workspace.create(object_id=given["details"]["object_id"])
    held = transition(stage.workspace, made.object_id, made.version_id, "retention", "legal_hold")
    delete(stage.workspace, made.object_id, held.version_id, operation_id=given["operation_id"])


def refused_repetition(stage: Stage, given: JsonObject) -> None:
    key = given["details"]["idempotency_key"]
    stage.workspace.create(idempotency_key=key)
    stage.workspace.create(idempotency_key=key, canonical_content=b"2", operation_id=given["operation_id"])


def refused_stale(stage: Stage, given: JsonObject) -> None:
    made = stage.workspace.create()
    update(stage.workspace, made.object_id, made.version_id)
    update(stage.workspace, made.object_id, made.version_id, operation_id=given["operation_id"])


def driven_snapshot(stage: Stage, given: JsonObject) -> None:
    """Seals the vector's members and spaces in a workspace that has them; the digest is the service's own."""
    workspace = stage.workspace
    harness = stage.actor(given["created_by_actor_id"], "service", "create", "read", "snapshot.seal", "snapshot.read")
    for object_id in given["included_object_ids"]:
        workspace.create(harness, object_id=object_id)
    for space_id in given["included_embedding_space_ids"]:
        descriptor: dict[str, Any] = {**SPACE, "embedding_space_id": space_id}
        space = derived_pb2.RegisterEmbeddingSpaceRequest(scope_id=workspace.scope_id, embedding_space=descriptor)
        workspace.owner.derived.RegisterEmbeddingSpace(space)
    own = ("scope_id", "created_at", "created_by_actor_id", "ledger_sequence_high_watermark")
    made = ("digest", "digest_algorithm", "canonicalization_profile")
    fields: dict[str, Any] = _with_times(_without(given, *own, *made))
    sealed = seal(workspace, harness, **fields)
    request = snapshot_pb2.GetSnapshotRequest(scope_id=workspace.scope_id, snapshot_id=given["snapshot_id"])
    for snapshot in (sealed, harness.snapshot.GetSnapshot(request).snapshot):
        exported = export_snapshot(snapshot).draft
        assert exported is not None
        assert set(exported) == set(given)
        listed = {name: sorted(given[name]) for name in ("included_object_ids", "included_embedding_space_ids")}
        dropped = ("created_at", "ledger_sequence_high_watermark", *made)
        assert comparable(exported, *dropped) == comparable(given | listed, *dropped)


def refused_snapshot(stage: Stage, given: JsonObject) -> None:
    """Asks for a snapshot that is not sealed."""
    seal(stage.workspace, snapshot_id=given["snapshot_id"], sealed=given["sealed"])


def refused_vector(stage: Stage, given: JsonObject) -> None:
    made = stage.workspace.create()
    writer = stage.editor("derived.write")
    register(stage.workspace, made, given["vector"], given.get("embedding_space_id", ""), writer)


def refused_subscription(stage: Stage, instance: JsonObject) -> None:
    """Opens the subscription that the vector says must not be; its observer may subscribe to everything else."""
    observer = stage.actor(instance["actor"]["actor_id"], instance["actor"]["actor_kind"], "subscribe")
    names = [name.upper() for name in instance["filter"]["event_classes"]]
    classes = ledger_pb2.EventClasses(event_types=[ledger_pb2.EventType.Value(f"EVENT_TYPE_{name}") for name in names])
    request = ledger_pb2.SubscribeRequest(
        scope_id=stage.workspace.scope_id, filter=ledger_pb2.SubscriptionFilter(event_classes=classes)
    )
    # It is the start alone that is refused.
    observer.ledger.Subscribe(request)
    request.subscription_id = instance["subscription_id"]
    request.after_sequence = instance["start_sequence"]
    observer.ledger.Subscribe(request)
