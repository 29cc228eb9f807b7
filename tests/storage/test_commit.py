"""The commit function and the coalescer, on real PostgreSQL as the server's role."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace

import psycopg
import pytest

from server.tenants import add_tenant, opening, owner_rules
from storage.commands import (
    ChainGuard,
    ColdChange,
    Command,
    EventRow,
    IdempotencyGuard,
    ObjectMove,
    Revisions,
    Status,
)
from storage.commit import Coalescer
from storage.database import Database
from storage.errors import QueueFull
from storage.model.identifiers import new_id
from storage.workspaces import load_heads, load_workspace
from tests.conftest import DatabaseDsns

TENANT = "acme"
ROOT = "tenant:acme"
ACTOR = "actor:a"


def event(scope_id: str = ROOT, event_type: str = "access_denied", **columns: str) -> EventRow:
    event_id = new_id()
    return EventRow(
        scope_id,
        event_id,
        event_type,
        "op:1",
        ACTOR,
        columns.get("object_id"),
        columns.get("version_id"),
        columns.get("delegation_id"),
        f'{{"event_id":"{event_id}"}}'.encode(),
    )


def command(*events: EventRow, **fields: object) -> Command:
    values = {"tenant_id": TENANT, "scope_id": ROOT, "actor_id": ACTOR, "events": list(events) or [event()]} | fields
    return Command(**values)  # type: ignore[arg-type]


def grant(delegation_id: str, chain: Sequence[str], usage_limit: int | None = None) -> Command:
    fields = {
        "delegation_id": delegation_id,
        "version_id": new_id(),
        "grantor_id": "actor:g",
        "delegate_id": ACTOR,
        "target_scope_id": None,
        "parent_delegation_id": chain[-2] if len(chain) > 1 else None,
        "chain": list(chain),
        "not_before": "2000-01-01T00:00:00Z",
        "not_after": "2100-01-01T00:00:00Z",
        "usage_limit": usage_limit,
        "mac_key_id": "k",
    }
    blobs = {"core": b"{}", "mac": bytes(32)}
    return command(event(event_type="delegation_granted"), colds=[ColdChange("grant", fields, blobs)])


def exercise(*chain: str, take_use: bool = True, **fields: object) -> Command:
    guard = ChainGuard(ROOT, tuple((delegation_id, 1) for delegation_id in chain), take_use)
    return command(event(event_type="delegation_exercised", delegation_id=chain[-1]), chain=guard, **fields)


def revoke(delegation_id: str) -> Command:
    fields = {"delegation_id": delegation_id, "expected_sequence": 1, "version_id": new_id(), "mac_key_id": "k"}
    return command(
        event(event_type="delegation_revoked", delegation_id=delegation_id),
        colds=[ColdChange("revoke", fields, {"core": b"{}", "mac": bytes(32)})],
        urgent=True,
    )


@pytest.fixture
async def coalescer(database: Database) -> Coalescer:
    made = Coalescer(database)
    outcome = await add_tenant(made, TENANT, ["actor:admin"])
    assert outcome.status is Status.ACCEPTED
    return made


async def submit_all(coalescer: Coalescer, *commands: Command) -> list[Status]:
    """Hands the commands over together, so that they are judged in one batch."""
    outcomes = await asyncio.gather(*(coalescer.submit(one) for one in commands))
    return [outcome.status for outcome in outcomes]


def chain_of(dsns: DatabaseDsns, scope_id: str = ROOT) -> list[tuple[int, str]]:
    """Recomputes the ledger's chain from its stored bytes; returns sequence and type of each event."""
    with psycopg.connect(dsns.superuser) as connection:
        head = connection.execute(
            "select ledger_id, sequence, chain_hash from remit.ledger_heads where tenant_id = %s and scope_id = %s",
            (TENANT, scope_id),
        ).fetchone()
        rows = connection.execute(
            "select sequence, (extract(epoch from recorded_at) * 1000000)::bigint, use_number, body, leaf_hash, "
            "chain_hash, event_type from remit.ledger_events where tenant_id = %s and scope_id = %s order by sequence",
            (TENANT, scope_id),
        ).fetchall()
    assert head is not None
    parts = (TENANT.encode(), scope_id.encode())
    genesis = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    link = hashlib.sha256(b"\x02" + genesis + head[0].bytes).digest()
    for position, (sequence, recorded, use, body, leaf, chained, _) in enumerate(rows, 1):
        assert sequence == position
        fields = b"".join(number.to_bytes(8, "big") for number in (sequence, recorded, use))
        assert leaf == hashlib.sha256(b"\x00" + fields + body).digest()
        link = hashlib.sha256(b"\x01" + link + leaf).digest()
        assert chained == link
    assert (head[1], head[2]) == (len(rows), link)
    return [(row[0], row[6]) for row in rows]


async def test_a_tenant_is_added_once_with_its_rules(
    coalescer: Coalescer, database: Database, fresh_database: DatabaseDsns
) -> None:
    again = await add_tenant(coalescer, TENANT, ["actor:other"])
    assert again.status is Status.SCOPE_EXISTS
    assert [kind for _, kind in chain_of(fresh_database)] == ["tenant_created", "workspace_created"]
    snapshot = await load_workspace(database, TENANT, ROOT)
    assert snapshot is not None
    assert [binding.actor_id for binding in snapshot.policy.bindings] == ["actor:admin"]
    assert len(snapshot.policy.rules) == len(owner_rules())
    assert await load_workspace(database, "globex", ROOT) is None


async def test_one_batch_is_one_gap_free_chain(coalescer: Coalescer, fresh_database: DatabaseDsns) -> None:
    assert await submit_all(coalescer, *(command(event(), event()) for _ in range(200))) == [Status.ACCEPTED] * 200
    assert len(chain_of(fresh_database)) == 402


async def test_a_stale_revision_fails_its_command_alone(coalescer: Coalescer, fresh_database: DatabaseDsns) -> None:
    stale = command(revisions=Revisions(policy=7))
    current = command(revisions=Revisions(policy=1, restrict=0, removal=0))
    assert await submit_all(coalescer, current, stale, current_again := command()) == [
        Status.ACCEPTED,
        Status.STALE,
        Status.ACCEPTED,
    ]
    assert current_again.events[0].event_id
    assert len(chain_of(fresh_database)) == 4


async def test_a_policy_change_makes_later_commands_of_its_batch_stale(coalescer: Coalescer) -> None:
    rule = {"rule_id": "urn:r:1", "subject": ACTOR, "action": "read", "object_type": "*", "object_id": "*"}
    add = command(colds=[ColdChange("rule_add", rule | {"effect": "deny"})], bump=["policy", "restrict"], urgent=True)
    guarded = command(revisions=Revisions(restrict=0))
    assert await submit_all(coalescer, guarded, add) == [Status.STALE, Status.ACCEPTED]


async def test_the_last_use_is_taken_once_within_one_batch(coalescer: Coalescer, fresh_database: DatabaseDsns) -> None:
    assert await submit_all(coalescer, grant("urn:d:1", ["urn:d:1"], usage_limit=3)) == [Status.ACCEPTED]
    statuses = await submit_all(coalescer, *(exercise("urn:d:1") for _ in range(10)))
    assert sorted(statuses) == [Status.ACCEPTED] * 3 + [Status.EXHAUSTED] * 7
    with psycopg.connect(fresh_database.superuser) as connection:
        uses = connection.execute(
            "select use_number from remit.ledger_events where use_number > 0 order by 1"
        ).fetchall()
    assert [use for (use,) in uses] == [1, 2, 3]


async def test_a_child_takes_a_use_of_every_ancestor(coalescer: Coalescer) -> None:
    await submit_all(coalescer, grant("urn:d:1", ["urn:d:1"], usage_limit=2))
    await submit_all(coalescer, grant("urn:d:2", ["urn:d:1", "urn:d:2"]))
    statuses = [(await submit_all(coalescer, exercise("urn:d:1", "urn:d:2")))[0] for _ in range(3)]
    assert statuses == [Status.ACCEPTED, Status.ACCEPTED, Status.EXHAUSTED]
    outcome = await coalescer.submit(exercise("urn:d:1", "urn:d:2"))
    assert outcome.detail["delegation_id"] == "urn:d:1"


async def test_no_exercise_stands_after_a_revocation_of_its_batch(
    coalescer: Coalescer, fresh_database: DatabaseDsns
) -> None:
    await submit_all(coalescer, grant("urn:d:1", ["urn:d:1"]))
    statuses = await submit_all(coalescer, *(exercise("urn:d:1") for _ in range(3)), revoke("urn:d:1"))
    assert statuses == [Status.DELEGATION] * 3 + [Status.ACCEPTED]
    assert [kind for _, kind in chain_of(fresh_database)][-1] == "delegation_revoked"


async def test_an_idempotency_key_is_judged_before_the_limit(coalescer: Coalescer) -> None:
    await submit_all(coalescer, grant("urn:d:1", ["urn:d:1"], usage_limit=1))
    key = IdempotencyGuard(ACTOR, "k1", b"m" * 32, {"event_ids": ["e"]})
    assert await submit_all(coalescer, exercise("urn:d:1", idempotency=key)) == [Status.ACCEPTED]
    replay = await coalescer.submit(exercise("urn:d:1", idempotency=key))
    assert (replay.status, replay.detail["event_ids"]) == (Status.REPLAYED, ["e"])
    other = replace(key, request_mac=b"n" * 32)
    assert await submit_all(coalescer, exercise("urn:d:1", idempotency=other)) == [Status.DUPLICATE]
    foreign = replace(key, actor_id="actor:b")
    assert await submit_all(coalescer, command(idempotency=foreign)) == [Status.ACCEPTED]


async def test_fifty_parallel_commands_with_one_key_commit_once(
    coalescer: Coalescer, fresh_database: DatabaseDsns
) -> None:
    key = IdempotencyGuard(ACTOR, "k1", b"m" * 32, {})
    statuses = await submit_all(coalescer, *(command(idempotency=key) for _ in range(50)))
    assert sorted(statuses) == [Status.ACCEPTED] + [Status.REPLAYED] * 49
    assert len(chain_of(fresh_database)) == 3


async def test_an_objects_pointer_moves_by_compare_and_swap(coalescer: Coalescer) -> None:
    new = ObjectMove("urn:o:1", None, "claim", "urn:v:1", 1)
    assert await submit_all(coalescer, command(objects=[new]), command(objects=[new])) == [
        Status.ACCEPTED,
        Status.EXISTS,
    ]
    moved = replace(new, expected_version_id="urn:v:1", version_id="urn:v:2", sequence=2)
    first, second = await asyncio.gather(*(coalescer.submit(command(objects=[moved])) for _ in range(2)))
    assert (first.status, second.status) == (Status.ACCEPTED, Status.CONFLICT)
    assert second.detail["current_version_id"] == "urn:v:2"
    gone = replace(moved, expected_version_id="urn:v:2", version_id="urn:v:3", sequence=3, deleted=True)
    assert await submit_all(coalescer, command(objects=[gone])) == [Status.ACCEPTED]
    assert await submit_all(coalescer, command(objects=[new]), command(objects=[gone])) == [
        Status.DELETED,
        Status.DELETED,
    ]
    absent = replace(moved, object_id="urn:o:2")
    assert await submit_all(coalescer, command(objects=[absent])) == [Status.ABSENT]


async def test_the_last_owner_stays(coalescer: Coalescer) -> None:
    owner = {"actor_id": "actor:admin", "role_id": "role:owner"}
    unbind = command(colds=[ColdChange("role_unbind", owner)], bump=["policy", "restrict"])
    assert await submit_all(coalescer, unbind) == [Status.LAST_OWNER]
    second = {"actor_id": "actor:second", "role_id": "role:owner"}
    assert await submit_all(coalescer, command(colds=[ColdChange("role_bind", second)], bump=["policy"])) == [
        Status.ACCEPTED
    ]
    assert await submit_all(coalescer, unbind) == [Status.ACCEPTED]


async def test_a_workspace_is_opened_under_the_root(
    coalescer: Coalescer, database: Database, fresh_database: DatabaseDsns
) -> None:
    scope = "workspace:w"
    opened = opening(scope, "workspace", ["actor:admin"], owner_rules())
    create = command(event(scope, "workspace_created"), event(), workspace=opened)
    assert await submit_all(coalescer, create) == [Status.ACCEPTED]
    assert await submit_all(coalescer, create) == [Status.SCOPE_EXISTS]
    assert len(chain_of(fresh_database, scope)) == 1
    assert len(chain_of(fresh_database)) == 3
    [head] = await load_heads(database, TENANT, [scope])
    assert head is not None
    assert (head.sequence, head.policy_revision) == (1, 1)


@pytest.mark.case("C01")
async def test_eight_pools_append_one_chain(coalescer: Coalescer, fresh_database: DatabaseDsns) -> None:
    assert coalescer
    databases = [Database(fresh_database.server, size_max=2) for _ in range(8)]
    for opened in databases:
        await opened.open()
    writers = [Coalescer(opened) for opened in databases]
    outcomes = await asyncio.gather(*(writer.submit(command()) for writer in writers for _ in range(8)))
    assert {outcome.status for outcome in outcomes} == {Status.ACCEPTED}
    assert len(chain_of(fresh_database)) == 2 + 64
    for opened in databases:
        await opened.close()


async def test_a_full_queue_refuses(database: Database) -> None:
    small = Coalescer(database, queue_max=1)
    tasks = [asyncio.ensure_future(small.submit(command())) for _ in range(3)]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(result, QueueFull) for result in results) == 2


async def test_a_cancelled_command_that_was_not_sent_writes_nothing(
    coalescer: Coalescer, fresh_database: DatabaseDsns
) -> None:
    task = asyncio.ensure_future(coalescer.submit(command()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await submit_all(coalescer, command())
    assert len(chain_of(fresh_database)) == 3


async def test_the_servers_role_writes_only_through_the_function(fresh_database: DatabaseDsns) -> None:
    tables = ["ledger_events", "ledger_heads", "memory_versions", "memory_objects", "delegations", "policy_rules"]
    with psycopg.connect(fresh_database.server, autocommit=True) as connection:
        for table in tables:
            for statement in (f"delete from remit.{table}", f"truncate remit.{table}"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)  # type: ignore[arg-type]
        assert connection.execute("select count(*) from remit.ledger_events").fetchone() == (0,)


async def test_children_share_the_last_uses_of_their_parent_within_one_batch(
    coalescer: Coalescer, fresh_database: DatabaseDsns
) -> None:
    await submit_all(coalescer, grant("urn:d:1", ["urn:d:1"], usage_limit=3))
    children = ("urn:d:2", "urn:d:3")
    await submit_all(coalescer, *(grant(child, ["urn:d:1", child], usage_limit=3) for child in children))
    statuses = await submit_all(coalescer, *(exercise("urn:d:1", children[n % 2]) for n in range(6)))
    assert sorted(statuses) == [Status.ACCEPTED] * 3 + [Status.EXHAUSTED] * 3
    with psycopg.connect(fresh_database.superuser) as connection:
        uses = connection.execute("select delegation_id, uses from remit.delegations order by 1").fetchall()
        numbers = connection.execute(
            "select delegation_id, use_number from remit.ledger_events where use_number > 0 order by sequence"
        ).fetchall()
    assert uses == [("urn:d:1", 3), ("urn:d:2", 2), ("urn:d:3", 1)]
    assert numbers == [("urn:d:2", 1), ("urn:d:3", 1), ("urn:d:2", 2)]
