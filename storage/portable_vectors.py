"""Exports of derived state: embedding spaces, and the vectors kept here with what they were derived of (PAMSPEC 7.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from storage.database import Database
from storage.model.actor import parse_actor
from storage.model.embedding import DistanceMetric, EmbeddingSpace
from storage.objects import MICROSECONDS

_PAGE_ROWS: Final = 200
_SPACES: Final = f"""
select s.embedding_space_id, s.provider, s.model, s.model_revision, s.dimensions, s.distance_metric, s.normalization,
       s.preprocessing_profile, s.embedding_kind, s.canonicalization_rules, {MICROSECONDS.format("s.created_at")},
       s.created_by
  from remit.embedding_spaces s
 where s.tenant_id = %s and s.scope_id = %s and s.ledger_sequence <= %s and s.embedding_space_id collate "C" > %s
 order by s.embedding_space_id collate "C" limit {_PAGE_ROWS}"""
_SPACE_FIELDS: Final = 12


async def page_of_spaces(
    database: Database, tenant_id: str, scope_id: str, bound: int, after: str
) -> list[EmbeddingSpace]:
    """Returns the embedding spaces after an id that were registered by a ledger sequence; empty at the end."""
    rows = await database.tenant_rows(tenant_id, _SPACES, (tenant_id, scope_id, bound, after))
    return [_space(row) for row in rows]


def _space(row: tuple[Any, ...]) -> EmbeddingSpace:
    assert len(row) == _SPACE_FIELDS
    return EmbeddingSpace(
        embedding_space_id=row[0],
        provider=row[1],
        model=row[2],
        model_revision=row[3],
        dimensions=row[4],
        distance_metric=DistanceMetric(row[5]),
        normalization=row[6],
        preprocessing_profile=row[7],
        embedding_kind=row[8],
        canonicalization_rules=row[9],
        created_at_us=row[10],
        created_by=parse_actor(row[11]),
    )


class ExportedVector(NamedTuple):
    """A vector that is kept here, and the version it was derived of."""

    artifact_type: str
    artifact_id: str
    artifact_version: str
    embedding_space_id: str
    object_id: str
    version_id: str
    vector: list[float]

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is sorted by."""
        return (self.artifact_type, self.artifact_id, self.artifact_version)


# Only of objects that may be shown now, whatever the vector could reveal of others.
_VECTORS: Final = f"""
select x.artifact_type, x.artifact_id, x.artifact_version, x.embedding_space_id, x.object_id, d.version_id, x.embedding
  from remit.vectors x
 cross join lateral (
    select d.version_id from remit.derivatives d
     where d.tenant_id = x.tenant_id and d.scope_id = x.scope_id and d.store_id = '' and d.kept
       and d.artifact_type = x.artifact_type and d.artifact_id = x.artifact_id
       and d.artifact_version = x.artifact_version and d.object_id = x.object_id and d.ledger_sequence <= %(bound)s
     order by d.sequence desc limit 1) d
 cross join lateral (
    select g.verdict from remit.retrieval_gate g
     where g.tenant_id = x.tenant_id and g.scope_id = x.scope_id and g.object_id = x.object_id limit 1) g
 where x.tenant_id = %(tenant)s and x.scope_id = %(scope)s and x.ledger_sequence <= %(bound)s and g.verdict = 'open'
   and (x.artifact_type collate "C", x.artifact_id, x.artifact_version collate "C")
       > (%(type)s::text, %(id)s::text, %(version)s::text)
 order by x.artifact_type collate "C", x.artifact_id, x.artifact_version collate "C" limit {_PAGE_ROWS}"""


async def page_of_vectors(
    database: Database, tenant_id: str, scope_id: str, bound: int, after: tuple[str, str, str]
) -> list[ExportedVector]:
    """Returns the vectors after an artifact that were registered by a ledger sequence; empty at the end."""
    params = {
        **{"tenant": tenant_id, "scope": scope_id, "bound": bound},
        **{"type": after[0], "id": after[1], "version": after[2]},
    }
    return [ExportedVector(*row) for row in await database.tenant_rows(tenant_id, _VECTORS, params)]


ArtifactName = tuple[str, str, str]
"""Type, id and version of an artifact that this service keeps."""

_ARTIFACTS_HERE: Final = """
select k.type, k.id, k.version from unnest(%b::text[], %b::text[], %b::text[]) k(type, id, version)
 cross join lateral (
    select from remit.derivatives d
     where d.tenant_id = %s and d.scope_id = %s and d.store_id = '' and d.artifact_type = k.type
       and d.artifact_id = k.id and d.artifact_version = k.version limit 1) d"""


async def artifacts_here(
    database: Database, tenant_id: str, scope_id: str, names: Sequence[ArtifactName]
) -> frozenset[ArtifactName]:
    """Returns those of the names that artifacts of the workspace have."""
    if not names:
        return frozenset()
    columns = [list(column) for column in zip(*names, strict=True)]
    rows = await database.tenant_rows(tenant_id, _ARTIFACTS_HERE, (*columns, tenant_id, scope_id))
    return frozenset((row[0], row[1], row[2]) for row in rows)
