"""Running the SQL files that stand in migrations/sql, each as the role that shall own what it creates."""

from pathlib import Path

from alembic import op
from sqlalchemy import Connection, text

_FOLDER = Path(__file__).parent / "sql"


def run_sql_file(name: str, role: str) -> None:
    """Run a file of statements as `role` ("remit_owner" or "remit_writer"), in the revision's transaction.

    Afterwards the role is remit_owner again, which is what a revision starts as.
    """
    run_sql((_FOLDER / name).read_text(encoding="utf-8"), role)


def run_sql(sql: str, role: str) -> None:
    """As run_sql_file, for a text."""
    connection = op.get_bind()
    if role == "remit_owner":
        _run(connection, sql)
        return
    # Whoever creates a function in a schema needs CREATE there; the writer has it for just this transaction.
    connection.execute(text(f"GRANT CREATE ON SCHEMA remit TO {role}"))
    connection.execute(text(f"SET LOCAL ROLE {role}"))
    _run(connection, sql)
    connection.execute(text("SET LOCAL ROLE remit_owner"))
    connection.execute(text(f"REVOKE CREATE ON SCHEMA remit FROM {role}"))


def _run(connection: Connection, sql: str) -> None:
    # Without parameters the driver sends the text as it stands: several statements, and % means %.
    connection.exec_driver_sql(sql, execution_options={"no_parameters": True})


def protect_tables(*names: str) -> None:
    """Force row-level security on new tables of tenants, and let the roles of the service read them.

    Every table's rows are one tenant's (memory.md, Tenancy). What the writer may change is granted by each revision.
    """
    for name in names:
        run_sql(
            f"alter table remit.{name} enable row level security;"
            f"alter table remit.{name} force row level security;"
            f"create policy one_tenant on remit.{name} using (tenant_id = current_setting('remit.tenant_id', true))"
            " with check (tenant_id = current_setting('remit.tenant_id', true));"
            f"grant select on remit.{name} to remit_app, remit_writer;",
            "remit_owner",
        )
