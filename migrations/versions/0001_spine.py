"""The spine: workspaces, policy, grants, memory, ledger, and the one function that writes them."""

from migrations.sql_files import run_sql_file

revision = "0001_spine"
down_revision = "0000_roles_schema"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0001_tables.sql", "remit_owner")
    run_sql_file("0001_commit.sql", "remit_writer")
