"""Lines of an export file, in the format `remit-ledger-export/1` (ledger.md, Proof).

Pure: rows in, lines out. One record a line, compact JSON, without the line's end. The order is a header, events by
sequence, versions, objects, relationship versions, relationships, delegations, their versions, rules, permits, bindings,
and a head: without it the file is
truncated. Every row must come from one database snapshot, or the head won't agree with the events.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

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

FORMAT: Final = "remit-ledger-export/1"

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_TABLE_KINDS: Final[dict[type, str]] = {
    ObjectRow: "object",
    RelationshipRow: "relationship",
    DelegationRow: "delegation",
    RuleRow: "rule",
    CrossScopeRuleRow: "cross_scope_rule",
    BindingRow: "binding",
}

TableRow = ObjectRow | RelationshipRow | DelegationRow | RuleRow | CrossScopeRuleRow | BindingRow


def header_line(identity: LedgerIdentity) -> str:
    """Returns the first line."""
    return _encode(
        {
            "kind": "header",
            "format": FORMAT,
            "tenant_id": identity.tenant_id,
            "scope_id": identity.scope_id,
            "ledger_id": str(identity.ledger_id),
        }
    )


def event_line(row: EventRow) -> str:
    """Returns the line of an event; its columns stand apart from what was hashed."""
    return _encode(
        {
            "kind": "event",
            "sequence": row.sequence,
            "recorded_at_us": row.recorded_at_us,
            "use_number": row.use_number,
            "body": b64encode(row.body).decode(),
            "leaf_hash": row.leaf_hash.hex(),
            "chain_hash": row.chain_hash.hex(),
            "columns": {
                "event_id": row.event_id,
                "event_type": row.event_type,
                "operation_id": row.operation_id,
                "actor_id": row.actor_id,
                "object_id": row.object_id,
                "version_id": row.version_id,
                "delegation_id": row.delegation_id,
                "relationship_id": row.relationship_id,
            },
        }
    )


def version_line(row: VersionRow) -> str:
    """Returns the line of an object's version; its columns stand apart from the core."""
    columns = asdict(row)
    record: dict[str, Any] = {
        "kind": "version",
        "object_id": columns.pop("object_id"),
        "version_id": columns.pop("version_id"),
        "sequence": columns.pop("sequence"),
        "ledger_sequence": columns.pop("ledger_sequence"),
        "core": b64encode(columns.pop("core")).decode(),
    }
    return _encode({**record, "columns": columns})


def relationship_version_line(row: RelationshipVersionRow) -> str:
    """Returns the line of a relationship's version; its columns stand apart from the core."""
    columns = asdict(row)
    record: dict[str, Any] = {
        "kind": "relationship_version",
        "relationship_id": columns.pop("relationship_id"),
        "version_id": columns.pop("version_id"),
        "sequence": columns.pop("sequence"),
        "ledger_sequence": columns.pop("ledger_sequence"),
        "core": b64encode(columns.pop("core")).decode(),
    }
    return _encode({**record, "columns": columns})


def delegation_version_line(row: DelegationVersionRow) -> str:
    """Returns the line of a grant's version."""
    return _encode(
        {
            "kind": "delegation_version",
            "delegation_id": row.delegation_id,
            "version_id": row.version_id,
            "sequence": row.sequence,
            "core": b64encode(row.core).decode(),
        }
    )


def table_line(row: TableRow) -> str:
    """Returns the line of a pointer, a rule, a permit or a binding: the row's fields under its kind."""
    return _encode({"kind": _TABLE_KINDS[type(row)], **asdict(row)})


def head_line(head: HeadRow) -> str:
    """Returns the last line."""
    return _encode({"kind": "head", **asdict(head), "chain_hash": head.chain_hash.hex()})


def export_lines(
    header: LedgerIdentity,
    events: Iterable[EventRow],
    versions: Iterable[VersionRow],
    objects: Iterable[ObjectRow],
    relationship_versions: Iterable[RelationshipVersionRow],
    relationships: Iterable[RelationshipRow],
    delegations: Iterable[DelegationRow],
    delegation_versions: Iterable[DelegationVersionRow],
    rules: Iterable[RuleRow],
    cross_scope_rules: Iterable[CrossScopeRuleRow],
    bindings: Iterable[BindingRow],
    head: HeadRow,
) -> Iterator[str]:
    """Yields the lines of a whole export file, without their ends; `events` in sequence order."""
    yield header_line(header)
    yield from map(event_line, events)
    yield from map(version_line, versions)
    yield from map(table_line, objects)
    yield from map(relationship_version_line, relationship_versions)
    yield from map(table_line, relationships)
    yield from map(table_line, delegations)
    yield from map(delegation_version_line, delegation_versions)
    yield from map(table_line, rules)
    yield from map(table_line, cross_scope_rules)
    yield from map(table_line, bindings)
    yield head_line(head)


async def export_source(source: LedgerSource) -> AsyncIterator[str]:
    """Yields the same lines, of rows that are streamed."""
    yield header_line(source.identity)
    async for event in source.events:
        yield event_line(event)
    async for version in source.versions:
        yield version_line(version)
    async for pointer in source.objects:
        yield table_line(pointer)
    async for relationship_version in source.relationship_versions:
        yield relationship_version_line(relationship_version)
    async for relationship in source.relationships:
        yield table_line(relationship)
    async for grant in source.delegations:
        yield table_line(grant)
    async for grant_version in source.delegation_versions:
        yield delegation_version_line(grant_version)
    async for rule in source.rules:
        yield table_line(rule)
    async for permit in source.cross_scope_rules:
        yield table_line(permit)
    async for binding in source.bindings:
        yield table_line(binding)
    yield head_line(source.head)
