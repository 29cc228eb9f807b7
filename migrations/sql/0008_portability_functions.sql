-- Imports, judged and applied inside remit.commit. Owned by remit_writer.
--
-- `import.stage` puts rows aside, `import.discard` drops them, `import.apply` makes them the workspace's, all at once.

create function remit.judge_import(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    if p_change ->> 'op' <> 'import.apply' then
        return;
    end if;
    select i.result into detail from remit.imports i
     where i.tenant_id = p_tenant and i.scope_id = p_scope
       and i.export_digest = decode(p_change ->> 'export_digest', 'hex')
       and i.source_tenant_id = p_change ->> 'source_tenant_id' and i.source_scope_id = p_change ->> 'source_scope_id';
    if found then
        status := 'unchanged';
        return;
    end if;
    -- Version ids are chosen by imports alone: while there was no other one, none can have been taken since.
    if (select count(*) from remit.imports i where i.tenant_id = p_tenant and i.scope_id = p_scope)
           <> (p_change ->> 'imports_seen')::bigint
       or (select count(*) from remit.import_rows r where r.tenant_id = p_tenant and r.scope_id = p_scope
              and r.import_id = p_change ->> 'import_id') <> (p_change ->> 'rows_staged')::bigint
       or exists (select from remit.import_rows r
                  cross join lateral (select from remit.memory_objects o where o.tenant_id = p_tenant
                      and o.scope_id = p_scope and o.object_id = r.fields ->> 'object_id' limit 1) o
                   where r.tenant_id = p_tenant and r.scope_id = p_scope
                     and r.import_id = p_change ->> 'import_id' and r.kind = 'object')
       or exists (select from remit.import_rows r
                  cross join lateral (select from remit.relationships l where l.tenant_id = p_tenant
                      and l.scope_id = p_scope and l.relationship_id = r.fields ->> 'relationship_id' limit 1) l
                   where r.tenant_id = p_tenant and r.scope_id = p_scope
                     and r.import_id = p_change ->> 'import_id' and r.kind = 'relationship')
       or exists (select from remit.import_rows r
                    join remit.embedding_spaces s on s.tenant_id = p_tenant and s.scope_id = p_scope
                     and s.embedding_space_id = r.fields ->> 'embedding_space_id'
                   where r.tenant_id = p_tenant and r.scope_id = p_scope
                     and r.import_id = p_change ->> 'import_id' and r.kind = 'space')
       -- Ends that are not brought along must stand; those of another workspace are under its head's lock too.
       or exists (select from (
                  select e.scope_id, e.object_id from remit.import_rows r
                   cross join lateral (values (p_scope, r.fields ->> 'source_object_id'),
                         (coalesce(r.fields ->> 'target_scope_id', p_scope), r.fields ->> 'target_object_id'))
                         e(scope_id, object_id)
                   where r.tenant_id = p_tenant and r.scope_id = p_scope
                     and r.import_id = p_change ->> 'import_id' and r.kind = 'relationship'
                  except
                  select p_scope, r.fields ->> 'object_id' from remit.import_rows r
                   where r.tenant_id = p_tenant and r.scope_id = p_scope
                     and r.import_id = p_change ->> 'import_id' and r.kind = 'object') e
                  left join lateral (select true as stands from remit.memory_objects o where o.tenant_id = p_tenant
                      and o.scope_id = e.scope_id and o.object_id = e.object_id and not o.deleted limit 1) o on true
                   where o.stands is null) then
        status := 'stale';
    end if;
end
$$;

create function remit.apply_import(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                   p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_import text := p_change ->> 'import_id';
begin
    case p_change ->> 'op'
    when 'import.stage' then
        delete from remit.import_rows r
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id <> v_import
           and r.staged_at < p_now - interval '1 day';
        -- A row names its bytes by their distance from the first ones of this change.
        insert into remit.import_rows (tenant_id, scope_id, import_id, kind, number, fields, first, second, third, staged_at)
        select p_tenant, p_scope, v_import, r.kind, r.number, r.fields,
               p_blobs[(p_change ->> 'b0')::integer + r.first], p_blobs[(p_change ->> 'b0')::integer + r.second],
               p_blobs[(p_change ->> 'b0')::integer + r.third], p_now
          from jsonb_to_recordset(p_change -> 'rows')
               as r(kind text, number bigint, fields jsonb, first integer, second integer, third integer)
            on conflict do nothing;
    when 'import.discard' then
        delete from remit.import_rows r
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = v_import;
    when 'import.apply' then
        perform remit.apply_import_rows(p_tenant, p_scope, v_import, p_base, p_now);
        delete from remit.import_rows r
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = v_import;
        insert into remit.imports (tenant_id, scope_id, import_id, export_digest, source_tenant_id, source_scope_id,
                                   remapped, policy_basis, result, ledger_sequence, imported_at)
        values (p_tenant, p_scope, v_import, decode(p_change ->> 'export_digest', 'hex'), p_change ->> 'source_tenant_id',
                p_change ->> 'source_scope_id', (p_change ->> 'remapped')::boolean, p_change ->> 'policy_basis',
                p_change -> 'result', p_base + (p_change ->> 'event')::bigint, p_now);
    end case;
end
$$;

-- The staged rows of one import become rows of the workspace, table by table.
create function remit.apply_import_rows(p_tenant text, p_scope text, p_import text, p_base bigint,
                                        p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    insert into remit.memory_objects (tenant_id, scope_id, object_id, object_type, version_id, sequence, deleted)
    select p_tenant, p_scope, o.object_id, o.object_type, o.version_id, o.sequence, o.deleted
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as o(object_id text, object_type text, version_id text,
           sequence bigint, deleted boolean)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'object';
    insert into remit.memory_versions (tenant_id, scope_id, object_id, sequence, version_id, ledger_sequence, object_type,
            schema_id, lifecycle_state, availability_state, retention_state, validation_state, actor_id, provenance_id,
            integrity_lookup, observed_at, asserted_at, valid_from, valid_until, committed_at, recorded_at,
            content_id, provenance_content_id, integrity_content_id, core, mac, mac_key_id)
    select p_tenant, p_scope, v.object_id, v.sequence, v.version_id, p_base + v.event, v.object_type, v.schema_id,
           v.lifecycle_state, v.availability_state, v.retention_state, v.validation_state, v.actor_id, v.provenance_id,
           r.third, v.observed_at, v.asserted_at, v.valid_from, v.valid_until, v.committed_at, v.recorded_at,
           v.content_id, v.provenance_content_id, v.integrity_content_id, r.first, r.second, v.mac_key_id
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as v(object_id text, sequence bigint, version_id text, event bigint,
           object_type text, schema_id text, lifecycle_state text, availability_state text, retention_state text,
           validation_state text, actor_id text, provenance_id text, observed_at timestamptz, asserted_at timestamptz,
           valid_from timestamptz, valid_until timestamptz, committed_at timestamptz, recorded_at timestamptz,
           content_id uuid, provenance_content_id uuid, integrity_content_id uuid, mac_key_id text)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'version';
    insert into remit.imported_versions (tenant_id, scope_id, object_id, sequence, import_id, relationship_refs)
    select p_tenant, p_scope, v.object_id, v.sequence, p_import, v.relationship_refs
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as v(object_id text, sequence bigint, relationship_refs text[])
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'version'
       and r.fields ? 'relationship_refs';
    insert into remit.relationships (tenant_id, scope_id, relationship_id, version_id, sequence, source_object_id,
            target_object_id, target_scope_id, relationship_type, directionality, availability_state, retention_state)
    select p_tenant, p_scope, l.relationship_id, l.version_id, l.sequence, l.source_object_id, l.target_object_id,
           coalesce(l.target_scope_id, p_scope), l.relationship_type, l.directionality, l.availability_state,
           l.retention_state
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as l(relationship_id text, version_id text, sequence bigint,
           source_object_id text, target_object_id text, target_scope_id text, relationship_type text,
           directionality text, availability_state text, retention_state text)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'relationship';
    insert into remit.relationship_versions (tenant_id, scope_id, relationship_id, sequence, version_id,
            ledger_sequence, relationship_type, source_object_id, target_object_id, target_scope_id, directionality,
            lifecycle_state, availability_state, retention_state, validation_state, actor_id, provenance_id,
            integrity_lookup, observed_at, asserted_at, valid_from, valid_until, committed_at, recorded_at, content_id,
            provenance_content_id, integrity_content_id, core, mac, mac_key_id)
    select p_tenant, p_scope, v.relationship_id, v.sequence, v.version_id, p_base + v.event, v.relationship_type,
           v.source_object_id, v.target_object_id, coalesce(v.target_scope_id, p_scope), v.directionality,
           v.lifecycle_state, v.availability_state, v.retention_state, v.validation_state, v.actor_id, v.provenance_id,
           r.third, v.observed_at, v.asserted_at, v.valid_from, v.valid_until, v.committed_at, v.recorded_at,
           v.content_id, v.provenance_content_id, v.integrity_content_id, r.first, r.second, v.mac_key_id
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as v(relationship_id text, sequence bigint, version_id text,
           event bigint, relationship_type text, source_object_id text, target_object_id text, target_scope_id text,
           directionality text, lifecycle_state text, availability_state text, retention_state text,
           validation_state text, actor_id text, provenance_id text, observed_at timestamptz, asserted_at timestamptz,
           valid_from timestamptz, valid_until timestamptz, committed_at timestamptz, recorded_at timestamptz,
           content_id uuid, provenance_content_id uuid, integrity_content_id uuid, mac_key_id text)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import
       and r.kind = 'relationship_version';
    insert into remit.memory_contents (tenant_id, scope_id, object_id, content_id, part, key_page, key_slot, ciphertext,
                                       commitment)
    select p_tenant, p_scope, c.object_id, c.content_id, c.part, c.key_page, c.key_slot, r.first, r.second
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as c(object_id text, content_id uuid, part text, key_page uuid,
           key_slot integer)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'content';
    insert into remit.memory_lookups (tenant_id, scope_id, field, lookup, object_id, content_id)
    select p_tenant, p_scope, k.field, decode(k.lookup, 'hex'), k.object_id, k.content_id
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as k(field text, lookup text, object_id text, content_id uuid)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'lookup'
        on conflict do nothing;
    insert into remit.embedding_spaces (tenant_id, scope_id, embedding_space_id, provider, model, model_revision, dimensions,
            distance_metric, normalization, preprocessing_profile, embedding_kind, canonicalization_rules, created_at,
            created_by, ledger_sequence)
    select p_tenant, p_scope, s.embedding_space_id, s.provider, s.model, s.model_revision, s.dimensions,
           s.distance_metric, s.normalization, s.preprocessing_profile, s.embedding_kind, s.canonicalization_rules,
           s.created_at, s.created_by, p_base + 1
      from remit.import_rows r
     cross join lateral jsonb_to_record(r.fields) as s(embedding_space_id text, provider text, model text,
           model_revision text, dimensions integer, distance_metric text, normalization text,
           preprocessing_profile text, embedding_kind text, canonicalization_rules text, created_at timestamptz,
           created_by jsonb)
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'space';
    -- An artifact of the same name that is here already stays what it is.
    with came as (
        select x.*, convert_from(r.first, 'UTF8')::real[] as embedding
          from remit.import_rows r
         cross join lateral jsonb_to_record(r.fields) as x(artifact_type text, artifact_id text, artifact_version text,
               embedding_space_id text, object_id text, object_type text, version_id text, sequence bigint,
               content_id uuid)
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'vector'),
    kept as (
        insert into remit.vectors (tenant_id, scope_id, embedding_space_id, artifact_type, artifact_id, artifact_version,
                object_id, object_type, content_id, ledger_sequence, embedding)
        select p_tenant, p_scope, c.embedding_space_id, c.artifact_type, c.artifact_id, c.artifact_version, c.object_id,
               c.object_type, c.content_id, p_base + 1, c.embedding
          from came c
            on conflict do nothing
        returning artifact_type, artifact_id, artifact_version)
    insert into remit.derivatives (tenant_id, scope_id, store_id, artifact_type, artifact_id, artifact_version, object_id,
            version_id, sequence, content_id, embedding_space_id, kept, outdated_sequence, registered_at,
            ledger_sequence)
    select p_tenant, p_scope, '', c.artifact_type, c.artifact_id, c.artifact_version, c.object_id, c.version_id,
           c.sequence, c.content_id, c.embedding_space_id, true,
           case when n.content_id is distinct from c.content_id then p_base + 1 end, p_now, p_base + 1
      from kept k
      join came c on c.artifact_type = k.artifact_type and c.artifact_id = k.artifact_id
       and c.artifact_version = k.artifact_version
      join remit.memory_objects o on o.tenant_id = p_tenant and o.scope_id = p_scope and o.object_id = c.object_id
      join remit.memory_versions n on n.tenant_id = p_tenant and n.scope_id = p_scope and n.object_id = o.object_id
       and n.sequence = o.sequence
        on conflict do nothing;
    insert into remit.imported_delegations (tenant_id, scope_id, import_id, position, kind, record)
    select p_tenant, p_scope, p_import, r.number, r.fields ->> 'kind', r.first
      from remit.import_rows r
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'delegation';
    insert into remit.foreign_ledger_records (tenant_id, scope_id, import_id, position, kind, record)
    select p_tenant, p_scope, p_import, r.number, r.fields ->> 'kind', r.first
      from remit.import_rows r
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.import_id = p_import and r.kind = 'ledger';
end
$$;

revoke all on function remit.judge_import(text, text, jsonb) from public;
revoke all on function remit.apply_import(text, text, jsonb, bytea[], bigint, timestamptz) from public;
revoke all on function remit.apply_import_rows(text, text, text, bigint, timestamptz) from public;
