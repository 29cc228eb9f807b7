"""Objects found by their relationships: a condition of a query for objects (P-11-01).

Only relationships count of which both ends lie in the workspace and are within the caller's reach, so that no answer
tells of an object that is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storage.relationship_ends import EndReach, ends_admitted
from storage.row_filter import Conditions


@dataclass(frozen=True, slots=True)
class RelatedFilter:
    """The object has a relationship of one of the types (empty: any), with another object (None: any).

    `pinned_sequence` sees relationships as they stood then; `member_ids` are the objects of a snapshot that chose them.
    """

    tenant_id: str
    scope_id: str
    relationship_types: tuple[str, ...]
    object_id: str | None
    reach: EndReach
    pinned_sequence: int | None = None
    member_ids: tuple[str, ...] | None = None


_WITH_ONE: Final = """v.object_id = any (array(
        select r.target_object_id from remit.relationship_gate r
         where r.tenant_id = {tenant} and r.scope_id collate "C" = {scope} and r.source_object_id = {object}{conditions}
        union all
        select r.source_object_id from remit.relationship_gate r
         where r.tenant_id = {tenant} and r.target_scope_id collate "C" = {scope} and r.target_object_id = {object}
           {conditions}))"""
_WITH_ANY: Final = """(exists (
        select from remit.relationship_gate r
         where r.tenant_id = {tenant} and r.scope_id collate "C" = {scope} and r.source_object_id = v.object_id{conditions})
     or exists (
        select from remit.relationship_gate r
         where r.tenant_id = {tenant} and r.target_scope_id collate "C" = {scope} and r.target_object_id = v.object_id
           {conditions}))"""
_STOOD: Final = """exists (
           select from (
              select x.relationship_type, x.availability_state from remit.relationship_versions x
               where x.tenant_id = r.tenant_id and x.scope_id = r.scope_id and x.relationship_id = r.relationship_id
                 and x.ledger_sequence <= {pin}
               order by x.sequence desc limit 1) x
            where x.availability_state <> 'deleted'{typed})"""


def related(where: Conditions, wanted: RelatedFilter) -> str:
    """Returns the condition on `v`, a row of memory_versions."""
    tenant, scope = where.bind(wanted.tenant_id, "text"), where.bind(wanted.scope_id, "text")
    types = ""
    if wanted.relationship_types:
        types = f" and {{0}}.relationship_type = any ({where.bind(list(wanted.relationship_types), 'text[]')})"
    conditions = " and r.scope_id = r.target_scope_id and r.verdict in ('open', 'redacted')"
    if wanted.pinned_sequence is None:
        conditions += types.format("r")
    else:
        pin = where.bind(wanted.pinned_sequence, "bigint")
        conditions += f" and {_STOOD.format(pin=pin, typed=types.format('x'))}"
    if wanted.member_ids is not None:
        members = where.bind(list(wanted.member_ids), "text[]")
        conditions += f" and r.source_object_id = any ({members}) and r.target_object_id = any ({members})"
    conditions += f" and {ends_admitted(where, EndReach(wanted.reach.own))}"
    if wanted.object_id is None:
        return _WITH_ANY.format(tenant=tenant, scope=scope, conditions=conditions)
    return _WITH_ONE.format(
        tenant=tenant, scope=scope, object=where.bind(wanted.object_id, "text"), conditions=conditions
    )
