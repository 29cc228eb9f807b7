"""The lexical index: what it has still to take in, the change that does so, and the fused ranking (memory.md; P-11-05).

A score depends on the words of the row alone: how often they stand there, against how many words there are. No
statistic over other rows enters it, so none that is hidden can show through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from storage.commands import ColdChange
from storage.database import Database
from storage.model.embedding import LEXICAL_INDEX_ID
from storage.objects import HEAD_COLUMNS, VERSION_COLUMNS, Heads, StoredVersion, heads_of, stored_version
from storage.queries import PART_JOINS, PARTS, ROW_BYTES
from storage.selection import GIVEN, gate
from storage.vector_math import VectorMath
from storage.vectors import HEAD_WIDTH, Parts, RankedPage, VectorQuery, ranked_page

FUSION_CONSTANT: Final = 60
"""k of reciprocal rank fusion: a row's score is the sum of 1 / (k + its place) over both rankings."""
_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.75
_WORDS_USUAL: Final = 100
"""The length an object's is held against: fixed, where BM25 takes the mean of all objects, hidden ones too."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Versions that the index has not taken in, oldest first, and those of them that are to be read.

    The index stands at `indexed_sequence`; with these it stands at `reached_sequence`, which is the head's when
    nothing is left after them. `heads` None: no such workspace.
    """

    heads: Heads | None
    indexed_sequence: int
    reached_sequence: int
    versions: tuple[StoredVersion, ...]
    looked_at: int


_PENDING: Final = f"""
select * from (
select {HEAD_COLUMNS}, n.indexed_sequence, k.ledger_sequence as pending_sequence, {VERSION_COLUMNS}, {PARTS},
       coalesce(sum({ROW_BYTES}) over (order by k.ledger_sequence groups between unbounded preceding and 1 preceding), 0)
           as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
 cross join lateral (
    select coalesce(max(s.indexed_sequence), 0) as indexed_sequence from remit.index_states s
     where s.tenant_id = %(tenant)s and s.scope_id = %(scope)s and s.index_id = '{LEXICAL_INDEX_ID}') n
  left join lateral (
    select v.object_id, v.sequence, v.ledger_sequence, g.sequence = v.sequence and g.verdict = 'open' as given
      from remit.memory_versions v
     cross join lateral (
        select g.sequence, g.verdict from remit.retrieval_gate g
         where g.tenant_id = %(tenant)s and g.scope_id = %(scope)s and g.object_id = v.object_id limit 1) g
     where v.tenant_id = %(tenant)s and v.scope_id collate "C" = %(scope)s and v.ledger_sequence > n.indexed_sequence
     order by v.ledger_sequence fetch first (%(limit)s::bigint) rows with ties) k on true
  left join lateral (
    select x.*, k.given from remit.memory_versions x
     where k.given and x.tenant_id = %(tenant)s and x.scope_id = %(scope)s and x.object_id = k.object_id
       and x.sequence = k.sequence limit 1) v on true{PART_JOINS}
 where h.tenant_id = %(tenant)s and h.scope_id = %(scope)s) pending
 where bytes_before < %(bytes_max)s
 order by pending_sequence"""


async def load_pending(database: Database, tenant_id: str, scope_id: str, limit: int, bytes_max: int) -> Pending:
    """Returns at most `limit` versions that the index has not taken in, at about `bytes_max` bytes.

    Superseded and hidden ones are passed over: of an object, only what is given now is indexed. Versions of one ledger
    sequence come together. Raises DatabaseUnavailable, StatementTimeout.
    """
    params = {"tenant": tenant_id, "scope": scope_id, "limit": limit, "bytes_max": bytes_max}
    rows = await database.tenant_rows(tenant_id, _PENDING, params)
    heads = heads_of(rows[0][:HEAD_WIDTH]) if rows else None
    if heads is None:
        return Pending(None, 0, 0, (), 0)
    found = [row for row in rows if row[HEAD_WIDTH + 1] is not None]
    versions = tuple(version for row in found if (version := stored_version(row[HEAD_WIDTH + 2 :])) is not None)
    # Fewer than asked for may have been cut by their size: only when none is left is the index at the head.
    reached = found[-1][HEAD_WIDTH + 1] if found else heads.sequence
    return Pending(heads, rows[0][HEAD_WIDTH], reached, versions, len(found))


@dataclass(frozen=True, slots=True)
class IndexedObject:
    """An object's current version with its words hashed: token -> how often."""

    object_id: str
    sequence: int
    content_id: UUID
    occurrences: Mapping[bytes, int]


def indexed(pending: Pending, objects: Sequence[IndexedObject]) -> ColdChange:
    """Returns the change that takes objects in; UNCHANGED when another process was quicker."""
    tokens: list[bytes] = []
    items: list[dict[str, Any]] = []
    for item in objects:
        counted = Counter(item.occurrences)
        items.append(
            {
                "object_id": item.object_id,
                "sequence": item.sequence,
                "content_id": str(item.content_id),
                "words": counted.total(),
                "first": len(tokens),
                "occurrences": list(counted.values()),
            }
        )
        tokens.extend(counted)
    fields = {
        "expected_sequence": pending.indexed_sequence,
        "indexed_sequence": pending.reached_sequence,
        "items": items,
    }
    return ColdChange("derived.tokens", fields, {"tokens": b"".join(tokens)})


def emptied() -> ColdChange:
    """Returns the change that empties the index, to be filled again."""
    return ColdChange("derived.tokens_reset", {})


_HYBRID: Final = """
    select f.*, null::bigint as candidates, count(*) over () as row_count,
           row_number() over (order by f.score desc, f.object_id) as position
      from (
        select * from (
            select coalesce(a.object_id, b.object_id) as object_id, coalesce(a.sequence, b.sequence) as sequence,
                   coalesce(a.given, b.given) as given, a.distance, a.artifact_id,
                   (coalesce(1.0::float8 / ({k} + a.rank), 0) + coalesce(1.0::float8 / ({k} + b.rank), 0)) as score,
                   a.rank as vector_rank, b.score as lexical_score, b.rank as lexical_rank
              from (
                select x.object_id, v.sequence, x.distance, x.artifact_id, {given} as given,
                       row_number() over (order by x.distance, x.object_id) as rank
                  from ({candidate_rows} offset 0) x{vector_seen}
                 where v.content_id is not distinct from x.content_id{conditions}{gate}{better}) a
              full join (
                select w.object_id, v.sequence, w.score, {given} as given,
                       row_number() over (order by w.score desc, w.object_id) as rank
                  from (
                    select t.object_id, l.content_id,
                           sum(t.occurrences * ({saturation} + 1)::float8 / (t.occurrences + {saturation}
                               * (1 - {weight} + {weight} * l.words / {usual}::float8)) order by t.token) as score
                      from remit.lexical_tokens t
                      join remit.lexical_objects l on l.tenant_id = {tenant} and l.scope_id = {scope}
                       and l.object_id = t.object_id
                     where t.tenant_id = {tenant} and t.scope_id = {scope} and t.token = any ({tokens})
                     group by t.object_id, l.content_id) w{word_seen}
                 where v.content_id = w.content_id{conditions}{gate}) b on b.object_id = a.object_id) f{after}
         order by f.score desc, f.object_id limit {limit}) f"""


async def search_hybrid(
    database: Database, math: VectorMath, tenant_id: str, query: VectorQuery, tokens: Sequence[bytes]
) -> RankedPage:
    """Returns a page of the objects by vector and by words, both places fused; ties by object id.

    Both places are among the rows that may be found. Cut as `storage.vectors.search_vectors` cuts. Raises
    DatabaseUnavailable, StatementTimeout.
    """
    parts = Parts.of(math, tenant_id, query)
    where = parts.where
    rows, better = parts.candidates()
    after = ""
    if query.last is not None:
        negative_score, object_id = where.bind(query.last[0], "float8"), where.bind(query.last[1], "text")
        after = f" where (-f.score, f.object_id) > ({negative_score}, {object_id})"
    ranked = parts.fill(
        _HYBRID,
        k=str(FUSION_CONSTANT),
        given=GIVEN,
        candidate_rows=rows,
        vector_seen=parts.seen("x.object_id"),
        word_seen=parts.seen("w.object_id"),
        conditions=where.sql,
        gate=gate(where, query.selection),
        better=better,
        saturation=str(_SATURATION),
        weight=str(_LENGTH_WEIGHT),
        usual=str(_WORDS_USUAL),
        tokens=where.bind(list(tokens), "bytea[]"),
        after=after,
        limit=str(query.limit + 1),
    )
    found = await database.tenant_rows(tenant_id, parts.page(ranked), where.params)
    return ranked_page(found, query)
