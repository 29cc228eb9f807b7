"""Subscribe, ResetSubscription and Unsubscribe: what is opened, refused, replayed and recorded (PAMSPEC 10.8, 18.3)."""

from __future__ import annotations

import json
import uuid
from functools import partial
from typing import Any

import grpc
import pytest

from remit.v1 import ledger_pb2
from tests.cluster import ADMIN, OTHER_TENANT, Refusal, Workspace
from tests.server.operations.delegation.grants import denied, events_of, grant, payload, refusal
from tests.server.operations.ledger.subscriptions import (
    CLOSED,
    CREATED,
    OPENED,
    RESET,
    UPDATED,
    acknowledge,
    poll,
    reset,
    sequences,
    stream,
    subscribe,
    subscribe_request,
    unsubscribe,
)
from tests.server.operations.memory.requests import delete, history, update

SUBSCRIBER = "actor:subscriber"


@pytest.mark.req("P-10.8-01")
def test_a_filter_that_names_no_class_where_it_names_classes_is_refused(workspace: Workspace) -> None:
    wanted = ledger_pb2.SubscriptionFilter(event_classes=ledger_pb2.EventClasses())
    request = ledger_pb2.SubscribeRequest(scope_id=workspace.scope_id, filter=wanted)
    refused = refusal(workspace.owner.ledger.Subscribe, request)
    assert (refused.reason, refused.fields) == ("INVALID_REQUEST", ["filter.event_classes.event_types"])
    without = refusal(workspace.owner.ledger.Subscribe, ledger_pb2.SubscribeRequest(scope_id=workspace.scope_id))
    assert (without.reason, without.fields) == ("INVALID_REQUEST", ["filter"])


@pytest.mark.req("P-10.8-02", "P-18.3-01")
def test_what_was_resolved_is_told(workspace: Workspace) -> None:
    wanted = {
        "object_id": "urn:x:1",
        "object_type": "claim",
        "predicates": [{"field": ledger_pb2.EVENT_FIELD_ACTOR_ID, "values": [ADMIN, "actor:other"]}],
    }
    delivery = {"batching_max_events": 7, "backpressure": ledger_pb2.BACKPRESSURE_CLOSE_ON_LAG, "lag_max_events": 9}
    request = subscribe_request(workspace, CREATED, UPDATED, wanted=wanted, delivery=delivery, operation_id="op:1")
    response = workspace.owner.ledger.Subscribe(request)
    made = response.subscription
    assert made.subscription_id
    assert made.filter == request.filter
    assert made.channel_ref == "/remit.v1.LedgerService/StreamSubscription"
    [opened] = events_of(workspace, OPENED)
    # Without a start it begins at its own opening (Q34).
    assert made.start_sequence == made.acknowledged_sequence == opened.sequence > 0
    assert list(response.event_ids) == [opened.event_id]
    assert (opened.operation_id, response.operation_id) == ("op:1", "op:1")
    assert made.scope_id == workspace.scope_id
    assert made.actor.actor_id == ADMIN
    assert made.delivery == ledger_pb2.Delivery(
        batching_max_events=7,
        batching_max_wait_ms=0,
        keepalive_interval_ms=30_000,
        backpressure=ledger_pb2.BACKPRESSURE_CLOSE_ON_LAG,
        lag_max_events=9,
    )
    assert subscribe(workspace, after_sequence=0).start_sequence == 0
    assert subscribe(workspace, after_sequence=2).start_sequence == 2
    assert subscribe(workspace).delivery.backpressure == ledger_pb2.BACKPRESSURE_BLOCK


@pytest.mark.req("P-10.8-10")
def test_a_negative_start_and_a_backpressure_that_is_none_are_refused(workspace: Workspace) -> None:
    negative = refusal(workspace.owner.ledger.Subscribe, subscribe_request(workspace, after_sequence=-1))
    assert (negative.reason, negative.fields) == ("INVALID_REQUEST", ["after_sequence"])
    # "ignore_and_hope" on this wire: a number that the enum does not name.
    hopeful = refusal(workspace.owner.ledger.Subscribe, subscribe_request(workspace, delivery={"backpressure": 99}))
    assert (hopeful.reason, hopeful.fields) == ("INVALID_REQUEST", ["delivery.backpressure"])
    for field, value in (("batching_max_events", 0), ("batching_max_wait_ms", -1), ("keepalive_interval_ms", -1)):
        refused = refusal(workspace.owner.ledger.Subscribe, subscribe_request(workspace, delivery={field: value}))
        assert (refused.reason, refused.fields) == ("INVALID_REQUEST", [f"delivery.{field}"])
    dropping = {"backpressure": ledger_pb2.BACKPRESSURE_DROP_OLDEST}
    assert refusal(workspace.owner.ledger.Subscribe, subscribe_request(workspace, delivery=dropping)).reason == (
        "POLICY_DENIED"
    )
    assert events_of(workspace, OPENED) == []


def test_nothing_begins_after_what_has_not_happened(workspace: Workspace) -> None:
    made = subscribe(workspace)
    for sequence in (10_000, 2**63 - 1):
        ahead = refusal(workspace.owner.ledger.Subscribe, subscribe_request(workspace, after_sequence=sequence))
        assert (ahead.reason, ahead.fields) == ("INVALID_REQUEST", ["after_sequence"])
        with pytest.raises(Refusal) as refused:
            reset(made, workspace.owner, sequence)
        assert refused.value.fields == ["after_sequence"]
    for sequence in (10_000, 2**64 - 1):
        with pytest.raises(Refusal) as refused:
            acknowledge(made, workspace.owner, sequence)
        assert refused.value.fields == ["sequence"]


@pytest.mark.req("P-10.8-08")
def test_opening_and_closing_are_events_and_no_versions(workspace: Workspace) -> None:
    made = workspace.create()
    subscription = subscribe(workspace, CREATED, wanted={"object_id": made.object_id})
    before = len(history(workspace, object_id=made.object_id))
    closed = unsubscribe(subscription, workspace.owner, reason="done")
    opened, ended = events_of(workspace, OPENED, CLOSED)
    assert payload(opened)["subscription_id"] == payload(ended)["subscription_id"] == subscription.subscription_id
    assert payload(opened)["event_classes"] == ["object_created"]
    assert (payload(ended)["reason"], payload(ended)["closed_by"]) == ("done", "subscriber")
    assert payload(ended)["last_delivered_sequence"] == subscription.start_sequence
    assert list(closed.event_ids) == [ended.event_id]
    assert (opened.version_id, ended.version_id) == ("", "")
    assert len(history(workspace, object_id=made.object_id)) == before
    assert not any(entry.HasField("version") for entry in history(workspace, object_id=made.object_id)[before:])


def test_a_repeated_key_opens_once(workspace: Workspace) -> None:
    request = subscribe_request(workspace, CREATED, idempotency_key="key:1")
    first = workspace.owner.ledger.Subscribe(request)
    workspace.create()
    assert len(poll(first.subscription, workspace.owner).events) == 1
    again = workspace.owner.ledger.Subscribe(request)
    assert again.replayed
    assert (again.subscription, list(again.event_ids)) == (first.subscription, list(first.event_ids))
    assert len(events_of(workspace, OPENED)) == 1
    other = refusal(workspace.owner.ledger.Subscribe, subscribe_request(workspace, idempotency_key="key:1"))
    assert other.reason == "DUPLICATE_OPERATION"
    resets = [reset(first.subscription, workspace.owner, 0, idempotency_key="key:2") for _ in range(2)]
    assert [response.replayed for response in resets] == [False, True]
    assert len(events_of(workspace, RESET)) == 1
    ends = [unsubscribe(first.subscription, workspace.owner, idempotency_key="key:3") for _ in range(2)]
    assert [response.replayed for response in ends] == [False, True]
    assert list(ends[0].event_ids) == list(ends[1].event_ids)
    assert len(events_of(workspace, CLOSED)) == 1
    # Without a key as well, what is closed stays as it was closed.
    assert list(unsubscribe(first.subscription, workspace.owner, reason="again").event_ids) == []
    assert len(events_of(workspace, CLOSED)) == 1


def test_an_id_is_taken_once(workspace: Workspace) -> None:
    made = subscribe(workspace, subscription_id="sub:mine")
    assert made.subscription_id == "sub:mine"
    workspace.allow(SUBSCRIBER, "subscribe")
    for client in (workspace.owner, workspace.cluster.client(SUBSCRIBER)):
        taken = refusal(client.ledger.Subscribe, subscribe_request(workspace, subscription_id="sub:mine"))
        assert taken.reason == "VERSION_CONFLICT"


def test_the_subscription_of_another_is_one_that_is_not_there(workspace: Workspace) -> None:
    made = subscribe(workspace)
    workspace.allow(SUBSCRIBER, "subscribe", "unsubscribe")
    other = workspace.cluster.client(SUBSCRIBER)
    foreign = Workspace(workspace.cluster, OTHER_TENANT)
    absent = ledger_pb2.Subscription(scope_id=made.scope_id, subscription_id="urn:x:none")
    elsewhere = ledger_pb2.Subscription(scope_id=foreign.scope_id, subscription_id=made.subscription_id)

    def told(call: Any) -> tuple[Any, ...]:
        with pytest.raises(Refusal) as refused:
            call()
        error = refused.value
        return error.code, error.reason, error.message, error.pamspec.code

    for client, subscription in ((other, made), (other, absent), (workspace.owner, absent), (foreign.owner, elsewhere)):
        for call in (poll, stream, unsubscribe):
            code, reason, *_ = told(partial(call, subscription, client))
            assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "OBJECT_NOT_FOUND")
        for positioned in (acknowledge, reset):
            assert told(partial(positioned, subscription, client, 0))[1] == "OBJECT_NOT_FOUND"
    assert told(partial(poll, made, other)) == told(partial(poll, absent, other))
    assert not poll(made, workspace.owner).closed


@pytest.mark.req("P-10.8-11")
@pytest.mark.parametrize("by_grant", [False, True])
def test_a_filter_on_a_hidden_object_is_one_on_an_object_that_is_not_there(
    workspace: Workspace, by_grant: bool
) -> None:
    """Of three objects one is of a type out of bounds, one is deleted besides, and one was never there."""
    hidden, deleted = (workspace.create(object_type="task", canonical_content=b'{"title":"x"}') for _ in range(2))
    delete(workspace, deleted.object_id, deleted.version_id)
    delegation_id = ""
    if by_grant:
        given = grant(workspace, "subscribe", delegate=SUBSCRIBER, granted_object_types=["claim"])
        delegation_id = given.delegation_id
    else:
        workspace.allow(SUBSCRIBER, "subscribe", object_type="claim")
    client = workspace.cluster.client(SUBSCRIBER)
    ids = (hidden.object_id, deleted.object_id, f"urn:uuid:{uuid.uuid4()}")
    opened = []
    for number, object_id in enumerate(ids):
        request = subscribe_request(
            workspace,
            wanted={"object_id": object_id},
            after_sequence=0,
            subscription_id=f"sub:{number}",
            operation_id="op:open",
            delegation_id=delegation_id,
        )
        response = client.ledger.Subscribe(request)
        response.ClearField("event_ids")
        opened.append(response)
    update(workspace, hidden.object_id, hidden.version_id, canonical_content=b'{"title":"y"}')
    seen = []
    for number, object_id in enumerate(ids):
        subscription = opened[number].subscription
        answers = [opened[number].SerializeToString()]
        answers += [poll(subscription, client, operation_id="op:poll").SerializeToString() for _ in range(2)]
        request = ledger_pb2.StreamSubscriptionRequest(
            scope_id=workspace.scope_id, subscription_id=subscription.subscription_id, operation_id="op:stream"
        )
        with client.ledger.StreamSubscription(request) as streamed:
            answers.append(next(streamed).SerializeToString())
        raw = b"|".join(answers)
        assert object_id.encode() in answers[0]
        seen.append(raw.replace(object_id.encode(), b"-").replace(subscription.subscription_id.encode(), b"-"))
    assert seen[0] == seen[1] == seen[2]


def test_a_rule_of_one_object_denies_the_filter_of_another_whatever_is_there(workspace: Workspace) -> None:
    made, other = workspace.create(), workspace.create()
    workspace.allow(SUBSCRIBER, "subscribe", object_id=made.object_id)
    client = workspace.cluster.client(SUBSCRIBER)
    for object_id in (other.object_id, "urn:x:absent"):
        request = subscribe_request(workspace, wanted={"object_id": object_id})
        assert denied(client.ledger.Subscribe, request) == "NO_RULE"
    mine = subscribe(workspace, CREATED, UPDATED, client=client, after_sequence=0)
    update(workspace, made.object_id, made.version_id)
    update(workspace, other.object_id, other.version_id)
    assert [event.object_id for event in poll(mine, client).events] == [made.object_id] * 2


def test_a_grant_conveys_it_for_one_use_and_for_the_objects_within(workspace: Workspace) -> None:
    inside = workspace.create()
    outside = workspace.create(object_type="task", canonical_content=b'{"title":"x"}')
    given = grant(workspace, "subscribe", "unsubscribe", granted_object_types=["claim"], usage_limit=2)
    delegate = workspace.cluster.client("actor:delegate")
    subscription = subscribe(workspace, client=delegate, after_sequence=0, delegation_id=given.delegation_id)
    assert subscription.delegation_id == given.delegation_id
    assert subscription.actor.on_behalf_of_actor_id == ADMIN
    update(workspace, inside.object_id, inside.version_id)
    update(workspace, outside.object_id, outside.version_id, canonical_content=b'{"title":"y"}')
    # Neither what is about no object nor what is out of bounds: only the events of objects within the grant.
    found = [event for _ in range(3) for event in poll(subscription, delegate).events]
    assert [event.event_type for event in found] == [CREATED, UPDATED, ledger_pb2.EVENT_TYPE_PROVENANCE_UPDATED]
    assert {event.object_id for event in found} == {inside.object_id}
    exercised = ledger_pb2.EVENT_TYPE_DELEGATION_EXERCISED
    [use] = events_of(workspace, exercised, delegation_id=given.delegation_id)
    assert json.loads(use.payload_json)["operation"] == "subscribe"
    assert use.use_number == 1
    unsubscribe(subscription, delegate, delegation_id=given.delegation_id)
    assert len(events_of(workspace, exercised, delegation_id=given.delegation_id)) == 2
    request = subscribe_request(workspace, delegation_id=given.delegation_id)
    assert denied(delegate.ledger.Subscribe, request) == "USAGE_LIMIT_EXHAUSTED"
    no_id = grant(workspace, "subscribe", granted_object_ids=[inside.object_id])
    request = subscribe_request(workspace, wanted={"object_id": "urn:x:2"}, delegation_id=no_id.delegation_id)
    assert denied(delegate.ledger.Subscribe, request) == "OBJECT_NOT_GRANTED"


def test_filters_by_type_and_by_the_fields_of_events(workspace: Workspace) -> None:
    workspace.allow(SUBSCRIBER, "create")
    writer = workspace.cluster.client(SUBSCRIBER)
    claim = workspace.create(operation_id="op:claim", correlation_id="run:1")
    task = workspace.create(writer, object_type="task", canonical_content=b'{"title":"x"}')
    whole = workspace.events()

    def found(*event_types: int, **wanted: Any) -> list[int]:
        subscription = subscribe(workspace, *event_types, wanted=wanted, after_sequence=0)
        response = poll(subscription, workspace.owner, max_events=1000)
        return [sequence for sequence in sequences(response.events) if sequence <= len(whole)]

    def by(field: Any, *values: str) -> list[dict[str, Any]]:
        return [{"field": field, "values": values}]

    place = {event.object_id: event.sequence for event in whole if event.event_type == CREATED}
    assert found() == sequences(whole)
    assert found(CREATED) == sorted(place.values())
    assert found(object_type="task") == [place[task.object_id]]
    assert found(object_id=claim.object_id) == [place[claim.object_id]]
    assert found(predicates=by(ledger_pb2.EVENT_FIELD_ACTOR_ID, SUBSCRIBER)) == [place[task.object_id]]
    assert found(predicates=by(ledger_pb2.EVENT_FIELD_OPERATION_ID, "op:claim", "op:x")) == [place[claim.object_id]]
    assert found(predicates=by(ledger_pb2.EVENT_FIELD_CORRELATION_ID, "run:1")) == [place[claim.object_id]]
    assert found(predicates=by(ledger_pb2.EVENT_FIELD_VERSION_ID, task.version_id)) == [place[task.object_id]]
    both = by(ledger_pb2.EVENT_FIELD_ACTOR_ID, SUBSCRIBER) + by(ledger_pb2.EVENT_FIELD_OPERATION_ID, "op:claim")
    assert found(predicates=both) == []
    assert found(UPDATED) == found(object_type="decision") == []
