"""Durable subscriptions."""

from migrations.sql_files import protect_tables, run_sql, run_sql_file

revision = "0005_subscriptions"
down_revision = "0004_redaction"
branch_labels = None
depends_on = None

PHASE = "pre"


def upgrade() -> None:
    run_sql_file("0005_subscriptions.sql", "remit_owner")
    protect_tables("subscriptions", "subscription_signals")
    run_sql("grant insert, update on remit.subscriptions, remit.subscription_signals to remit_writer", "remit_owner")
    run_sql_file("0005_subscription_functions.sql", "remit_writer")
