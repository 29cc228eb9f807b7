"""What a denied call leaves in a ledger: one event, which says who asked for what and holds nothing of what was sent."""

from __future__ import annotations

import json
import uuid
from typing import Any

from remit.v1 import ledger_pb2
from tests.cluster import Client

CANARY = "canary-5e1f"
"""Stands in every field of a denied request that may hold free text."""

_PAYLOAD_KEYS = {"operation", "denial_reason", "exact_reason", "policy_rule_id", "target_digest", "scope_digest"}


def new_operation_id() -> str:
    """An operation id of a call that is then found in the ledger by it; all are equally long."""
    return f"urn:uuid:{uuid.uuid4()}"


def events_of_operation(client: Client, scope_id: str, operation_id: str) -> list[ledger_pb2.LedgerEvent]:
    """All events of an operation in a workspace, as a reader of its ledger sees them."""
    request = ledger_pb2.ListEventsRequest(scope_id=scope_id, filter_operation_id=operation_id, limit=1000)
    return list(client.ledger.ListEvents(request).events)


def the_denial(client: Client, scope_id: str, operation_id: str) -> ledger_pb2.LedgerEvent:
    """The one event of a denied operation: an access_denied without content; the purpose that was told it does tell."""
    [event] = events_of_operation(client, scope_id, operation_id)
    assert event.event_type == ledger_pb2.EVENT_TYPE_ACCESS_DENIED, event
    assert set(payload_of(event)) <= _PAYLOAD_KEYS, event.payload_json
    assert event.purpose in {"", CANARY}, event
    untold = ledger_pb2.LedgerEvent()
    untold.CopyFrom(event)
    untold.ClearField("purpose")
    assert CANARY not in str(untold), event
    return event


def payload_of(event: ledger_pb2.LedgerEvent) -> dict[str, Any]:
    """An event's payload."""
    return dict(json.loads(event.payload_json))
