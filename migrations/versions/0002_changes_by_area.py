"""Commands that move several objects and carry several changes by name, each area's in functions of its own."""

from migrations.sql_files import run_sql_file

revision = "0002_changes_by_area"
down_revision = "0001_spine"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0002_events.sql", "remit_owner")
    run_sql_file("0002_commit.sql", "remit_writer")
