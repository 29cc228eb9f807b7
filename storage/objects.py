"""Memory objects: every read of their versions and encrypted parts (memory.md, "One retrieval gate")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from storage.database import Database

MICROSECONDS: Final = "(extract(epoch from {0}) * 1000000)::bigint"

_CORE_COLUMNS: Final = (
    "object_id, sequence, version_id, ledger_sequence, object_type, schema_id, lifecycle_state, availability_state, "
    "retention_state, validation_state, actor_id, provenance_id, content_id, provenance_content_id, "
    "integrity_content_id, core, mac, mac_key_id"
)
_TIME_COLUMNS: Final = ("observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at")
_OWN_COLUMNS: Final = ", ".join(
    [f"v.{name.strip()}" for name in _CORE_COLUMNS.split(",")] + [MICROSECONDS.format(f"v.{t}") for t in _TIME_COLUMNS]
)
# Whether a version is the newest tells whether another one rules what may be shown of it.
VERSION_COLUMNS: Final = (
    _OWN_COLUMNS + ", (select max(n.sequence) from remit.memory_versions n where n.tenant_id = v.tenant_id"
    " and n.scope_id = v.scope_id and n.object_id = v.object_id)"
)
PART_COLUMNS: Final = "{0}.content_id, {0}.key_page, {0}.key_slot, {0}.ciphertext, {0}.commitment"
OWN_WIDTH: Final = 24
"""How many of a version's columns are its row's own; they come first."""
_VERSION_WIDTH: Final = OWN_WIDTH + 1
_PART_WIDTH: Final = 5


class Heads(NamedTuple):
    """What one statement saw of a workspace's head, with the database's clock (microseconds)."""

    sequence: int
    policy_revision: int
    restrict_revision: int
    removal_revision: int
    epoch: int
    now_us: int


class StoredPart(NamedTuple):
    """An encrypted part as it lies in memory_contents."""

    content_id: UUID
    key_page: UUID
    key_slot: int
    ciphertext: bytes
    commitment: bytes


class StoredVersion(NamedTuple):
    """A row of memory_versions, the number of the object's newest version, and the encrypted parts (None where the row
    is gone)."""

    object_id: str
    sequence: int
    version_id: str
    ledger_sequence: int
    object_type: str
    schema_id: str | None
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
    newest_sequence: int
    content: StoredPart | None = None
    provenance: StoredPart | None = None
    integrity: StoredPart | None = None


class Standing(NamedTuple):
    """Where an object stands now: its current version, the gate's verdict on giving content, and whether it is related."""

    object_type: str
    version_id: str
    sequence: int
    verdict: str
    lifecycle_state: str
    availability_state: str
    retention_state: str
    validation_state: str
    related: bool


class ObjectFacts(NamedTuple):
    """Answer to one ObjectKey. `heads` None: no such workspace; `standing` None: no such object; `version` None: no such
    version of it."""

    heads: Heads | None
    standing: Standing | None
    version: StoredVersion | None


class ObjectKey(NamedTuple):
    """An object, and one of its versions (None: the current one)."""

    scope_id: str
    object_id: str
    version_id: str | None = None


HEAD_COLUMNS: Final = (
    f"h.sequence, h.policy_revision, h.restrict_revision, h.removal_revision, h.epoch, {MICROSECONDS.format('t.now')}"
)
# Each join is a subquery with a limit of its own: so it can only be looked up by key, whatever the planner believes of a
# table that has no statistics yet.
_PART: Final = """
  left join lateral (
    select * from remit.memory_contents x where x.tenant_id = v.tenant_id and x.scope_id = v.scope_id
       and x.object_id = v.object_id and x.content_id = v.{0} limit 1) {1} on true"""
PART_JOINS: Final = (
    _PART.format("content_id", "c")
    + _PART.format("provenance_content_id", "p")
    + _PART.format("integrity_content_id", "i")
)
_LOAD: Final = f"""
select {HEAD_COLUMNS},
       g.object_type, g.version_id, g.sequence, g.verdict, g.lifecycle_state, g.availability_state, g.retention_state,
       g.validation_state, g.related,
       {_OWN_COLUMNS}, g.sequence, {PART_COLUMNS.format("c")}, {PART_COLUMNS.format("p")}, {PART_COLUMNS.format("i")}
  from rows from (unnest(%b::text[]), unnest(%b::text[]), unnest(%b::text[])) with ordinality
       k(scope_id, object_id, version_id, ix)
 cross join (select remit.clock() as now) t
  left join lateral (
    select * from remit.ledger_heads h where h.tenant_id = %s and h.scope_id = k.scope_id limit 1) h on true
  left join lateral (
    select * from remit.retrieval_gate g
     where g.tenant_id = %s and g.scope_id = k.scope_id and g.object_id = k.object_id limit 1) g on true
  left join lateral (
    select * from remit.memory_versions v
     where v.tenant_id = %s and v.scope_id = k.scope_id and v.object_id = k.object_id
       and case when k.version_id = '' then v.sequence = g.sequence else v.version_id = k.version_id end
     limit 1) v on true{PART_JOINS}
 order by k.ix"""
_HEAD_WIDTH: Final = 6
_STANDING_WIDTH: Final = 9


def heads_of(columns: Sequence[Any]) -> Heads | None:
    """Returns the head in the six HEAD_COLUMNS, None when there was none."""
    return None if columns[0] is None else Heads(*columns)


def stored_part(columns: Sequence[Any]) -> StoredPart | None:
    """Returns the part in the five PART_COLUMNS, None when its row is gone."""
    return None if columns[0] is None else StoredPart(*columns)


def stored_version(columns: Sequence[Any]) -> StoredVersion | None:
    """Returns the version in VERSION_COLUMNS followed by three times PART_COLUMNS, None when there was none."""
    if columns[0] is None:
        return None
    content, provenance, integrity = (
        stored_part(columns[start : start + _PART_WIDTH])
        for start in range(_VERSION_WIDTH, _VERSION_WIDTH + 3 * _PART_WIDTH, _PART_WIDTH)
    )
    return StoredVersion._make((*columns[:_VERSION_WIDTH], content, provenance, integrity))


async def load_objects(database: Database, tenant_id: str, keys: Sequence[ObjectKey]) -> list[ObjectFacts]:
    """Returns the facts of each key, in order, as one statement saw them. Raises DatabaseUnavailable."""
    rows = await database.tenant_rows(
        tenant_id,
        _LOAD,
        (
            [key.scope_id for key in keys],
            [key.object_id for key in keys],
            [key.version_id or "" for key in keys],
            tenant_id,
            tenant_id,
            tenant_id,
        ),
    )
    facts = []
    for row in rows:
        standing = row[_HEAD_WIDTH : _HEAD_WIDTH + _STANDING_WIDTH]
        facts.append(
            ObjectFacts(
                heads_of(row[:_HEAD_WIDTH]),
                None if standing[0] is None else Standing(*standing),
                stored_version(row[_HEAD_WIDTH + _STANDING_WIDTH :]),
            )
        )
    return facts


_EXPIRED_PARTS: Final = """
select c.key_page, c.key_slot from remit.memory_contents c
 where c.tenant_id = %s and c.scope_id = %s and c.object_id = %s and c.content_id <> all (%b::uuid[])"""


async def keys_of_removed_parts(
    database: Database, tenant_id: str, scope_id: str, object_id: str, kept: Sequence[UUID]
) -> list[tuple[UUID, int]]:
    """Returns page and slot of the key of every part of an object but the kept ones."""
    rows = await database.tenant_rows(tenant_id, _EXPIRED_PARTS, (tenant_id, scope_id, object_id, list(kept)))
    return [(page, slot) for page, slot in rows]


_OPEN_ERASURES: Final = """
select j.scope_id, j.job_id, j.object_id, j.kept_content_ids from remit.erasure_jobs j
 where j.tenant_id = %s and j.state = 'open' order by j.opened_at limit %s"""


@dataclass(frozen=True, slots=True)
class ErasureJob:
    """Removed content whose keys are still to be destroyed."""

    scope_id: str
    job_id: str
    object_id: str
    kept_content_ids: tuple[UUID, ...]


async def open_erasures(database: Database, tenant_id: str, limit: int) -> list[ErasureJob]:
    """Returns erasure jobs that are still open, oldest first, at most `limit`."""
    rows = await database.tenant_rows(tenant_id, _OPEN_ERASURES, (tenant_id, limit))
    return [ErasureJob(scope, job, object_id, tuple(kept)) for scope, job, object_id, kept in rows]


_SWEEP: Final = "select * from remit.tenants_with_open_erasures()"


async def tenants_with_open_erasures(database: Database) -> list[str]:
    """Returns the tenants in which erasure jobs were left open."""
    async with database.connection() as connection:
        return [tenant_id for (tenant_id,) in await (await connection.execute(_SWEEP)).fetchall()]
