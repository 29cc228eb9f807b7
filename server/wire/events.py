"""An event of the ledger, row -> wire (ledger.md, Shape).

The row's body is what was hashed; the columns beside it only repeat it for reading, so the message comes from the body.
"""

from typing import Final, cast

from remit.v1 import ledger_pb2
from server.wire.actors import actor_message
from server.wire.enum_numbers import EVENT_TYPE_NUMBERS
from server.wire.times import timestamp_of
from storage.encryption import IntegrityViolation
from storage.model.actor import parse_actor
from storage.model.canonical import Fields, JsonValue, MalformedCanonical, canonical_json, parse_object
from storage.model.event_record import BODY_VERSION
from storage.model.ledger_rows import EventRow

_BODY_KEYS: Final = frozenset(
    {
        "v",
        "tenant_id",
        "scope_id",
        "event_id",
        "event_type",
        "operation_id",
        "actor",
        "object_id",
        "version_id",
        "delegation_id",
        "correlation_id",
        "purpose",
        "relationship_id",
        "evaluation_run_id",
        "payload",
    }
)


def event_message(row: EventRow, previous_hash: bytes) -> ledger_pb2.LedgerEvent:
    """Returns the event of a row; `previous_hash` is the chain hash of the row before it, or of the genesis.

    An event type that this process does not know yet (its replica is older than the one that wrote it) comes as
    EVENT_TYPE_UNSPECIFIED. Raises IntegrityViolation when the body is not what the service writes, or when a column
    does not repeat it.
    """
    place = f"ledger_events:{row.sequence}"
    try:
        body = parse_object(row.body, "event body", _BODY_KEYS)
        message = _message(row, body, previous_hash)
    except MalformedCanonical:
        raise IntegrityViolation(place, "BODY") from None
    written = (
        body.text("event_id"),
        body.text("event_type"),
        body.text("operation_id"),
        message.actor.actor_id,
        *(body.optional_text(key) for key in ("object_id", "version_id", "delegation_id", "relationship_id")),
    )
    columns = (row.event_id, row.event_type, row.operation_id, row.actor_id)
    if written != (*columns, row.object_id, row.version_id, row.delegation_id, row.relationship_id):
        raise IntegrityViolation(place, "COLUMNS")
    return message


def _message(row: EventRow, body: Fields, previous_hash: bytes) -> ledger_pb2.LedgerEvent:
    payload = body.raw("payload")
    if body.integer("v") != BODY_VERSION or not isinstance(payload, dict):
        raise MalformedCanonical("event body is of another version or has no payload")
    number = EVENT_TYPE_NUMBERS.get(body.text("event_type"), ledger_pb2.EVENT_TYPE_UNSPECIFIED)
    return ledger_pb2.LedgerEvent(
        event_id=body.text("event_id"),
        operation_id=body.text("operation_id"),
        scope_id=body.text("scope_id"),
        event_type=cast("ledger_pb2.EventType", number),
        recorded_at=timestamp_of(row.recorded_at_us),
        sequence=row.sequence,
        actor=actor_message(parse_actor(body.raw("actor"))),
        object_id=body.optional_text("object_id") or "",
        version_id=body.optional_text("version_id") or "",
        delegation_id=body.optional_text("delegation_id") or "",
        payload_json=canonical_json(cast("JsonValue", payload)).decode(),
        use_number=row.use_number,
        previous_hash=previous_hash,
        chain_hash=row.chain_hash,
        correlation_id=body.optional_text("correlation_id") or "",
        relationship_id=body.optional_text("relationship_id") or "",
        purpose=body.optional_text("purpose") or "",
        evaluation_run_id=body.optional_text("evaluation_run_id") or "",
    )
