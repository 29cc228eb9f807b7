"""Alembic's environment, run by storage.migrate with a connection as the DDL role that holds the migration lock."""

from alembic import context
from sqlalchemy import Connection, text

from migrations.foundation import lay_foundation


def _run(connection: Connection) -> None:
    # Alembic writes its version table before the first revision, so the schema must be there already.
    with connection.begin():
        lay_foundation(connection)
    with connection.begin():
        # For the session: revisions, and Alembic's own writes, are made by the owner unless they say otherwise.
        connection.execute(text("SET ROLE remit_owner"))
    context.configure(
        connection=connection,
        version_table="alembic_version",
        version_table_schema="remit",
        transaction_per_migration=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


_run(context.config.attributes["connection"])
