"""Embedding spaces, vectors, lineage and the lexical index."""

revision = "0006_derived"
down_revision = "0005_subscriptions"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    pass
