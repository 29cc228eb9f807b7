"""What the server's database role may not do, tried on every table and function there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.cluster import Cluster
from tests.conftest import DatabaseDsns

_CHANGES = {
    "truncate": "truncate {}",
    "truncate of everything that refers to it": "truncate {} cascade",
    "delete": "delete from {}",
    "update": "update {} set {} = {}",
    "insert": "insert into {} default values",
    "drop": "drop table {} cascade",
    "row-level security off": "alter table {} disable row level security",
    "row-level security not forced": "alter table {} no force row level security",
    "triggers off": "alter table {} disable trigger all",
    "another owner": "alter table {} owner to current_user",
    "a trigger of its own": "create trigger t before insert on {} execute function suppress_redundant_updates_trigger()",
    "a policy of its own": "create policy mine on {} using (true)",
    "a lock against everybody": "lock table {} in access exclusive mode",
}
_ELSEWHERE = [
    "create or replace function remit.clock() returns timestamptz language sql as $$select now()$$",
    "alter function remit.clock() owner to current_user",
    "create function remit.mine() returns int language sql as $$select 1$$",
    "create table remit.mine (n int)",
    "create schema mine",
    "alter schema remit owner to current_user",
    "drop schema remit cascade",
    "set role remit_owner",
    "set role remit_writer",
    "set role remit_ddl",
    "set session authorization postgres",
    "set session_replication_role = replica",
    "alter role current_user bypassrls",
    "create role mine",
    "copy remit.tenants from program 'true'",
]


@pytest.fixture
def as_server(fresh_database: DatabaseDsns) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(fresh_database.server) as connection:
        yield connection


def refused(connection: psycopg.Connection[Any], statement: sql.Composable) -> bool:
    """Whether the database refuses the statement for want of a right."""
    try:
        connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return True
    finally:
        connection.rollback()
    return False


@pytest.mark.case("C06")
@pytest.mark.parametrize("change", _CHANGES)
def test_no_table_can_be_changed_behind_the_ledger(as_server: psycopg.Connection[Any], change: str) -> None:
    tables = as_server.execute(
        "select c.relname, min(a.attname) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0"
        " where c.relnamespace = 'remit'::regnamespace and c.relkind = 'r' group by 1"
    ).fetchall()
    assert len(tables) >= 15
    for table, column in tables:
        name, field = sql.Identifier("remit", table), sql.Identifier(column)
        parts = (name, field, field)[: _CHANGES[change].count("{}")]
        assert refused(as_server, sql.SQL(_CHANGES[change]).format(*parts)), table


@pytest.mark.parametrize("statement", _ELSEWHERE)
def test_nothing_else_leads_around_it(as_server: psycopg.Connection[Any], statement: str) -> None:
    assert refused(as_server, sql.SQL(statement))


def test_only_the_ways_in_may_be_called(as_server: psycopg.Connection[Any]) -> None:
    callable_ = as_server.execute(
        "select proname from pg_proc where pronamespace = 'remit'::regnamespace"
        " and has_function_privilege(oid, 'execute') order by 1"
    ).fetchall()
    names = {name for (name,) in callable_}
    pure = {"cosine_distance", "inner_product_distance", "l2_distance"}  # of two vectors: they read nothing
    assert names - pure == {"clock", "commit", "resolve", "tenants_with_open_erasures"}


def test_without_a_tenant_nothing_is_seen(cluster: Cluster) -> None:
    with cluster.superuser() as connection:
        tables = [name for (name,) in connection.execute("select tablename from pg_tables where schemaname = 'remit'")]
    with psycopg.connect(cluster.database.server) as connection:
        for table in {*tables} - {"alembic_version"}:
            count = connection.execute(sql.SQL("select count(*) from {}").format(sql.Identifier("remit", table)))
            assert count.fetchone() == (0,), table
