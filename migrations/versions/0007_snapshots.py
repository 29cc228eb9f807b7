"""Sealed snapshots and evaluation runs."""

revision = "0007_snapshots"
down_revision = "0006_derived"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    pass
