-- Redactions: what they erase, and keyed hashes by which encrypted parts are found. Run as remit_owner.

-- A redaction's own part: the pointers in force and what stands for erased parts, encrypted like the others.
alter table remit.memory_contents drop constraint memory_contents_part_check;
alter table remit.memory_contents add constraint memory_contents_part_check
    check (part in ('content', 'provenance', 'integrity', 'redaction'));
create index memory_contents_redactions on remit.memory_contents (tenant_id, scope_id, object_id)
    where part = 'redaction';

-- Parts that a redaction replaced or removed wait here until their keys are destroyed; a suppression has none. Unlike
-- erasure_jobs, whose objects get no further parts, it names what goes and not what stays.
create table remit.redaction_jobs (
    tenant_id          text not null,
    scope_id           text not null,
    job_id             text not null,
    object_id          text not null,
    kind               text not null check (kind in ('suppression', 'erasure')),
    erased_content_ids uuid[] not null,
    state              text not null check (state in ('open', 'closed')),
    opened_at          timestamptz not null,
    closed_at          timestamptz,
    primary key (tenant_id, scope_id, job_id)
);
create index redaction_jobs_open on remit.redaction_jobs (tenant_id, opened_at) where state = 'open';

-- Keyed hashes of values inside encrypted parts, for equality only. A row belongs to a part: versions that share the part
-- share the row, and it goes when the part goes or the value is redacted.
create table remit.memory_lookups (
    tenant_id  text not null,
    scope_id   text not null,
    field      text not null check (field in ('task_ref', 'evidence_ref')),
    lookup     bytea not null check (octet_length(lookup) = 32),
    object_id  text collate "C" not null,
    content_id uuid not null,
    primary key (tenant_id, scope_id, field, lookup, object_id, content_id)
);
create index memory_lookups_object on remit.memory_lookups (tenant_id, scope_id, object_id);
