"""Derived state: its changes as parts of a command, and the reads of spaces, lineage and index states (P-7.6-*, P-7.8-*)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from storage.commands import ColdChange
from storage.database import Database
from storage.model.actor import parse_actor
from storage.model.embedding import DistanceMetric, EmbeddingSpace, vector_text
from storage.objects import HEAD_COLUMNS, MICROSECONDS, Heads, heads_of

_DESCRIPTOR: Final = (
    "embedding_space_id",
    "provider",
    "model",
    "model_revision",
    "dimensions",
    "distance_metric",
    "normalization",
    "preprocessing_profile",
    "embedding_kind",
    "canonicalization_rules",
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact in its store; the store '' is this service."""

    artifact_type: str
    artifact_id: str
    store_id: str = ""
    artifact_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The version an artifact was derived from. `is_new`: the same command makes it."""

    object_id: str
    object_type: str
    version_id: str
    sequence: int
    content_id: UUID | None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class LineageRow:
    """A registered artifact with its source. `kept`: its vector is in this service; `current`: of the object's content."""

    artifact: Artifact
    object_id: str
    version_id: str
    sequence: int
    embedding_space_id: str | None
    kept: bool
    current: bool
    registered_at_us: int
    ledger_sequence: int


def space_registered(space: EmbeddingSpace) -> ColdChange:
    """Returns the change that registers a space: UNCHANGED when it stands, EXISTS when its id is another's."""
    assert space.created_by is not None
    fields: dict[str, Any] = {name: getattr(space, name) for name in _DESCRIPTOR}
    return ColdChange("derived.space", fields | {"created_by": space.created_by.for_core()})


def registered(
    artifact: Artifact, source: Source, embedding_space_id: str | None, vector: Sequence[float] | None, event: int
) -> ColdChange:
    """Returns the change that registers an artifact; `event` is the place of its event in the command, from 1.

    STALE when the source is not live any more, EXISTS when the artifact is another object's, UNCHANGED when an artifact
    without a vector stands already.
    """
    fields = {
        "artifact_type": artifact.artifact_type,
        "artifact_id": artifact.artifact_id,
        "store_id": artifact.store_id,
        "artifact_version": artifact.artifact_version,
        "object_id": source.object_id,
        "object_type": source.object_type,
        "version_id": source.version_id,
        "sequence": source.sequence,
        "content_id": None if source.content_id is None else str(source.content_id),
        "is_new": source.is_new,
        "embedding_space_id": embedding_space_id,
        "event": event,
    }
    return ColdChange("derived.register", fields, {} if vector is None else {"vector": vector_text(vector)})


def removed(artifact: Artifact, object_ids: Sequence[str]) -> ColdChange:
    """Returns the change that removes an artifact with its lineage of these objects; UNCHANGED when there is none."""
    return ColdChange(
        "derived.remove",
        {
            "artifact_type": artifact.artifact_type,
            "artifact_id": artifact.artifact_id,
            "store_id": artifact.store_id,
            "artifact_version": artifact.artifact_version,
            "object_ids": list(object_ids),
        },
    )


def dropped(object_id: str) -> ColdChange:
    """Returns the change that removes an object's vectors and tokens, in the transaction that hides the object.

    The lineage of artifacts in other stores stays: it says what is left to remove there.
    """
    return ColdChange("derived.drop", {"object_id": object_id})


def outdated(object_id: str, content_id: UUID | None) -> ColdChange:
    """Returns the change that marks what was derived of other content than the object has from now on."""
    return ColdChange(
        "derived.outdate", {"object_id": object_id, "content_id": None if content_id is None else str(content_id)}
    )


def index_recorded(index_id: str, indexed_sequence: int) -> ColdChange:
    """Returns the change that notes up to which ledger sequence an index is current."""
    return ColdChange("derived.index", {"index_id": index_id, "indexed_sequence": indexed_sequence})


_SPACE_COLUMNS: Final = (
    f"{', '.join(f's.{name}' for name in _DESCRIPTOR)}, {MICROSECONDS.format('s.created_at')}, s.created_by"
)
_SPACE: Final = f"""
select {_SPACE_COLUMNS}, s.reduced_sequence,
       (select i.indexed_sequence from remit.index_states i where i.tenant_id = s.tenant_id and i.scope_id = s.scope_id
           and i.index_id = 'index:vector:' || s.embedding_space_id and exists (
            select from remit.vector_centroids c where c.tenant_id = s.tenant_id and c.scope_id = s.scope_id
               and c.embedding_space_id = s.embedding_space_id))
  from remit.embedding_spaces s
 where s.tenant_id = %s and s.scope_id = %s and s.embedding_space_id = any (%b::text[])
 order by s.embedding_space_id collate "C" """
_COUNT: Final = """
select count(*) from remit.vectors x
 where x.tenant_id = %s and x.scope_id collate "C" = %s and x.embedding_space_id = %s
   and exists (select from remit.retrieval_gate g where g.tenant_id = x.tenant_id and g.scope_id = x.scope_id
                  and g.object_id = x.object_id and g.verdict = 'open')"""


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space with the ledger sequence of the last vector that left it, and of its approximate index (None: it has none)."""

    space: EmbeddingSpace
    reduced_sequence: int
    listed_sequence: int | None


def _space(row: Sequence[Any]) -> EmbeddingSpace:
    fields = dict(zip(_DESCRIPTOR, row, strict=False))
    fields["distance_metric"] = DistanceMetric(fields["distance_metric"])
    return EmbeddingSpace(
        **fields, created_at_us=row[len(_DESCRIPTOR)], created_by=parse_actor(row[len(_DESCRIPTOR) + 1])
    )


async def load_spaces(
    database: Database, tenant_id: str, scope_id: str, embedding_space_ids: Sequence[str]
) -> dict[str, StoredSpace]:
    """Returns those of the spaces that the workspace has, by id. Raises DatabaseUnavailable."""
    if not embedding_space_ids:
        return {}
    rows = await database.tenant_rows(tenant_id, _SPACE, (tenant_id, scope_id, list(embedding_space_ids)))
    return {row[0]: StoredSpace(_space(row), row[-2], row[-1]) for row in rows}


async def count_vectors(database: Database, tenant_id: str, scope_id: str, embedding_space_id: str) -> int:
    """Returns how many vectors of live objects a space has."""
    [(count,)] = await database.tenant_rows(tenant_id, _COUNT, (tenant_id, scope_id, embedding_space_id))
    return int(count)


_LINEAGE_COLUMNS: Final = (
    "d.artifact_type, d.artifact_id, d.store_id, d.artifact_version, d.object_id, d.version_id, d.sequence, "
    "d.embedding_space_id, d.kept, d.outdated_sequence is null, "
    f"{MICROSECONDS.format('d.registered_at')}, d.ledger_sequence"
)
_ARTIFACT: Final = f"""
select {HEAD_COLUMNS}, {_LINEAGE_COLUMNS}
  from remit.ledger_heads h cross join (select remit.clock() as now) t
  left join remit.derivatives d on d.tenant_id = h.tenant_id and d.scope_id = h.scope_id and d.store_id = %s
   and d.artifact_type = %s and d.artifact_id = %s and d.artifact_version = %s
 where h.tenant_id = %s and h.scope_id = %s
 order by d.object_id, d.ledger_sequence"""
_OF_OBJECT: Final = f"""
select {HEAD_COLUMNS}, d.*
  from remit.ledger_heads h cross join (select remit.clock() as now) t
  left join lateral (
    select {_LINEAGE_COLUMNS} from remit.derivatives d
     where d.tenant_id = %(tenant)s and d.scope_id collate "C" = %(scope)s and d.object_id = %(object)s
       and (%(version)s::text = '' or d.version_id = %(version)s)
       and (d.ledger_sequence, d.store_id, d.artifact_type, d.artifact_id, d.artifact_version)
           > (%(sequence)s, %(store)s, %(type)s, %(id)s, %(artifact_version)s)
     order by d.ledger_sequence, d.store_id, d.artifact_type, d.artifact_id, d.artifact_version
     limit %(limit)s) d on true
 where h.tenant_id = %(tenant)s and h.scope_id = %(scope)s
 order by d.ledger_sequence, d.store_id, d.artifact_type, d.artifact_id, d.artifact_version"""
_HEAD_WIDTH: Final = 6


def _lineage(row: Sequence[Any]) -> LineageRow:
    return LineageRow(Artifact(*row[:4]), *row[4:])


async def load_artifact(
    database: Database, tenant_id: str, scope_id: str, artifact: Artifact
) -> tuple[Heads | None, list[LineageRow]]:
    """Returns the head and the lineage of one artifact, a row for each of its sources."""
    rows = await database.tenant_rows(
        tenant_id,
        _ARTIFACT,
        (
            artifact.store_id,
            artifact.artifact_type,
            artifact.artifact_id,
            artifact.artifact_version,
            tenant_id,
            scope_id,
        ),
    )
    found = [_lineage(row[_HEAD_WIDTH:]) for row in rows if row[_HEAD_WIDTH] is not None]
    return (heads_of(rows[0][:_HEAD_WIDTH]) if rows else None), found


LineagePlace = tuple[int, str, str, str, str]
LINEAGE_START: Final[LineagePlace] = (0, "", "", "", "")


def place_of(row: LineageRow) -> LineagePlace:
    """Returns the sort key of a row, after which the next page starts."""
    artifact = row.artifact
    return (
        row.ledger_sequence,
        artifact.store_id,
        artifact.artifact_type,
        artifact.artifact_id,
        artifact.artifact_version,
    )


async def list_lineage(
    database: Database, tenant_id: str, scope_id: str, object_id: str, version_id: str, after: LineagePlace, limit: int
) -> tuple[Heads | None, list[LineageRow]]:
    """Returns the head and what was derived of an object ('' for all its versions), oldest registration first."""
    sequence, store, kind, artifact_id, artifact_version = after
    rows = await database.tenant_rows(
        tenant_id,
        _OF_OBJECT,
        {
            "tenant": tenant_id,
            "scope": scope_id,
            "object": object_id,
            "version": version_id,
            "sequence": sequence,
            "store": store,
            "type": kind,
            "id": artifact_id,
            "artifact_version": artifact_version,
            "limit": limit,
        },
    )
    found = [_lineage(row[_HEAD_WIDTH:]) for row in rows if row[_HEAD_WIDTH] is not None]
    return (heads_of(rows[0][:_HEAD_WIDTH]) if rows else None), found
