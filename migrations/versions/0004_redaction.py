"""Redactions and what they erase, and the keyed hashes by which encrypted parts are found."""

from migrations.sql_files import protect_tables, run_sql, run_sql_file

revision = "0004_redaction"
down_revision = "0003_relationships"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0004_redaction.sql", "remit_owner")
    protect_tables("redaction_jobs", "memory_lookups")
    run_sql(
        "create policy sweep_finds on remit.redaction_jobs for select to remit_writer using (state = 'open');"
        "grant insert, update on remit.redaction_jobs to remit_writer;"
        "grant insert, delete on remit.memory_lookups to remit_writer;"
        "grant update (integrity_lookup) on remit.memory_versions to remit_writer;",
        "remit_owner",
    )
    run_sql_file("0004_redaction_functions.sql", "remit_writer")
