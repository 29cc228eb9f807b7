"""Durable subscriptions."""

revision = "0005_subscriptions"
down_revision = "0004_redaction"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    pass
