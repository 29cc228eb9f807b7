"""Authority over rows instead of over one object: as filters of the statement, and confirmed against what it read.

See authority.md, "Delegated authority" (object lists are filtered inside SQL) and "The second check".
"""

from __future__ import annotations

from authz.decision import Allowed
from authz.reach import Reach
from server.authority.refusals import StaleFacts
from server.call import Call
from storage.objects import Heads
from storage.row_filter import RowFilter


def row_filter(reach: Reach) -> RowFilter:
    """Returns a reach as storage judges it."""
    return RowFilter(reach.allow, reach.deny)


def authority_over_rows(call: Call, *, action: str | None = None) -> tuple[RowFilter, ...]:
    """Returns the filters that every row of the answer must pass, none when it reaches everything. Raises Refused."""
    decision = call.demand((), action=action, row_filtered=True)
    assert isinstance(decision, Allowed), "only an object's stored type is ever undecided"
    return tuple(row_filter(reach) for reach in decision.reaches)


def confirmed(call: Call, heads: Heads | None, *, limited: bool) -> Heads:
    """Returns the head when what was read with it stands at the facts that were decided on. Raises StaleFacts.

    A limited authority is held to the whole policy, so that a right just given never leaves rows out.
    """
    call.confirm(heads)
    assert heads is not None
    if heads.epoch != call.view.heads.epoch:
        raise StaleFacts
    if limited and heads.policy_revision != call.view.enforcer.policy_revision:
        raise StaleFacts
    return heads
