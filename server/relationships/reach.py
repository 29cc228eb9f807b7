"""How far a call sees along relationships: in its own workspace, and in those that relationships lead to.

Every workspace judges for itself: by its own rules, and by whether it lets relationships of another end in it
(P-8.5-07, P-15.7-01). A grant reaches where it is effective and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from authz.decision import Allowed
from authz.permissions import REVIEW
from authz.policy import CROSS_SCOPE_RELATIONSHIP
from server.authority.refusals import StaleFacts
from server.authority.row_authority import row_filter
from server.call import Call
from server.relationships.ends import evaluate_at
from server.views import WorkspaceView
from storage.relationship_ends import EndReach, ScopeReach, scopes_abroad
from storage.row_filter import RowFilter
from storage.workspaces import load_heads


@dataclass(slots=True)
class Reaches:
    """What one call may see of the objects of each workspace it has come to, for one action."""

    call: Call
    action: str
    _views: dict[str, WorkspaceView] = field(default_factory=dict)
    _reaches: dict[str, ScopeReach] = field(default_factory=dict)

    def own(self) -> ScopeReach:
        """Returns the reach in the call's own workspace. Raises Refused when it reaches nothing there."""
        call = self.call
        if call.scope_id not in self._reaches:
            decision = call.demand((), action=self.action, row_filtered=True)
            assert isinstance(decision, Allowed), "only an object's stored type is ever undecided"
            self._keep(call.view, tuple(row_filter(reach) for reach in decision.reaches))
        return self._reaches[call.scope_id]

    async def meet(self, scope_ids: Iterable[str]) -> None:
        """Comes to workspaces of the tenant; of one that is not there, nothing is reached."""
        for scope_id in scope_ids:
            if scope_id in self._reaches:
                continue
            view = await self.call.services.views.get(self.call.tenant_id, scope_id)
            if view is None:
                self._reaches[scope_id] = ScopeReach(scope_id, None, RowFilter(frozenset(), frozenset()))
                continue
            decision = evaluate_at(self.call, view, self.action, (), row_filtered=True)
            filters = None
            if isinstance(decision, Allowed):
                filters = tuple(row_filter(reach) for reach in decision.reaches)
            self._keep(view, filters)

    def _keep(self, view: WorkspaceView, filters: tuple[RowFilter, ...] | None) -> None:
        scope_id = view.workspace.scope_id
        review = row_filter(view.enforcer.reach(self.call.actor_id, REVIEW))
        self._views[scope_id] = view
        self._reaches[scope_id] = ScopeReach(scope_id, filters, review)

    def all(self) -> Sequence[ScopeReach]:
        """Returns the reaches of every workspace met, the call's own first."""
        return tuple(self._reaches.values())

    def permitted(self) -> list[tuple[str, str]]:
        """Returns the pairs of workspaces met of which the second lets relationships of the first end in it."""
        return [
            (source, target)
            for target, view in self._views.items()
            for source in self._views
            if source != target and view.enforcer.permits_cross_scope(source, CROSS_SCOPE_RELATIONSHIP)
        ]

    @property
    def views(self) -> Mapping[str, WorkspaceView]:
        """The views of the workspaces that were met and are there."""
        return self._views

    async def of_ends(self) -> EndReach:
        """Returns the reach over both ends of the relationships that lie in the call's own workspace. Raises Refused."""
        call = self.call
        own = self.own()
        await self.meet(await scopes_abroad(call.services.database, call.tenant_id, call.scope_id))
        let_in = {target for source, target in self.permitted() if source == call.scope_id}
        return EndReach(own, tuple(reach for scope_id, reach in self._reaches.items() if scope_id in let_in))

    async def confirm(self) -> None:
        """Raises StaleFacts unless the policies that were judged by stand after all was read.

        Held to the whole policy, so that a right just given never leaves anything out. The call's own workspace is
        confirmed by what reads it.
        """
        scope_ids = sorted(self._views.keys() - {self.call.scope_id})
        if not scope_ids:
            return
        found = await load_heads(self.call.services.database, self.call.tenant_id, scope_ids)
        stale = []
        for scope_id, heads in zip(scope_ids, found, strict=True):
            view = self._views[scope_id]
            if heads is None or (heads.policy_revision, heads.epoch) != (
                view.enforcer.policy_revision,
                view.heads.epoch,
            ):
                stale.append(scope_id)
        for scope_id in stale:
            # The next attempt finds them as they are now.
            await self.call.services.views.fresh(self.call.tenant_id, scope_id)
        if stale:
            raise StaleFacts
