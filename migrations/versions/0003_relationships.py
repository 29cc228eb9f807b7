"""Relationships: their pointers and versions."""

revision = "0003_relationships"
down_revision = "0002_changes_by_area"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    pass
