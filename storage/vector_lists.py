"""The approximate index of a space: its vectors in lists around centroids, made by pgvector, kept in tables (P-11-04).

An index of pgvector itself would be made by DDL, which the service's role has none of, would be shared by tenants unless
each space had one, and would keep what was removed until it is vacuumed. Lists are rows of the workspace: found by its
key, removed with their vector, and as good for a space of a thousand vectors as for one of a million.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.commands import ColdChange
from storage.database import Database
from storage.derivatives import StoredSpace
from storage.model.embedding import DistanceMetric, vector_index_id
from storage.vector_math import VectorMath

VECTORS_MIN: Final = 2_000
"""Below it, every vector is compared: that is as quick."""
_LISTS_MAX: Final = 256
_SAMPLE_OF_LIST: Final = 40
_ROUNDS: Final = 2
_SAMPLE_MAX: Final = 6_000


@dataclass(frozen=True, slots=True)
class VectorLists:
    """Members (type, id and version of the artifact, list) and centroids (list, members, mean)."""

    members: Sequence[tuple[str, str, str, int]] = ()
    centroids: Sequence[tuple[int, int, Sequence[float]]] = ()


_SIZE: Final = """
select count(*) from remit.vectors x
 where x.tenant_id = %(tenant)s and x.scope_id collate "C" = %(scope)s and x.embedding_space_id = %(space)s
   and x.ledger_sequence <= %(built)s"""
_OF_SPACE: Final = """remit.vectors x
     where x.tenant_id = %(tenant)s and x.scope_id collate "C" = %(scope)s and x.embedding_space_id = %(space)s
       and x.ledger_sequence <= %(built)s"""
_ASSIGN: Final = """
with sample as materialized (
    select x.embedding::{schema}.vector as e, row_number() over (order by md5(x.artifact_id), x.artifact_id) as n
      from (select * from {of_space} order by md5(x.artifact_id), x.artifact_id limit {sample}) x),
c0 as materialized (select n, e from sample where n <= {lists}){rounds}
select x.artifact_type, x.artifact_id, x.artifact_version, c.n::integer
  from (select x.artifact_type, x.artifact_id, x.artifact_version, x.embedding::{schema}.vector as e
          from {of_space} offset 0) x
 cross join lateral (select c.n from {last} c order by {distance}, c.n limit 1) c"""
_ROUND: Final = """,
{name} as materialized (
    select a.n, {schema}.avg(a.e) as e
      from (select s.e, (select c.n from {before} c order by {distance}, c.n limit 1) as n from sample s) a
     group by a.n)"""
_CENTROIDS: Final = """
select m.n, count(*)::integer, {schema}.avg(x.embedding::{schema}.vector)::real[]
  from unnest(%(types)b::text[], %(ids)b::text[], %(versions)b::text[], %(lists)b::integer[]) m(type, id, version, n)
 cross join lateral (
    select x.embedding from remit.vectors x
     where x.tenant_id = %(tenant)s and x.scope_id = %(scope)s and x.artifact_type = m.type and x.artifact_id = m.id
       and x.artifact_version = m.version limit 1) x
 group by m.n"""


async def read_lists(
    database: Database, vector_math: VectorMath, tenant_id: str, scope_id: str, stored: StoredSpace, built_sequence: int
) -> VectorLists:
    """Returns the lists of the vectors that stood at a ledger sequence; none where comparing them all is as quick.

    Raises DatabaseUnavailable, StatementTimeout.
    """
    schema = vector_math.pgvector_schema
    params = {
        "tenant": tenant_id,
        "scope": scope_id,
        "space": stored.space.embedding_space_id,
        "built": built_sequence,
    }
    [(size,)] = await database.tenant_rows(tenant_id, _SIZE, params)
    if schema is None or size < VECTORS_MIN:
        return VectorLists()
    lists = min(_LISTS_MAX, round(math.sqrt(size) / 2))
    members = await database.tenant_rows(
        tenant_id, _assignment(vector_math, stored.space.distance_metric, lists), params
    )
    # List by list: so they will lie, and be read in one go.
    members.sort(key=lambda member: (member[3], member[1]))
    columns = list(zip(*members, strict=True))
    named = dict(zip(("types", "ids", "versions", "lists"), map(list, columns), strict=True))
    centroids = await database.tenant_rows(tenant_id, _CENTROIDS.format(schema=schema), params | named)
    return VectorLists(members, centroids)


def _assignment(vector_math: VectorMath, metric: DistanceMetric, lists: int) -> str:
    schema = vector_math.pgvector_schema
    # Lists gather what is near; an inner product is no nearness, a direction is.
    function = "l2_distance" if metric is DistanceMetric.L2 else "cosine_distance"
    rounds, before = "", "c0"
    for number in range(1, _ROUNDS + 1):
        name = f"c{number}"
        rounds += _ROUND.format(name=name, before=before, schema=schema, distance=f"{schema}.{function}(c.e, s.e)")
        before = name
    return _ASSIGN.format(
        schema=schema,
        of_space=_OF_SPACE,
        sample=min(lists * _SAMPLE_OF_LIST, _SAMPLE_MAX),
        lists=lists,
        rounds=rounds,
        last=before,
        distance=f"{schema}.{function}(c.e, x.e)",
    )


def listed(stored: StoredSpace, lists: VectorLists, built_sequence: int) -> ColdChange:
    """Returns the change that replaces a space's lists; STALE when a vector has left the space since it was read."""
    space_id = stored.space.embedding_space_id
    fields = {
        "embedding_space_id": space_id,
        "index_id": vector_index_id(space_id),
        "built_sequence": built_sequence,
        "reduced_sequence": stored.reduced_sequence,
    }
    centroids = [
        (number, count, "{" + ",".join(map(repr, centroid)) + "}") for number, count, centroid in lists.centroids
    ]
    blobs = {"members": json.dumps(lists.members).encode(), "centroids": json.dumps(centroids).encode()}
    return ColdChange("derived.lists", fields, blobs)
