"""Does the server's database role have any way around the ledger or row-level security? (memory.md, Tenancy)

What a role can do is judged over every role it can become, since a membership without INHERIT is one SET ROLE away.
"""

from typing import Any

from psycopg import AsyncConnection

# One row per role the session can be or become: whoever authenticated, and whoever it acts as now.
_REACHABLE = """
reachable AS (
    SELECT r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole
      FROM pg_roles r
     WHERE pg_has_role(session_user, r.oid, 'MEMBER') OR pg_has_role(current_user, r.oid, 'MEMBER')
),
objects AS (
    SELECT c.oid, c.relname, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity
      FROM pg_class c WHERE c.relnamespace = to_regnamespace('remit') AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
),
functions AS (
    SELECT p.oid, p.oid::regprocedure::text AS name, p.prosecdef, p.proowner, p.proconfig
      FROM pg_proc p WHERE p.pronamespace = to_regnamespace('remit')
)
"""

_SUPERUSER = "SELECT rolname FROM pg_roles WHERE rolsuper AND rolname IN (session_user, current_user)"

_FINDINGS = f"""
WITH {_REACHABLE}
SELECT format('role %s is a superuser', rolname) FROM reachable WHERE rolsuper
UNION ALL
SELECT format('role %s has BYPASSRLS', rolname) FROM reachable WHERE rolbypassrls
UNION ALL
SELECT format('role %s has CREATEROLE', rolname) FROM reachable WHERE rolcreaterole
UNION ALL
SELECT format('is a member of %s', rolname) FROM reachable
 WHERE rolname IN ('remit_owner', 'remit_writer', 'pg_execute_server_program', 'pg_read_server_files',
                   'pg_write_server_files', 'pg_write_all_data')
UNION ALL
SELECT format('role %s owns schema remit', r.rolname) FROM pg_namespace n JOIN reachable r ON r.oid = n.nspowner
 WHERE n.nspname = 'remit'
UNION ALL
SELECT format('role %s owns %s', r.rolname, o.relname) FROM objects o JOIN reachable r ON r.oid = o.relowner
UNION ALL
SELECT format('role %s owns function %s', r.rolname, f.name) FROM functions f JOIN reachable r ON r.oid = f.proowner
UNION ALL
SELECT format('role %s may create objects in schema remit', rolname) FROM reachable
 WHERE has_schema_privilege(oid, to_regnamespace('remit'), 'CREATE')
UNION ALL
SELECT format('role %s may create schemas in the database', rolname) FROM reachable
 WHERE has_database_privilege(oid, current_database(), 'CREATE')
UNION ALL
SELECT DISTINCT format('may %s %s', lower(privilege), o.relname)
  FROM objects o CROSS JOIN reachable r CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) privilege
 WHERE has_table_privilege(r.oid, o.oid, privilege)
    OR CASE WHEN privilege IN ('INSERT', 'UPDATE') THEN has_any_column_privilege(r.oid, o.oid, privilege) END
UNION ALL
SELECT format('table %s does not force row-level security', relname) FROM objects
 WHERE relkind IN ('r', 'p') AND NOT (relrowsecurity AND relforcerowsecurity)
UNION ALL
SELECT DISTINCT format('%s can be read, and has no row-level security', o.relname) FROM objects o CROSS JOIN reachable r
 WHERE o.relkind IN ('m', 'f') AND has_table_privilege(r.oid, o.oid, 'SELECT')
UNION ALL
SELECT format('view %s is owned by %s, whom row-level security does not bind', o.relname, r.rolname)
  FROM objects o JOIN pg_roles r ON r.oid = o.relowner WHERE o.relkind = 'v' AND (r.rolsuper OR r.rolbypassrls)
UNION ALL
SELECT format('function %s (SECURITY DEFINER) may be called by PUBLIC', name) FROM functions
 WHERE prosecdef AND has_function_privilege('public', oid, 'EXECUTE')
UNION ALL
SELECT format('function %s (SECURITY DEFINER) is owned by %s, a superuser, login or BYPASSRLS role', f.name, r.rolname)
  FROM functions f JOIN pg_roles r ON r.oid = f.proowner
 WHERE f.prosecdef AND (r.rolsuper OR r.rolcanlogin OR r.rolbypassrls)
UNION ALL
SELECT format('function %s (SECURITY DEFINER) has no fixed search_path', name) FROM functions
 WHERE prosecdef AND NOT EXISTS (SELECT FROM unnest(proconfig) setting WHERE setting LIKE 'search\\_path=%')
UNION ALL
SELECT format('function %s (SECURITY DEFINER) does not search pg_temp last, but temporary tables can be made', name)
  FROM functions
 WHERE prosecdef AND EXISTS (SELECT FROM unnest(proconfig) setting
                              WHERE setting LIKE 'search\\_path=%' AND setting NOT LIKE '%pg\\_temp')
   AND EXISTS (SELECT FROM reachable WHERE has_database_privilege(oid, current_database(), 'TEMPORARY'))
ORDER BY 1
"""


async def audit_role(connection: AsyncConnection[Any]) -> tuple[str, ...]:
    """One sentence for each breach found, in order; empty when the arrangement is safe. Reads catalogues only."""
    cursor = await connection.execute(_SUPERUSER)
    superusers = await cursor.fetchall()
    if superusers:
        return tuple(f"role {name} is a superuser" for (name,) in superusers)  # all else follows from it
    cursor = await connection.execute(_FINDINGS)
    return tuple(finding for (finding,) in await cursor.fetchall())
