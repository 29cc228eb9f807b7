-- Changes of relationships, judged and applied inside remit.commit. Owned by remit_writer.

-- `relationship.put` writes the next version of a relationship, or its first one where no version is expected.
-- A refusal has the status `relationship` and says why: exists | absent | deleted | conflict | end_absent | end_deleted.
create function remit.judge_relationship(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_found remit.relationships;
    v_target_scope text := coalesce(p_change ->> 'target_scope_id', p_scope);
    v_reason text;
    v_end text;
    v_deleted boolean;
begin
    select r.* into v_found from remit.relationships r
     where r.tenant_id = p_tenant and r.scope_id = p_scope and r.relationship_id = p_change ->> 'relationship_id';
    if p_change ->> 'expected_version_id' is null then
        if found then
            v_reason := 'exists';
        end if;
    elsif not found then
        v_reason := 'absent';
    elsif v_found.version_id <> p_change ->> 'expected_version_id' then
        v_reason := 'conflict';
    elsif v_found.availability_state = 'deleted' then
        v_reason := 'deleted';
    end if;
    -- The ends named here are those that must stand: a new one is made by the same command.
    if v_reason is null and p_change -> 'standing_ends' ? 'source' then
        select o.deleted into v_deleted from remit.memory_objects o
         where o.tenant_id = p_tenant and o.scope_id = p_scope and o.object_id = p_change ->> 'source_object_id';
        v_reason := case when not found then 'end_absent' when v_deleted then 'end_deleted' end;
        v_end := 'source';
    end if;
    if v_reason is null and p_change -> 'standing_ends' ? 'target' then
        select o.deleted into v_deleted from remit.memory_objects o
         where o.tenant_id = p_tenant and o.scope_id = v_target_scope and o.object_id = p_change ->> 'target_object_id';
        v_reason := case when not found then 'end_absent' when v_deleted then 'end_deleted' end;
        v_end := 'target';
    end if;
    if v_reason is not null then
        status := 'relationship';
        detail := jsonb_build_object('reason', v_reason, 'end', v_end, 'current_version_id', v_found.version_id);
    end if;
end
$$;

create function remit.apply_relationship(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                         p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_target_scope text := coalesce(p_change ->> 'target_scope_id', p_scope);
begin
    if p_change ->> 'expected_version_id' is null then
        insert into remit.relationships (tenant_id, scope_id, relationship_id, version_id, sequence, source_object_id,
                target_object_id, target_scope_id, relationship_type, directionality, availability_state, retention_state)
        values (p_tenant, p_scope, p_change ->> 'relationship_id', p_change ->> 'version_id', 1,
                p_change ->> 'source_object_id', p_change ->> 'target_object_id', v_target_scope,
                p_change ->> 'relationship_type', p_change ->> 'directionality', p_change ->> 'availability_state',
                p_change ->> 'retention_state');
    else
        update remit.relationships r
           set version_id = p_change ->> 'version_id', sequence = (p_change ->> 'sequence')::bigint,
               relationship_type = p_change ->> 'relationship_type', directionality = p_change ->> 'directionality',
               availability_state = p_change ->> 'availability_state', retention_state = p_change ->> 'retention_state'
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.relationship_id = p_change ->> 'relationship_id';
    end if;
    insert into remit.relationship_versions (tenant_id, scope_id, relationship_id, sequence, version_id,
            ledger_sequence, relationship_type, source_object_id, target_object_id, target_scope_id, directionality,
            lifecycle_state, availability_state, retention_state, validation_state, actor_id, provenance_id,
            integrity_lookup, observed_at, asserted_at, valid_from, valid_until, committed_at, recorded_at, content_id,
            provenance_content_id, integrity_content_id, core, mac, mac_key_id)
    select p_tenant, p_scope, v.relationship_id, v.sequence, v.version_id, p_base + v.event, v.relationship_type,
           v.source_object_id, v.target_object_id, v_target_scope, v.directionality, v.lifecycle_state,
           v.availability_state, v.retention_state, v.validation_state, v.actor_id, v.provenance_id,
           p_blobs[v.integrity_lookup], v.observed_at, v.asserted_at, v.valid_from, v.valid_until, v.committed_at,
           v.recorded_at, v.content_id, v.provenance_content_id, v.integrity_content_id, p_blobs[v.core],
           p_blobs[v.mac], v.mac_key_id
      from jsonb_to_record(p_change) as v(relationship_id text, sequence bigint, version_id text, event integer,
               relationship_type text, source_object_id text, target_object_id text, directionality text,
               lifecycle_state text, availability_state text, retention_state text, validation_state text,
               actor_id text, provenance_id text, integrity_lookup integer, observed_at timestamptz,
               asserted_at timestamptz, valid_from timestamptz, valid_until timestamptz, committed_at timestamptz,
               recorded_at timestamptz, content_id uuid, provenance_content_id uuid, integrity_content_id uuid,
               core integer, mac integer, mac_key_id text);
end
$$;

-- Whoever makes a relationship, its ends are marked as related. Those of another workspace are under its head's lock too.
create function remit.mark_ends() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    update remit.memory_objects o set related = true
     where o.tenant_id = new.tenant_id and o.scope_id = new.scope_id and o.object_id = new.source_object_id
       and not o.related;
    update remit.memory_objects o set related = true
     where o.tenant_id = new.tenant_id and o.scope_id = new.target_scope_id and o.object_id = new.target_object_id
       and not o.related;
    return null;
end
$$;

revoke all on function remit.judge_relationship(text, text, jsonb) from public;
revoke all on function remit.apply_relationship(text, text, jsonb, bytea[], bigint, timestamptz) from public;
revoke all on function remit.mark_ends() from public;
grant execute on function remit.mark_ends() to remit_owner;
