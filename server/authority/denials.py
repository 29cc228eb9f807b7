"""Denials that are found outside the evaluator: by the resolver of workspaces, the interceptor or the commit function."""

from __future__ import annotations

from typing import Final

from authz.decision import Denied
from authz.policy import Verdict
from authz.reasons import COARSE_OF, CoarseReason, ExactReason

NOT_A_MEMBER: Final = Denied(CoarseReason.NO_RULE, ExactReason.NOT_A_MEMBER, hides_object=True)
ACTOR_MISMATCH: Final = Denied(CoarseReason.ACTOR_MISMATCH, ExactReason.ACTOR_MISMATCH, hides_object=True)
CONDITIONAL_RIGHT: Final = Denied(CoarseReason.NO_RULE, ExactReason.NO_RULE)


def lacking(verdict: Verdict, *, hides_object: bool = False) -> Denied:
    """Returns the denial of what the rules do not allow; a rule that forbids it is named (P-14-02)."""
    exact = ExactReason.EXPLICIT_DENY if verdict.explicit_deny else ExactReason.NO_RULE
    rule_id = verdict.rule_id if verdict.explicit_deny else None
    return Denied(COARSE_OF[exact], exact, rule_id, hides_object=hides_object)


def unknown_grant() -> Denied:
    """Returns the denial of a call that names a grant which is not here."""
    exact = ExactReason.DELEGATION_UNKNOWN
    return Denied(COARSE_OF[exact], exact, hides_object=True)


def ineffective(reason: str, delegation_id: str) -> Denied:
    """Returns the denial that a failed guard of a chain is; `reason` is the commit function's."""
    exact = ExactReason(reason)
    return Denied(COARSE_OF[exact], exact, delegation_id=delegation_id)


def exhausted(delegation_id: str) -> Denied:
    """Returns the denial of a call whose grant, or one above it, has no use left."""
    exact = ExactReason.USAGE_LIMIT_EXHAUSTED
    return Denied(COARSE_OF[exact], exact, delegation_id=delegation_id)
