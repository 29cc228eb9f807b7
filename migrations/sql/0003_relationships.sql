-- One row per relationship: its ends, and the pointer to its current version. `target_scope_id` is the workspace of the
-- target, this one as a rule; the rows of a relationship lie in the workspace of its source.
create table remit.relationships (
    tenant_id          text not null,
    scope_id           text not null,
    relationship_id    text collate "C" not null,
    version_id         text not null,
    sequence           bigint not null check (sequence >= 1),
    source_object_id   text collate "C" not null,
    target_object_id   text collate "C" not null,
    target_scope_id    text not null,
    relationship_type  text not null,
    directionality     text not null check (directionality in ('directed', 'bidirectional', 'undirected')),
    availability_state text not null,
    retention_state    text not null,
    primary key (tenant_id, scope_id, relationship_id)
) with (fillfactor = 80);
-- What starts at an object, and what ends at one, from wherever it comes. The collation keeps these apart from the
-- primary key, as in the tables of the spine.
create index relationships_source on remit.relationships
    (tenant_id, scope_id collate "C", source_object_id, relationship_id);
create index relationships_target on remit.relationships
    (tenant_id, target_scope_id collate "C", target_object_id, scope_id, relationship_id);
-- The few workspaces that relationships leave theirs for.
create index relationships_abroad on remit.relationships (tenant_id, scope_id collate "C", target_scope_id)
    where target_scope_id <> scope_id;

-- Append-only, as memory_versions: `core` is what was authenticated, the columns repeat it for filtering.
create table remit.relationship_versions (
    tenant_id             text not null,
    scope_id              text not null,
    relationship_id       text collate "C" not null,
    sequence              bigint not null check (sequence >= 1),
    version_id            text not null,
    ledger_sequence       bigint not null,
    relationship_type     text not null,
    source_object_id      text collate "C" not null,
    target_object_id      text collate "C" not null,
    target_scope_id       text not null,
    directionality        text not null,
    lifecycle_state       text not null constraint relationship_versions_lifecycle check (
        lifecycle_state in ('scratch', 'candidate', 'active', 'superseded', 'deprecated', 'archived')),
    availability_state    text not null constraint relationship_versions_availability check (
        availability_state in ('available', 'partially_redacted', 'redacted', 'deleted')),
    retention_state       text not null constraint relationship_versions_retention check (
        retention_state in ('retained', 'expired', 'pending_deletion', 'legal_hold')),
    validation_state      text not null constraint relationship_versions_validation check (
        validation_state in ('unverified', 'corroborated', 'disputed', 'rejected')),
    actor_id              text not null,
    provenance_id         text not null,
    integrity_lookup      bytea,
    observed_at           timestamptz,
    asserted_at           timestamptz,
    valid_from            timestamptz,
    valid_until           timestamptz,
    committed_at          timestamptz not null,
    recorded_at           timestamptz not null,
    content_id            uuid,
    provenance_content_id uuid not null,
    integrity_content_id  uuid,
    core                  bytea not null,
    mac                   bytea not null check (octet_length(mac) = 32),
    mac_key_id            text not null,
    primary key (tenant_id, scope_id, relationship_id, sequence)
);
create index relationship_versions_ledger on remit.relationship_versions
    (tenant_id, scope_id collate "C", ledger_sequence);

grant insert on remit.relationships, remit.relationship_versions to remit_writer;
grant update on remit.relationships to remit_writer;

-- Another workspace may also be permitted to let its relationships end here.
alter table remit.cross_scope_rules drop constraint cross_scope_rules_kind_check;
alter table remit.cross_scope_rules add constraint cross_scope_rules_kind_check
    check (kind in ('delegation', 'relationship'));

-- The gate of relationships: what retrieval_gate is for objects. An open end is not judged here.
create view remit.relationship_gate with (security_invoker = true) as
select r.tenant_id, r.scope_id, r.relationship_id, r.version_id, r.sequence,
       r.source_object_id, r.target_object_id, r.target_scope_id, r.relationship_type, r.directionality,
       case
           when r.availability_state = 'deleted' then 'deleted'
           when r.availability_state = 'redacted' then 'redacted'
           when r.retention_state = 'pending_deletion' then 'retention_restricted'
           else 'open'
       end as verdict
from remit.relationships r;
grant select on remit.relationship_gate to remit_app, remit_writer;

-- Whether an object is an end of any relationship, told with the object itself: reading one that has none costs nothing
-- more (measured: two look-ups in the reading statement, even of an empty table, are a sixth of it).
alter table remit.memory_objects add column related boolean not null default false;
create or replace view remit.retrieval_gate with (security_invoker = true) as
select o.tenant_id, o.scope_id, o.object_id, o.object_type, o.version_id, o.sequence, o.deleted,
       v.lifecycle_state, v.availability_state, v.retention_state, v.validation_state,
       case
           when o.deleted or v.availability_state = 'deleted' then 'deleted'
           when v.availability_state = 'redacted' then 'redacted'
           when v.retention_state = 'pending_deletion' then 'retention_restricted'
           else 'open'
       end as verdict,
       o.related
from remit.memory_objects o
join remit.memory_versions v
  on v.tenant_id = o.tenant_id and v.scope_id = o.scope_id and v.object_id = o.object_id and v.sequence = o.sequence;
