"""Imports and the foreign ledgers they attach."""

revision = "0008_portability"
down_revision = "0007_snapshots"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    pass
