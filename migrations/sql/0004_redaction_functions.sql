-- Changes of the area `redaction`. Run as remit_writer.
create or replace function remit.judge_redaction(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    case p_change ->> 'op'
    when 'redaction.open' then
        null;
    when 'redaction.lookups' then
        null;
    when 'redaction.close' then
        if not exists (select from remit.redaction_jobs j where j.tenant_id = p_tenant and j.scope_id = p_scope
                          and j.job_id = p_change ->> 'job_id' and j.state = 'open') then
            status := 'unchanged';
        end if;
    end case;
end
$$;

create or replace function remit.apply_redaction(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                      p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_erased uuid[];
begin
    case p_change ->> 'op'
    when 'redaction.open' then
        -- Everything, where it does not name what: parts of this command are inserted later and stay.
        if (p_change ->> 'whole')::boolean then
            select coalesce(array_agg(c.content_id), '{}') into v_erased from remit.memory_contents c
             where c.tenant_id = p_tenant and c.scope_id = p_scope and c.object_id = p_change ->> 'object_id';
        else
            select coalesce(array_agg(e.value::uuid), '{}') into v_erased
              from jsonb_array_elements_text(p_change -> 'erased_content_ids') e;
        end if;
        insert into remit.redaction_jobs (tenant_id, scope_id, job_id, object_id, kind, erased_content_ids, state,
                                           opened_at)
        values (p_tenant, p_scope, p_change ->> 'job_id', p_change ->> 'object_id', p_change ->> 'kind', v_erased, 'open', p_now);
        -- A digest that a client gave would let one confirm a guess of what was erased.
        update remit.memory_versions v set integrity_lookup = null
         where v.tenant_id = p_tenant and v.scope_id = p_scope and v.object_id = p_change ->> 'object_id'
           and v.integrity_lookup is not null and v.integrity_content_id = any (v_erased);
        delete from remit.memory_lookups l
         where l.tenant_id = p_tenant and l.scope_id = p_scope and l.object_id = p_change ->> 'object_id'
           and l.content_id = any (v_erased);
    when 'redaction.lookups' then
        delete from remit.memory_lookups l
         where l.tenant_id = p_tenant and l.scope_id = p_scope and l.object_id = p_change ->> 'object_id'
           and l.field in (select f.value from jsonb_array_elements_text(p_change -> 'drop') f);
        insert into remit.memory_lookups (tenant_id, scope_id, field, lookup, object_id, content_id)
        select p_tenant, p_scope, a.field, decode(a.lookup, 'hex'), p_change ->> 'object_id', a.content_id
          from jsonb_to_recordset(p_change -> 'add') as a(field text, lookup text, content_id uuid)
            on conflict do nothing;
    when 'redaction.close' then
        delete from remit.memory_contents c using remit.redaction_jobs j
         where j.tenant_id = p_tenant and j.scope_id = p_scope and j.job_id = p_change ->> 'job_id'
           and c.tenant_id = p_tenant and c.scope_id = p_scope and c.object_id = j.object_id
           and c.content_id = any (j.erased_content_ids);
        update remit.redaction_jobs j set state = 'closed', closed_at = p_now
         where j.tenant_id = p_tenant and j.scope_id = p_scope and j.job_id = p_change ->> 'job_id';
    end case;
end
$$;

-- Tenants in which removed content waits for its keys to be destroyed.
create or replace function remit.tenants_with_open_erasures() returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
    select j.tenant_id from remit.erasure_jobs j where j.state = 'open'
    union
    select j.tenant_id from remit.redaction_jobs j where j.state = 'open'
$$;

revoke all on function remit.judge_redaction(text, text, jsonb) from public;
revoke all on function remit.apply_redaction(text, text, jsonb, bytea[], bigint, timestamptz) from public;
