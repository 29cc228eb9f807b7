"""A decision laid open, step by step (authority.md, Explain; P-15.3-01)."""

from dataclasses import dataclass

from authz.decision import Decision, settle, steps_of
from authz.delegation import Chain
from authz.own_steps import STORED_TYPE
from authz.policy import Enforcer
from authz.request import AccessRequest, Outcome, Step


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """One judgement: what was judged, whether it held, why not. `passed` is None when a stored type would decide."""

    step: str
    passed: bool | None
    reason: str | None
    rule_id: str | None
    delegation_id: str | None
    version_id: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision `decide` gives on the same facts, and every step of it, those after the first failure included."""

    decision: Decision
    steps: tuple[ExplainedStep, ...]


def explain(
    request: AccessRequest,
    enforcer: Enforcer,
    chain: Chain | None,
    now_us: int,
    *,
    ignore_uses: bool = False,
    exact: bool = True,
) -> Explanation:
    """Returns the steps of a decision to their end, the failing hop of a chain among them.

    `exact` is for who holds `authority.explain`. An actor that only asks about itself gets what a denial would tell it:
    coarse reasons, its own rules, and nothing by which a stored type or an absence could be told.
    """
    steps = tuple(steps_of(request, enforcer, chain, now_us, ignore_uses=ignore_uses))
    decision = settle(request, enforcer, chain, steps)
    if exact:
        return Explanation(decision, tuple(_exactly(step) for step in steps))
    # A refusal that came before the stored type was looked at stays silent about it.
    refused_early = any(step.outcome is Outcome.FAILED and step.name != STORED_TYPE for step in steps)
    told = (step for step in steps if not (refused_early and step.name == STORED_TYPE))
    exercised = chain[-1].delegation_id if chain else None
    return Explanation(decision, tuple(_coarsely(step, exercised) for step in told))


def _exactly(step: Step) -> ExplainedStep:
    rule_id = step.exact_rule_id or step.rule_id
    return ExplainedStep(step.name, _passed(step), step.exact, rule_id, step.delegation_id, step.version_id)


def _coarsely(step: Step, exercised: str | None) -> ExplainedStep:
    """Names the grant the actor exercises, and no grant above it."""
    own = step.delegation_id == exercised and step.name != STORED_TYPE
    return ExplainedStep(
        step.name,
        _passed(step),
        step.coarse,
        step.rule_id,
        step.delegation_id if own else None,
        step.version_id if own else None,
    )


def _passed(step: Step) -> bool | None:
    return None if step.outcome is Outcome.UNDECIDED else step.outcome is Outcome.PASSED
