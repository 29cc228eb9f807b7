"""Which rows a query may find: conditions on the fields of versions, the caller's authority, and the gate's verdict.

Every kind of query puts the same conditions into its own statement, so that nothing is judged after a page was cut
(memory.md, "One retrieval gate"; P-11-01, P-11-05). In SQL a row of memory_versions is `v`, its object's row of
retrieval_gate is `g`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from storage.model.times import to_datetime
from storage.related_objects import RelatedFilter, related
from storage.row_filter import Conditions, RowFilter


class FieldKind(StrEnum):
    """What values of a field are; the value is the SQL type. Times are microseconds since 1970 UTC."""

    TEXT = "text"
    NUMBER = "bigint"
    TIME = "timestamptz"
    HASH = "bytea"


_FIELDS: Final = {
    "object_id": FieldKind.TEXT,
    "version_id": FieldKind.TEXT,
    "object_type": FieldKind.TEXT,
    "schema_id": FieldKind.TEXT,
    "actor_id": FieldKind.TEXT,
    "provenance_id": FieldKind.TEXT,
    "integrity_digest": FieldKind.HASH,
    "sequence": FieldKind.NUMBER,
    "observed_at": FieldKind.TIME,
    "asserted_at": FieldKind.TIME,
    "valid_from": FieldKind.TIME,
    "valid_until": FieldKind.TIME,
    "committed_at": FieldKind.TIME,
    "recorded_at": FieldKind.TIME,
}
FIELDS: Final = MappingProxyType(_FIELDS)
"""The fields that conditions may name. `integrity_digest` is stored as a keyed hash: found by equality only."""

_COLUMNS: Final = {name: f"v.{name}" for name in _FIELDS} | {"integrity_digest": "v.integrity_lookup"}


_LOOKED_UP: Final = """exists (
        select from remit.memory_lookups l
         where l.tenant_id = v.tenant_id and l.scope_id = v.scope_id and l.field = {field} and l.lookup = {lookup}
           and l.object_id = v.object_id and l.content_id in (v.content_id, v.provenance_content_id))"""


# A digest covers all of the content: where some of it is redacted, finding a version by it would confirm a guess.
_WHOLE: Final = """'available' = (
        select n.availability_state from remit.memory_versions n
         where n.tenant_id = v.tenant_id and n.scope_id = v.scope_id and n.object_id = v.object_id
         order by n.sequence desc limit 1)"""


class Operator(StrEnum):
    """How a condition compares; the value is the SQL that follows the column."""

    EQ = "="
    NE = "<>"
    IN = "= any"
    NOT_IN = "<> all"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    PRESENT = "is not null"
    ABSENT = "is null"


FieldValue = str | int | bytes


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """A condition on one of FIELDS. `values`: any number for IN and NOT_IN, none for PRESENT and ABSENT, else one."""

    field: str
    operator: Operator
    values: tuple[FieldValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which versions may be found. State lists are never empty here; the other lists are, when they do not matter.

    `authority` are the filters that must all cover a row. `pending_deletion` covers the rows that are pending deletion:
    None gives no such row. `object_ids` are the members of a snapshot that chose them, None for all objects. `lookups` are
    fields of memory_lookups with the keyed hash that a part of the version must have. `related` is what relationships the
    object must have.
    """

    lifecycle_states: tuple[str, ...]
    availability_states: tuple[str, ...]
    retention_states: tuple[str, ...]
    validation_states: tuple[str, ...]
    object_types: tuple[str, ...] = ()
    provenance_ids: tuple[str, ...] = ()
    conditions: tuple[FieldCondition, ...] = ()
    authority: tuple[RowFilter, ...] = ()
    pending_deletion: RowFilter | None = None
    object_ids: tuple[str, ...] | None = None
    lookups: tuple[tuple[str, bytes], ...] = ()
    related: RelatedFilter | None = None


def add_selection(where: Conditions, selection: Selection) -> None:
    """Adds the conditions on `v`: its states and fields, and that the authority covers it."""
    where.one_of("v.lifecycle_state", selection.lifecycle_states)
    where.one_of("v.availability_state", selection.availability_states)
    where.one_of("v.retention_state", selection.retention_states)
    where.one_of("v.validation_state", selection.validation_states)
    where.one_of("v.object_type", selection.object_types)
    where.one_of("v.provenance_id", selection.provenance_ids)
    for condition in selection.conditions:
        add_condition(where, condition, _COLUMNS[condition.field], FIELDS[condition.field])
    if any(condition.field == "integrity_digest" for condition in selection.conditions):
        where.add(_WHOLE)
    if selection.object_ids is not None:
        where.add(f"v.object_id = any ({where.bind(list(selection.object_ids), 'text[]')})")
    for name, lookup in selection.lookups:
        field, hashed = where.bind(name, "text"), where.bind(lookup, "bytea")
        where.add(_LOOKED_UP.format(field=field, lookup=hashed))
    if selection.related is not None:
        where.add(related(where, selection.related))
    where.admitted(selection.authority, "v.object_type", "v.object_id")


def gate(where: Conditions, selection: Selection) -> str:
    """Returns the gate's conditions on `v` by the verdict of now in `g`, as text that continues a WHERE clause."""
    pending = "false"
    if selection.pending_deletion is not None:
        pending = where.covers(selection.pending_deletion, "v.object_type", "v.object_id")
    # A row that was found as available is not given once its object is removed; a verdict unknown here gives nothing.
    return (
        "\n   and case g.verdict when 'open' then true when 'deleted' then v.availability_state = 'deleted' "
        f"when 'redacted' then v.availability_state = 'redacted' when 'retention_restricted' then {pending} end"
        f"\n   and (v.retention_state <> 'pending_deletion' or {pending})"
    )


GIVEN: Final = "g.verdict in ('open', 'retention_restricted') and v.availability_state not in ('redacted', 'deleted')"
"""Whether the encrypted parts of a row that passed the gate may be given."""


def add_condition(where: Conditions, condition: FieldCondition, column: str, kind: FieldKind) -> None:
    """Adds a condition on the column that its field stands for."""
    operator = condition.operator
    values: list[Any] = list(condition.values)
    if kind is FieldKind.TIME:
        values = [to_datetime(value) for value in values]
    if operator in {Operator.PRESENT, Operator.ABSENT}:
        where.add(f"{column} {operator.value}")
    elif operator in {Operator.IN, Operator.NOT_IN}:
        where.add(f"{column} {operator.value} ({where.bind(values, f'{kind.value}[]')})")
    else:
        where.add(f"{column} {operator.value} {where.bind(values[0], kind.value)}")
