"""Relationships: their stored versions and encrypted parts, and how their ends stand (memory.md; PAMSPEC 8.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from storage.database import Database
from storage.objects import (
    HEAD_COLUMNS,
    MICROSECONDS,
    PART_COLUMNS,
    PART_JOINS,
    Heads,
    StoredPart,
    heads_of,
    stored_part,
)

_PLAIN_COLUMNS: Final = (
    "scope_id",
    "relationship_id",
    "sequence",
    "version_id",
    "ledger_sequence",
    "relationship_type",
    "source_object_id",
    "target_object_id",
    "target_scope_id",
    "directionality",
    "lifecycle_state",
    "availability_state",
    "retention_state",
    "validation_state",
    "actor_id",
    "provenance_id",
    "content_id",
    "provenance_content_id",
    "integrity_content_id",
    "core",
    "mac",
    "mac_key_id",
)
_TIME_COLUMNS: Final = ("observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at")
RELATIONSHIP_COLUMNS: Final = ", ".join(
    [f"v.{name}" for name in _PLAIN_COLUMNS] + [MICROSECONDS.format(f"v.{name}") for name in _TIME_COLUMNS]
)
"""The columns of a version `v`; three times PART_COLUMNS follow them."""
RELATIONSHIP_PARTS: Final = ", ".join(PART_COLUMNS.format(alias) for alias in "cpi")
_WIDTH: Final = len(_PLAIN_COLUMNS) + len(_TIME_COLUMNS)
_PART_WIDTH: Final = 5
RELATIONSHIP_WIDTH: Final = _WIDTH + 3 * _PART_WIDTH
# Under this id the parts of a relationship lie beside those of objects (storage.model.relationship.content_owner).
CONTENT_OWNER: Final = "'relationship/' || {0}.relationship_id"


class StoredRelationship(NamedTuple):
    """A row of relationship_versions with its encrypted parts (None where the row is gone)."""

    scope_id: str
    relationship_id: str
    sequence: int
    version_id: str
    ledger_sequence: int
    relationship_type: str
    source_object_id: str
    target_object_id: str
    target_scope_id: str
    directionality: str
    lifecycle_state: str
    availability_state: str
    retention_state: str
    validation_state: str
    actor_id: str
    provenance_id: str
    content_id: UUID | None
    provenance_content_id: UUID
    integrity_content_id: UUID | None
    core: bytes
    mac: bytes
    mac_key_id: str
    observed_at_us: int | None
    asserted_at_us: int | None
    valid_from_us: int | None
    valid_until_us: int | None
    committed_at_us: int
    recorded_at_us: int
    content: StoredPart | None = None
    provenance: StoredPart | None = None
    integrity: StoredPart | None = None


class EndStanding(NamedTuple):
    """How an end of a relationship stands now: its stored type (None: no such object), and whether it is a tombstone."""

    object_type: str | None
    deleted: bool | None


class RelationshipFacts(NamedTuple):
    """A relationship as one statement saw it. `heads` None: no such workspace; `version` None: no such version.

    `verdict` is the gate's on giving its content, `current_version_id` and `current_sequence` its pointer.
    """

    heads: Heads | None
    target_heads: Heads | None
    verdict: str | None
    current_version_id: str | None
    current_sequence: int | None
    source: EndStanding
    target: EndStanding
    version: StoredRelationship | None


def stored_relationship(columns: Sequence[Any]) -> StoredRelationship | None:
    """Returns the version in RELATIONSHIP_COLUMNS and RELATIONSHIP_PARTS, None when there was none."""
    if columns[0] is None:
        return None
    parts = (
        stored_part(columns[start : start + _PART_WIDTH]) for start in range(_WIDTH, RELATIONSHIP_WIDTH, _PART_WIDTH)
    )
    return StoredRelationship(*columns[:_WIDTH], *parts)


# As in storage.objects: a lateral subquery with a limit can only be looked up by key.
_LOAD: Final = f"""
select {HEAD_COLUMNS}, {HEAD_COLUMNS.replace("h.", "w.")},
       g.verdict, g.version_id, g.sequence, s.object_type, s.deleted, e.object_type, e.deleted,
       {RELATIONSHIP_COLUMNS}, {RELATIONSHIP_PARTS}
  from (select %(tenant)s::text as tenant_id, %(scope)s::text as scope_id, %(relationship)s::text as relationship_id) k
 cross join (select remit.clock() as now) t
  left join lateral (
    select * from remit.ledger_heads h where h.tenant_id = k.tenant_id and h.scope_id = k.scope_id limit 1) h on true
  left join lateral (
    select * from remit.relationship_gate g
     where g.tenant_id = k.tenant_id and g.scope_id = k.scope_id and g.relationship_id = k.relationship_id limit 1) g
    on true
  left join lateral (
    select * from remit.ledger_heads w where w.tenant_id = k.tenant_id and w.scope_id = g.target_scope_id limit 1) w
    on true
  left join lateral (
    select * from remit.memory_objects o
     where o.tenant_id = k.tenant_id and o.scope_id = k.scope_id and o.object_id = g.source_object_id limit 1) s on true
  left join lateral (
    select * from remit.memory_objects o
     where o.tenant_id = k.tenant_id and o.scope_id = g.target_scope_id and o.object_id = g.target_object_id limit 1) e
    on true
  left join lateral (
    select x.*, {CONTENT_OWNER.format("x")} as object_id from remit.relationship_versions x
     where x.tenant_id = k.tenant_id and x.scope_id = k.scope_id and x.relationship_id = k.relationship_id
       and case when %(version)s::text = '' then x.sequence = g.sequence else x.version_id = %(version)s::text end
     limit 1) v on true{PART_JOINS}"""
_HEAD_WIDTH: Final = 6


async def load_relationship(
    database: Database, tenant_id: str, scope_id: str, relationship_id: str, version_id: str | None = None
) -> RelationshipFacts:
    """Returns a relationship of a workspace, at its current version or at one of its versions.

    Raises DatabaseUnavailable.
    """
    params = {
        "tenant": tenant_id,
        "scope": scope_id,
        "relationship": relationship_id,
        "version": version_id or "",
    }
    [row] = await database.tenant_rows(tenant_id, _LOAD, params)
    start = 2 * _HEAD_WIDTH
    verdict, current_id, current_sequence, source_type, source_gone, target_type, target_gone = row[start : start + 7]
    return RelationshipFacts(
        heads_of(row[:_HEAD_WIDTH]),
        heads_of(row[_HEAD_WIDTH:start]),
        verdict,
        current_id,
        current_sequence,
        EndStanding(source_type, source_gone),
        EndStanding(target_type, target_gone),
        stored_relationship(row[start + 7 :]),
    )


_KEPT_SINCE: Final = f"""
select {MICROSECONDS.format("min(v.recorded_at)")}, {MICROSECONDS.format("remit.clock()")}
  from remit.relationship_versions v
 where v.tenant_id = %s and v.scope_id = %s and v.relationship_id = %s and v.content_id is not distinct from %s::uuid"""


async def content_kept_since(
    database: Database, tenant_id: str, scope_id: str, relationship_id: str, content_id: UUID | None
) -> tuple[int, int]:
    """Returns when the content that versions of a relationship share was recorded first, and the time now.

    Both in microseconds, by the database's clock. Raises DatabaseUnavailable.
    """
    params = (tenant_id, scope_id, relationship_id, content_id)
    [(since_us, now_us)] = await database.tenant_rows(tenant_id, _KEPT_SINCE, params)
    return int(since_us), int(now_us)
