"""Everything a busy workspace holds, exported as JSON, is what the draft's schemas say (PAMSPEC 8; Q04 to Q06)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from remit.v1 import common_pb2, delegation_pb2, ledger_pb2, memory_pb2
from server.wire.json_export import (
    DRAFT_EVENT_TYPES,
    export_delegation,
    export_envelope,
    export_event,
    export_relationship,
)
from tests.cluster import ADMIN, Cluster, Refusal, Workspace
from tests.faults.waiting import until
from tests.server.operations.derived.embeddings import rebuild, register, register_space
from tests.server.operations.ledger.subscriptions import subscribe
from tests.server.operations.memory.contents import FULL, SIGNALS, as_bytes
from tests.server.operations.memory.relationships import again, permit, relate
from tests.server.operations.memory.requests import delete, history, transition, update
from tests.server.wire.shared_schemas import SCHEMAS, needs_shared, shared_validator

pytestmark = needs_shared
OUR_EVENTS = {
    "workspace_created",
    "policy_rule_added",
    "propagation_job_opened",
    "propagation_job_closed",
    "embedding_space_registered",
}


def grant_request(workspace: Workspace, **fields: Any) -> delegation_pb2.GrantDelegationRequest:
    """A grant for an hour."""
    now = int(time.time())
    values: dict[str, Any] = {
        "policy_basis": "policy:test",
        "delegated_actor": {"actor_id": "actor:delegate", "actor_kind": "agent"},
        "granted_operations": ["read", "update", "create"],
        "not_before": {"seconds": now - 60},
        "not_after": {"seconds": now + 3600},
    }
    return delegation_pb2.GrantDelegationRequest(scope_id=workspace.scope_id, **values | fields)


class BusyWorkspace:
    """A workspace in which everything this version can do was done."""

    def __init__(self, cluster: Cluster) -> None:
        self.workspace = Workspace(cluster)
        self.delegate = cluster.client("actor:delegate")
        self.workspace.allow(ADMIN, "release_hold", "transition_override")
        self.object_ids = [*self._create(), *self._move_and_remove()]
        self.relationships = self._relate()
        self.delegations = self._delegate()
        self._derive_promote_and_subscribe()
        with pytest.raises(Refusal):
            self.workspace.read(self.object_ids[0], self.delegate)

    def _derive_promote_and_subscribe(self) -> None:
        workspace = self.workspace
        made = workspace.create()
        register_space(workspace)
        register(workspace, made, (0.5, 0.25))
        rebuild(workspace, "index:lexical")
        source = workspace.create(object_type="working_memory", canonical_content=as_bytes(FULL["working_memory"]))
        promotion = memory_pb2.PromoteRequest(
            scope_id=workspace.scope_id,
            source_object_id=source.object_id,
            expected_version_id=source.version_id,
            target_object_type="claim",
            target_canonical_content=b'{"statement":"promoted"}',
            provenance={"activity": "consolidated"},
        )
        workspace.owner.memory.Promote(promotion)
        opened = subscribe(workspace)
        workspace.owner.ledger.Unsubscribe(
            ledger_pb2.UnsubscribeRequest(scope_id=workspace.scope_id, subscription_id=opened.subscription_id)
        )

    def _create(self) -> list[str]:
        create = self.workspace.create
        moment = {"seconds": 1_767_225_600, "nanos": 123_456_789}
        attestation = {"did_ref": "did:example:1", "issued_at": moment, "capabilities_declared": ["a"]}
        made = [create(object_type=kind, canonical_content=as_bytes(content)) for kind, content in FULL.items()]
        made += [create(canonical_content=content) for content in (b"null", b"1e2", b'"x"', b'[{"a":1}]')]
        made.append(
            create(
                object_type="com.acme.incident",
                schema_id="https://acme.example/schemas/incident",
                actor={"actor_id": ADMIN, "display_name": "An administrator", "attestation": attestation},
                observed_at=moment,
                asserted_at=moment,
                valid_from=moment,
                valid_until=moment,
                quality_signals=SIGNALS,
                integrity={
                    "digest": "d",
                    "algorithm": "a",
                    "canonicalization_profile": "none",
                    "signature": "s",
                    "ledger_ref": "urn:l",
                },
                provenance={
                    "activity": "observed",
                    "source_ref": "urn:source",
                    "evidence_refs": ["urn:evidence"],
                    "observed_at": moment,
                    "transformation_parent": "urn:parent",
                    "source_confidence": 0.5,
                    "integrity_ref": "urn:i",
                },
            )
        )
        return [result.object_id for result in made]

    def _move_and_remove(self) -> list[str]:
        workspace = self.workspace
        made = [workspace.create() for _ in range(5)]
        at = update(workspace, made[0].object_id, made[0].version_id)
        for dimension, target in (
            ("lifecycle", "archived"),
            ("validation", "disputed"),
            ("retention", "legal_hold"),
            ("retention", "retained"),
            ("availability", "redacted"),
            ("availability", "available"),
        ):
            at = transition(workspace, at.object_id, at.version_id, dimension, target)
        transition(workspace, made[1].object_id, made[1].version_id, "availability", "redacted")
        delete(workspace, made[2].object_id, made[2].version_id)
        transition(workspace, made[3].object_id, made[3].version_id, "availability", "deleted")
        closed = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED
        until(lambda: len(workspace.events(event_classes=[closed])) == 2, "both erasures are done")
        return [result.object_id for result in made]

    def _relate(self) -> list[memory_pb2.RelationshipEnvelope]:
        workspace, (one, two, three) = self.workspace, self.object_ids[:3]
        moment = {"seconds": 1_767_225_600, "nanos": 123_456_789}
        times: dict[str, Any] = dict.fromkeys(("observed_at", "asserted_at", "valid_from", "valid_until"), moment)
        integrity = {"digest": "d", "algorithm": "a"}
        plain = relate(workspace, one, two, canonical_content=b"").relationship
        full = relate(
            workspace, two, three, relationship_type="com.acme.explains", directionality=3, integrity=integrity, **times
        ).relationship
        moved = again(workspace, plain, canonical_content=b"1e2").relationship
        other = Workspace(workspace.cluster)
        permit(other, workspace)
        target: dict[str, Any] = {"target_scope_id": other.scope_id, "policy_basis": "policy:test"}
        crossing = relate(workspace, one, other.create().object_id, **target).relationship
        # What is deleted leaves an erasure job; its closing is waited for with the others.
        gone = again(
            workspace, full, canonical_content=b"", availability_state=common_pb2.AVAILABILITY_STATE_DELETED
        ).relationship
        closed = ledger_pb2.EVENT_TYPE_PROPAGATION_JOB_CLOSED
        until(lambda: len(workspace.events(event_classes=[closed])) == 3, "the relationship is erased")
        return [plain, full, moved, crossing, gone]

    def _delegate(self) -> list[delegation_pb2.Delegation]:
        workspace, owner = self.workspace, self.workspace.owner
        limited = grant_request(
            workspace,
            granted_object_types={"values": ["claim", "com.acme.incident"]},
            granted_object_ids={"values": [*self.object_ids, "mem:delegated"]},
            usage_limit=5,
            revocable=True,
            max_redelegations=2,
        )
        parent = owner.delegation.GrantDelegation(limited).delegation
        child = self.delegate.delegation.GrantDelegation(
            grant_request(
                workspace,
                delegated_actor={"actor_id": "actor:helper", "actor_kind": "agent"},
                granted_operations=["read"],
                granted_object_types={"values": ["claim"]},
                granted_object_ids={"values": self.object_ids[:4]},
                parent_delegation_id=parent.delegation_id,
                usage_limit=1,
                not_before=limited.not_before,
                not_after=limited.not_after,
            )
        ).delegation
        plain = owner.delegation.GrantDelegation(grant_request(workspace, revocable=False)).delegation
        workspace.create(self.delegate, object_id="mem:delegated", delegation_id=parent.delegation_id)
        helper = workspace.cluster.client("actor:helper")
        workspace.read(self.object_ids[3], helper, delegation_id=child.delegation_id)
        revoked = owner.delegation.RevokeDelegation(
            delegation_pb2.RevokeDelegationRequest(
                scope_id=workspace.scope_id,
                target_delegation_id=parent.delegation_id,
                policy_basis="policy:test",
                reason="the task is done",
            )
        ).delegation
        self.object_ids.append("mem:delegated")
        return [parent, child, plain, revoked]


@pytest.fixture(scope="module")
def busy(cluster: Cluster) -> BusyWorkspace:
    return BusyWorkspace(cluster)


def refusals_of(schema_name: str) -> Callable[[Any], list[str]]:
    """What a schema has against a record."""
    validator = shared_validator(schema_name)
    return lambda record: [error.message for error in validator.iter_errors(record)]


def test_the_schemas_judge_formats() -> None:
    assert refusals_of("common.schema.json")({}) == []
    object_schema = json.loads((SCHEMAS / "memory-object.schema.json").read_text())
    assert object_schema["additionalProperties"] is False
    record = {"schema_id": "no uri", "observed_at": "yesterday"}
    complaints = "\n".join(refusals_of("memory-object.schema.json")(record))
    assert "'no uri' is not a 'uri'" in complaints
    assert "'yesterday' is not a 'date-time'" in complaints


@pytest.mark.req("P-8.1-01")
def test_every_version_is_a_memory_object_of_the_draft(busy: BusyWorkspace) -> None:
    refusals = refusals_of("memory-object.schema.json")
    shown, withheld = 0, 0
    for object_id in busy.object_ids:
        for entry in history(busy.workspace, object_id=object_id):
            if not entry.HasField("version"):
                continue
            record = export_envelope(entry.version)
            assert refusals(record.draft) == []
            line = record.draft_line()
            assert line is not None
            assert refusals(json.loads(line)) == []
            assert record.draft is not None
            assert record.draft["spec_version"] == "0.1.0-draft"
            if "content_withheld" in record.side:
                withheld += 1
                assert record.draft["canonical_content"] == {"tombstone": True}
                continue
            shown += 1
            assert record.side["canonical_content_text"].encode() == entry.version.canonical_content
    assert shown > 15
    assert withheld >= 4


@pytest.mark.req("P-8.5-01")
def test_every_relationship_is_one_of_the_draft(busy: BusyWorkspace) -> None:
    refusals = refusals_of("relationship.schema.json")
    for relationship in busy.relationships:
        record = export_relationship(relationship)
        assert refusals(record.draft) == []
        line = record.draft_line()
        assert line is not None
        assert refusals(json.loads(line)) == []
    without_basis = dict(export_relationship(busy.relationships[3]).draft or {})
    del without_basis["policy_basis"]
    assert refusals(without_basis)


def test_every_event_is_an_entry_of_the_draft_or_stands_aside(busy: BusyWorkspace) -> None:
    refusals = refusals_of("memory-event.schema.json")
    events = busy.workspace.events()
    drafted, aside = set(), set()
    for event in events:
        record = export_event(event)
        own_type = ledger_pb2.EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower()
        assert record.side["chain_hash"] == event.chain_hash.hex()
        if own_type not in DRAFT_EVENT_TYPES:
            # None of them changes an object, so none has a place in the draft: the side record is the whole event.
            aside.add(own_type)
            assert record.draft is None
            assert not event.version_id
            assert (record.side["event_type"], record.side["sequence"]) == (own_type, event.sequence)
            assert record.side["payload"] == json.loads(event.payload_json)
            continue
        drafted.add(own_type)
        assert refusals(record.draft) == []
        assert record.draft is not None
        assert (record.draft["event_type"], record.draft["sequence"]) == (own_type, event.sequence)
        if event.delegation_id:
            assert record.draft["payload"]["delegation_id"] == event.delegation_id
    assert aside == OUR_EVENTS
    served = {
        name.removeprefix("EVENT_TYPE_").lower() for name, number in ledger_pb2.EventType.items() if number
    } & DRAFT_EVENT_TYPES
    assert drafted == served
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))


@pytest.mark.req("P-15.4-03")
def test_every_grant_is_a_delegation_of_the_draft(busy: BusyWorkspace) -> None:
    refusals = refusals_of("delegation.schema.json")
    for delegation in busy.delegations:
        record = export_delegation(delegation)
        assert refusals(record.draft) == []
        assert record.draft is not None
        assert {"parent_delegation_id", "max_redelegations"}.isdisjoint(record.draft)
        assert record.side["max_redelegations"] == delegation.max_redelegations
        assert record.side.get("parent_delegation_id", "") == delegation.parent_delegation_id
    parent, child, plain, revoked = (export_delegation(delegation).draft or {} for delegation in busy.delegations)
    assert (parent["revocable"], plain["revocable"]) == (True, False)
    assert (parent["sequence"], revoked["sequence"], revoked["lifecycle_state"]) == (1, 2, "archived")
    assert "usage_limit" not in plain
    assert child["granted_object_types"] == ["claim"]
    missing = grant_request(busy.workspace, policy_basis="")
    with pytest.raises(Refusal) as refusal:
        busy.workspace.owner.delegation.GrantDelegation(missing)
    assert (refusal.value.reason, refusal.value.fields) == ("INVALID_REQUEST", ["policy_basis"])
