-- The commit function: the only way anything is written. Owned by remit_writer, SECURITY DEFINER.
--
-- p_scopes    every workspace the commands touch, in scope order; commands name them by position (from 1)
-- p_commands  an array of commands, judged in order, each seeing the accepted ones before it
-- p_blobs     bytes the commands name by position (from 1)
--
-- One row per command: accepted | unchanged | replayed | duplicate | stale | delegation | exhausted | conflict |
-- exists | absent | deleted | scope_exists | last_owner, or what the judge of a change says. A command that is not
-- accepted writes nothing.
create or replace function remit.commit(p_tenant text, p_scopes text[], p_commands jsonb, p_blobs bytea[])
returns table (command integer, status text, detail jsonb, now_us bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
    h_sequence bigint[];
    h_hash bytea[];
    h_recorded timestamptz[];
    h_policy bigint[];
    h_restrict bigint[];
    h_removal bigint[];
    h_touched integer[] := '{}';
    v_now timestamptz;
    v_at timestamptz;
    v_command jsonb;
    v_ix integer;
    v_scope integer;
    v_opened integer;
    v_n integer;
    v_status text;
    v_detail jsonb;
    v_guard jsonb;
    v_reason text;
    v_exhausted text;
    v_home text;
    v_take boolean;
    v_link record;
    v_links integer[];
    v_ix_taken integer;
    -- Uses taken by this batch, by the position its encoder gave each grant; written once at the end.
    u_home text[] := '{}';
    u_id text[] := '{}';
    u_taken bigint[] := '{}';
    v_remaining bigint;
    v_id text;
    v_version text;
    v_type text;
    v_deleted boolean;
    v_mac bytea;
    v_result jsonb;
    v_use bigint;
    v_base bigint;
    v_event jsonb;
    v_leaf bytea;
    v_sequence bigint;
    r_status text[] := '{}';
    r_detail jsonb[] := '{}';
    a_command integer[] := '{}';
    a_base bigint[] := '{}';
    e_sequence bigint[] := '{}';
    e_recorded timestamptz[] := '{}';
    e_use bigint[] := '{}';
    e_leaf bytea[] := '{}';
    e_chain bytea[] := '{}';
begin
    perform set_config('remit.tenant_id', p_tenant, true);
    -- Nothing but the locks: what is read below sees everything that committed while this waited for them.
    perform 1 from remit.ledger_heads h where h.tenant_id = p_tenant and h.scope_id = any (p_scopes)
        order by h.scope_id for update;
    select array_agg(h.sequence order by s.ix), array_agg(h.chain_hash order by s.ix),
           array_agg(h.recorded_at order by s.ix), array_agg(h.policy_revision order by s.ix),
           array_agg(h.restrict_revision order by s.ix), array_agg(h.removal_revision order by s.ix)
      into h_sequence, h_hash, h_recorded, h_policy, h_restrict, h_removal
      from unnest(p_scopes) with ordinality s(scope_id, ix)
      left join remit.ledger_heads h on h.tenant_id = p_tenant and h.scope_id = s.scope_id;
    v_now := remit.clock();

    for v_command, v_ix in select c.value, c.ordinality from jsonb_array_elements(p_commands) with ordinality c loop
        v_status := null;
        v_detail := null;
        v_exhausted := null;
        v_remaining := null;
        v_use := 0;
        v_take := false;
        v_links := '{}';
        v_scope := (v_command ->> 'scope')::integer;
        -- Code of the release before, still running while this is rolled out, names one object and one change.
        if v_command ? 'object' then
            v_command := v_command || jsonb_build_object('objects', jsonb_build_array(v_command -> 'object'));
        end if;
        if v_command ? 'cold' then
            v_command := v_command || jsonb_build_object('colds', jsonb_build_array(v_command -> 'cold'));
        end if;

        -- 1. Authority: the revisions it was decided at, then every grant of the chain.
        v_opened := (v_command -> 'workspace' ->> 'scope')::integer;
        if h_sequence[v_scope] is null and v_opened is distinct from v_scope then
            v_status := 'stale';
        end if;
        v_guard := v_command -> 'revisions';
        if v_status is null and v_guard is not null and (
               h_policy[v_scope] <> (v_guard ->> 'policy')::bigint
            or h_restrict[v_scope] <> (v_guard ->> 'restrict')::bigint
            or h_removal[v_scope] <> (v_guard ->> 'removal')::bigint) then
            v_status := 'stale';
        end if;
        v_guard := v_command -> 'also';
        if v_status is null and v_guard is not null
           and h_restrict[(v_guard ->> 'scope')::integer] is distinct from (v_guard ->> 'restrict')::bigint then
            v_status := 'stale';
        end if;
        v_guard := v_command -> 'chain';
        if v_status is null and v_guard is not null then
            v_home := p_scopes[(v_guard ->> 'scope')::integer];
            v_take := (v_guard ->> 'take_use')::boolean;
            for v_link in
                select c.id, c.n, d.uses, d.usage_limit, case
                    when d.delegation_id is null then 'DELEGATION_UNKNOWN'
                    when d.revoked then 'REVOKED'
                    when d.sequence <> c.version then 'CHANGED'
                    when v_now < d.not_before then 'NOT_YET_VALID'
                    when v_now > d.not_after then 'EXPIRED' end as reason
                from rows from (jsonb_to_recordset(v_guard -> 'grants') as (id text, version bigint, n integer))
                     with ordinality c(id, version, n, ix)
                left join remit.delegations d on d.tenant_id = p_tenant and d.scope_id = v_home and d.delegation_id = c.id
                order by c.ix
            loop
                if v_link.reason is not null then
                    v_status := case v_link.reason when 'CHANGED' then 'stale' else 'delegation' end;
                    v_detail := jsonb_build_object('delegation_id', v_link.id, 'reason', v_link.reason);
                    exit;
                end if;
                u_home[v_link.n] := v_home;
                u_id[v_link.n] := v_link.id;
                u_taken[v_link.n] := coalesce(u_taken[v_link.n], 0);
                v_links := v_links || v_link.n;
                v_use := v_link.uses + u_taken[v_link.n] + 1;
                v_remaining := least(v_remaining, v_link.usage_limit - v_use);
                if v_take and v_exhausted is null and v_use > v_link.usage_limit then
                    v_exhausted := v_link.id;
                end if;
            end loop;
        end if;

        -- 2. The idempotency key. A replay takes no use, so it comes before the limit.
        v_guard := v_command -> 'idempotency';
        if v_status is null and v_guard is not null then
            select i.request_mac, i.result into v_mac, v_result from remit.idempotency_keys i
             where i.tenant_id = p_tenant and i.scope_id = p_scopes[v_scope]
               and i.actor_id = v_guard ->> 'actor_id' and i.key = v_guard ->> 'key';
            if found then
                v_status := case when v_mac = p_blobs[(v_guard ->> 'mac')::integer] then 'replayed' else 'duplicate' end;
                v_detail := v_result;
            end if;
        end if;
        if v_status is null and v_exhausted is not null then
            v_status := 'exhausted';
            v_detail := jsonb_build_object('delegation_id', v_exhausted);
        end if;

        -- 3. The object, or what an administrative change stands on.
        v_n := 0;
        while v_status is null loop
            v_guard := v_command -> 'objects' -> v_n;
            exit when v_guard is null;
            v_n := v_n + 1;
            select o.version_id, o.object_type, o.deleted into v_version, v_type, v_deleted from remit.memory_objects o
             where o.tenant_id = p_tenant and o.scope_id = p_scopes[v_scope] and o.object_id = v_guard ->> 'object_id';
            if not found then
                if v_guard ->> 'expected' is not null then
                    v_status := 'absent';
                end if;
            elsif v_guard ->> 'expected' is null then
                v_status := case when v_deleted then 'deleted' else 'exists' end;
                v_detail := jsonb_build_object('current_version_id', v_version, 'object_type', v_type);
            elsif v_deleted then
                v_status := 'deleted';
            elsif v_version <> v_guard ->> 'expected' then
                v_status := 'conflict';
                v_detail := jsonb_build_object('current_version_id', v_version);
            end if;
            if v_status is not null then
                v_detail := coalesce(v_detail, '{}'::jsonb) || jsonb_build_object('object_id', v_guard ->> 'object_id');
            end if;
        end loop;
        v_n := 0;
        while v_status is null loop
            v_guard := v_command -> 'colds' -> v_n;
            exit when v_guard is null;
            v_n := v_n + 1;
            select j.status, j.detail into v_status, v_detail
              from remit.judge_cold(p_tenant, p_scopes[v_scope], v_guard) j;
        end loop;
        if v_status is null and h_sequence[v_opened] is not null then
            v_status := 'scope_exists';
        end if;

        -- Accepted: take the uses, move the pointers, append the events.
        if v_status is null then
            v_status := 'accepted';
            if v_opened is not null then
                perform remit.open_workspace(p_tenant, p_scopes[v_opened], v_command -> 'workspace', v_now);
                h_sequence[v_opened] := 0;
                select h.chain_hash into v_leaf from remit.ledger_heads h
                 where h.tenant_id = p_tenant and h.scope_id = p_scopes[v_opened];
                h_hash[v_opened] := v_leaf;
                h_recorded[v_opened] := v_now;
                h_policy[v_opened] := 1;
                h_restrict[v_opened] := 0;
                h_removal[v_opened] := 0;
            end if;
            if v_take then
                foreach v_ix_taken in array v_links loop
                    u_taken[v_ix_taken] := u_taken[v_ix_taken] + 1;
                end loop;
            else
                v_use := 0;
                v_remaining := null;
            end if;
            v_n := 0;
            loop
                v_guard := v_command -> 'objects' -> v_n;
                exit when v_guard is null;
                v_n := v_n + 1;
                continue when not v_guard ? 'version_id';
                if v_guard ->> 'expected' is null then
                    insert into remit.memory_objects (tenant_id, scope_id, object_id, object_type, version_id, sequence)
                    values (p_tenant, p_scopes[v_scope], v_guard ->> 'object_id', v_guard ->> 'object_type',
                            v_guard ->> 'version_id', (v_guard ->> 'sequence')::bigint);
                else
                    update remit.memory_objects o
                       set version_id = v_guard ->> 'version_id', sequence = (v_guard ->> 'sequence')::bigint,
                           deleted = coalesce((v_guard ->> 'deleted')::boolean, false)
                     where o.tenant_id = p_tenant and o.scope_id = p_scopes[v_scope]
                       and o.object_id = v_guard ->> 'object_id';
                end if;
            end loop;
            v_base := h_sequence[v_scope];
            v_n := 0;
            loop
                v_guard := v_command -> 'colds' -> v_n;
                exit when v_guard is null;
                v_n := v_n + 1;
                perform remit.apply_cold(p_tenant, p_scopes[v_scope], v_guard, p_blobs, v_base, v_now);
            end loop;
            v_guard := v_command -> 'idempotency';
            if v_guard is not null then
                insert into remit.idempotency_keys (tenant_id, scope_id, actor_id, key, request_mac, result, recorded_at)
                values (p_tenant, p_scopes[v_scope], v_guard ->> 'actor_id', v_guard ->> 'key',
                        p_blobs[(v_guard ->> 'mac')::integer], v_guard -> 'result', v_now);
            end if;
            v_guard := v_command -> 'bump';
            if v_guard is not null then
                h_policy[v_scope] := h_policy[v_scope] + (v_guard ? 'policy')::integer;
                h_restrict[v_scope] := h_restrict[v_scope] + (v_guard ? 'restrict')::integer;
                h_removal[v_scope] := h_removal[v_scope] + (v_guard ? 'removal')::integer;
                h_touched := h_touched || v_scope;
            end if;
            for v_event in select value from jsonb_array_elements(v_command -> 'events') loop
                v_scope := (v_event ->> 'scope')::integer;
                v_sequence := h_sequence[v_scope] + 1;
                v_at := greatest(v_now, h_recorded[v_scope]);
                v_leaf := sha256('\x00'::bytea || int8send(v_sequence)
                    || int8send((extract(epoch from v_at) * 1000000)::bigint)
                    || int8send(case when v_event ->> 'type' = 'delegation_exercised' then v_use else 0 end)
                    || p_blobs[(v_event ->> 'body')::integer]);
                h_hash[v_scope] := sha256('\x01'::bytea || h_hash[v_scope] || v_leaf);
                h_sequence[v_scope] := v_sequence;
                h_recorded[v_scope] := v_at;
                h_touched := h_touched || v_scope;
                e_sequence := e_sequence || v_sequence;
                e_recorded := e_recorded || v_at;
                e_use := e_use || case when v_event ->> 'type' = 'delegation_exercised' then v_use else 0 end;
                e_leaf := e_leaf || v_leaf;
                e_chain := e_chain || h_hash[v_scope];
            end loop;
            a_command := a_command || v_ix;
            a_base := a_base || v_base;
            v_detail := jsonb_build_object('sequence', v_base + 1, 'use_number', v_use, 'remaining_uses', v_remaining);
        end if;
        r_status := r_status || v_status;
        r_detail := r_detail || coalesce(v_detail, '{}'::jsonb);
    end loop;

    -- Rows of all accepted commands, set by set.
    insert into remit.ledger_events (tenant_id, scope_id, sequence, event_id, event_type, operation_id, actor_id,
                                     object_id, relationship_id, version_id, delegation_id,
                                     recorded_at, use_number, body, leaf_hash, chain_hash)
    select p_tenant, p_scopes[e.scope], n.sequence, e.id, e.type, e.operation_id, e.actor_id, e.object_id,
           e.relationship_id, e.version_id, e.delegation_id, n.recorded_at, n.use_number, p_blobs[e.body], n.leaf_hash, n.chain_hash
      from (select x.*, row_number() over (order by a.ix, x.ord) as n
              from unnest(a_command) with ordinality a(command, ix)
             cross join lateral rows from (jsonb_to_recordset(p_commands -> (a.command - 1) -> 'events')
                   as (scope integer, id text, type text, operation_id text, actor_id text, object_id text,
                       relationship_id text, version_id text, delegation_id text, body integer)) with ordinality
                   x(scope, id, type, operation_id, actor_id, object_id, relationship_id, version_id, delegation_id, body, ord)) e
      join unnest(e_sequence, e_recorded, e_use, e_leaf, e_chain) with ordinality
           n(sequence, recorded_at, use_number, leaf_hash, chain_hash, n) on n.n = e.n;
    insert into remit.memory_versions (tenant_id, scope_id, object_id, sequence, version_id, ledger_sequence, object_type,
            schema_id, lifecycle_state, availability_state, retention_state, validation_state, actor_id, provenance_id,
            integrity_lookup, observed_at, asserted_at, valid_from, valid_until, committed_at, recorded_at,
            content_id, provenance_content_id, integrity_content_id, core, mac, mac_key_id)
    select p_tenant, p_scopes[(p_commands -> (a.command - 1) ->> 'scope')::integer], v.object_id, v.sequence, v.version_id,
           a.base + v.event, v.object_type, v.schema_id, v.lifecycle_state, v.availability_state, v.retention_state,
           v.validation_state, v.actor_id, v.provenance_id, p_blobs[v.integrity_lookup], v.observed_at, v.asserted_at,
           v.valid_from, v.valid_until, v.committed_at, v.recorded_at, v.content_id, v.provenance_content_id,
           v.integrity_content_id, p_blobs[v.core], p_blobs[v.mac], v.mac_key_id
      from unnest(a_command, a_base) a(command, base),
           jsonb_to_recordset(p_commands -> (a.command - 1) -> 'versions') as v(object_id text, sequence bigint,
               version_id text, event integer, object_type text, schema_id text, lifecycle_state text,
               availability_state text, retention_state text, validation_state text, actor_id text, provenance_id text,
               integrity_lookup integer, observed_at timestamptz, asserted_at timestamptz, valid_from timestamptz,
               valid_until timestamptz, committed_at timestamptz, recorded_at timestamptz, content_id uuid,
               provenance_content_id uuid, integrity_content_id uuid, core integer, mac integer, mac_key_id text);
    insert into remit.memory_contents (tenant_id, scope_id, object_id, content_id, part, key_page, key_slot, ciphertext, commitment)
    select p_tenant, p_scopes[(p_commands -> (a.command - 1) ->> 'scope')::integer], c.object_id, c.content_id, c.part,
           c.key_page, c.key_slot, p_blobs[c.ciphertext], p_blobs[c.commitment]
      from unnest(a_command) a(command),
           jsonb_to_recordset(p_commands -> (a.command - 1) -> 'contents') as c(object_id text, content_id uuid, part text,
               key_page uuid, key_slot integer, ciphertext integer, commitment integer);
    update remit.delegations d set uses = d.uses + u.taken
      from unnest(u_home, u_id, u_taken) u(home, id, taken)
     where u.taken > 0 and d.tenant_id = p_tenant and d.scope_id = u.home and d.delegation_id = u.id;
    update remit.ledger_heads h
       set sequence = h_sequence[s.ix], chain_hash = h_hash[s.ix], recorded_at = h_recorded[s.ix],
           policy_revision = h_policy[s.ix], restrict_revision = h_restrict[s.ix], removal_revision = h_removal[s.ix]
      from unnest(p_scopes) with ordinality s(scope_id, ix)
     where h.tenant_id = p_tenant and h.scope_id = s.scope_id and s.ix = any (h_touched);

    return query select u.ix::integer, u.status, u.detail, (extract(epoch from v_now) * 1000000)::bigint
        from unnest(r_status, r_detail) with ordinality u(status, detail, ix);
end
$$;

-- Whether a change by name would change anything; null when it may be applied. A name with a dot is judged and applied
-- by the functions of its area, which stand with the area's tables.
create or replace function remit.judge_cold(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_id text;
begin
    case p_change ->> 'op'
    when 'rule_add' then
        select r.rule_id into v_id from remit.policy_rules r
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.subject = p_change ->> 'subject'
           and r.action = p_change ->> 'action' and r.object_type = p_change ->> 'object_type'
           and r.object_id = p_change ->> 'object_id' and r.effect = p_change ->> 'effect';
        if found then
            status := 'unchanged';
            detail := jsonb_build_object('rule_id', v_id);
        end if;
    when 'cross_scope_rule_add' then
        select r.rule_id into v_id from remit.cross_scope_rules r
         where r.tenant_id = p_tenant and r.scope_id = p_scope and r.source_scope_id = p_change ->> 'source_scope_id'
           and r.kind = p_change ->> 'kind';
        if found then
            status := 'unchanged';
            detail := jsonb_build_object('rule_id', v_id);
        end if;
    when 'rule_remove' then
        if not exists (select from remit.policy_rules r where r.tenant_id = p_tenant and r.scope_id = p_scope
                          and r.rule_id = p_change ->> 'rule_id')
           and not exists (select from remit.cross_scope_rules r where r.tenant_id = p_tenant and r.scope_id = p_scope
                              and r.rule_id = p_change ->> 'rule_id') then
            status := 'unchanged';
        end if;
    when 'role_bind' then
        if exists (select from remit.role_bindings b where b.tenant_id = p_tenant and b.scope_id = p_scope
                      and b.role_id = p_change ->> 'role_id' and b.actor_id = p_change ->> 'actor_id') then
            status := 'unchanged';
        end if;
    when 'role_unbind' then
        if not exists (select from remit.role_bindings b where b.tenant_id = p_tenant and b.scope_id = p_scope
                          and b.role_id = p_change ->> 'role_id' and b.actor_id = p_change ->> 'actor_id') then
            status := 'unchanged';
        elsif p_change ->> 'role_id' = 'role:owner' and (
                select count(*) from remit.role_bindings b where b.tenant_id = p_tenant and b.scope_id = p_scope
                   and b.role_id = 'role:owner') = 1 then
            status := 'last_owner';
        end if;
    when 'grant' then
        null;
    when 'revoke' then
        select d.version_id into v_id from remit.delegations d
         where d.tenant_id = p_tenant and d.scope_id = p_scope and d.delegation_id = p_change ->> 'delegation_id'
           and d.sequence = (p_change ->> 'expected_sequence')::bigint and not d.revoked;
        if not found then
            status := 'stale';
        end if;
    when 'erasure_open' then
        null;
    when 'erasure_close' then
        if not exists (select from remit.erasure_jobs j where j.tenant_id = p_tenant and j.scope_id = p_scope
                          and j.job_id = p_change ->> 'job_id' and j.state = 'open') then
            status := 'unchanged';
        end if;
    else
        case split_part(p_change ->> 'op', '.', 1)
        when 'relationship' then
            select j.status, j.detail into status, detail from remit.judge_relationship(p_tenant, p_scope, p_change) j;
        when 'redaction' then
            select j.status, j.detail into status, detail from remit.judge_redaction(p_tenant, p_scope, p_change) j;
        when 'subscription' then
            select j.status, j.detail into status, detail from remit.judge_subscription(p_tenant, p_scope, p_change) j;
        when 'derived' then
            select j.status, j.detail into status, detail from remit.judge_derived(p_tenant, p_scope, p_change) j;
        when 'snapshot' then
            select j.status, j.detail into status, detail from remit.judge_snapshot(p_tenant, p_scope, p_change) j;
        when 'evaluation' then
            select j.status, j.detail into status, detail from remit.judge_evaluation(p_tenant, p_scope, p_change) j;
        when 'import' then
            select j.status, j.detail into status, detail from remit.judge_import(p_tenant, p_scope, p_change) j;
        end case;
    end case;
end
$$;

-- Applies a change that was judged.
create or replace function remit.apply_cold(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                 p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    case p_change ->> 'op'
    when 'rule_add' then
        insert into remit.policy_rules (tenant_id, scope_id, rule_id, subject, action, object_type, object_id, effect)
        values (p_tenant, p_scope, p_change ->> 'rule_id', p_change ->> 'subject', p_change ->> 'action',
                p_change ->> 'object_type', p_change ->> 'object_id', p_change ->> 'effect');
    when 'cross_scope_rule_add' then
        insert into remit.cross_scope_rules (tenant_id, scope_id, rule_id, source_scope_id, kind)
        values (p_tenant, p_scope, p_change ->> 'rule_id', p_change ->> 'source_scope_id', p_change ->> 'kind');
    when 'rule_remove' then
        delete from remit.policy_rules r where r.tenant_id = p_tenant and r.scope_id = p_scope
            and r.rule_id = p_change ->> 'rule_id';
        delete from remit.cross_scope_rules r where r.tenant_id = p_tenant and r.scope_id = p_scope
            and r.rule_id = p_change ->> 'rule_id';
    when 'role_bind' then
        insert into remit.role_bindings (tenant_id, scope_id, actor_id, role_id)
        values (p_tenant, p_scope, p_change ->> 'actor_id', p_change ->> 'role_id');
    when 'role_unbind' then
        delete from remit.role_bindings b where b.tenant_id = p_tenant and b.scope_id = p_scope
            and b.role_id = p_change ->> 'role_id' and b.actor_id = p_change ->> 'actor_id';
    when 'grant' then
        insert into remit.delegations (tenant_id, scope_id, delegation_id, version_id, sequence, grantor_id, delegate_id,
                target_scope_id, parent_delegation_id, chain, not_before, not_after, usage_limit, granted_sequence)
        select p_tenant, p_scope, g.delegation_id, g.version_id, 1, g.grantor_id, g.delegate_id, g.target_scope_id,
               g.parent_delegation_id, g.chain, g.not_before, g.not_after, g.usage_limit, p_base + 1
          from jsonb_to_record(p_change) as g(delegation_id text, version_id text, grantor_id text, delegate_id text,
               target_scope_id text, parent_delegation_id text, chain text[], not_before timestamptz,
               not_after timestamptz, usage_limit bigint);
        perform remit.append_delegation_version(p_tenant, p_scope, p_change, 1, p_blobs, p_base);
    when 'revoke' then
        update remit.delegations d
           set revoked = true, version_id = p_change ->> 'version_id', sequence = d.sequence + 1
         where d.tenant_id = p_tenant and d.scope_id = p_scope and d.delegation_id = p_change ->> 'delegation_id';
        perform remit.append_delegation_version(p_tenant, p_scope, p_change,
            (p_change ->> 'expected_sequence')::bigint + 1, p_blobs, p_base);
    when 'erasure_open' then
        insert into remit.erasure_jobs (tenant_id, scope_id, job_id, object_id, kept_content_ids, state, opened_at)
        select p_tenant, p_scope, j.job_id, j.object_id, j.kept_content_ids, 'open', p_now
          from jsonb_to_record(p_change) as j(job_id text, object_id text, kept_content_ids uuid[]);
    when 'erasure_close' then
        delete from remit.memory_contents c using remit.erasure_jobs j
         where j.tenant_id = p_tenant and j.scope_id = p_scope and j.job_id = p_change ->> 'job_id'
           and c.tenant_id = p_tenant and c.scope_id = p_scope and c.object_id = j.object_id
           and c.content_id <> all (j.kept_content_ids);
        update remit.erasure_jobs j set state = 'closed', closed_at = p_now
         where j.tenant_id = p_tenant and j.scope_id = p_scope and j.job_id = p_change ->> 'job_id';
    else
        case split_part(p_change ->> 'op', '.', 1)
        when 'relationship' then
            perform remit.apply_relationship(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        when 'redaction' then
            perform remit.apply_redaction(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        when 'subscription' then
            perform remit.apply_subscription(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        when 'derived' then
            perform remit.apply_derived(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        when 'snapshot' then
            perform remit.apply_snapshot(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        when 'evaluation' then
            perform remit.apply_evaluation(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        when 'import' then
            perform remit.apply_import(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
        end case;
    end case;
end
$$;
