"""Workspace views: one immutable enforcer per workspace revision, swapped in whole (authority.md, "Own authority").

A view may be old. That is harmless: whatever is decided on it is guarded by the revision it stands at, under the
ledger's lock or in the statement that reads, and decided again on a fresh view when the revision has moved. No time is
involved.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakValueDictionary

from authz.policy import Binding, CrossScopeRule, Enforcer, Rule
from storage.database import Database
from storage.model.workspace import Workspace
from storage.objects import Heads
from storage.workspaces import WorkspaceSnapshot, load_workspace


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace with the enforcer of its policy and the head both were read at."""

    workspace: Workspace
    enforcer: Enforcer
    heads: Heads


def _view(tenant_id: str, snapshot: WorkspaceSnapshot) -> WorkspaceView:
    policy = snapshot.policy
    enforcer = Enforcer.build(
        tenant_id,
        snapshot.workspace.scope_id,
        policy.policy_revision,
        policy.restrict_revision,
        [Rule(r.rule_id, r.subject, r.action, r.object_type, r.object_id, r.effect.value) for r in policy.rules],
        [Binding(b.actor_id, b.role_id) for b in policy.bindings],
        [CrossScopeRule(x.rule_id, x.source_scope_id, x.kind.value) for x in policy.cross_scope_rules],
    )
    return WorkspaceView(snapshot.workspace, enforcer, snapshot.heads)


class WorkspaceViews:
    """The views this process holds, at most `views_max`, keyed by tenant and workspace."""

    def __init__(self, database: Database, *, views_max: int = 2000) -> None:
        self._database = database
        self._views_max = views_max
        self._views: OrderedDict[tuple[str, str], WorkspaceView] = OrderedDict()
        self._loading: dict[tuple[str, str], asyncio.Task[WorkspaceView | None]] = {}
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._evaluation_turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def held(self) -> list[tuple[str, str]]:
        """Returns tenant and scope of every view held, the longest unused first."""
        return list(self._views)

    async def get(self, tenant_id: str, scope_id: str) -> WorkspaceView | None:
        """Returns the view held, or loads one; None when the tenant has no such workspace."""
        key = (tenant_id, scope_id)
        view = self._views.get(key)
        if view is not None:
            self._views.move_to_end(key)
            return view
        return await self._load(key)

    async def fresh(self, tenant_id: str, scope_id: str) -> WorkspaceView | None:
        """Returns a view whose load began after this call: what was committed before is in it."""
        key = (tenant_id, scope_id)
        under_way = self._loading.get(key)
        if under_way is not None:
            await asyncio.wait([under_way])
        self._views.pop(key, None)
        return await self._load(key)

    def policy_turn(self, tenant_id: str, scope_id: str) -> asyncio.Lock:
        """Returns the lock under which this process changes a workspace's policy, one change after another.

        Each change names the revision it makes, so those that run side by side would only undo each other.
        """
        return self._turns.setdefault((tenant_id, scope_id), asyncio.Lock())

    def evaluation_turn(self, tenant_id: str, scope_id: str) -> asyncio.Lock:
        """Returns the lock under which this process makes the changes of evaluations, one change after another.

        Each reads the next time of its run's clock; side by side, all but one would have to be made again.
        """
        return self._evaluation_turns.setdefault((tenant_id, scope_id), asyncio.Lock())

    async def _load(self, key: tuple[str, str]) -> WorkspaceView | None:
        task = self._loading.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._read(key))
            self._loading[key] = task
            task.add_done_callback(lambda _: self._loading.pop(key, None))
        # The load is everybody's: a caller that is cancelled must not take it down.
        return await asyncio.shield(task)

    async def _read(self, key: tuple[str, str]) -> WorkspaceView | None:
        snapshot = await load_workspace(self._database, *key)
        if snapshot is None:
            self._views.pop(key, None)
            return None
        view = _view(key[0], snapshot)
        self._views[key] = view
        self._views.move_to_end(key)
        while len(self._views) > self._views_max:
            self._views.popitem(last=False)
        return view
