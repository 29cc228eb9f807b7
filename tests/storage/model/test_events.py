"""Event types: 1:1 with the wire's enum, and bodies in the ledger's form (ledger.md, Shape)."""

import json
from dataclasses import fields
from typing import get_args

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from remit.v1 import ledger_pb2
from storage.model import administration_events, events
from storage.model.actor import ActorRef
from storage.model.events import EVENT_CLASSES, Event, EventRecord
from storage.model.policy import Binding, CrossScopeKind, CrossScopeRule, Effect, Rule
from storage.model.workspace import WorkspacePolicy

RULE = Rule("rule:1", "role:owner", "*", "*", "*", Effect.ALLOW)
VERSION = {"object_sequence": 1, "envelope_digest": "ab" * 32}
MOVE = {"from_state": "a", "to_state": "b", "policy_basis": "basis"}
ROLE = {"actor_id": "actor:a", "role_id": "role:r", "policy_revision": 2}

AREAS = {
    f"storage.model.{area}_events" for area in ("derived", "portability", "relationship", "snapshot", "subscription")
}

EXAMPLES: dict[str, Event] = {
    event.TYPE: event
    for event in (
        events.ObjectCreated(
            **VERSION,
            object_type="claim",
            lifecycle_state="active",
            availability_state="available",
            retention_state="retained",
            validation_state="unverified",
            policy_revision=3,
        ),
        events.ObjectUpdated(**VERSION, changed_fields=("canonical_content",)),
        events.LifecycleTransitioned(**VERSION, **MOVE),
        events.AvailabilityTransitioned(**VERSION, **MOVE),
        events.RetentionTransitioned(**VERSION, **MOVE),
        events.ValidationTransitioned(**VERSION, **MOVE),
        events.ProvenanceUpdated(provenance_id="urn:uuid:1"),
        events.AccessDenied(operation="read", denial_reason="NO_RULE", exact_reason="NO_RULE"),
        events.ObjectRedacted(**VERSION, mode="suppress", **MOVE),
        events.ObjectDeleted(**VERSION, from_state="available", policy_basis="basis", job_id="urn:uuid:2"),
        events.ToolInvoked(),
        events.ToolCompleted(outcome="success"),
        events.DelegationGranted(
            delegation_sequence=1,
            delegation_digest="cd" * 32,
            granting_actor_id="actor:a",
            delegated_actor_id="actor:b",
            granted_operations=("read",),
            policy_basis="basis",
            not_before_us=1,
            not_after_us=2,
            revocable=True,
        ),
        events.DelegationRevoked(delegation_sequence=2, delegation_digest="ef" * 32, policy_basis="basis"),
        events.DelegationExercised(
            chain=("urn:uuid:1", "urn:uuid:2"),
            operation="read",
            mode=events.ExerciseMode.RPC,
            delegation_sequence=1,
            policy_revision=1,
            mirror_of=events.Mirrored("workspace:b", "urn:uuid:3"),
        ),
        administration_events.TenantCreated(root_scope_id="tenant:acme"),
        administration_events.WorkspaceCreated(
            scope_kind="workspace",
            policy=WorkspacePolicy(extension_types=("com.example.note",)),
            rules=(RULE,),
            bindings=(Binding("actor:a", "role:owner"),),
            policy_revision=1,
        ),
        administration_events.PolicyRuleAdded(rule=RULE, policy_revision=2),
        administration_events.PolicyRuleRemoved(
            rule=CrossScopeRule("rule:2", "workspace:b", CrossScopeKind.DELEGATION), policy_revision=3
        ),
        administration_events.RoleBound(**ROLE),
        administration_events.RoleUnbound(**ROLE),
        events.IntegrityViolated(place="memory_contents", kind="CIPHERTEXT"),
        events.PropagationJobOpened(job_id="urn:uuid:4"),
        events.PropagationJobClosed(job_id="urn:uuid:4", keys_destroyed=3),
    )
}


def record(event: Event, **fields: str | None) -> EventRecord:
    return EventRecord(
        scope_id="workspace:a",
        event_id="urn:uuid:5",
        operation_id="urn:uuid:6",
        actor=ActorRef("actor:a", "agent", display_name="secret", attestation={"signature": "secret"}),
        event=event,
        **({"version_id": "urn:uuid:7"} | fields),
    )


def test_classes_match_the_wire_enum_one_to_one() -> None:
    of_wire = {
        value.name.removeprefix("EVENT_TYPE_").lower()
        for value in ledger_pb2.EventType.DESCRIPTOR.values
        if value.number != ledger_pb2.EVENT_TYPE_UNSPECIFIED
    }
    assert set(EVENT_CLASSES) == of_wire
    assert len(EVENT_CLASSES) == len(set(EVENT_CLASSES.values()))
    assert set(EXAMPLES) == of_wire


def example(event_class: type[Event]) -> Event:
    """An event of a class whose payload is its fields as they stand."""
    values = {
        "int": 1,
        "str": "urn:uuid:1",
        "bool": True,
        "tuple[str, ...]": ("a",),
        "int | None": 2,
        "str | None": "urn:uuid:2",
        "tuple[str, ...] | None": ("b",),
    }
    return event_class(
        **{
            item.name: values[item.type if isinstance(item.type, str) else spelled(item.type)]
            for item in fields(event_class)
        }
    )


def spelled(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)


EXAMPLES |= {name: example(found) for name, found in EVENT_CLASSES.items() if found.__module__ in AREAS}
EXAMPLES["working_memory_promoted"] = example(events.WorkingMemoryPromoted)


@pytest.mark.parametrize("event", EXAMPLES.values(), ids=EXAMPLES)
def test_body_is_canonical_and_complete(event: Event) -> None:
    body = record(event, delegation_id="urn:uuid:8", purpose="audit").body("acme")
    value = json.loads(body)
    assert body == rfc8785.dumps(value)
    payload = value.pop("payload")
    assert payload == json.loads(json.dumps(event.payload()))
    assert None not in payload.values()
    assert value == {
        "v": 1,
        "tenant_id": "acme",
        "scope_id": "workspace:a",
        "event_id": "urn:uuid:5",
        "event_type": event.TYPE,
        "operation_id": "urn:uuid:6",
        "actor": {"actor_id": "actor:a", "actor_kind": "agent"},
        "version_id": "urn:uuid:7",
        "delegation_id": "urn:uuid:8",
        "purpose": "audit",
    }


@pytest.mark.parametrize("event", EXAMPLES.values(), ids=EXAMPLES)
def test_payloads_hold_no_other_keys_than_their_class_names(event: Event) -> None:
    assert event.payload().keys() <= event.payload_keys()


@pytest.mark.parametrize("event", EXAMPLES.values(), ids=EXAMPLES)
def test_version_is_demanded_where_one_is_made(event: Event) -> None:
    if event.NAMES_VERSION:
        with pytest.raises(ValueError, match=event.TYPE):
            record(event, version_id=None)
    else:
        assert record(event, version_id=None).version_id is None


def test_payload_keys_of_the_wire() -> None:
    assert EXAMPLES["lifecycle_transitioned"].payload() == {
        "object_sequence": 1,
        "envelope_digest": "ab" * 32,
        "from": "a",
        "to": "b",
        "policy_basis": "basis",
        "via": "transition",
    }
    assert EXAMPLES["policy_rule_added"].payload() == {
        "rule_id": "rule:1",
        "subject": "role:owner",
        "action": "*",
        "object_type": "*",
        "object_id": "*",
        "effect": "allow",
        "policy_revision": 2,
    }
    assert EXAMPLES["workspace_created"].payload()["policy"] == {
        "require_purpose": False,
        "extension_types": ("com.example.note",),
    }
    assert EXAMPLES["object_deleted"].payload()["to"] == "deleted"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_purpose_is_written_canonically(purpose: str) -> None:
    body = record(EXAMPLES["tool_invoked"], purpose=purpose).body("acme")
    assert body == rfc8785.dumps(json.loads(body))
