-- Changes of the areas `snapshot` and `evaluation`. Run as remit_writer.
create or replace function remit.judge_snapshot(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    case p_change ->> 'op'
    when 'snapshot.seal' then
        if exists (select from remit.snapshots s where s.tenant_id = p_tenant and s.scope_id = p_scope
                      and s.snapshot_id = p_change ->> 'snapshot_id') then
            status := 'sealed';
        elsif not exists (select from remit.ledger_heads h where h.tenant_id = p_tenant and h.scope_id = p_scope
                             and h.epoch = (p_change ->> 'epoch')::bigint
                             and h.sequence >= (p_change ->> 'high_watermark')::bigint) then
            -- A database restored in between ends before the boundary, or goes on differently.
            status := 'stale';
        end if;
    end case;
end
$$;

create or replace function remit.apply_snapshot(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                                p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    case p_change ->> 'op'
    when 'snapshot.seal' then
        insert into remit.snapshots (tenant_id, scope_id, snapshot_id, ledger_sequence, core, mac, mac_key_id)
        values (p_tenant, p_scope, p_change ->> 'snapshot_id', p_base + 1, p_blobs[(p_change ->> 'core')::integer],
                p_blobs[(p_change ->> 'mac')::integer], p_change ->> 'mac_key_id');
    end case;
end
$$;

create or replace function remit.judge_evaluation(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    case p_change ->> 'op'
    when 'evaluation.tick' then
        -- Compare and swap: the times in the command's versions are those of this reading and no other.
        if coalesce((select r.changes from remit.evaluation_runs r where r.tenant_id = p_tenant and r.scope_id = p_scope
                        and r.run_key = p_change ->> 'run_key'), 0) <> (p_change ->> 'changes')::bigint then
            status := 'stale';
        end if;
    end case;
end
$$;

create or replace function remit.apply_evaluation(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                                  p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    case p_change ->> 'op'
    when 'evaluation.tick' then
        insert into remit.evaluation_runs (tenant_id, scope_id, run_key, changes)
        values (p_tenant, p_scope, p_change ->> 'run_key', 1)
            on conflict (tenant_id, scope_id, run_key) do update set changes = remit.evaluation_runs.changes + 1;
    end case;
end
$$;

revoke all on function remit.judge_snapshot(text, text, jsonb) from public;
revoke all on function remit.apply_snapshot(text, text, jsonb, bytea[], bigint, timestamptz) from public;
revoke all on function remit.judge_evaluation(text, text, jsonb) from public;
revoke all on function remit.apply_evaluation(text, text, jsonb, bytea[], bigint, timestamptz) from public;
