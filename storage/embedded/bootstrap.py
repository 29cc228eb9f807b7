"""The roles and the database a fresh embedded PostgreSQL gets (memory.md, Tenancy).

    remit_owner   NOLOGIN  owns the schema and its tables
    remit_writer  NOLOGIN  owns the SECURITY DEFINER functions, the only way to write
    remit_app     NOLOGIN  reads under row-level security and calls those functions
    remit_ddl     LOGIN    member of owner and writer: `remit migrate`
    remit_server  LOGIN    member of remit_app only: `remit serve`

Idempotent: what exists is left alone, and what a killed start left undone is completed.
"""

import psycopg

from storage.embedded.cluster import EmbeddedServer
from storage.errors import BootstrapFailed

DATABASE = "remit"
_ROLES = {
    "remit_owner": "NOLOGIN",
    "remit_writer": "NOLOGIN",
    "remit_app": "NOLOGIN",
    "remit_ddl": "LOGIN CREATEROLE",
    "remit_server": "LOGIN",
}
_MEMBERSHIPS = (("remit_owner", "remit_ddl"), ("remit_writer", "remit_ddl"), ("remit_app", "remit_server"))


def bootstrap(server: EmbeddedServer) -> None:
    """Create what is missing of the roles, their memberships and the database. Raises BootstrapFailed."""
    try:
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as connection:
            _create_roles(connection)
            _create_database(connection)
        add_pgvector(server, DATABASE)
    except psycopg.Error as error:
        raise BootstrapFailed(type(error).__name__) from error


def add_pgvector(server: EmbeddedServer, database: str) -> None:
    """Create the pgvector extension in a database, which only a superuser can. Raises psycopg.Error."""
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_extension WHERE extname = 'vector'").fetchone() is None:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


def _create_roles(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    present = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
    for role, options in _ROLES.items():
        if role not in present:
            connection.execute(f"CREATE ROLE {role} {options} NOSUPERUSER NOBYPASSRLS")
    granted = connection.execute("SELECT roleid::regrole::text, member::regrole::text FROM pg_auth_members").fetchall()
    for role, member in _MEMBERSHIPS:
        if (role, member) not in granted:
            # From PostgreSQL 16 on this carries SET and INHERIT, before that every membership does.
            connection.execute(f"GRANT {role} TO {member}")


def _create_database(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    if connection.execute("SELECT FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
        connection.execute(f"CREATE DATABASE {DATABASE} OWNER remit_ddl")
    restrict_database(connection, DATABASE)


def restrict_database(connection: psycopg.Connection[tuple[object, ...]], database: str) -> None:
    """Leave the server's role no right on the database but to connect (a clone of a database starts open again)."""
    # No temporary tables: they could stand in for ours inside a function's search_path.
    restricted = connection.execute("SELECT NOT has_database_privilege('remit_server', %s, 'TEMPORARY')", (database,))
    if restricted.fetchone() != (True,):
        connection.execute(f'REVOKE ALL ON DATABASE "{database}" FROM PUBLIC')
        connection.execute(f'GRANT CONNECT ON DATABASE "{database}" TO remit_app')
