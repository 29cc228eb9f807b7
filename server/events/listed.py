"""Events as a call is given them."""

from __future__ import annotations

from remit.v1 import ledger_pb2
from server.call import Call
from server.events.sound import sound_event
from storage.ledger import LinkedEvent


def listed_event(call: Call, event: LinkedEvent) -> ledger_pb2.LedgerEvent:
    """Returns the message of an event of the call's workspace; raises IntegrityViolation as `sound_event` does."""
    return sound_event(call.scope_id, event)
