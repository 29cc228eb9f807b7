-- A poll's answer is given by the commit that moves the cursor. When the connection is lost there, the move is handed over
-- again; it has no event to be known by, so that the row names it.
alter function remit.judge_subscription(text, text, jsonb) rename to judge_subscription_change;
alter function remit.apply_subscription(text, text, jsonb, bytea[], bigint, timestamptz) rename to apply_subscription_change;

create function remit.judge_subscription(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    if p_change ->> 'op' = 'subscription.advance' and exists (
        select from remit.subscriptions s
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = p_change ->> 'subscription_id'
           and s.advance_id = (p_change ->> 'advance_id')::uuid) then
        status := 'unchanged';
        return;
    end if;
    select j.status, j.detail into status, detail from remit.judge_subscription_change(p_tenant, p_scope, p_change) j;
end
$$;

create function remit.apply_subscription(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                         p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    perform remit.apply_subscription_change(p_tenant, p_scope, p_change, p_blobs, p_base, p_now);
    if p_change ->> 'op' = 'subscription.advance' then
        update remit.subscriptions s set advance_id = (p_change ->> 'advance_id')::uuid
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = p_change ->> 'subscription_id';
    end if;
end
$$;

revoke all on function remit.judge_subscription(text, text, jsonb) from public;
revoke all on function remit.apply_subscription(text, text, jsonb, bytea[], bigint, timestamptz) from public;
