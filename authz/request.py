"""What is asked of the evaluator, and the steps it answers with."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from authz.reasons import COARSE_OF, CoarseReason, ExactReason


class Absence(Enum):
    """Stands where an object's stored type would, when the object was looked for and is not there."""

    ABSENT = "absent"


ABSENT: Final = Absence.ABSENT


class Touched(NamedTuple):
    """One object that a call touches.

    `object_type` is the type it is stored with: None before it was looked up, ABSENT when it is not there. A type named
    by the caller proves nothing, but for an object that the call is to make (`new`), or when there is no id at all.
    """

    object_id: str | None
    object_type: str | Absence | None = None
    new: bool = False

    @property
    def type_is_chosen(self) -> bool:
        """The type comes from the request, not from the store."""
        return self.new or self.object_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """`actor_id` asks to do `action`, by a grant under the name of `operation`, in the addressed workspace.

    `operation` is None for what no grant conveys. `row_filtered` says that rows beside the touched objects are filtered
    by `Allowed.reaches` (query, history ranges, subscriptions); without it a call that touches nothing is about
    everything and needs authority on `*`.
    """

    tenant_id: str
    scope_id: str
    actor_id: str
    action: str
    operation: str | None = None
    touched: tuple[Touched, ...] = ()
    row_filtered: bool = False


class Outcome(Enum):
    """Of one step. UNDECIDED: it depends on a stored type that is not known yet."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Step(NamedTuple):
    """One judgement. `rule_id` may be shown to the caller, `exact_rule_id` to the ledger and to who may explain."""

    name: str
    outcome: Outcome
    coarse: CoarseReason | None = None
    exact: ExactReason | None = None
    rule_id: str | None = None
    exact_rule_id: str | None = None
    delegation_id: str | None = None
    version_id: str | None = None


def failed(
    name: str,
    exact: ExactReason,
    *,
    coarse: CoarseReason | None = None,
    rule_id: str | None = None,
    exact_rule_id: str | None = None,
    delegation_id: str | None = None,
    version_id: str | None = None,
) -> Step:
    """Returns a failed step; the coarse reason is the usual one of the exact unless given."""
    return Step(
        name,
        Outcome.FAILED,
        coarse or COARSE_OF[exact],
        exact,
        rule_id,
        exact_rule_id or rule_id,
        delegation_id,
        version_id,
    )
