-- Events of relationships name them, so that their history is found like an object's.
alter table remit.ledger_events add column relationship_id text;
create index ledger_events_relationship on remit.ledger_events (tenant_id, scope_id, relationship_id, sequence)
    where relationship_id is not null;
