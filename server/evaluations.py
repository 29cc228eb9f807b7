"""Changes under an evaluation: a sealed snapshot's clock, seed and run (PAMSPEC 18.11; P-18.11-03 to -07, Q47).

Only workspaces of kind `evaluation` take them. What a run changes is counted in the ledger's transaction, so the same
calls, one after another, in a fresh workspace read the same clock. Windows of grants and everything else that decides
on authority keep the database's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from server.domain_errors import PolicyDenied
from server.sealed_snapshots import sealed_snapshot
from storage.commands import ColdChange
from storage.model.snapshot import Snapshot
from storage.model.workspace import Workspace
from storage.snapshots import count_changes

if TYPE_CHECKING:
    from server.services import Services

EVALUATION_SCOPE_KIND: Final = "evaluation"
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
