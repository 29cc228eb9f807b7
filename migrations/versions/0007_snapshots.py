"""Sealed snapshots and evaluation runs; indexes for queries by time."""

from migrations.sql_files import protect_tables, run_sql_file

revision = "0007_snapshots"
down_revision = "0006_derived"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0007_snapshots.sql", "remit_owner")
    protect_tables("snapshots", "evaluation_runs")
    run_sql_file("0007_snapshot_functions.sql", "remit_writer")
