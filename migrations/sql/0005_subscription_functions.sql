-- Changes of subscriptions, judged and applied under the lock of their ledger's head.
--
-- Status conflict says why: MOVED (the cursor is elsewhere, or another stream delivers), CLOSED, AHEAD (of the ledger).
create function remit.judge_subscription(p_tenant text, p_scope text, p_change jsonb, out status text, out detail jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_op text := p_change ->> 'op';
    v_found boolean;
    v_row remit.subscriptions%rowtype;
begin
    select s.* into v_row from remit.subscriptions s
     where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = p_change ->> 'subscription_id';
    v_found := found;
    if v_op = 'subscription.open' then
        if v_found then
            status := 'exists';
        elsif remit.is_ahead_of_ledger(p_tenant, p_scope, (p_change ->> 'after_sequence')::bigint) then
            status := 'conflict';
            detail := jsonb_build_object('why', 'AHEAD');
        end if;
        return;
    end if;
    if not v_found then
        status := 'absent';
        return;
    end if;
    detail := jsonb_build_object('acknowledged_sequence', v_row.acknowledged_sequence);
    if v_row.state = 'closed' then
        if v_op in ('subscription.close', 'subscription.acknowledge') then
            status := 'unchanged';
        else
            status := 'conflict';
            detail := detail || jsonb_build_object('why', 'CLOSED');
        end if;
        return;
    end if;
    case v_op
    when 'subscription.attach', 'subscription.close' then
        null;
    when 'subscription.advance' then
        if v_row.acknowledged_sequence <> (p_change ->> 'expected_sequence')::bigint
           or v_row.reset_number <> (p_change ->> 'reset_number')::bigint then
            status := 'conflict';
            detail := detail || jsonb_build_object('why', 'MOVED');
        end if;
    when 'subscription.pass' then
        if v_row.stream_id is distinct from p_change ->> 'stream_id'
           or v_row.reset_number <> (p_change ->> 'reset_number')::bigint then
            status := 'conflict';
            detail := detail || jsonb_build_object('why', 'MOVED');
        end if;
    when 'subscription.acknowledge' then
        if remit.is_ahead_of_ledger(p_tenant, p_scope, (p_change ->> 'sequence')::bigint) then
            status := 'conflict';
            detail := detail || jsonb_build_object('why', 'AHEAD');
        elsif (p_change ->> 'sequence')::bigint <= v_row.acknowledged_sequence then
            status := 'unchanged';
        end if;
    when 'subscription.reset' then
        if remit.is_ahead_of_ledger(p_tenant, p_scope, (p_change ->> 'after_sequence')::bigint) then
            status := 'conflict';
            detail := detail || jsonb_build_object('why', 'AHEAD');
        end if;
    end case;
end
$$;

-- Whether a sequence names what has not happened yet. Null names nothing.
create function remit.is_ahead_of_ledger(p_tenant text, p_scope text, p_sequence bigint) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
    return exists (select from remit.ledger_heads h
                    where h.tenant_id = p_tenant and h.scope_id = p_scope and h.sequence < p_sequence);
end
$$;

create function remit.apply_subscription(p_tenant text, p_scope text, p_change jsonb, p_blobs bytea[], p_base bigint,
                                         p_now timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
    v_op text := p_change ->> 'op';
    v_id text := p_change ->> 'subscription_id';
    v_start bigint;
    v_signal bigint;
begin
    if v_op in ('subscription.open', 'subscription.attach', 'subscription.reset', 'subscription.close') then
        insert into remit.subscription_signals as g (tenant_id, scope_id, signal) values (p_tenant, p_scope, 1)
            on conflict (tenant_id, scope_id) do update set signal = g.signal + 1
            returning g.signal into v_signal;
    end if;
    case v_op
    when 'subscription.open' then
        -- Without a start it begins with what follows its own opening, the command's first event.
        v_start := coalesce((p_change ->> 'after_sequence')::bigint, p_base + 1);
        insert into remit.subscriptions (tenant_id, scope_id, subscription_id, actor_id, actor, delegation_id, filter, delivery,
                ledger_epoch, start_sequence, acknowledged_sequence, delivered_sequence, signal, opened_at)
        select p_tenant, p_scope, v_id, p_change ->> 'actor_id', p_change -> 'actor', p_change ->> 'delegation_id',
               p_change -> 'filter', p_change -> 'delivery', h.epoch, v_start, v_start, v_start, v_signal, p_now
          from remit.ledger_heads h where h.tenant_id = p_tenant and h.scope_id = p_scope;
    when 'subscription.attach' then
        update remit.subscriptions s set stream_id = p_change ->> 'stream_id', signal = v_signal
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = v_id;
    when 'subscription.advance' then
        update remit.subscriptions s
           set acknowledged_sequence = (p_change ->> 'sequence')::bigint,
               delivered_sequence = greatest(s.delivered_sequence, (p_change ->> 'delivered_sequence')::bigint)
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = v_id;
    when 'subscription.pass' then
        update remit.subscriptions s
           set acknowledged_sequence = greatest(s.acknowledged_sequence, (p_change ->> 'sequence')::bigint),
               delivered_sequence = greatest(s.delivered_sequence, (p_change ->> 'delivered_sequence')::bigint),
               withheld = array(select w.value::bigint from jsonb_array_elements_text(p_change -> 'withheld')
                                  with ordinality w(value, ix) order by w.ix)
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = v_id;
    when 'subscription.acknowledge' then
        update remit.subscriptions s
           set acknowledged_sequence = (p_change ->> 'sequence')::bigint,
               delivered_sequence = greatest(s.delivered_sequence, (p_change ->> 'sequence')::bigint)
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = v_id;
    when 'subscription.reset' then
        update remit.subscriptions s
           set acknowledged_sequence = (p_change ->> 'after_sequence')::bigint,
               delivered_sequence = least(s.delivered_sequence, (p_change ->> 'after_sequence')::bigint),
               withheld = '{}', reset_number = s.reset_number + 1, signal = v_signal
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = v_id;
    when 'subscription.close' then
        update remit.subscriptions s
           set state = 'closed', close_reason = p_change ->> 'reason', closed_at = p_now, signal = v_signal,
               delivered_sequence = greatest(s.delivered_sequence, (p_change ->> 'delivered_sequence')::bigint)
         where s.tenant_id = p_tenant and s.scope_id = p_scope and s.subscription_id = v_id;
    end case;
end
$$;

revoke all on function remit.judge_subscription(text, text, jsonb) from public;
revoke all on function remit.is_ahead_of_ledger(text, text, bigint) from public;
revoke all on function remit.apply_subscription(text, text, jsonb, bytea[], bigint, timestamptz) from public;
