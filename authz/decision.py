"""The one function that decides (authority.md, Delegated authority; surface.md, section 3).

Checks, batches, explanations and the interceptor all call it, over facts that others loaded. It is a sequence of steps:
`decide` stops at the first that fails, `explain` runs them to the end.

Order. Whatever can be judged without knowing the type an object is stored with comes first, so that no denial depends
on whether the object exists. The stored type is the last step: only when nothing else refuses and the authority is
limited by type does a decision need the object (`NeedsType`). An object that is absent and one whose type is out of
bounds then fail alike, for the caller: the coarse reason and rule id depend on the authority and the ids alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from authz.chain_steps import SCOPE, chain_steps
from authz.delegation import Chain, chain_remaining_uses, restriction_reaches
from authz.errors import MismatchedWorkspace
from authz.own_steps import own_steps
from authz.permissions import READ, conveyed_action
from authz.policy import Enforcer
from authz.reach import EVERYTHING, Extent, Reach
from authz.reasons import COARSE_OF, CoarseReason, ExactReason
from authz.request import ABSENT, AccessRequest, Outcome, Step, Touched

__all__ = [
    "ABSENT",
    "AccessRequest",
    "Allowed",
    "Chain",
    "CoarseReason",
    "Decision",
    "Denied",
    "ExactReason",
    "NeedsType",
    "Touched",
    "decide",
]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may go on.

    `rule_id` is the rule that allowed it, on own authority or as its root grantor's. For a `row_filtered` request a row
    may be given when every one of `reaches` admits it; none means every row. `remaining_uses` counts this use too;
    None when nothing in the chain counts.
    """

    rule_id: str | None
    reaches: tuple[Reach, ...] = ()
    remaining_uses: int | None = None

    def admits(self, object_type: str, object_id: str) -> bool:
        """Returns whether a row may be given."""
        return all(reach.admits(object_type, object_id) for reach in self.reaches)


@dataclass(frozen=True, slots=True)
class Denied:
    """The call may not go on.

    `coarse` and `rule_id` are the caller's to know; `exact`, `exact_rule_id`, and the grant and version that failed are
    the ledger's. `hides_object`: the actor may not know whether the touched objects exist, so that the record of the
    denial must not name them.
    """

    coarse: CoarseReason
    exact: ExactReason
    rule_id: str | None = None
    delegation_id: str | None = None
    hides_object: bool = False
    exact_rule_id: str | None = None
    version_id: str | None = None


@dataclass(frozen=True, slots=True)
class NeedsType:
    """Nothing refuses, but the types of these objects decide.

    The caller loads them and decides again, with each stored type or ABSENT.
    """

    object_ids: tuple[str, ...]


Decision = Allowed | Denied | NeedsType


def decide(
    request: AccessRequest,
    enforcer: Enforcer,
    chain: Chain | None,
    now_us: int,
    *,
    ignore_uses: bool = False,
) -> Decision:
    """Returns the decision. `chain` None is the actor's own authority; a tuple is the named grant with its ancestors,
    root first, empty when it is unknown here. `now_us` is the database's clock, in microseconds since 1970.

    `ignore_uses` leaves rule 4 aside: the replay of an idempotent request, and the items of a stream that has paid.
    Raises MismatchedWorkspace when the enforcer is another workspace's.
    """
    return settle(request, enforcer, chain, steps_of(request, enforcer, chain, now_us, ignore_uses=ignore_uses))


def steps_of(
    request: AccessRequest,
    enforcer: Enforcer,
    chain: Chain | None,
    now_us: int,
    *,
    ignore_uses: bool = False,
) -> Iterator[Step]:
    """Returns the steps of the decision, judged as they are taken."""
    if request.scope_id != enforcer.scope_id or request.tenant_id != enforcer.tenant_id:
        raise MismatchedWorkspace((request.tenant_id, request.scope_id), (enforcer.tenant_id, enforcer.scope_id))
    if chain is None:
        return own_steps(request, enforcer)
    return chain_steps(request, enforcer, chain, now_us, ignore_uses)


def settle(request: AccessRequest, enforcer: Enforcer, chain: Chain | None, steps: Iterable[Step]) -> Decision:
    """Returns what the steps come to: the first failure, else what is undecided, else the allowance."""
    undecided = False
    rule_id = None
    for step in steps:
        outcome = step.outcome
        if outcome is Outcome.FAILED:
            return denial(request, enforcer, step)
        if outcome is Outcome.UNDECIDED:
            undecided = True
        elif rule_id is None and step.name != SCOPE:
            rule_id = step.exact_rule_id
    if undecided:
        unknown = [one.object_id for one in request.touched if not one.type_is_chosen and one.object_type is None]
        return NeedsType(tuple(object_id for object_id in unknown if object_id is not None))
    reaches = _reaches(request, enforcer, chain) if request.row_filtered else ()
    return Allowed(rule_id, reaches, None if chain is None else chain_remaining_uses(chain))


def denial(request: AccessRequest, enforcer: Enforcer, step: Step) -> Denied:
    """Returns the denial that a failed step of the request is."""
    exact = step.exact or ExactReason.NO_RULE
    return Denied(
        coarse=step.coarse or COARSE_OF[exact],
        exact=exact,
        rule_id=step.rule_id,
        delegation_id=step.delegation_id,
        hides_object=not all(_may_know(request.actor_id, enforcer, one) for one in request.touched),
        exact_rule_id=step.exact_rule_id,
        version_id=step.version_id,
    )


def _may_know(actor_id: str, enforcer: Enforcer, touched: Touched) -> bool:
    """Returns whether the actor may read what is there, and so may know that it is."""
    if touched.object_id is None:
        return True
    reach = enforcer.type_reach(actor_id, READ, touched.object_id)
    if reach.extent is Extent.SOME and not touched.new and isinstance(touched.object_type, str):
        return reach.admits(touched.object_type)
    return reach.extent is Extent.ALL


def _reaches(request: AccessRequest, enforcer: Enforcer, chain: Chain | None) -> tuple[Reach, ...]:
    if chain is None:
        own = enforcer.reach(request.actor_id, request.action)
        return () if own.unlimited else (own,)
    action = conveyed_action(request.action, request.operation) or request.action
    reaches = [enforcer.reach(chain[0].grantor_id, action)]
    for grant in chain:
        reaches.extend(restriction_reaches(grant))
        denies = (enforcer.reach(grant.delegate_id, one).deny for one in {action, request.action})
        reaches.extend(Reach(frozenset({EVERYTHING}), deny) for deny in denies)
    return tuple(reach for reach in reaches if not reach.unlimited)
