"""Embedding spaces, vectors, lineage and the lexical index."""

from migrations.sql_files import protect_tables, run_sql, run_sql_file

revision = "0006_derived"
down_revision = "0005_subscriptions"
branch_labels = None
depends_on = None

PHASE = "pre"

# Where the server has pgvector and the migrating role may create it; without it the same searches run in SQL, slower. An
# administrator can create it at any time: nothing in the schema depends on it.
_CREATE_PGVECTOR = """
set local role none;
do $$ begin
    if exists (select from pg_available_extensions where name = 'vector') then
        create extension if not exists vector;
    end if;
exception when insufficient_privilege or feature_not_supported or undefined_file then null;
end $$;
set local role remit_owner;
"""


def upgrade() -> None:
    run_sql_file("0006_derived.sql", "remit_owner")
    protect_tables(
        "embedding_spaces",
        "derivatives",
        "vectors",
        "vector_centroids",
        "vector_lists",
        "lexical_objects",
        "lexical_tokens",
        "index_states",
    )
    run_sql_file("0006_derived_grants.sql", "remit_owner")
    run_sql_file("0006_derived_functions.sql", "remit_writer")
    run_sql(_CREATE_PGVECTOR, "remit_owner")
