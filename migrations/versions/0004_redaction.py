"""Redactions and the projections that erasing leaves."""

revision = "0004_redaction"
down_revision = "0003_relationships"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    pass
