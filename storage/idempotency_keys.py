"""Durable idempotency keys: reads of them (memory.md, Objects and versions; P-12-04, P-12-11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import Database


@dataclass(frozen=True, slots=True)
class StoredKey:
    """The HMAC of the request that took the key and the ids its answer is rebuilt from."""

    request_mac: bytes
    result: Mapping[str, Any]


_LOAD: Final = """
select i.request_mac, i.result
  from rows from (unnest(%b::text[]), unnest(%b::text[]), unnest(%b::text[])) with ordinality k(scope_id, actor_id, key, ix)
  left join remit.idempotency_keys i
    on i.tenant_id = %s and i.scope_id = k.scope_id and i.actor_id = k.actor_id and i.key = k.key
 order by k.ix"""


async def load_keys(database: Database, tenant_id: str, keys: Sequence[tuple[str, str, str]]) -> list[StoredKey | None]:
    """Returns for each (workspace, actor, key) what took it, None when it is free."""
    rows = await database.tenant_rows(
        tenant_id, _LOAD, ([k[0] for k in keys], [k[1] for k in keys], [k[2] for k in keys], tenant_id)
    )
    return [None if mac is None else StoredKey(mac, result) for mac, result in rows]
