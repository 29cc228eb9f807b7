"""Relationships: their pointers and versions, and permits for them to end in another workspace."""

from migrations.sql_files import protect_tables, run_sql, run_sql_file

revision = "0003_relationships"
down_revision = "0002_changes_by_area"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0003_relationships.sql", "remit_owner")
    protect_tables("relationships", "relationship_versions")
    run_sql_file("0003_relationship_functions.sql", "remit_writer")
    run_sql(
        "create trigger mark_ends after insert on remit.relationships for each row execute function remit.mark_ends()",
        "remit_owner",
    )
