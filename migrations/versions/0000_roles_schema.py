"""The schema opens to its roles, and gets its clock.

The roles, the schema and Alembic's table are laid by migrations.foundation before any revision.
"""

from migrations.sql_files import run_sql_file

revision = "0000_roles_schema"
down_revision = None
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0000_roles_schema.sql", "remit_owner")
