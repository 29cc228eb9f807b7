"""Histories of relationships, alone or between those of objects (P-10.7-03, P-8.5-04)."""

from __future__ import annotations

from authz.permissions import INSPECT_HISTORY
from authz.request import ABSENT, Touched
from remit.v1 import memory_pb2
from server.call import Call
from server.domain_errors import ObjectNotFound
from server.events.listed import listed_event
from server.memory.mutations import content_state
from server.relationships.reach import Reaches
from server.relationships.retrieval import ends_of, open_relationships, readable_relationship
from storage.history import EntryKey, HistoryEntry, HistoryPage, HistoryQuery
from storage.model.relationship import RelationshipCore
from storage.objects import Heads
from storage.relationship_ends import EndReach
from storage.relationship_history import (
    RelationshipEntry,
    RelationshipHistoryPage,
    RelationshipHistoryQuery,
    is_known,
    list_relationship_history,
)

Entry = HistoryEntry | RelationshipEntry


async def relationship_history(
    call: Call, request: memory_pb2.InspectHistoryRequest, query: HistoryQuery, reach: EndReach
) -> RelationshipHistoryPage:
    """Returns a page of what `query` asks of relationships: of one, of those that end at an object, or of a range.

    Only relationships of which both ends are within `reach` have a history for the caller. The events of a range are
    listed with those of objects.
    """
    named = request.relationship_id or None
    asked = RelationshipHistoryQuery(
        scope_id=call.scope_id,
        relationship_id=named,
        object_id=query.object_id,
        after_sequence=query.after_sequence,
        to_sequence=query.to_sequence,
        version_range=(query.from_version, query.to_version) if named else (None, None),
        event_types=query.event_types,
        reach=reach,
        limit=query.limit,
        bytes_max=query.bytes_max,
        with_events=bool(named or query.object_id),
        last_key=query.last_key,
        member_ids=query.object_ids,
        omit_withheld=query.omit_withheld,
    )
    return await list_relationship_history(call.services.database, call.tenant_id, asked)


async def demand_known(call: Call, relationship_id: str, reach: EndReach) -> None:
    """Returns when the caller may know of the relationship; raises Refused or ObjectNotFound when it is not there.

    One that is out of the caller's bounds is told like one that is not there.
    """
    if await is_known(call.services.database, call.tenant_id, call.scope_id, relationship_id, reach):
        return
    call.demand([Touched(relationship_id, ABSENT)], action=INSPECT_HISTORY)
    raise ObjectNotFound


def merged(objects: HistoryPage, relationships: RelationshipHistoryPage, limit: int) -> tuple[list[Entry], bool]:
    """Returns the entries of both in ledger order, at most `limit`, and whether others are left.

    Behind the end of a page that has more, nothing of the other is given: it belongs between what is left.
    """
    pages: tuple[HistoryPage | RelationshipHistoryPage, ...] = (objects, relationships)
    ends: list[EntryKey] = [page.entries[-1].key for page in pages if page.more and page.entries]
    by_key: dict[EntryKey, Entry] = {entry.key: entry for page in pages for entry in page.entries}
    keys = sorted(key for key in by_key if not ends or key <= min(ends))
    more = objects.more or relationships.more or len(keys) > limit or len(keys) < len(by_key)
    return [by_key[key] for key in keys[:limit]], more


async def relationship_messages(
    call: Call, entries: list[RelationshipEntry], heads: Heads, reaches: Reaches
) -> list[memory_pb2.HistoryEntry]:
    """Returns the messages of the entries, in order. Raises IntegrityViolation, StaleFacts."""
    versions = [(entry.version, entry.given) for entry in entries if entry.version is not None]
    opened = await open_relationships(call, versions, {call.scope_id: heads})
    cores: list[RelationshipCore] = [core for core, _ in opened]
    shown = iter(zip(opened, await ends_of(call, cores, reaches.views), strict=True))
    messages = []
    for entry in entries:
        message = memory_pb2.HistoryEntry(ledger_sequence=entry.key[0])
        if entry.event is not None:
            message.event.CopyFrom(listed_event(call, entry.event))
        else:
            (core, plaintexts), ends = next(shown)
            message.relationship.CopyFrom(readable_relationship(call, core, plaintexts, ends))
            message.content_state = content_state(entry.given, plaintexts)
        messages.append(message)
    return messages
