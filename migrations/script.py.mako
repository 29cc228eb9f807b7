"""${message}"""

from migrations.sql_files import run_sql_file

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None

# "pre": runs before the new code rolls out, so the old code must bear it. "post": runs once the old code is gone.
PHASE = "pre"


def upgrade() -> None:
    run_sql_file("${up_revision}.sql", "remit_owner")
