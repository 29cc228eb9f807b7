"""Pages of listings: where one goes on, and how much of it an answer holds (surface.md, section 1, Limits)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from google.protobuf.message import Message

from server.call import Call
from server.domain_errors import InvalidRequest
from storage.cursors import Cursor, CursorBinding, InvalidCursor, KeyValue

Row = TypeVar("Row", bound=Message)

# What says nothing about which rows are listed in which order; the page's size may differ from page to page.
_NOT_FILTERS = ("operation_id", "purpose", "correlation_id", "actor", "limit", "cursor")


def cursor_binding(call: Call, epoch: int) -> CursorBinding:
    """Returns what cursors of this call are good for: its caller, its workspace, its filters, the ledger's epoch."""
    filters = type(call.request)()
    filters.CopyFrom(call.request)
    for name in _NOT_FILTERS:
        filters.ClearField(name)
    return CursorBinding(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        actor_id=call.actor_id,
        delegation_id=getattr(call.request, "delegation_id", "") or None,
        rpc=call.access.full_name,
        filters_digest=hashlib.sha256(filters.SerializeToString(deterministic=True)).digest(),
        epoch=epoch,
    )


def last_place(call: Call, binding: CursorBinding) -> Cursor | None:
    """Returns where the last page ended, None for the first page; raises InvalidRequest when the cursor is no such."""
    if not call.request.cursor:
        return None
    try:
        return call.services.cursors.open(call.request.cursor, binding)
    except InvalidCursor:
        raise InvalidRequest("cursor", "is not a cursor of this listing") from None


def next_cursor(call: Call, binding: CursorBinding, last_key: Sequence[KeyValue], pinned_sequence: int = 0) -> str:
    """Returns the text by which the listing goes on after a row's sort key."""
    return call.services.cursors.seal(Cursor(binding, pinned_sequence, tuple(last_key)))


def fitting(call: Call, rows: Sequence[Row], size: int) -> list[Row]:
    """Returns the leading rows that one page holds: at most `size` of them, and at most the bytes of a page.

    At least one row is given, so that a listing always goes on.
    """
    kept: list[Row] = []
    bytes_left = call.services.settings.page_bytes_max
    for row in rows[:size]:
        bytes_left -= row.ByteSize()
        if kept and bytes_left < 0:
            break
        kept.append(row)
    return kept
