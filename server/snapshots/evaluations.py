"""Changes under an evaluation: a sealed snapshot's clock, seed and run (PAMSPEC 18.11; P-18.11-03 to -07, Q47).

Only workspaces of kind `evaluation` take them. What a run changes is counted in the ledger's transaction, so the same
calls, one after another, in a fresh workspace read the same clock. Windows of grants and everything else that decides
on authority keep the database's clock.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from server.domain_errors import PolicyDenied, SnapshotNotFound
from server.snapshots.sealed import sealed_snapshot
from storage.commands import ColdChange
from storage.encryption import IntegrityViolation
from storage.model.snapshot import Snapshot
from storage.model.workspace import Workspace
from storage.snapshots import count_changes

if TYPE_CHECKING:
    from server.call import Call
    from server.services import Services

EVALUATION_SCOPE_KIND: Final = "evaluation"
EVALUATION_ATTEMPTS_MAX: Final = 12
"""How often a change is made again when another process took the reading of the clock; one process's take turns."""

_TIME_US_MAX: Final = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The snapshot that a change is made under, and how many changes its run had before."""

    snapshot: Snapshot
    changes: int

    def time_us(self) -> int | None:
        """Returns the time of the change by the snapshot's clock, None when it has none; raises PolicyDenied at its end."""
        if self.snapshot.clock is None:
            return None
        reading_us = self.snapshot.clock.reading_us(self.changes)
        if reading_us > _TIME_US_MAX:
            raise PolicyDenied("the clock of the evaluation has run out", field="evaluation_snapshot_id")
        return reading_us

    def tick(self) -> ColdChange:
        """Returns the change that counts this one, unless another was counted meanwhile."""
        return ColdChange("evaluation.tick", {"run_key": self.snapshot.run_key, "changes": self.changes})


def demand_evaluation_workspace(workspace: Workspace) -> None:
    """Raises PolicyDenied in a workspace that is not for evaluation."""
    if workspace.scope_kind != EVALUATION_SCOPE_KIND:
        raise PolicyDenied("the workspace is not one of kind evaluation", field="evaluation_snapshot_id")


async def evaluation_of(services: Services, tenant_id: str, workspace: Workspace, snapshot_id: str) -> Evaluation:
    """Returns the evaluation that a change names by its snapshot.

    Raises PolicyDenied in a workspace that is not for evaluation, SnapshotNotFound, IntegrityViolation.
    """
    demand_evaluation_workspace(workspace)
    snapshot = await sealed_snapshot(services, tenant_id, workspace.scope_id, snapshot_id)
    changes = await count_changes(services.database, tenant_id, workspace.scope_id, snapshot.run_key)
    return Evaluation(snapshot, changes)


def names_evaluation(request: Any) -> bool:
    """Returns whether a change is to be made under an evaluation."""
    return bool(getattr(request, "evaluation_snapshot_id", ""))


def turn_of(call: Call) -> AbstractAsyncContextManager[Any]:
    """Returns what a call holds while it is made: under an evaluation, the workspace's turn."""
    if not names_evaluation(call.request):
        return nullcontext()
    return call.services.views.evaluation_turn(call.tenant_id, call.scope_id)


async def mark_run(call: Call) -> None:
    """Lets events of a refused change name the run that it was tried under, where there is one."""
    if call.evaluation is None and names_evaluation(call.request):
        # What is wrong with the evaluation is not what the change was refused for.
        with suppress(PolicyDenied, SnapshotNotFound, IntegrityViolation):
            snapshot_id = str(call.request.evaluation_snapshot_id)
            call.evaluation = await evaluation_of(call.services, call.tenant_id, call.view.workspace, snapshot_id)
