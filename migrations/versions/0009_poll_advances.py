"""Moves of a poll's cursor that are known when they are handed over again."""

from migrations.sql_files import run_sql_file

revision = "0009_poll_advances"
down_revision = "0008_portability"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0009_poll_advances.sql", "remit_owner")
    run_sql_file("0009_poll_advance_functions.sql", "remit_writer")
