"""Imports and the foreign ledgers they attach."""

from migrations.sql_files import protect_tables, run_sql_file

revision = "0008_portability"
down_revision = "0007_snapshots"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0008_portability.sql", "remit_owner")
    protect_tables("imports", "import_rows", "imported_versions", "imported_delegations", "foreign_ledger_records")
    run_sql_file("0008_portability_functions.sql", "remit_writer")
