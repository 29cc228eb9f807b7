"""InspectHistory (PAMSPEC 10.7; P-10.7-01 to P-10.7-03; Q17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from authz.permissions import REVIEW
from remit.v1 import memory_pb2
from server.authority.row_authority import authority_over_rows, confirmed, row_filter
from server.call import Call
from server.domain_errors import InvalidRequest
from server.events.listed import listed_event
from server.memory.mutations import content_state, readable
from server.memory.retrieval import open_rows
from server.paging import cursor_binding, fitting, last_place, next_cursor
from server.relationships.history import (
    Entry,
    demand_known,
    merged,
    relationship_history,
    relationship_messages,
)
from server.relationships.reach import Reaches
from server.snapshots.reading import SnapshotBound, load_in, snapshot_bound
from server.wire.enum_numbers import EVENT_TYPE_NAMES
from server.wire.envelopes import envelope_of
from storage.cursors import Cursor
from storage.history import EntryKey, HistoryEntry, HistoryPage, HistoryQuery, list_history
from storage.objects import Heads
from storage.relationship_history import RelationshipEntry
from storage.row_filter import RowFilter


async def handle(call: Call, request: memory_pb2.InspectHistoryRequest) -> memory_pb2.InspectHistoryResponse:
    """Returns one page of an object's versions and events, of a relationship's, or of a range of the ledger.

    Oldest first. Relationships that end at the object, or lie in the range, are among them where the caller may know of
    both ends. Ledger bounds narrow versions and events, version bounds the versions, event classes the events. Versions
    of what is removed, and of what is pending deletion where the caller is no reviewer, come without their parts, or not
    at all where the redaction policy says so. A snapshot bounds the ledger range, and the objects to its members. Raises
    InvalidRequest, ObjectNotFound, SnapshotNotFound.
    """
    _check_range(request)
    authority: tuple[RowFilter, ...] = ()
    if request.object_id:
        # Decided on the object's stored type, once for all its entries.
        await load_in(call, request.snapshot_id, request.object_id)
    else:
        authority = authority_over_rows(call)
    reaches = Reaches(call, call.action)
    reach = await reaches.of_ends()
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    query = _query(call, request, authority, await snapshot_bound(call, request.snapshot_id), place)
    pinned_sequence = query.to_sequence
    objects = HistoryPage(None, (), False)
    limited = bool(authority or reach.own.filters)
    if not request.relationship_id:
        objects = await list_history(call.services.database, call.tenant_id, query)
        heads = confirmed(call, objects.heads, limited=limited)
        query = replace(query, to_sequence=heads.sequence if pinned_sequence is None else pinned_sequence)
    related = await relationship_history(call, request, query, reach)
    await reaches.confirm()
    if request.relationship_id:
        heads = confirmed(call, related.heads, limited=limited)
        if not related.entries and place is None:
            await demand_known(call, request.relationship_id, reach)
    found, more = merged(objects, related, query.limit)
    entries = fitting(call, await _messages(call, found, heads, reaches), query.limit)
    cursor = ""
    if more or len(entries) < len(found):
        pin = min(heads.sequence, heads.sequence if pinned_sequence is None else pinned_sequence)
        cursor = next_cursor(call, binding, found[len(entries) - 1].key, pin)
    await call.exercise_read(heads, request.object_id or None)
    return memory_pb2.InspectHistoryResponse(
        entries=entries, cursor=cursor, operation_id=call.operation_id, event_ids=call.exercise_event_ids
    )


def _query(
    call: Call,
    request: memory_pb2.InspectHistoryRequest,
    authority: tuple[RowFilter, ...],
    bound: SnapshotBound | None,
    place: Cursor | None,
) -> HistoryQuery:
    pinned_sequence = request.to_sequence if request.HasField("to_sequence") else None
    if bound is not None:
        pinned_sequence = bound.sequence if pinned_sequence is None else min(pinned_sequence, bound.sequence)
    if place is not None:
        pinned_sequence = place.pinned_sequence
    return HistoryQuery(
        scope_id=call.scope_id,
        object_id=request.object_id or None,
        after_sequence=request.after_sequence,
        to_sequence=pinned_sequence,
        from_version=request.from_version if request.HasField("from_version") else None,
        to_version=request.to_version if request.HasField("to_version") else None,
        event_types=tuple(EVENT_TYPE_NAMES[number] for number in request.event_classes),
        authority=authority,
        review=row_filter(call.view.enforcer.reach(call.actor_id, REVIEW)),
        limit=call.page_size(),
        bytes_max=call.services.settings.page_bytes_max,
        last_key=None if place is None else _entry_key(place.last_key),
        object_ids=None if bound is None else bound.object_ids,
        omit_withheld=request.redaction_policy == memory_pb2.REDACTION_POLICY_OMIT,
    )


def _check_range(request: memory_pb2.InspectHistoryRequest) -> None:
    ranged = request.HasField("after_sequence") or request.HasField("to_sequence")
    if request.object_id and request.relationship_id:
        raise InvalidRequest("relationship_id", "stands instead of an object")
    named = request.object_id or request.relationship_id
    if not named and not ranged:
        raise InvalidRequest("object_id", "or a range of ledger sequences is required")
    for name in ("from_version", "to_version"):
        if request.HasField(name) and not named:
            raise InvalidRequest(name, "needs an object or a relationship")


def _entry_key(last_key: tuple[int | str | None, ...]) -> EntryKey:
    at, kind, object_id, number = last_key
    assert isinstance(at, int)
    assert isinstance(kind, int)
    assert isinstance(object_id, str)
    assert isinstance(number, int)
    return at, kind, object_id, number


async def _messages(
    call: Call, entries: Sequence[Entry], heads: Heads, reaches: Reaches
) -> list[memory_pb2.HistoryEntry]:
    versions = [
        (entry.version, entry.given)
        for entry in entries
        if isinstance(entry, HistoryEntry) and entry.version is not None
    ]
    opened = iter(await open_rows(call, versions, heads))
    of_relationships = [entry for entry in entries if isinstance(entry, RelationshipEntry)]
    related = iter(await relationship_messages(call, of_relationships, heads, reaches))
    messages = []
    for entry in entries:
        if isinstance(entry, RelationshipEntry):
            messages.append(next(related))
            continue
        if entry.event is not None:
            event = listed_event(call, entry.event)
            messages.append(memory_pb2.HistoryEntry(ledger_sequence=entry.key[0], event=event))
            continue
        core, plaintexts = next(opened)
        state = content_state(entry.given, plaintexts)
        version = envelope_of(core, readable(call, core, plaintexts))
        messages.append(memory_pb2.HistoryEntry(ledger_sequence=entry.key[0], version=version, content_state=state))
    return messages
