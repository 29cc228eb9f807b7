-- Durable subscriptions: what is delivered, to whom, on whose authority, and how far it has come.
--
-- acknowledged_sequence  the cursor: nothing up to it comes again
-- delivered_sequence     the last event known to have been delivered
-- withheld               bounds of ranges after the cursor that were passed without authority, first and last in turn
-- stream_id              the newest stream: only that one delivers
-- reset_number           counts resets: a stream that finds it moved goes on from the cursor
-- signal                 the workspace's signal at the last change that a stream elsewhere must notice
create table remit.subscriptions (
    tenant_id             text not null,
    scope_id              text not null,
    subscription_id       text not null,
    actor_id              text not null,
    actor                 jsonb not null,
    delegation_id         text,
    filter                jsonb not null,
    delivery              jsonb not null,
    ledger_epoch          integer not null,
    start_sequence        bigint not null check (start_sequence >= 0),
    acknowledged_sequence bigint not null check (acknowledged_sequence >= 0),
    delivered_sequence    bigint not null check (delivered_sequence >= 0),
    withheld              bigint[] not null default '{}' check (cardinality(withheld) % 2 = 0),
    stream_id             text,
    reset_number          bigint not null default 0,
    signal                bigint not null,
    state                 text not null default 'open' check (state in ('open', 'closed')),
    close_reason          text,
    opened_at             timestamptz not null,
    closed_at             timestamptz,
    primary key (tenant_id, scope_id, subscription_id),
    foreign key (tenant_id, scope_id) references remit.workspaces,
    constraint subscriptions_closed_once check (
        (state = 'closed') = (close_reason is not null) and (state = 'closed') = (closed_at is not null))
) with (fillfactor = 50);
create index subscriptions_signal on remit.subscriptions (tenant_id, scope_id, signal);

-- One row a workspace: moves with every change of a subscription there that a stream in another process must notice.
create table remit.subscription_signals (
    tenant_id text not null,
    scope_id  text not null,
    signal    bigint not null,
    primary key (tenant_id, scope_id)
) with (fillfactor = 50);
