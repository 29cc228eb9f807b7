"""Whether the caller may take a workspace out, or bring one in: over everything in it, or not at all.

A filtered export would pass for a whole one wherever it is imported, so a caller whose right does not reach everything is
refused, and so is one whom a rule keeps from reading some of it (P-15.2-01).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Final, TypeVar

from authz.decision import Denied
from authz.permissions import ANY, READ
from authz.reasons import COARSE_OF, ExactReason
from server.authority import denials
from server.authority.refusals import Refused, StaleFacts
from server.call import Call
from server.domain_errors import ScopeNotFound
from storage.objects import Heads
from storage.workspaces import load_heads

Page = TypeVar("Page")

_ATTEMPTS_MAX: Final = 3


def demand_whole(call: Call, actions: Collection[str], *, reading: bool) -> None:
    """Raises Refused unless the caller holds each action over everything, and with `reading` is denied to read nothing."""
    enforcer, actor_id = call.view.enforcer, call.actor_id
    for action in actions:
        verdict = enforcer.check(actor_id, action, ANY, ANY)
        if not verdict.allowed:
            raise Refused(denials.lacking(verdict))
    judged = (*actions, READ) if reading else actions
    if any(enforcer.reach(actor_id, action).deny for action in judged):
        exact = ExactReason.EXPLICIT_DENY
        raise Refused(Denied(COARSE_OF[exact], exact))


async def demand_still(call: Call, heads: Heads | None, demand: Callable[[], None]) -> bool:
    """Returns whether what was read at `heads` stands at the view decided on; if not, decides on a fresh view.

    Raises ScopeNotFound, and Refused when the fresh view does not allow what the old one did.
    """
    seen = None if heads is None else (heads.epoch, heads.restrict_revision)
    if seen == (call.view.heads.epoch, call.view.enforcer.restrict_revision):
        return True
    view = await call.services.views.fresh(call.tenant_id, call.scope_id)
    if view is None:
        raise ScopeNotFound
    call.view = view
    demand()
    return False


async def standing_page(call: Call, load: Callable[[], Awaitable[Page]], demand: Callable[[], None]) -> Page:
    """Returns a page that was read while the caller was allowed to have it: judged at a head read after it.

    Raises StaleFacts when the policy does not stop moving; ScopeNotFound, Refused.
    """
    for _ in range(_ATTEMPTS_MAX):
        try:
            page = await load()
        except StaleFacts:
            continue  # something was removed between its statement and its keys
        [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
        if await demand_still(call, heads, demand):
            return page
    raise StaleFacts
