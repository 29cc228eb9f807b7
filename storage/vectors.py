"""Searching vectors: what may be found is decided first, in the same statement, then ranked (P-11-05, P-7.5-06).

A row is found when the filters, the gate and the caller's authority let its version through and the vector is of that
version's content. The statement goes through the vectors in order of distance and judges each until the page is full:
what it leaves out never counts, neither in the page nor in a rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database
from storage.model.embedding import DistanceMetric
from storage.objects import HEAD_COLUMNS, VERSION_COLUMNS, Heads, StoredVersion, heads_of, stored_version
from storage.queries import PART_JOINS, PARTS, ROW_BYTES
from storage.row_filter import Conditions
from storage.selection import GIVEN, Selection, add_selection, gate
from storage.vector_math import VectorMath


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """What to find near which vector. `last` is distance and object id of the row before the page.

    `listed_sequence` is the ledger sequence that the space's approximate index was built at, None to compare every
    permitted vector.
    """

    scope_id: str
    selection: Selection
    embedding_space_id: str
    metric: DistanceMetric
    vector: Sequence[float]
    limit: int
    bytes_max: int
    pinned_sequence: int | None = None
    last: tuple[float, str] | None = None
    listed_sequence: int | None = None


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row with whether its parts may be given, and how it came to its place."""

    version: StoredVersion
    given: bool
    score: float
    distance: float | None
    artifact_id: str | None
    vector_rank: int | None = None
    lexical_score: float | None = None
    lexical_rank: int | None = None


@dataclass(frozen=True, slots=True)
class RankedPage:
    """Rows in order; `more`: rows are left. `behind_sequence`: the first version, among those that may be found, whose
    content has no vector while an older content of the object has. `candidates`: how many vectors were judged, where
    their number was bounded."""

    heads: Heads | None
    rows: tuple[FoundRow, ...]
    more: bool
    behind_sequence: int | None
    candidates: int | None = None


HEAD_WIDTH: Final = 6
_DEPTH_OF_ROW: Final = 4
_DEPTH_MIN: Final = 100
_CURRENT: Final = """
            select v.* from remit.memory_versions v
             where v.tenant_id = {tenant} and v.scope_id = {scope} and v.object_id = {object_id}
               and v.sequence = g.sequence limit 1"""
_AT_PIN: Final = """
            select v.* from remit.memory_versions v
             where v.tenant_id = {tenant} and v.scope_id = {scope} and v.object_id = {object_id}
               and v.ledger_sequence <= {pin} order by v.sequence desc limit 1"""
# Beside a candidate `x`: the gate on its object, and the version that is seen of it.
SEEN: Final = """
         cross join lateral (
            select g.sequence, g.verdict from remit.retrieval_gate g
             where g.tenant_id = {tenant} and g.scope_id = {scope} and g.object_id = {object_id} limit 1) g
         cross join lateral ({version}) v"""
BEHIND: Final = """
  left join lateral (
    select min(d.outdated_sequence) as sequence
      from remit.derivatives d{seen}
     where d.tenant_id = {tenant} and d.scope_id collate "C" = {scope} and d.embedding_space_id = {space}
       and d.kept and d.outdated_sequence is not null{outdated_by_pin}{conditions}{gate}
       and not exists (
        select from remit.vectors y
         where y.tenant_id = {tenant} and y.scope_id collate "C" = {scope} and y.embedding_space_id = {space}
           and y.object_id = d.object_id and y.content_id is not distinct from v.content_id)) b on true"""
_CANDIDATES: Final = """
            select x.object_id, x.content_id, x.artifact_id, x.artifact_type, x.artifact_version, {distance} as distance
              from {source} x
             where true{candidates}"""
_ALL: Final = """(
                select x.* from remit.vectors x
                 where x.tenant_id = {tenant} and x.scope_id collate "C" = {scope}
                   and x.embedding_space_id = {space})"""
# In the lists nearest to the vector, or registered since the lists were made.
_COLUMNS: Final = (
    "{0}.object_id, {0}.object_type, {0}.content_id, {0}.artifact_id, {0}.artifact_type, {0}.artifact_version, "
    "{0}.ledger_sequence, {0}.embedding"
)
_LISTED: Final = f"""(
                select {_COLUMNS.format("l")} from remit.vector_lists l
                 where l.tenant_id = {{tenant}} and l.scope_id collate "C" = {{scope}}
                   and l.embedding_space_id = {{space}} and l.list_number = any (array({{nearest_lists}}))
                union all
                select {_COLUMNS.format("x")} from remit.vectors x
                 where x.tenant_id = {{tenant}} and x.scope_id collate "C" = {{scope}}
                   and x.embedding_space_id = {{space}} and x.ledger_sequence > {{listed}})"""
_NEAREST_LISTS: Final = """
                select c.list_number from remit.vector_centroids c
                 where c.tenant_id = {tenant} and c.scope_id = {scope} and c.embedding_space_id = {space}
                 order by {distance}, c.list_number
                 limit (select greatest({lists_min}, ceil(count(*) * {lists_share})) from remit.vector_centroids c
                         where c.tenant_id = {tenant} and c.scope_id = {scope} and c.embedding_space_id = {space})"""
_OF_LISTED: Final = """
               and (y.ledger_sequence > {listed} or exists (
                select from remit.vector_lists l
                 where l.tenant_id = {tenant} and l.scope_id = {scope} and l.artifact_type = y.artifact_type
                   and l.artifact_id = y.artifact_id and l.artifact_version = y.artifact_version
                   and l.list_number = any (array({nearest_lists}))))"""
_BETTER: Final = """
           and not exists (
            select from remit.vectors y
             where y.tenant_id = {tenant} and y.scope_id collate "C" = {scope} and y.embedding_space_id = {space}
               and y.object_id = x.object_id and y.content_id is not distinct from x.content_id{of_candidates}
               and ({distance}, y.artifact_id, y.artifact_type, y.artifact_version)
                   < (x.distance, x.artifact_id, x.artifact_type, x.artifact_version))"""
LISTS_MIN: Final = 8
LISTS_SHARE: Final = 0.125
"""The part of the lists that an approximate search looks into, and the least number of them."""

_SEMANTIC: Final = """
    select v.object_id, v.sequence, v.given, v.distance, v.artifact_id, -v.distance as score, v.candidates,
           null::bigint as vector_rank, null::double precision as lexical_score, null::bigint as lexical_rank,
           count(*) over () as row_count, row_number() over (order by v.distance, v.object_id) as position
      from (
        select x.object_id, v.sequence, x.distance, x.artifact_id, x.candidates, {given} as given
          from (
            select x.*, {candidates} as candidates
              from (select * from ({candidate_rows} offset 0) x{after} order by x.distance, x.object_id{depth}) x) x{seen}
         where v.content_id is not distinct from x.content_id{conditions}{gate}{better}
         order by x.distance, x.object_id limit {limit}) v"""
PAGE: Final = """
select * from (
select {head}, b.sequence, k.row_count, k.given, k.score, k.distance, k.artifact_id, k.vector_rank, k.lexical_score,
       k.lexical_rank, k.candidates, {version}, {parts}, k.position,
       coalesce(sum({row_bytes}) over (order by k.position rows between unbounded preceding and 1 preceding), 0)
           as bytes_before
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t{behind}
  left join lateral ({ranked}) k on true
  left join lateral (
    select x.*, k.given from remit.memory_versions x
     where x.tenant_id = {tenant} and x.scope_id = {scope} and x.object_id = k.object_id and x.sequence = k.sequence
     limit 1) v on true{part_joins}
 where h.tenant_id = {tenant} and h.scope_id = {scope}) page
 where bytes_before < {bytes_max}
 order by position"""


@dataclass(slots=True)
class Parts:
    """The parts of a statement that every ranking shares, made for one query."""

    where: Conditions
    tenant: str
    scope: str
    space: str
    math: VectorMath
    query: VectorQuery
    vector: str

    @classmethod
    def of(cls, math: VectorMath, tenant_id: str, query: VectorQuery) -> Parts:
        """Binds the selection of a query."""
        where = Conditions()
        tenant, scope = where.bind(tenant_id, "text"), where.bind(query.scope_id, "text")
        space = where.bind(query.embedding_space_id, "text")
        vector = math.operand(where.bind(list(query.vector), "real[]"))
        add_selection(where, query.selection)
        return cls(where, tenant, scope, space, math, query, vector)

    def fill(self, template: str, **more: str) -> str:
        """Returns a template with tenant, workspace and space filled in."""
        return template.format(tenant=self.tenant, scope=self.scope, space=self.space, **more)

    @property
    def pin(self) -> str | None:
        """The ledger sequence that rows are seen at."""
        pinned = self.query.pinned_sequence
        return None if pinned is None else self.where.bind(pinned, "bigint")

    def seen(self, object_id: str) -> str:
        """Returns the joins that give `g` and `v` of an object."""
        pin = self.pin
        version = (
            self.fill(_CURRENT, object_id=object_id)
            if pin is None
            else self.fill(_AT_PIN, object_id=object_id, pin=pin)
        )
        return self.fill(SEEN, object_id=object_id, version=version)

    def distance(self, column: str) -> str:
        """Returns the distance of a column from the query's vector."""
        return self.math.distance(self.query.metric, column, self.vector)

    def candidates(self) -> tuple[str, str]:
        """Returns the statement of the vectors to compare, and the condition that keeps one of each object's."""
        query, narrow = self.query, Conditions(self.where.params)
        # What the caller may not find is not even compared; the version, joined later, decides it again.
        narrow.admitted(query.selection.authority, "x.object_type", "x.object_id")
        narrow.one_of("x.object_type", query.selection.object_types)
        if query.selection.object_ids is not None:
            narrow.one_of("x.object_id", query.selection.object_ids or ("",))
        pin, of_candidates = self.pin, ""
        if pin is not None:
            narrow.add(f"x.ledger_sequence <= {pin}")
            of_candidates = f"\n               and y.ledger_sequence <= {pin}"
        source = self.fill(_ALL)
        if query.listed_sequence is not None:
            nearest = self.fill(
                _NEAREST_LISTS,
                distance=self.distance("c.centroid"),
                lists_min=str(LISTS_MIN),
                lists_share=str(LISTS_SHARE),
            )
            listed = self.where.bind(query.listed_sequence, "bigint")
            source = self.fill(_LISTED, nearest_lists=nearest, listed=listed)
            of_candidates += self.fill(_OF_LISTED, nearest_lists=nearest, listed=listed)
        rows = self.fill(_CANDIDATES, distance=self.distance("x.embedding"), source=source, candidates=narrow.sql)
        better = self.fill(_BETTER, distance=self.distance("y.embedding"), of_candidates=of_candidates)
        return rows, better

    def behind(self) -> str:
        """Returns the join that gives `b`, where the vectors of the space are behind."""
        pin = self.pin
        return self.fill(
            BEHIND,
            seen=self.seen("d.object_id"),
            outdated_by_pin="" if pin is None else f" and d.outdated_sequence <= {pin}",
            conditions=self.where.sql,
            gate=gate(self.where, self.query.selection),
        )

    def page(self, ranked: str) -> str:
        """Returns the statement of a page of the ranked rows with their versions and parts."""
        return self.fill(
            PAGE,
            head=HEAD_COLUMNS,
            version=VERSION_COLUMNS,
            parts=PARTS,
            part_joins=PART_JOINS,
            row_bytes=ROW_BYTES,
            behind=self.behind(),
            ranked=ranked,
            bytes_max=self.where.bind(self.query.bytes_max, "bigint"),
        )


async def search_vectors(database: Database, math: VectorMath, tenant_id: str, query: VectorQuery) -> RankedPage:
    """Returns a page of the nearest, nearest first, ties by object id; an object counts by its nearest vector.

    At most `limit` rows, cut earlier, but not before the first row, at about `bytes_max` bytes. Raises
    DatabaseUnavailable, StatementTimeout.
    """
    # Mostly the nearest few vectors fill the page, and the rest need not be sorted; where they do not, all are judged.
    depth = _DEPTH_OF_ROW * query.limit + _DEPTH_MIN
    page = await _search(database, math, tenant_id, query, depth)
    is_whole = page.more or page.heads is None or (page.candidates or depth) < depth
    return page if is_whole else await _search(database, math, tenant_id, query, None)


async def _search(
    database: Database, math: VectorMath, tenant_id: str, query: VectorQuery, depth: int | None
) -> RankedPage:
    parts = Parts.of(math, tenant_id, query)
    rows, better = parts.candidates()
    after = ""
    if query.last is not None:
        distance, object_id = parts.where.bind(query.last[0], "float8"), parts.where.bind(query.last[1], "text")
        after = f" where (x.distance, x.object_id) > ({distance}, {object_id})"
    ranked = _SEMANTIC.format(
        given=GIVEN,
        candidate_rows=rows,
        after=after,
        depth="" if depth is None else f" limit {depth}",
        # Counting would read them all before the first is judged.
        candidates="null::bigint" if depth is None else "count(*) over ()",
        seen=parts.seen("x.object_id"),
        conditions=parts.where.sql,
        gate=gate(parts.where, query.selection),
        better=better,
        limit=query.limit + 1,
    )
    found = await database.tenant_rows(tenant_id, parts.page(ranked), parts.where.params)
    return ranked_page(found, query)


_RANKING_WIDTH: Final = 9


def ranked_page(rows: Sequence[Sequence[Any]], query: VectorQuery) -> RankedPage:
    """Returns the page of a statement's rows."""
    if not rows:
        return RankedPage(None, (), False, None)
    found = []
    start = HEAD_WIDTH + 1
    for row in rows[: query.limit]:
        version = stored_version(row[start + _RANKING_WIDTH :])
        if version is not None:
            _, given, score, distance, artifact_id, vector_rank, lexical_score, lexical_rank, _ = row[
                start : start + _RANKING_WIDTH
            ]
            found.append(
                FoundRow(version, given, score, distance, artifact_id, vector_rank, lexical_score, lexical_rank)
            )
    first = rows[0]
    row_count, candidates = first[start] or 0, first[start + _RANKING_WIDTH - 1]
    heads = heads_of(first[:HEAD_WIDTH])
    return RankedPage(heads, tuple(found), row_count > len(found), first[HEAD_WIDTH], candidates)
