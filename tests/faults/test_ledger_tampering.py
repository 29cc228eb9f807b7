"""Ledgers edited behind the service's back: what VerifyLedger and the offline verification find, and where (C05)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.cluster import Cluster, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.faults.storied_ledger import Connection, Story, found_by_both, rechain, tell, verify


@pytest.fixture(scope="module")
def edited_cluster(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    with running_cluster(clone_database) as cluster:
        yield cluster


@pytest.fixture
def connection(edited_cluster: Cluster) -> Iterator[Connection]:
    with edited_cluster.superuser() as opened:
        yield opened


@pytest.fixture
def story(edited_cluster: Cluster) -> Story:
    return tell(edited_cluster)


def delete_events(connection: Connection, story: Story, first: int, last: int) -> None:
    connection.execute(
        "delete from remit.ledger_events where scope_id = %s and sequence between %s and %s",
        (story.scope_id, first, last),
    )


@pytest.mark.case("C05")
@pytest.mark.req("P-7.7-09")
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_cut_tail_is_named(story: Story, connection: Connection, tmp_path: Path, count: int) -> None:
    head, _ = story.head()
    delete_events(connection, story, head - count + 1, head)
    first = found_by_both(story, tmp_path)[0]
    assert first == (head - count + 1, "TAIL_CUT")


@pytest.mark.case("C05")
def test_a_cut_middle_is_named(story: Story, connection: Connection, tmp_path: Path) -> None:
    at = story.at(story.second.event_ids[0])
    delete_events(connection, story, at, at)
    assert found_by_both(story, tmp_path)[0] == (at, "SEQUENCE_GAP")


EVENT_EDITS: dict[str, tuple[str, str]] = {
    "body": (
        "body = convert_to(replace(convert_from(body, 'UTF8'), 'actor:admin', 'actor:other'), 'UTF8')",
        "BODY_CHANGED",
    ),
    "event_id": ("event_id = 'urn:other:event'", "COLUMN_CHANGED"),
    "event_type": ("event_type = 'object_created'", "COLUMN_CHANGED"),
    "operation_id": ("operation_id = 'urn:other:operation'", "COLUMN_CHANGED"),
    "actor_id": ("actor_id = 'actor:other'", "COLUMN_CHANGED"),
    "object_id": ("object_id = 'urn:other:object'", "COLUMN_CHANGED"),
    "version_id": ("version_id = null", "COLUMN_CHANGED"),
    "delegation_id": ("delegation_id = 'urn:other:grant'", "COLUMN_CHANGED"),
    "relationship_id": ("relationship_id = 'urn:other:relationship'", "COLUMN_CHANGED"),
    "recorded_at": ("recorded_at = recorded_at + interval '1 microsecond'", "BODY_CHANGED"),
    "use_number": ("use_number = 3", "BODY_CHANGED"),
    "leaf_hash": ("leaf_hash = sha256(leaf_hash)", "LEAF_HASH_CHANGED"),
    "chain_hash": ("chain_hash = sha256(chain_hash)", "CHAIN_BROKEN"),
}


@pytest.mark.req("P-7.7-09")
@pytest.mark.parametrize("edit", EVENT_EDITS)
def test_an_edited_column_is_named(story: Story, connection: Connection, tmp_path: Path, edit: str) -> None:
    at = story.at(story.second.event_ids[0])
    change, kind = EVENT_EDITS[edit]
    connection.execute(
        f"update remit.ledger_events set {change} where scope_id = %s and sequence = %s", (story.scope_id, at)
    )
    assert found_by_both(story, tmp_path)[0] == (at, kind)


def test_two_events_swapped_are_named(story: Story, connection: Connection, tmp_path: Path) -> None:
    one, two = story.at(story.second.event_ids[0]), story.at(story.other.event_ids[0])
    for source, target in ((one, -one), (two, -two)):
        connection.execute("alter table remit.ledger_events drop constraint if exists ledger_events_sequence_check")
        connection.execute(
            "update remit.ledger_events set sequence = %s where scope_id = %s and sequence = %s",
            (target, story.scope_id, source),
        )
    for source, target in ((-one, two), (-two, one)):
        connection.execute(
            "update remit.ledger_events set sequence = %s where scope_id = %s and sequence = %s",
            (target, story.scope_id, source),
        )
    assert found_by_both(story, tmp_path)[0][0] == one


def test_an_event_of_another_workspace_is_named(story: Story, connection: Connection, tmp_path: Path) -> None:
    foreign = Workspace(story.workspace.cluster)
    foreign.create()
    at = story.at(story.second.event_ids[0])
    columns = "event_type, operation_id, actor_id, object_id, version_id, body, leaf_hash, chain_hash"
    connection.execute(
        f"update remit.ledger_events set ({columns}) = (select {columns} from remit.ledger_events"
        " where scope_id = %s and event_type = 'object_created') where scope_id = %s and sequence = %s",
        (foreign.scope_id, story.scope_id, at),
    )
    assert found_by_both(story, tmp_path)[0][0] == at


def test_a_rolled_back_object_is_named(story: Story, connection: Connection, tmp_path: Path) -> None:
    at = story.at(story.third.event_ids[0])
    connection.execute(
        "update remit.memory_objects set sequence = 2, version_id = %s where object_id = %s",
        (story.second.version_id, story.made.object_id),
    )
    assert found_by_both(story, tmp_path) == [(at, "ROLLED_BACK")]
    # With its newest version gone as well.
    connection.execute(
        "delete from remit.memory_versions where object_id = %s and sequence = 3", (story.made.object_id,)
    )
    assert set(found_by_both(story, tmp_path)) == {(at, "ROLLED_BACK"), (at, "VERSION_MISSING")}


TABLE_EDITS: dict[str, tuple[str, str]] = {
    "version core": (
        "update remit.memory_versions set core = core || ' '::bytea where scope_id = %(scope)s and sequence = 2",
        "VERSION_CHANGED",
    ),
    "version column": (
        "update remit.memory_versions set validation_state = 'rejected' where scope_id = %(scope)s and sequence = 2",
        "VERSION_COLUMN_CHANGED",
    ),
    "version place": (
        "update remit.memory_versions set ledger_sequence = ledger_sequence + 1"
        " where scope_id = %(scope)s and sequence = 2",
        "VERSION_COLUMN_CHANGED",
    ),
    "version without event": (
        "update remit.memory_versions set sequence = 9 where scope_id = %(scope)s and sequence = 2",
        "VERSION_WITHOUT_EVENT",
    ),
    "relationship core": (
        "update remit.relationship_versions set core = core || ' '::bytea where scope_id = %(scope)s and sequence = 2",
        "VERSION_CHANGED",
    ),
    "relationship column": (
        "update remit.relationship_versions set target_object_id = 'urn:other:object' where scope_id = %(scope)s",
        "VERSION_COLUMN_CHANGED",
    ),
    "relationship version gone": (
        "delete from remit.relationship_versions where scope_id = %(scope)s and sequence = 1",
        "VERSION_MISSING",
    ),
    "relationship's end": (
        "update remit.relationships set source_object_id = target_object_id where scope_id = %(scope)s",
        "POINTER_CHANGED",
    ),
    "relationship gone": ("delete from remit.relationships where scope_id = %(scope)s", "ROW_MISSING"),
    "relationship rolled back": (
        "update remit.relationships r set sequence = 1, version_id = v.version_id, relationship_type ="
        " v.relationship_type from remit.relationship_versions v where v.scope_id = r.scope_id and v.sequence = 1"
        " and r.scope_id = %(scope)s",
        "ROLLED_BACK",
    ),
    "end that forgets": (
        "update remit.memory_objects set related = false where scope_id = %(scope)s",
        "POINTER_CHANGED",
    ),
    "object gone": ("delete from remit.memory_objects where scope_id = %(scope)s", "ROW_MISSING"),
    "object's type": (
        "update remit.memory_objects set object_type = 'task' where scope_id = %(scope)s",
        "OBJECT_TYPE_CHANGED",
    ),
    "uses": ("update remit.delegations set uses = 0 where scope_id = %(scope)s", "USES_CHANGED"),
    "revoked": ("update remit.delegations set revoked = true where scope_id = %(scope)s", "REVOKED_FLAG_CHANGED"),
    "grant": (
        "update remit.delegation_versions set core = core || ' '::bytea where scope_id = %(scope)s",
        "VERSION_CHANGED",
    ),
    "rule": (
        "update remit.policy_rules set action = 'delete' where scope_id = %(scope)s and subject = 'actor:reader'",
        "RULE_CHANGED",
    ),
    "rule gone": (
        "delete from remit.policy_rules where scope_id = %(scope)s and subject = 'actor:reader'",
        "RULE_MISSING",
    ),
    "rule slipped in": (
        "insert into remit.policy_rules (tenant_id, scope_id, rule_id, subject, action, object_type, object_id, effect)"
        " values ('acme', %(scope)s, 'urn:forged:rule', 'actor:mallory', 'read', '*', '*', 'allow')",
        "RULE_WITHOUT_EVENT",
    ),
    "role slipped in": (
        "insert into remit.role_bindings (tenant_id, scope_id, actor_id, role_id)"
        " values ('acme', %(scope)s, 'actor:mallory', 'role:owner')",
        "RULE_WITHOUT_EVENT",
    ),
    "revision": (
        "update remit.ledger_heads set policy_revision = policy_revision + 1 where scope_id = %(scope)s",
        "POLICY_REVISION_CHANGED",
    ),
}


@pytest.mark.parametrize("edit", TABLE_EDITS)
def test_a_table_that_differs_from_the_events_is_named(
    story: Story, connection: Connection, tmp_path: Path, edit: str
) -> None:
    change, kind = TABLE_EDITS[edit]
    assert connection.execute(change, {"scope": story.scope_id}).rowcount >= 1
    assert kind in {found for _, found in found_by_both(story, tmp_path)}


def test_a_forged_version_with_a_rewritten_ledger_fails_its_mac(
    story: Story, connection: Connection, tmp_path: Path
) -> None:
    at = story.at(story.second.event_ids[0])
    [(core,)] = connection.execute(
        "select core from remit.memory_versions where scope_id = %s and sequence = 2", (story.scope_id,)
    ).fetchall()
    forged = core.replace(b"unverified", b"corroborated")
    connection.execute(
        "update remit.memory_versions set core = %s, validation_state = 'corroborated'"
        " where scope_id = %s and sequence = 2",
        (forged, story.scope_id),
    )
    connection.execute(
        "update remit.ledger_events set body = convert_to(replace(convert_from(body, 'UTF8'), %s, %s), 'UTF8')"
        " where scope_id = %s",
        (hashlib.sha256(core).hexdigest(), hashlib.sha256(forged).hexdigest(), story.scope_id),
    )
    rechain(connection, story.scope_id)
    # Everything that needs no key agrees; the MAC needs one.
    assert found_by_both(story, tmp_path) == []
    report = verify(story.workspace)
    assert not report.ok
    assert [(finding.sequence, finding.kind) for finding in report.findings] == [(at, "MAC")]
    assert report.findings[0].place == f"memory_versions:{story.second.version_id}"


def test_a_forged_relationship_fails_its_mac(story: Story, connection: Connection) -> None:
    connection.execute(
        "update remit.relationship_versions set mac = sha256(mac) where scope_id = %s and sequence = 1",
        (story.scope_id,),
    )
    [finding] = verify(story.workspace).findings
    assert (finding.sequence, finding.kind) == (story.at(story.related.event_ids[0]), "MAC")
    assert finding.place == f"relationship_versions:{story.related.relationship.version_id}"


def test_a_forged_grant_fails_its_mac(story: Story, connection: Connection) -> None:
    connection.execute(
        "update remit.delegation_versions set mac = sha256(mac) where delegation_id = %s", (story.delegation_id,)
    )
    [finding] = verify(story.workspace).findings
    assert finding.kind == "MAC"
    assert finding.place.startswith("delegation_versions:")


@pytest.mark.case("C05")
def test_a_cut_with_a_rewritten_head_is_found_against_a_known_place(
    story: Story, connection: Connection, tmp_path: Path
) -> None:
    known = story.head()
    # The last event added a rule; whoever cuts it takes the rule back as well.
    delete_events(connection, story, known[0], known[0])
    connection.execute(
        "delete from remit.policy_rules where scope_id = %s and subject = 'actor:reader'", (story.scope_id,)
    )
    connection.execute(
        "update remit.ledger_heads set policy_revision = policy_revision - 1 where scope_id = %s", (story.scope_id,)
    )
    rechain(connection, story.scope_id)
    assert found_by_both(story, tmp_path) == []
    assert found_by_both(story, tmp_path, known) == [(known[0], "KNOWN_PLACE_MISSING")]
    # Grown again to the same length, it is another chain.
    story.workspace.allow("actor:reader", "query")
    assert story.head()[0] == known[0]
    assert found_by_both(story, tmp_path, known) == [(known[0], "KNOWN_PLACE_CHANGED")]


@pytest.mark.case("C05")
def test_a_whole_store_rolled_back_is_found_against_a_known_place(
    story: Story, connection: Connection, tmp_path: Path
) -> None:
    tables = [
        name
        for (name,) in connection.execute(
            "select table_name from information_schema.columns where table_schema = 'remit'"
            " and column_name = 'scope_id' and table_name not in ('workspaces', 'retrieval_gate', 'relationship_gate')"
        )
    ]
    for table in tables:
        connection.execute(
            f"create temp table old_{table} as select * from remit.{table} where scope_id = %s", (story.scope_id,)
        )
    story.workspace.create()
    known = story.head()
    for table in tables:
        connection.execute(f"delete from remit.{table} where scope_id = %s", (story.scope_id,))
        connection.execute(f"insert into remit.{table} select * from old_{table}")
    assert found_by_both(story, tmp_path) == []
    assert found_by_both(story, tmp_path, known) == [(known[0], "KNOWN_PLACE_MISSING")]
