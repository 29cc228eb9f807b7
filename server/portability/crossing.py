"""Relationships of an import into another workspace: judged as Relate judges them (authority.md; P-7.5-04, P-7.5-05).

The right to import reaches no further than the call's workspace. Whatever keeps such a relationship out is told in one
way, so that nothing shows which objects the other workspace holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from authz.decision import Allowed
from authz.permissions import RELATE
from authz.policy import CROSS_SCOPE_RELATIONSHIP
from authz.request import Touched
from server.authority.refusals import StaleFacts
from server.call import Call
from server.relationships.ends import evaluate_at
from server.views import WorkspaceView
from storage.commands import AlsoGuard
from storage.model.relationship import RelationshipCore
from storage.objects import ObjectKey


@dataclass(slots=True)
class Crossings:
    """The relationships of one import that reach elsewhere: into one workspace, the first that may be reached.

    A change is guarded by one other workspace beside its own, so those into a second one are left out. `guard` is that of
    the workspace reached, None while there is none.
    """

    call: Call
    guard: AlsoGuard | None = None
    _views: dict[str, WorkspaceView | None] = field(default_factory=dict)

    async def may_cross(self, core: RelationshipCore, source: Touched) -> bool:
        """Returns whether the caller may relate both ends, `source` being that end as it will stand here.

        The target must be there and not deleted. Raises StaleFacts when the policy there has moved.
        """
        if self.guard is not None and self.guard.scope_id != core.target_scope:
            return False
        view = await self._permitting(core.target_scope)
        if view is None or not self._may_relate(self.call.view, source):
            return False
        key = ObjectKey(core.target_scope, core.target_object_id)
        target = await self.call.services.objects.get(self.call.tenant_id, key)
        if target.heads is None or target.heads.restrict_revision != view.enforcer.restrict_revision:
            raise StaleFacts
        if target.standing is None or target.standing.verdict == "deleted":
            return False
        if not self._may_relate(view, Touched(core.target_object_id, target.standing.object_type)):
            return False
        self.guard = AlsoGuard(core.target_scope, view.enforcer.restrict_revision)
        return True

    async def _permitting(self, scope_id: str) -> WorkspaceView | None:
        """The workspace as it stands now, None unless it permits relationships from the call's."""
        if scope_id not in self._views:
            # Fresh, because a refusal by the rules there is guarded nowhere.
            view = await self.call.services.views.fresh(self.call.tenant_id, scope_id)
            permits = view is not None and view.enforcer.permits_cross_scope(
                self.call.scope_id, CROSS_SCOPE_RELATIONSHIP
            )
            self._views[scope_id] = view if permits else None
        return self._views[scope_id]

    def _may_relate(self, view: WorkspaceView, touched: Touched) -> bool:
        return isinstance(evaluate_at(self.call, view, RELATE, [touched]), Allowed)
