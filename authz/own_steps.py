"""The steps of a call on the actor's own authority: its rules in the addressed workspace, and nothing else."""

from collections.abc import Iterator
from typing import Final

from authz.permissions import ANY
from authz.policy import Enforcer, Verdict
from authz.reach import Extent
from authz.reasons import CoarseReason, ExactReason
from authz.request import AccessRequest, Outcome, Step, Touched, failed

RULE: Final = "rule"
STORED_TYPE: Final = "stored_type"


def own_steps(request: AccessRequest, enforcer: Enforcer) -> Iterator[Step]:
    """Yields `rule` for each touched object and for the rows, then `stored_type` for each object whose type matters."""
    actor_id, action = request.actor_id, request.action
    if request.row_filtered:
        everything = enforcer.check(actor_id, action, ANY, ANY)
        within = everything.allowed or not (everything.explicit_deny or enforcer.reach(actor_id, action).empty)
        yield Step(RULE, Outcome.PASSED, exact_rule_id=everything.rule_id) if within else _refused(everything)
    elif not request.touched:
        yield _judged(enforcer.check(actor_id, action, ANY, ANY))
    for touched in request.touched:
        if touched.type_is_chosen:
            yield _judged(enforcer.check(actor_id, action, chosen_type(touched), touched.object_id or ANY))
            continue
        reach = enforcer.type_reach(actor_id, action, touched.object_id or ANY)
        if reach.extent is Extent.NONE:
            yield _refused(Verdict(False, reach.deny_rule_id, reach.denied is None))
        else:
            yield Step(RULE, Outcome.PASSED, exact_rule_id=reach.allow_rule_id)
    for touched in request.touched:
        if not touched.type_is_chosen:
            yield _stored_type(request, enforcer, touched)


def chosen_type(touched: Touched) -> str:
    """Returns the type named by the request, `*` when it names none."""
    return touched.object_type if isinstance(touched.object_type, str) else ANY


def _stored_type(request: AccessRequest, enforcer: Enforcer, touched: Touched) -> Step:
    object_id, object_type = touched.object_id or ANY, touched.object_type
    reach = enforcer.type_reach(request.actor_id, request.action, object_id)
    if reach.extent is Extent.ALL:
        return Step(STORED_TYPE, Outcome.PASSED)
    if object_type is None and reach.extent is Extent.SOME:
        return Step(STORED_TYPE, Outcome.UNDECIDED)
    if isinstance(object_type, str) and reach.admits(object_type):
        rule_id = enforcer.check(request.actor_id, request.action, object_type, object_id).rule_id
        return Step(STORED_TYPE, Outcome.PASSED, exact_rule_id=rule_id)
    exact, exact_rule_id = ExactReason.OBJECT_ABSENT, None
    if isinstance(object_type, str):
        verdict = enforcer.check(request.actor_id, request.action, object_type, object_id)
        exact = ExactReason.EXPLICIT_DENY if verdict.explicit_deny else ExactReason.NO_RULE
        exact_rule_id = verdict.rule_id
    elif object_type is None:
        exact = ExactReason.NO_RULE
    # One coarse reason and no rule id: a deny of some type must not tell that an object of the type exists.
    return failed(STORED_TYPE, exact, coarse=CoarseReason.NO_RULE, exact_rule_id=exact_rule_id)


def _judged(verdict: Verdict) -> Step:
    return Step(RULE, Outcome.PASSED, exact_rule_id=verdict.rule_id) if verdict.allowed else _refused(verdict)


def _refused(verdict: Verdict) -> Step:
    exact = ExactReason.EXPLICIT_DENY if verdict.explicit_deny else ExactReason.NO_RULE
    return failed(RULE, exact, rule_id=verdict.rule_id if verdict.explicit_deny else None)
