"""Events of one workspace as messages: refused when their row is not what was hashed there (ledger.md, Shape)."""

from __future__ import annotations

import hmac

from remit.v1 import ledger_pb2
from server.wire.events import event_message
from storage.encryption import IntegrityViolation
from storage.ledger import LinkedEvent, leaf_hash


def sound_event(scope_id: str, event: LinkedEvent) -> ledger_pb2.LedgerEvent:
    """Returns the message of an event; raises IntegrityViolation when its leaf hash or its workspace does not hold.

    What only the chain can tell (a row cut, swapped or forged with its hashes) is for a verification to find.
    """
    row = event.row
    if not hmac.compare_digest(leaf_hash(row), row.leaf_hash):
        raise IntegrityViolation(f"ledger_events:{row.sequence}", "LEAF")
    message = event_message(row, event.previous_hash)
    if message.scope_id != scope_id:
        raise IntegrityViolation(f"ledger_events:{row.sequence}", "MOVED")
    return message
