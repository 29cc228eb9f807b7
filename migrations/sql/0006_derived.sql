-- Derived state: never authoritative, gone with its source, removable and rebuildable on its own.
--
-- As in the tables of the spine, indexes beside a primary key are on scope_id collate "C", which only those ask for that
-- mean them: without statistics the planner would as soon read the whole workspace by the key's prefix.

create table remit.embedding_spaces (
    tenant_id             text not null,
    scope_id              text not null,
    embedding_space_id    text not null,
    provider              text not null,
    model                 text not null,
    model_revision        text not null,
    dimensions            integer not null check (dimensions between 1 and 16000),
    distance_metric       text not null constraint embedding_spaces_metric check (
        distance_metric in ('cosine', 'l2', 'inner_product')),
    normalization         text not null,
    preprocessing_profile text not null,
    embedding_kind        text not null,
    canonicalization_rules text not null,
    created_at            timestamptz not null,
    created_by            jsonb not null,
    ledger_sequence       bigint not null,
    -- The ledger sequence of the last vector that was removed or replaced: what was pinned before can't be repeated.
    reduced_sequence      bigint not null default 0,
    primary key (tenant_id, scope_id, embedding_space_id)
);

-- Lineage: which artifact, in which store, was derived from which version. An artifact elsewhere may have several sources,
-- a vector kept here has one.
create table remit.derivatives (
    tenant_id          text not null,
    scope_id           text not null,
    store_id           text not null,
    artifact_type      text not null,
    artifact_id        text not null,
    artifact_version   text not null,
    object_id          text collate "C" not null,
    version_id         text not null,
    sequence           bigint not null check (sequence >= 1),
    content_id         uuid,
    embedding_space_id text,
    kept               boolean not null,
    -- The object has other content since.
    outdated_sequence  bigint,
    registered_at      timestamptz not null,
    ledger_sequence    bigint not null,
    primary key (tenant_id, scope_id, store_id, artifact_type, artifact_id, artifact_version, object_id, version_id)
);
create index derivatives_source on remit.derivatives (tenant_id, scope_id collate "C", object_id, ledger_sequence);
create index derivatives_outdated on remit.derivatives (tenant_id, scope_id collate "C", embedding_space_id)
    where kept and outdated_sequence is not null;

-- Vectors as plain numbers, so that the schema is the same with and without pgvector, and stays when it comes or goes.
-- Kept in the row up to some 1,900 dimensions: an exact search reads them all.
create table remit.vectors (
    tenant_id          text not null,
    scope_id           text not null,
    embedding_space_id text not null,
    artifact_type      text not null,
    artifact_id        text collate "C" not null,
    artifact_version   text not null,
    object_id          text collate "C" not null,
    object_type        text not null,
    content_id         uuid,
    ledger_sequence    bigint not null,
    embedding          real[] not null,
    primary key (tenant_id, scope_id, artifact_type, artifact_id, artifact_version)
) with (toast_tuple_target = 8160);
alter table remit.vectors alter column embedding set storage external;
create index vectors_space on remit.vectors (tenant_id, scope_id collate "C", embedding_space_id, object_id);
create index vectors_registered on remit.vectors (tenant_id, scope_id collate "C", embedding_space_id, ledger_sequence);

-- The approximate index of a space, when it was asked for: its vectors in lists around centroids, once more and list by
-- list, so that a search reads them in one go (looked up one by one they cost three quarters of reading all: measured).
-- A centroid is the mean of what is in its list now: what is removed is subtracted, so that nothing of it stays behind.
create table remit.vector_centroids (
    tenant_id          text not null,
    scope_id           text not null,
    embedding_space_id text not null,
    list_number        integer not null,
    members            integer not null check (members >= 1),
    total              double precision[] not null,
    centroid           real[] not null,
    primary key (tenant_id, scope_id, embedding_space_id, list_number)
) with (toast_tuple_target = 8160);
create table remit.vector_lists (
    tenant_id          text not null,
    scope_id           text not null,
    embedding_space_id text not null,
    artifact_type      text not null,
    artifact_id        text collate "C" not null,
    artifact_version   text not null,
    list_number        integer not null,
    object_id          text collate "C" not null,
    object_type        text not null,
    content_id         uuid,
    ledger_sequence    bigint not null,
    embedding          real[] not null,
    primary key (tenant_id, scope_id, artifact_type, artifact_id, artifact_version)
) with (toast_tuple_target = 8160);
alter table remit.vector_lists alter column embedding set storage external;
create index vector_lists_list on remit.vector_lists (tenant_id, scope_id collate "C", embedding_space_id, list_number);

-- The lexical index: keyed hashes of words, never words.
create table remit.lexical_objects (
    tenant_id  text not null,
    scope_id   text not null,
    object_id  text collate "C" not null,
    content_id uuid not null,
    words      integer not null check (words >= 0),
    primary key (tenant_id, scope_id, object_id)
);
create table remit.lexical_tokens (
    tenant_id   text not null,
    scope_id    text not null,
    token       bytea not null check (octet_length(token) = 16),
    object_id   text collate "C" not null,
    occurrences integer not null check (occurrences >= 1),
    primary key (tenant_id, scope_id, token, object_id)
);
create index lexical_tokens_object on remit.lexical_tokens (tenant_id, scope_id collate "C", object_id);

-- Up to which ledger sequence an index is current, ours and those elsewhere that were recorded.
create table remit.index_states (
    tenant_id        text not null,
    scope_id         text not null,
    index_id         text not null,
    indexed_sequence bigint not null check (indexed_sequence >= 0),
    primary key (tenant_id, scope_id, index_id)
);
