-- Sealed snapshots, evaluation runs, and what queries by time read. Run as remit_owner.

-- A row never changes. `core` is the whole descriptor, exactly as it was authenticated; what a snapshot holds follows
-- from it and from versions, which never change either.
create table remit.snapshots (
    tenant_id       text not null,
    scope_id        text not null,
    snapshot_id     text not null,
    ledger_sequence bigint not null,
    core            bytea not null,
    mac             bytea not null check (octet_length(mac) = 32),
    mac_key_id      text not null,
    primary key (tenant_id, scope_id, snapshot_id)
);

-- How many changes were made under an evaluation run: the readings of its clock.
create table remit.evaluation_runs (
    tenant_id text not null,
    scope_id  text not null,
    run_key   text not null,
    changes   bigint not null check (changes >= 0),
    primary key (tenant_id, scope_id, run_key)
) with (fillfactor = 50);

-- One index per basis of a temporal query, so that a page reads a page; client times only where they are given, and
-- with the object's id, because clients give the same time to many. (Measured, 200,000 versions: a page by committed_at
-- without its index took 1.8 s.)
create index memory_versions_committed on remit.memory_versions (tenant_id, scope_id collate "C", committed_at);
create index memory_versions_recorded on remit.memory_versions (tenant_id, scope_id collate "C", recorded_at);
create index memory_versions_observed on remit.memory_versions (tenant_id, scope_id collate "C", observed_at, object_id)
    where observed_at is not null;
create index memory_versions_asserted on remit.memory_versions (tenant_id, scope_id collate "C", asserted_at, object_id)
    where asserted_at is not null;
create index memory_versions_valid on remit.memory_versions (tenant_id, scope_id collate "C", valid_from nulls first, object_id)
    where valid_from is not null or valid_until is not null;

grant insert on remit.snapshots, remit.evaluation_runs to remit_writer;
grant update on remit.evaluation_runs to remit_writer;
