"""What must exist before the first revision: the three roles, the schema and Alembic's version table in it.

Idempotent, and asking for rights only when something is missing: a DDL role without CREATEROLE serves once an
administrator has made the roles (memory.md, Tenancy).
"""

from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from storage.errors import MigrationRoleLacksRights

_ROLES = ("remit_owner", "remit_writer", "remit_app")

_MISSING_ROLES = text("SELECT n FROM unnest(CAST(:names AS text[])) n WHERE to_regrole(n) IS NULL ORDER BY n")
_MISSING_MEMBERSHIPS = text(
    "SELECT n FROM unnest(ARRAY['remit_owner', 'remit_writer']) n"
    " WHERE NOT pg_has_role(current_user, n, :how) ORDER BY n"
)
# Another database of the same cluster may be migrating: roles belong to the cluster, our lock to this database.
_CREATE_ROLE = """
DO $$ BEGIN
    CREATE ROLE {role} NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""
# Forced like on every table; it has no tenant, and who may write it is a matter of grants.
_VERSION_TABLE = """
CREATE TABLE remit.alembic_version (
    version_num varchar(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY
);
ALTER TABLE remit.alembic_version OWNER TO remit_owner;
ALTER TABLE remit.alembic_version ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON remit.alembic_version USING (true) WITH CHECK (true);
GRANT SELECT ON remit.alembic_version TO remit_app;
"""


def lay_foundation(connection: Connection) -> None:
    """Create what is missing, in the transaction of `connection`.

    Raises MigrationRoleLacksRights with the SQL an administrator has to run first.
    """
    role, database = connection.execute(text("SELECT current_user, current_database()")).one()
    missing = connection.execute(_MISSING_ROLES, {"names": list(_ROLES)}).scalars().all()
    if missing:
        _attempt(
            connection,
            [_CREATE_ROLE.format(role=name) for name in missing],
            role,
            "".join(f"CREATE ROLE {name} NOLOGIN; " for name in missing)
            + f'GRANT remit_owner, remit_writer TO "{role}";',
        )
    how = _membership_needed(connection)
    absent = connection.execute(_MISSING_MEMBERSHIPS, {"how": how}).scalars().all()
    if absent:
        grant = f'GRANT {", ".join(absent)} TO "{role}"'
        _attempt(connection, [grant], role, f"{grant};")
    if connection.execute(text("SELECT to_regnamespace('remit') IS NULL")).scalar_one():
        create = "CREATE SCHEMA remit AUTHORIZATION remit_owner"
        _attempt(connection, [create], role, f'GRANT CREATE ON DATABASE "{database}" TO "{role}";')
    connection.execute(text("SET LOCAL ROLE remit_owner"))
    if connection.execute(text("SELECT to_regclass('remit.alembic_version') IS NULL")).scalar_one():
        for statement in filter(str.strip, _VERSION_TABLE.split(";")):
            connection.execute(text(statement))


def _membership_needed(connection: Connection) -> str:
    """SET ROLE is what the migrations do: from PostgreSQL 16 on a right of its own, before that every member's."""
    version = connection.dialect.server_version_info
    return "SET" if version is not None and version >= (16,) else "MEMBER"


def _attempt(connection: Connection, statements: list[str], role: str, remedy: str) -> None:
    try:
        for statement in statements:
            connection.execute(text(statement))
    except ProgrammingError as error:
        raise MigrationRoleLacksRights(role, remedy) from error
