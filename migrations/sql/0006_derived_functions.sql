-- Changes of derived state, judged and applied under the ledger head's lock. Owned by remit_writer.

create function remit.judge_derived(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_space remit.embedding_spaces;
    v_field text;
begin
    case p_change ->> 'op'
    when 'derived.space' then
        select s.* into v_space from remit.embedding_spaces s
         where s.tenant_id = p_tenant and s.scope_id = p_scope
           and s.embedding_space_id = p_change ->> 'embedding_space_id';
        if found then
            status := 'unchanged';
            foreach v_field in array array['provider', 'model', 'model_revision', 'dimensions', 'distance_metric',
                    'normalization', 'preprocessing_profile', 'embedding_kind', 'canonicalization_rules'] loop
                if to_jsonb(v_space) ->> v_field <> p_change ->> v_field then
                    status := 'exists';
                    detail := jsonb_build_object('field', v_field);
                    exit;
                end if;
            end loop;
        end if;
    when 'derived.register' then
        -- The source must be live now, and the version there. What is redacted in part is represented by its current
        -- version only: an older one may have been read before.
        if not (p_change ->> 'is_new')::boolean and not exists (
                select from remit.retrieval_gate g
                  join remit.memory_versions v on v.tenant_id = g.tenant_id and v.scope_id = g.scope_id
                   and v.object_id = g.object_id and v.sequence = (p_change ->> 'sequence')::bigint
                 where g.tenant_id = p_tenant and g.scope_id = p_scope and g.object_id = p_change ->> 'object_id'
                   and g.verdict = 'open' and v.version_id = p_change ->> 'version_id'
                   and (g.availability_state = 'available' or g.sequence = v.sequence)) then
            status := 'stale';
        elsif exists (
                select from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
                   and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
                   and d.artifact_id = p_change ->> 'artifact_id'
                   and d.artifact_version = p_change ->> 'artifact_version'
                   and d.object_id <> p_change ->> 'object_id'
                   and (d.kept or p_change ? 'vector')) then
            status := 'exists';
            detail := jsonb_build_object('field', 'artifact_id');
        elsif exists (
                select from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
                   and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
                   and d.artifact_id = p_change ->> 'artifact_id'
                   and d.artifact_version = p_change ->> 'artifact_version'
                   and d.embedding_space_id <> p_change ->> 'embedding_space_id') then
            status := 'exists';
            detail := jsonb_build_object('field', 'embedding_space_id');
        elsif not p_change ? 'vector' and exists (
                select from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
                   and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
                   and d.artifact_id = p_change ->> 'artifact_id'
                   and d.artifact_version = p_change ->> 'artifact_version'
                   and d.object_id = p_change ->> 'object_id' and d.version_id = p_change ->> 'version_id'
                   and d.embedding_space_id is not distinct from p_change ->> 'embedding_space_id') then
            status := 'unchanged';
        end if;
    when 'derived.remove' then
        if not exists (
                select from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
                   and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
                   and d.artifact_id = p_change ->> 'artifact_id'
                   and d.artifact_version = p_change ->> 'artifact_version'
                   and p_change -> 'object_ids' ? d.object_id) then
            status := 'unchanged';
        end if;
    when 'derived.tokens' then
        -- Another process was quicker.
        if (p_change ->> 'expected_sequence')::bigint <> coalesce((
                select i.indexed_sequence from remit.index_states i
                 where i.tenant_id = p_tenant and i.scope_id = p_scope and i.index_id = 'index:lexical'), 0) then
            status := 'unchanged';
        end if;
    when 'derived.lists' then
        -- Lists are of vectors as they were read: if one has left the space since, nothing of it may come back.
        if not exists (
                select from remit.embedding_spaces s where s.tenant_id = p_tenant and s.scope_id = p_scope
                   and s.embedding_space_id = p_change ->> 'embedding_space_id'
                   and s.reduced_sequence = (p_change ->> 'reduced_sequence')::bigint) then
            status := 'stale';
        end if;
    when 'derived.drop', 'derived.outdate', 'derived.tokens_reset', 'derived.index' then
        null;
    end case;
end
$$;

-- Removes a vector from the table and its list; what it gave to the list's centroid goes with it.
create function remit.remove_vector(p_tenant text, p_scope text, p_type text, p_id text, p_version text,
                                    p_sequence bigint) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_space text;
    v_embedding real[];
    v_list integer;
begin
    delete from remit.vectors x where x.tenant_id = p_tenant and x.scope_id = p_scope
       and x.artifact_type = p_type and x.artifact_id = p_id and x.artifact_version = p_version
    returning x.embedding_space_id, x.embedding into v_space, v_embedding;
    if not found then
        return;
    end if;
    update remit.embedding_spaces s set reduced_sequence = p_sequence
     where s.tenant_id = p_tenant and s.scope_id = p_scope and s.embedding_space_id = v_space;
    delete from remit.vector_lists l where l.tenant_id = p_tenant and l.scope_id = p_scope
       and l.artifact_type = p_type and l.artifact_id = p_id and l.artifact_version = p_version
    returning l.list_number into v_list;
    if not found then
        return;
    end if;
    delete from remit.vector_centroids c where c.tenant_id = p_tenant and c.scope_id = p_scope
       and c.embedding_space_id = v_space and c.list_number = v_list and c.members = 1;
    update remit.vector_centroids c
       set members = c.members - 1, total = n.total,
           centroid = array(select (t / (c.members - 1))::real from unnest(n.total) with ordinality u(t, i) order by i)
      from (select array(select t - e from unnest(b.total, v_embedding) with ordinality u(t, e, i)
                          order by i) as total
              from remit.vector_centroids b
             where b.tenant_id = p_tenant and b.scope_id = p_scope and b.embedding_space_id = v_space
               and b.list_number = v_list) n
     where c.tenant_id = p_tenant and c.scope_id = p_scope and c.embedding_space_id = v_space
       and c.list_number = v_list;
end
$$;
revoke all on function remit.remove_vector(text, text, text, text, text, bigint) from public;

create function remit.drop_tokens(p_tenant text, p_scope text, p_object_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    delete from remit.lexical_tokens t
     where t.tenant_id = p_tenant and t.scope_id collate "C" = p_scope and t.object_id = p_object_id;
    delete from remit.lexical_objects o
     where o.tenant_id = p_tenant and o.scope_id = p_scope and o.object_id = p_object_id;
end
$$;
revoke all on function remit.drop_tokens(text, text, text) from public;

create function remit.apply_derived(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                    p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_item jsonb;
    v_tokens bytea;
begin
    case p_change ->> 'op'
    when 'derived.space' then
        insert into remit.embedding_spaces (tenant_id, scope_id, embedding_space_id, provider, model, model_revision,
                dimensions, distance_metric, normalization, preprocessing_profile, embedding_kind,
                canonicalization_rules, created_at, created_by, ledger_sequence)
        select p_tenant, p_scope, s.embedding_space_id, s.provider, s.model, s.model_revision, s.dimensions,
               s.distance_metric, s.normalization, s.preprocessing_profile, s.embedding_kind,
               s.canonicalization_rules, p_now, s.created_by, p_base + 1
          from jsonb_to_record(p_change) as s(embedding_space_id text, provider text, model text, model_revision text,
               dimensions integer, distance_metric text, normalization text, preprocessing_profile text,
               embedding_kind text, canonicalization_rules text, created_by jsonb);
    when 'derived.register' then
        if p_change ? 'vector' then
            perform remit.remove_vector(p_tenant, p_scope, p_change ->> 'artifact_type',
                p_change ->> 'artifact_id', p_change ->> 'artifact_version', p_base);
            delete from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
               and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
               and d.artifact_id = p_change ->> 'artifact_id' and d.artifact_version = p_change ->> 'artifact_version';
            insert into remit.vectors (tenant_id, scope_id, embedding_space_id, artifact_type, artifact_id,
                    artifact_version, object_id, object_type, content_id, ledger_sequence, embedding)
            values (p_tenant, p_scope, p_change ->> 'embedding_space_id', p_change ->> 'artifact_type',
                    p_change ->> 'artifact_id', p_change ->> 'artifact_version', p_change ->> 'object_id',
                    p_change ->> 'object_type', (p_change ->> 'content_id')::uuid,
                    p_base + (p_change ->> 'event')::integer,
                    convert_from(p_blobs[(p_change ->> 'vector')::integer], 'UTF8')::real[]);
        end if;
        insert into remit.derivatives (tenant_id, scope_id, store_id, artifact_type, artifact_id, artifact_version,
                object_id, version_id, sequence, content_id, embedding_space_id, kept, outdated_sequence,
                registered_at, ledger_sequence)
        select p_tenant, p_scope, r.store_id, r.artifact_type, r.artifact_id, r.artifact_version, r.object_id,
               r.version_id, r.sequence, r.content_id, r.embedding_space_id, p_change ? 'vector',
               case when (p_change ->> 'is_new')::boolean then null else (
                   select n.ledger_sequence from remit.memory_objects o
                     join remit.memory_versions n on n.tenant_id = p_tenant and n.scope_id = p_scope
                      and n.object_id = o.object_id and n.sequence = o.sequence
                    where o.tenant_id = p_tenant and o.scope_id = p_scope and o.object_id = r.object_id
                      and n.content_id is distinct from r.content_id) end,
               p_now, p_base + r.event
          from jsonb_to_record(p_change) as r(store_id text, artifact_type text, artifact_id text,
               artifact_version text, object_id text, version_id text, sequence bigint, content_id uuid,
               embedding_space_id text, event integer)
        on conflict (tenant_id, scope_id, store_id, artifact_type, artifact_id, artifact_version, object_id, version_id)
        do update set embedding_space_id = excluded.embedding_space_id, registered_at = excluded.registered_at,
               ledger_sequence = excluded.ledger_sequence;
    when 'derived.remove' then
        perform remit.remove_vector(p_tenant, p_scope, d.artifact_type, d.artifact_id, d.artifact_version, p_base + 1)
           from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
            and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
            and d.artifact_id = p_change ->> 'artifact_id' and d.artifact_version = p_change ->> 'artifact_version'
            and p_change -> 'object_ids' ? d.object_id and d.kept;
        delete from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id = p_scope
           and d.store_id = p_change ->> 'store_id' and d.artifact_type = p_change ->> 'artifact_type'
           and d.artifact_id = p_change ->> 'artifact_id' and d.artifact_version = p_change ->> 'artifact_version'
           and p_change -> 'object_ids' ? d.object_id;
    when 'derived.drop' then
        perform remit.remove_vector(p_tenant, p_scope, d.artifact_type, d.artifact_id, d.artifact_version, p_base + 1)
           from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id collate "C" = p_scope
            and d.object_id = p_change ->> 'object_id' and d.kept;
        perform remit.drop_tokens(p_tenant, p_scope, p_change ->> 'object_id');
        -- Of artifacts elsewhere the lineage stays: it says what is left to remove there.
        delete from remit.derivatives d where d.tenant_id = p_tenant and d.scope_id collate "C" = p_scope
           and d.object_id = p_change ->> 'object_id' and d.kept;
    when 'derived.outdate' then
        update remit.derivatives d set outdated_sequence = p_base + 1
         where d.tenant_id = p_tenant and d.scope_id collate "C" = p_scope and d.object_id = p_change ->> 'object_id'
           and d.content_id is distinct from (p_change ->> 'content_id')::uuid and d.outdated_sequence is null;
    when 'derived.tokens_reset' then
        delete from remit.lexical_tokens t where t.tenant_id = p_tenant and t.scope_id = p_scope;
        delete from remit.lexical_objects o where o.tenant_id = p_tenant and o.scope_id = p_scope;
        update remit.index_states i set indexed_sequence = 0
         where i.tenant_id = p_tenant and i.scope_id = p_scope and i.index_id = 'index:lexical';
    when 'derived.tokens' then
        v_tokens := p_blobs[(p_change ->> 'tokens')::integer];
        for v_item in select value from jsonb_array_elements(p_change -> 'items') loop
            perform remit.drop_tokens(p_tenant, p_scope, v_item ->> 'object_id');
            -- What moved on since it was read comes again; what is hidden now is left out.
            continue when not exists (
                select from remit.retrieval_gate g where g.tenant_id = p_tenant and g.scope_id = p_scope
                   and g.object_id = v_item ->> 'object_id' and g.verdict = 'open'
                   and g.sequence = (v_item ->> 'sequence')::bigint);
            insert into remit.lexical_objects (tenant_id, scope_id, object_id, content_id, words)
            values (p_tenant, p_scope, v_item ->> 'object_id', (v_item ->> 'content_id')::uuid,
                    (v_item ->> 'words')::integer);
            insert into remit.lexical_tokens (tenant_id, scope_id, token, object_id, occurrences)
            select p_tenant, p_scope, substring(v_tokens from 1 + 16 * n for 16), v_item ->> 'object_id',
                   (v_item -> 'occurrences' ->> (n - (v_item ->> 'first')::integer))::integer
              from generate_series((v_item ->> 'first')::integer,
                   (v_item ->> 'first')::integer + jsonb_array_length(v_item -> 'occurrences') - 1) n;
        end loop;
        insert into remit.index_states (tenant_id, scope_id, index_id, indexed_sequence)
        values (p_tenant, p_scope, 'index:lexical', (p_change ->> 'indexed_sequence')::bigint)
        on conflict (tenant_id, scope_id, index_id) do update set indexed_sequence = excluded.indexed_sequence;
    when 'derived.index' then
        insert into remit.index_states (tenant_id, scope_id, index_id, indexed_sequence)
        values (p_tenant, p_scope, p_change ->> 'index_id', (p_change ->> 'indexed_sequence')::bigint)
        on conflict (tenant_id, scope_id, index_id) do update set indexed_sequence = excluded.indexed_sequence;
    when 'derived.lists' then
        delete from remit.vector_lists l where l.tenant_id = p_tenant and l.scope_id collate "C" = p_scope
           and l.embedding_space_id = p_change ->> 'embedding_space_id';
        delete from remit.vector_centroids c where c.tenant_id = p_tenant and c.scope_id = p_scope
           and c.embedding_space_id = p_change ->> 'embedding_space_id';
        -- In the order they come, which is list by list.
        insert into remit.vector_lists (tenant_id, scope_id, embedding_space_id, artifact_type, artifact_id,
                artifact_version, list_number, object_id, object_type, content_id, ledger_sequence, embedding)
        select p_tenant, p_scope, p_change ->> 'embedding_space_id', x.artifact_type, x.artifact_id,
               x.artifact_version, (m.value ->> 3)::integer, x.object_id, x.object_type, x.content_id,
               x.ledger_sequence, x.embedding
          from jsonb_array_elements(convert_from(p_blobs[(p_change ->> 'members')::integer], 'UTF8')::jsonb) m
         cross join lateral (
            select x.* from remit.vectors x
             where x.tenant_id = p_tenant and x.scope_id = p_scope and x.artifact_type = m.value ->> 0
               and x.artifact_id = m.value ->> 1 and x.artifact_version = m.value ->> 2 limit 1) x;
        insert into remit.vector_centroids (tenant_id, scope_id, embedding_space_id, list_number, members, total,
                centroid)
        select p_tenant, p_scope, p_change ->> 'embedding_space_id', (c.value ->> 0)::integer,
               (c.value ->> 1)::integer,
               array(select e::real::float8 * (c.value ->> 1)::integer
                       from unnest((c.value ->> 2)::real[]) with ordinality u(e, i) order by i),
               (c.value ->> 2)::real[]
          from jsonb_array_elements(convert_from(p_blobs[(p_change ->> 'centroids')::integer], 'UTF8')::jsonb) c;
        insert into remit.index_states (tenant_id, scope_id, index_id, indexed_sequence)
        values (p_tenant, p_scope, p_change ->> 'index_id', (p_change ->> 'built_sequence')::bigint)
        on conflict (tenant_id, scope_id, index_id) do update set indexed_sequence = excluded.indexed_sequence;
    end case;
end
$$;
revoke all on function remit.judge_derived(text, text, jsonb) from public;
revoke all on function remit.apply_derived(text, text, jsonb, bytea[], bigint, timestamptz) from public;
