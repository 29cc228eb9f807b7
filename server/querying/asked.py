"""What every kind of query shares: the filters with their defaults, the caller's authority, and where a page begins.

The kinds differ in how they find and order rows; which rows may be found is decided here, once, and put into each
kind's own statement (`storage.selection`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from authz.permissions import PROVENANCE_READ, REVIEW
from remit.v1 import common_pb2, memory_pb2
from server.authority.row_authority import authority_over_rows, confirmed, row_filter
from server.call import Call
from server.paging import cursor_binding, last_place
from server.relationships.reach import Reaches
from server.snapshots.reading import SnapshotBound, snapshot_bound
from server.wire.enum_numbers import AVAILABILITY_NAMES, LIFECYCLE_NAMES, RETENTION_NAMES, VALIDATION_NAMES
from server.wire.predicates import conditions_from
from storage.cursors import Cursor, CursorBinding
from storage.objects import Heads
from storage.related_objects import RelatedFilter
from storage.relationship_ends import EndReach
from storage.row_filter import ANY, RowFilter
from storage.selection import Selection

TIE_BREAK: Final = ("object_id", "version_id")
"""The keys that settle the order of rows whose sort keys are equal, both ascending (P-11-09)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query as it is asked.

    `filters` are those of the request with the defaults filled in, `selection` the same for storage, with the caller's
    authority. `bound` is the snapshot to find rows in. `binding` is what cursors are good for, `place` where the last
    page ended.
    """

    filters: memory_pb2.QueryFilters
    selection: Selection
    bound: SnapshotBound | None
    binding: CursorBinding
    place: Cursor | None

    @property
    def pinned_sequence(self) -> int | None:
        """The ledger sequence that rows are seen at: the snapshot's, else the first page's; None on a first page."""
        if self.bound is not None:
            return self.bound.sequence
        return None if self.place is None else self.place.pinned_sequence

    def confirmed(self, call: Call, heads: Heads | None) -> Heads:
        """Returns the head that a statement read with its rows; raises StaleFacts when the decision may not stand at it."""
        limited = bool(self.selection.authority) or self.selection.pending_deletion is not None
        return confirmed(call, heads, limited=limited)


async def as_asked(call: Call, request: memory_pb2.QueryRequest) -> Asked:
    """Returns a query with its filters, authority, snapshot and place. Raises InvalidRequest, SnapshotNotFound."""
    filters = with_defaults(request.query.filters)
    authority = authority_over_rows(call)
    if filters.evidence_ref:
        authority += _readable_provenance(call)
    binding = cursor_binding(call, call.view.heads.epoch)
    place = last_place(call, binding)
    bound = await snapshot_bound(call, request.snapshot_id)
    lookup = partial(call.services.keys.lookup, "integrity_digest", tenant_id=call.tenant_id)
    selection = Selection(
        lifecycle_states=state_names(filters.lifecycle_state, LIFECYCLE_NAMES),
        availability_states=state_names(filters.availability_state, AVAILABILITY_NAMES),
        retention_states=state_names(filters.retention_state, RETENTION_NAMES),
        validation_states=state_names(filters.validation_state, VALIDATION_NAMES),
        object_types=tuple(filters.object_type),
        provenance_ids=tuple(filters.provenance_id),
        conditions=conditions_from(filters.predicates, lookup),
        authority=authority,
        pending_deletion=pending_deletion(call, filters),
        object_ids=None if bound is None else bound.object_ids,
        lookups=_lookups(call, filters),
        related=_related(call, filters, bound, place),
    )
    return Asked(filters=filters, selection=selection, bound=bound, binding=binding, place=place)


def with_defaults(given: memory_pb2.QueryFilters) -> memory_pb2.QueryFilters:
    """Returns the filters with the trusted default of each dimension that names no state (P-11-12)."""
    filters = memory_pb2.QueryFilters()
    filters.CopyFrom(given)
    if not filters.lifecycle_state:
        filters.lifecycle_state.append(common_pb2.LIFECYCLE_STATE_ACTIVE)
    if not filters.availability_state:
        filters.availability_state.append(common_pb2.AVAILABILITY_STATE_AVAILABLE)
    if not filters.retention_state:
        filters.retention_state.append(common_pb2.RETENTION_STATE_RETAINED)
    if not filters.validation_state:
        filters.validation_state.append(common_pb2.VALIDATION_STATE_CORROBORATED)
    return filters


def _related(
    call: Call, filters: memory_pb2.QueryFilters, bound: SnapshotBound | None, place: Cursor | None
) -> RelatedFilter | None:
    if not filters.relationship_type and not filters.related_object_id:
        return None
    pinned_sequence = None if place is None else place.pinned_sequence
    return RelatedFilter(
        tenant_id=call.tenant_id,
        scope_id=call.scope_id,
        relationship_types=tuple(filters.relationship_type),
        object_id=filters.related_object_id or None,
        reach=EndReach(Reaches(call, call.action).own()),
        pinned_sequence=pinned_sequence if bound is None else bound.sequence,
        member_ids=None if bound is None else bound.object_ids,
    )


def state_names(numbers: Iterable[int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(names[number] for number in numbers)


def _lookups(call: Call, filters: memory_pb2.QueryFilters) -> tuple[tuple[str, bytes], ...]:
    asked = (("task_ref", filters.task_ref), ("evidence_ref", filters.evidence_ref))
    return tuple(
        (name, call.services.keys.lookup(name, value, tenant_id=call.tenant_id)) for name, value in asked if value
    )


def _readable_provenance(call: Call) -> tuple[RowFilter, ...]:
    """Returns what leaves out the rows whose provenance a rule hides: finding them by it would tell what it says."""
    enforcer = call.view.enforcer
    denied = [enforcer.reach(actor_id, PROVENANCE_READ).deny for actor_id in call.standing_actor_ids()]
    return tuple(RowFilter(frozenset({(ANY, ANY)}), pairs) for pairs in denied if pairs)


def pending_deletion(call: Call, filters: memory_pb2.QueryFilters) -> RowFilter | None:
    if common_pb2.RETENTION_STATE_PENDING_DELETION not in filters.retention_state:
        return None
    return row_filter(call.view.enforcer.reach(call.actor_id, REVIEW))
