-- advance_id  names the last move of the cursor by a poll: handed over again after its answer was lost, it is known
alter table remit.subscriptions add column advance_id uuid;
