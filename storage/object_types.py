"""The types objects are stored with, for decisions that need nothing else of them (authority.md, Denials)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from storage.database import Database

_TYPES: Final = """
select o.object_id, o.object_type from remit.memory_objects o
 where o.tenant_id = %s and o.scope_id = %s and o.object_id = any (%b::text[])"""


async def load_object_types(
    database: Database, tenant_id: str, scope_id: str, object_ids: Collection[str]
) -> dict[str, str]:
    """Returns object id -> stored type of those objects that the workspace has, tombstones included."""
    if not object_ids:
        return {}
    rows = await database.tenant_rows(tenant_id, _TYPES, (tenant_id, scope_id, list(object_ids)))
    return dict(rows)
