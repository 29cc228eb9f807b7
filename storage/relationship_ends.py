"""Which relationships may be seen: those of which both ends are within reach, each in its own workspace (P-8.5-07).

The conditions stand inside the statements that list relationships, so that no page is cut before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.database import Database
from storage.row_filter import Conditions, RowFilter


@dataclass(frozen=True, slots=True)
class ScopeReach:
    """What may be reached in a workspace: objects that all of `filters` cover; `review` also pending deletion.

    `filters` None: nothing.
    """

    scope_id: str
    filters: tuple[RowFilter, ...] | None
    review: RowFilter


@dataclass(frozen=True, slots=True)
class EndReach:
    """What may be seen of the relationships of a workspace: its own reach, and those of workspaces that permit them."""

    own: ScopeReach
    abroad: tuple[ScopeReach, ...] = ()


_ABROAD: Final = """
select distinct r.target_scope_id from remit.relationships r
 where r.tenant_id = %s and r.scope_id collate "C" = %s and r.target_scope_id <> r.scope_id"""


async def scopes_abroad(database: Database, tenant_id: str, scope_id: str) -> list[str]:
    """Returns the other workspaces in which relationships of a workspace end. Raises DatabaseUnavailable."""
    return [scope for (scope,) in await database.tenant_rows(tenant_id, _ABROAD, (tenant_id, scope_id))]


def ends_admitted(where: Conditions, reach: EndReach, alias: str = "r") -> str:
    """Returns the condition that both ends of a row with the columns of relationships are within reach."""
    own = reach.own
    source = _admitted(where, own, f"{alias}.scope_id", f"{alias}.source_object_id", alias)
    targets = [
        f"({alias}.target_scope_id = {where.bind(one.scope_id, 'text')} and "
        f"{_admitted(where, one, f'{alias}.target_scope_id', f'{alias}.target_object_id', alias)})"
        for one in (own, *reach.abroad)
    ]
    return f"({source} and ({' or '.join(targets)}))"


def ends_covered(where: Conditions, filters: Sequence[RowFilter]) -> str:
    """Returns the condition that both ends of a relationship `r` within its own workspace are covered by the filters."""
    own = ScopeReach("", tuple(filters), RowFilter(frozenset(), frozenset()))
    ends = (_admitted(where, own, "r.scope_id", f"r.{end}_object_id", "r") for end in ("source", "target"))
    return " and ".join(ends)


def _admitted(where: Conditions, reach: ScopeReach, scope_column: str, id_column: str, alias: str) -> str:
    if reach.filters is None:
        return "false"
    if not reach.filters:
        return "true"
    covered = " and ".join(where.covers(one, "o.object_type", "o.object_id") for one in reach.filters)
    return (
        f"exists (select from remit.memory_objects o where o.tenant_id = {alias}.tenant_id"
        f" and o.scope_id = {scope_column} and o.object_id = {id_column} and {covered})"
    )
