-- Tables of imports. Run as remit_owner.

-- One row per import. The same export of the same workspace is imported once; `result` is what was answered.
create table remit.imports (
    tenant_id        text not null,
    scope_id         text not null,
    import_id        text not null,
    export_digest    bytea not null check (octet_length(export_digest) = 32),
    source_tenant_id text not null,
    source_scope_id  text not null,
    remapped         boolean not null,
    policy_basis     text not null,
    result           jsonb not null,
    ledger_sequence  bigint not null,
    imported_at      timestamptz not null,
    primary key (tenant_id, scope_id, import_id),
    constraint imports_once unique (tenant_id, scope_id, export_digest, source_tenant_id, source_scope_id)
);

-- Rows of an import under way, encrypted as they will be stored. Nothing reads them but the change that applies them,
-- all at once; what a killed process left is discarded by a later import.
create table remit.import_rows (
    tenant_id text not null,
    scope_id  text not null,
    import_id text not null,
    kind      text not null,
    number    bigint not null,
    fields    jsonb not null,
    first     bytea,
    second    bytea,
    third     bytea,
    staged_at timestamptz not null,
    primary key (tenant_id, scope_id, import_id, kind, number)
);

-- What a version of another origin says beside its envelope: references to relationships, kept as they came.
create table remit.imported_versions (
    tenant_id         text not null,
    scope_id          text not null,
    object_id         text collate "C" not null,
    sequence          bigint not null,
    import_id         text not null,
    relationship_refs text[] not null,
    primary key (tenant_id, scope_id, object_id, sequence)
);

-- Grants of another origin: history that gives no right. Exactly the records that came, in their order.
create table remit.imported_delegations (
    tenant_id text not null,
    scope_id  text not null,
    import_id text not null,
    position  bigint not null,
    kind      text not null,
    record    bytea not null,
    primary key (tenant_id, scope_id, import_id, position)
);

-- Ledgers of other origin, verified when they came and never part of the chain here.
create table remit.foreign_ledger_records (
    tenant_id text not null,
    scope_id  text not null,
    import_id text not null,
    position  bigint not null,
    kind      text not null,
    record    bytea not null,
    primary key (tenant_id, scope_id, import_id, position)
);

-- A version whose provenance was withheld from its export comes without one.
alter table remit.memory_versions alter column provenance_content_id drop not null;
alter table remit.relationship_versions alter column provenance_content_id drop not null;

grant insert on remit.imports, remit.import_rows, remit.imported_versions, remit.imported_delegations,
    remit.foreign_ledger_records to remit_writer;
grant delete on remit.import_rows to remit_writer;
