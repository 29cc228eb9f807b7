"""A whole ledger with the tables it accounts for, as one database snapshot (ledger.md, Proof)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

from psycopg import AsyncConnection

from storage.database import Database
from storage.ledger import EVENT_COLUMNS
from storage.model.ledger_rows import (
    BindingRow,
    CrossScopeRuleRow,
    DelegationRow,
    DelegationVersionRow,
    EventRow,
    HeadRow,
    LedgerIdentity,
    LedgerSource,
    ObjectRow,
    RelationshipRow,
    RelationshipVersionRow,
    RuleRow,
    VersionRow,
)
from storage.objects import HEAD_COLUMNS, MICROSECONDS, Heads

Row = TypeVar("Row")

_ROWS_PER_FETCH: Final = 500

_HEAD: Final = f"""
select {HEAD_COLUMNS}, h.ledger_id, h.chain_hash,
       h.sequence
       + (select count(*) from remit.memory_versions v where (v.tenant_id, v.scope_id) = (h.tenant_id, h.scope_id))
       + (select count(*) from remit.memory_objects o where (o.tenant_id, o.scope_id) = (h.tenant_id, h.scope_id))
       + (select count(*) from remit.relationships r where (r.tenant_id, r.scope_id) = (h.tenant_id, h.scope_id))
  from remit.ledger_heads h
 cross join (select remit.clock() as now) t
 where h.tenant_id = %s and h.scope_id = %s"""
_HEAD_WIDTH: Final = 6
_TIMES: Final = ("observed_at", "asserted_at", "valid_from", "valid_until", "committed_at", "recorded_at")
_EVENTS: Final = f"select {EVENT_COLUMNS} from remit.ledger_events e {{0}} order by e.sequence"
_VERSIONS: Final = (
    "select v.mac, v.mac_key_id, v.object_id, v.version_id, v.sequence, v.ledger_sequence, v.core, v.object_type, "
    "v.schema_id, v.lifecycle_state, v.availability_state, v.retention_state, v.validation_state, v.actor_id, "
    f"v.provenance_id, {', '.join(MICROSECONDS.format(f'v.{name}') for name in _TIMES)} "
    "from remit.memory_versions v {0}"
)
_OBJECTS: Final = (
    "select o.object_id, o.object_type, o.version_id, o.sequence, o.related from remit.memory_objects o {0}"
)
_RELATIONSHIP_VERSIONS: Final = (
    "select y.mac, y.mac_key_id, y.relationship_id, y.version_id, y.sequence, y.ledger_sequence, y.core, "
    "y.relationship_type, y.source_object_id, y.target_object_id, y.target_scope_id, y.directionality, "
    "y.lifecycle_state, y.availability_state, y.retention_state, y.validation_state, y.actor_id, y.provenance_id, "
    f"{', '.join(MICROSECONDS.format(f'y.{name}') for name in _TIMES)} from remit.relationship_versions y {{0}}"
)
_RELATIONSHIPS: Final = (
    "select l.relationship_id, l.version_id, l.sequence, l.relationship_type, l.source_object_id, l.target_object_id, "
    "l.target_scope_id, l.directionality, l.availability_state, l.retention_state from remit.relationships l {0}"
)
_DELEGATIONS: Final = "select d.delegation_id, d.version_id, d.sequence, d.uses, d.revoked from remit.delegations d {0}"
_DELEGATION_VERSIONS: Final = (
    "select g.mac, g.mac_key_id, g.ledger_sequence, g.delegation_id, g.version_id, g.sequence, g.core "
    "from remit.delegation_versions g {0}"
)
_RULES: Final = (
    "select r.rule_id, r.subject, r.action, r.object_type, r.object_id, r.effect from remit.policy_rules r {0}"
)
_CROSS_SCOPE_RULES: Final = "select x.rule_id, x.source_scope_id, x.kind from remit.cross_scope_rules x {0}"
_BINDINGS: Final = "select b.actor_id, b.role_id from remit.role_bindings b {0}"


@dataclass(frozen=True, slots=True)
class SealedCore:
    """A version's core as it lies in its table, with its MAC; `place` names the row."""

    ledger_sequence: int
    place: str
    core: bytes
    mac: bytes
    mac_key_id: str


@dataclass(frozen=True, slots=True)
class LedgerSnapshot:
    """The head, the rows, and how many there are at least, for a progress bar. Good while its context is open."""

    heads: Heads
    source: LedgerSource
    row_count: int


def _ignore(_: SealedCore) -> None:
    pass


@asynccontextmanager
async def ledger_snapshot(
    database: Database, tenant_id: str, scope_id: str, on_core: Callable[[SealedCore], None] = _ignore
) -> AsyncIterator[LedgerSnapshot | None]:
    """Gives the ledger of a workspace in one REPEATABLE READ transaction; None when there is no such workspace.

    Rows are streamed: each iterable of the source may be read once, one after the other. `on_core` is told of every
    version, of an object, a relationship or a grant, when it is read. Raises DatabaseUnavailable, StatementTimeout.
    """
    async with database.connection() as connection, connection.transaction():
        await connection.execute("set transaction isolation level repeatable read, read only")
        await connection.execute("select set_config('remit.tenant_id', %s, true)", (tenant_id,))
        row = await (await connection.execute(_HEAD, (tenant_id, scope_id), binary=True)).fetchone()
        if row is None:
            yield None
            return
        heads = Heads(*row[:_HEAD_WIDTH])
        ledger_id, chain_hash, row_count = row[_HEAD_WIDTH:]
        tables = _Tables(connection, (tenant_id, scope_id), on_core)
        source = tables.source(ledger_id, heads, chain_hash)
        yield LedgerSnapshot(heads, source, row_count)


class _Tables:
    def __init__(
        self, connection: AsyncConnection[Any], workspace: tuple[str, str], on_core: Callable[[SealedCore], None]
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._on_core = on_core

    def source(self, ledger_id: UUID, heads: Heads, chain_hash: bytes) -> LedgerSource:
        return LedgerSource(
            identity=LedgerIdentity(*self._workspace, ledger_id),
            head=HeadRow(
                heads.sequence,
                chain_hash,
                heads.epoch,
                heads.policy_revision,
                heads.restrict_revision,
                heads.removal_revision,
            ),
            events=self._rows("e", _EVENTS, EventRow),
            versions=self._rows("v", _VERSIONS, self._version),
            objects=self._rows("o", _OBJECTS, ObjectRow),
            relationship_versions=self._rows("y", _RELATIONSHIP_VERSIONS, self._relationship_version),
            relationships=self._rows("l", _RELATIONSHIPS, RelationshipRow),
            delegations=self._rows("d", _DELEGATIONS, DelegationRow),
            delegation_versions=self._rows("g", _DELEGATION_VERSIONS, self._delegation_version),
            rules=self._rows("r", _RULES, RuleRow),
            cross_scope_rules=self._rows("x", _CROSS_SCOPE_RULES, CrossScopeRuleRow),
            bindings=self._rows("b", _BINDINGS, BindingRow),
        )

    async def _rows(self, alias: str, statement: str, make: Callable[..., Row]) -> AsyncIterator[Row]:
        where = f"where {alias}.tenant_id = %s and {alias}.scope_id = %s"
        async with self._connection.cursor(name=f"rows_{alias}", binary=True) as cursor:
            cursor.itersize = _ROWS_PER_FETCH
            await cursor.execute(statement.format(where), self._workspace)
            async for row in cursor:
                yield make(*row)

    def _version(self, mac: bytes, mac_key_id: str, *columns: Any) -> VersionRow:
        row = VersionRow(*columns)
        place = f"memory_versions:{row.version_id}"
        self._on_core(SealedCore(row.ledger_sequence, place, row.core, mac, mac_key_id))
        return row

    def _relationship_version(self, mac: bytes, mac_key_id: str, *columns: Any) -> RelationshipVersionRow:
        row = RelationshipVersionRow(*columns)
        place = f"relationship_versions:{row.version_id}"
        self._on_core(SealedCore(row.ledger_sequence, place, row.core, mac, mac_key_id))
        return row

    def _delegation_version(
        self, mac: bytes, mac_key_id: str, ledger_sequence: int, *columns: Any
    ) -> DelegationVersionRow:
        row = DelegationVersionRow(*columns)
        self._on_core(SealedCore(ledger_sequence, f"delegation_versions:{row.version_id}", row.core, mac, mac_key_id))
        return row
