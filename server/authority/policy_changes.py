"""Changes of a policy, one after another: each names the revision it makes (authority.md, "Own authority")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from authz.decision import Denied
from server.authority.refusals import StaleFacts
from server.call import Call, Change
from storage.commands import ColdChange, Outcome, Status
from storage.model.event_record import Event
from storage.workspaces import load_heads

# Only processes race here: changes of one process take turns.
_ATTEMPTS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """What a change writes. `restricts`: it can take something away from somebody, so allowances are decided again."""

    cold: ColdChange
    event: Event
    restricts: bool


Prepare = Callable[[int], Awaitable[PolicyChange]]
"""Given the policy revision that the change makes, returns the change as of the revision before it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of it. `policy_revision` is the one that stands now, `event_id` empty when nothing changed."""

    outcome: Outcome
    policy_revision: int
    event_id: str
    operation_id: str

    @property
    def replayed(self) -> bool:
        """Nothing changed now: it stood already, or an idempotency key had its answer."""
        return self.outcome.status is not Status.ACCEPTED


async def change_policy(call: Call, prepare: Prepare, kept: Mapping[str, Any]) -> Changed:
    """Commits a change in its turn; `kept` are the ids that an idempotency key keeps of it beside the revision.

    Raises StaleFacts when other processes were quicker too often, or the caller has lost its right meanwhile.
    """
    async with call.services.views.policy_turn(call.tenant_id, call.scope_id):
        for _ in range(_ATTEMPTS_MAX):
            before = await _standing_revision(call)
            change = await prepare(before + 1)
            try:
                return await _commit(call, change, before, kept)
            except StaleFacts:
                continue
    raise StaleFacts


async def _standing_revision(call: Call) -> int:
    """Returns the policy revision now, with the caller's right decided on the rules that stand now."""
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    if heads is None:
        raise StaleFacts
    if heads.restrict_revision == call.view.enforcer.restrict_revision:
        return heads.policy_revision
    view = await call.services.views.fresh(call.tenant_id, call.scope_id)
    if view is None:
        raise StaleFacts
    call.view = view
    # Who is denied now is judged from the start, so that the denial is recorded as any other.
    if isinstance(call.evaluate(call.action, ()), Denied):
        raise StaleFacts
    return view.enforcer.policy_revision


async def _commit(call: Call, change: PolicyChange, before: int, kept: Mapping[str, Any]) -> Changed:
    event = call.event(change.event)
    outcome = await call.commit(
        Change(
            events=[event],
            result={"policy_revision": before + 1, "event_ids": [event.event_id], **kept},
            colds=[change.cold],
            bump=["policy", "restrict"] if change.restricts else ["policy"],
            policy_revision=before,
            urgent=True,
        )
    )
    if outcome.status is Status.ACCEPTED:
        return Changed(outcome, before + 1, event.event_id, call.operation_id)
    if outcome.status is Status.REPLAYED:
        return _kept(outcome.detail)
    return Changed(outcome, before, "", call.operation_id)


async def earlier_change(call: Call) -> Changed | None:
    """Returns the change that the call's idempotency key keeps, None when the key is free.

    Raises StaleFacts unless the authority of now allows the call, DuplicateOperation when the key is another request's.
    """
    kept = call.replayed()
    if kept is None:
        return None
    [heads] = await load_heads(call.services.database, call.tenant_id, [call.scope_id])
    call.confirm(heads)
    return _kept(kept)


def _kept(kept: Mapping[str, Any]) -> Changed:
    outcome = Outcome(Status.REPLAYED, kept, 0)
    return Changed(outcome, int(kept["policy_revision"]), str(kept["event_ids"][0]), str(kept["operation_id"]))
