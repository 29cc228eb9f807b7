"""The two ends of a relationship: who may relate them, and where (authority.md; P-7.5-04, P-7.5-05, P-8.5-05, P-8.5-06).

Each end is judged under the policy of the workspace it lies in. A target elsewhere needs three things: a basis that is
recorded, a rule of its own workspace that permits the relationship's, and the caller's right there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from authz.decision import Allowed, Decision, Denied, decide
from authz.permissions import READ, RELATE
from authz.policy import CROSS_SCOPE_RELATIONSHIP
from authz.request import ABSENT, AccessRequest, Touched
from server.authority.refusals import Refused, StaleFacts
from server.call import Call, operation_of
from server.domain_errors import ObjectDeleted, ObjectNotFound, PolicyDenied, RelationshipConflict
from server.views import WorkspaceView
from storage.commands import AlsoGuard
from storage.objects import ObjectFacts, ObjectKey


@dataclass(frozen=True, slots=True)
class RelationEnds:
    """Both ends as they were read, after the caller's right on them was judged.

    `target_view` only where it is another's; `permitted` is whether that workspace lets relationships of this one in.
    """

    source_object_id: str
    target_object_id: str
    target_scope_id: str | None
    source: ObjectFacts
    target: ObjectFacts
    target_view: WorkspaceView | None
    permitted: bool = True

    @property
    def source_type(self) -> str:
        """The source's stored type; it must be there."""
        assert self.source.standing is not None
        return self.source.standing.object_type

    @property
    def also(self) -> AlsoGuard | None:
        """The guard of the target's workspace, None where it is the call's own."""
        if self.target_view is None or self.target_scope_id is None:
            return None
        return AlsoGuard(self.target_scope_id, self.target_view.enforcer.restrict_revision)

    def demand_present(self) -> None:
        """Raises ObjectNotFound unless both ends are there, be it as tombstones."""
        if self.source.standing is None or self.target.standing is None:
            raise ObjectNotFound

    def demand_permitted(self) -> None:
        """Raises PolicyDenied where a change needs the permit of the target's workspace and there is none."""
        if not self.permitted:
            raise _no_permit()

    def demand_live(self) -> None:
        """Raises ObjectDeleted when the source is deleted, RelationshipConflict when the target is (P-14-15)."""
        if self.source.standing is not None and self.source.standing.verdict == "deleted":
            raise ObjectDeleted(self.source_object_id)
        if self.target.standing is not None and self.target.standing.verdict == "deleted":
            raise RelationshipConflict


def evaluate_at(
    call: Call, view: WorkspaceView, action: str, touched: Sequence[Touched], *, row_filtered: bool = False
) -> Decision:
    """Returns the evaluator's answer for an action of this call in a workspace, under that workspace's policy.

    A grant reaches where it is effective and nowhere else: it never conveys anything in another workspace.
    """
    request = AccessRequest(
        tenant_id=call.tenant_id,
        scope_id=view.workspace.scope_id,
        actor_id=call.actor_id,
        action=action,
        operation=operation_of(action),
        touched=tuple(touched),
        row_filtered=row_filtered,
    )
    exercise = call.exercise
    return decide(
        request,
        view.enforcer,
        None if exercise is None else exercise.grants,
        0 if exercise is None else exercise.now_us,
        # The use is judged where it is taken: in the call's own workspace.
        ignore_uses=True,
    )


async def demand_ends(
    call: Call,
    source_object_id: str,
    target_object_id: str,
    target_scope_id: str | None,
    policy_basis: str,
    *,
    removes: bool = False,
) -> RelationEnds:
    """Returns both ends after the caller's right to relate each of them was judged on its stored type and id.

    `target_scope_id` is the target's workspace where it is another, resolved inside the tenant only. Raises Refused,
    PolicyDenied (the basis or the permit is missing), StaleFacts. Whether the ends are there is not judged. What only
    `removes` needs no permit: who withdrew it does not keep what was related before (P-7.5-05).
    """
    call.demand([Touched(source_object_id)], action=RELATE)
    target_view, permitted = None, True
    if target_scope_id is None:
        call.demand([Touched(target_object_id)], action=RELATE)
    else:
        target_view = await _reached(call, target_scope_id, policy_basis)
        permitted = target_view.enforcer.permits_cross_scope(call.scope_id, CROSS_SCOPE_RELATIONSHIP)
        if not permitted and not removes:
            raise _no_permit()
        _demand_at(call, target_view, Touched(target_object_id), permitted=permitted)
    source, target = await asyncio.gather(
        call.services.objects.get(call.tenant_id, ObjectKey(call.scope_id, source_object_id)),
        call.services.objects.get(call.tenant_id, ObjectKey(target_scope_id or call.scope_id, target_object_id)),
    )
    call.confirm(source.heads)
    call.demand([_touched(source_object_id, source)], action=RELATE)
    if target_view is None:
        call.confirm(target.heads)
        call.demand([_touched(target_object_id, target)], action=RELATE)
    else:
        if target.heads is None or target.heads.restrict_revision != target_view.enforcer.restrict_revision:
            raise StaleFacts
        _demand_at(call, target_view, _touched(target_object_id, target), permitted=permitted)
    return RelationEnds(source_object_id, target_object_id, target_scope_id, source, target, target_view, permitted)


async def _reached(call: Call, target_scope_id: str, policy_basis: str) -> WorkspaceView:
    if not policy_basis:
        raise PolicyDenied("a relationship across workspaces needs a basis that is recorded", field="policy_basis")
    # Fresh, because a refusal by the rules there is recorded and guarded here only.
    view = await call.services.views.fresh(call.tenant_id, target_scope_id)
    if view is None:
        raise _no_permit()
    return view


def _no_permit() -> PolicyDenied:
    return PolicyDenied("the target workspace has no rule that permits it", field="target_scope_id")


def _demand_at(call: Call, view: WorkspaceView, touched: Touched, *, permitted: bool) -> None:
    decision = evaluate_at(call, view, RELATE, [touched])
    if isinstance(decision, Denied):
        if not permitted:
            # Without a permit, a workspace where the caller has no right is told like an absent one.
            raise _no_permit()
        # The rule is another workspace's: it is the ledger's to know.
        told = replace(decision, rule_id=None, exact_rule_id=decision.exact_rule_id or decision.rule_id)
        raise Refused(told, touched.object_id)


def _touched(object_id: str, facts: ObjectFacts) -> Touched:
    return Touched(object_id, ABSENT if facts.standing is None else facts.standing.object_type)


def may_read_ends(call: Call, ends: RelationEnds) -> bool:
    """Returns whether the caller may read both ends, each under its own workspace's policy."""
    own = [(ends.source_object_id, ends.source)]
    if ends.target_view is None:
        own.append((ends.target_object_id, ends.target))
    else:
        decision = evaluate_at(call, ends.target_view, READ, [_touched(ends.target_object_id, ends.target)])
        if not isinstance(decision, Allowed):
            return False
    return all(facts.standing is not None and call.may_read(one, facts.standing.object_type) for one, facts in own)
