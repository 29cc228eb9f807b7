"""Tenants: the operator's list of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import psycopg

from storage.driver_errors import translating
from storage.objects import MICROSECONDS

# The DDL role may become the schema's owner, whose policy lets it list tenants and nothing else of them.
_LIST: Final = f"select t.tenant_id, {MICROSECONDS.format('t.created_at')} from remit.tenants t order by t.tenant_id"


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant and when it was added (microseconds)."""

    tenant_id: str
    created_at_us: int


def list_tenants(ddl_dsn: str) -> list[Tenant]:
    """Returns all tenants, as the DDL role. Raises DatabaseUnavailable. Blocking: for the command line."""
    with translating(), psycopg.connect(ddl_dsn) as connection:
        connection.execute("set role remit_owner")
        return [Tenant(*row) for row in connection.execute(_LIST)]
