"""Pages of Query: pinned, complete, opaque (A41; P-11-02, P-11-08, P-11-09)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest

from remit.v1 import common_pb2, discovery_pb2, ledger_pb2, memory_pb2
from storage.encryption import DeploymentKeys
from storage.model.memory import core_bytes, parse_core
from tests.cluster import Client, Cluster, Refusal, Workspace, running_cluster
from tests.conftest import DatabaseDsns
from tests.server.operations.memory.requests import (
    ACCEPT_ALL,
    delete,
    grant,
    history_page,
    query_ids,
    query_page,
    transition,
    update,
)

MANY = 2500
ORDERS = [name for name, number in memory_pb2.QueryOrder.items() if number]


def _order(name: str) -> Any:
    return memory_pb2.QueryOrder.Value(name)


@pytest.fixture(scope="module")
def own_cluster(clone_database: Callable[[], AbstractContextManager[DatabaseDsns]]) -> Iterator[Cluster]:
    """A cluster whose pages are small and whose rows may be edited."""
    with running_cluster(clone_database, REMIT_PAGE_BYTES_MAX="20000") as cluster:
        yield cluster


def _level_times(workspace: Workspace) -> None:
    """Gives all versions one commit time, as if all had been committed in the same microsecond."""
    cluster = workspace.cluster
    keys = DeploymentKeys.from_file(cluster.folder / "key-encryption-key")
    with cluster.superuser() as connection:
        rows = connection.execute(
            "select object_id, core from remit.memory_versions where scope_id = %s", (workspace.scope_id,)
        ).fetchall()
        cores = [(object_id, core_bytes(replace(parse_core(core), committed_at_us=10**15))) for object_id, core in rows]
        with connection.cursor() as cursor:
            cursor.executemany(
                "update remit.memory_versions set core = %s, mac = %s, committed_at = 'epoch'::timestamptz"
                " + interval '1000000000 s' where scope_id = %s and object_id = %s",
                [(core, keys.mac(core), workspace.scope_id, object_id) for object_id, core in cores],
            )
        connection.execute("analyze remit.memory_versions, remit.memory_objects")


@pytest.mark.case("A41")
@pytest.mark.req("P-11-08", "P-11-09")
def test_equal_timestamps_small_pages_and_concurrent_updates_lose_no_row(cluster: Cluster) -> None:
    workspace = Workspace(cluster)
    workspace.allow("actor:admin", "query")
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: workspace.create(observed_at={"seconds": 1}), range(MANY)))
    _level_times(workspace)
    stop = threading.Event()
    updated = []

    def keep_updating() -> None:
        for result in made[::3]:
            if stop.is_set():
                return
            update(workspace, result.object_id, result.version_id)
            updated.append(result.object_id)
            workspace.create()

    updater = threading.Thread(target=keep_updating)
    page = query_page(workspace, filters=ACCEPT_ALL, limit=7, order=_order("QUERY_ORDER_COMMITTED_AT_ASCENDING"))
    updater.start()
    rows = list(page.results)
    while page.cursor:
        page = query_page(
            workspace,
            filters=ACCEPT_ALL,
            limit=7,
            order=_order("QUERY_ORDER_COMMITTED_AT_ASCENDING"),
            cursor=page.cursor,
        )
        rows.extend(page.results)
    stop.set()
    updater.join()
    assert updated, "nothing was updated meanwhile"
    # Ties are broken by object id, as the manifest says, and every row is the version of the first page's moment.
    manifest = workspace.owner.discovery.GetManifest(discovery_pb2.GetManifestRequest())
    assert list(manifest.tie_break) == ["object_id", "version_id"]
    assert [row.object_id for row in rows] == sorted(result.object_id for result in made)
    assert {row.version_id for row in rows} == {result.version_id for result in made}


@pytest.mark.req("P-11-08")
def test_pages_of_one_row_while_others_insert(workspace: Workspace) -> None:
    made = [workspace.create().object_id for _ in range(50)]
    found, cursor = [], ""
    while True:
        page = query_page(workspace, filters=ACCEPT_ALL, limit=1, cursor=cursor)
        found.extend(row.object_id for row in page.results)
        workspace.create()
        cursor = page.cursor
        if not cursor:
            break
    assert found == made


@pytest.mark.parametrize("name", ORDERS)
def test_every_order_gives_every_row_once(workspace: Workspace, name: str) -> None:
    made = [workspace.create() for _ in range(9)]
    update(workspace, made[2].object_id, made[2].version_id)
    by_ledger = [result.object_id for result in (*made[:2], *made[3:], made[2])]
    expected = {
        "QUERY_ORDER_LEDGER_ASCENDING": by_ledger,
        "QUERY_ORDER_LEDGER_DESCENDING": by_ledger[::-1],
        "QUERY_ORDER_COMMITTED_AT_ASCENDING": by_ledger,
        "QUERY_ORDER_COMMITTED_AT_DESCENDING": by_ledger[::-1],
        "QUERY_ORDER_OBJECT_ID_ASCENDING": sorted(by_ledger),
    }[name]
    for limit in (1, 2, 4, 9, 10):
        assert query_ids(workspace, filters=ACCEPT_ALL, limit=limit, order=_order(name)) == expected


@pytest.mark.parametrize("descending", [False, True])
def test_ties_are_broken_upward_in_both_directions(own_cluster: Cluster, descending: bool) -> None:
    workspace = Workspace(own_cluster)
    made = [workspace.create().object_id for _ in range(8)]
    _level_times(workspace)
    order = _order(f"QUERY_ORDER_COMMITTED_AT_{'DESCENDING' if descending else 'ASCENDING'}")
    assert query_ids(workspace, filters=ACCEPT_ALL, limit=3, order=order) == sorted(made)


@pytest.mark.req("P-11-02")
def test_a_page_asked_for_again_after_changes_is_the_same(workspace: Workspace) -> None:
    made = [workspace.create() for _ in range(10)]
    first = query_page(workspace, filters=ACCEPT_ALL, limit=4)
    second = query_page(workspace, filters=ACCEPT_ALL, limit=4, cursor=first.cursor)
    for result in made:
        update(workspace, result.object_id, result.version_id)
    workspace.create()
    again = query_page(workspace, filters=ACCEPT_ALL, limit=4, cursor=first.cursor)
    assert [row.SerializeToString() for row in again.results] == [row.SerializeToString() for row in second.results]
    assert again.metadata == second.metadata == first.metadata
    assert again.applied_filters == second.applied_filters


def test_what_is_removed_between_pages_is_left_out(workspace: Workspace) -> None:
    workspace.allow("actor:reader", "query")
    reader = workspace.cluster.client("actor:reader")
    filters = ACCEPT_ALL | {"retention_state": common_pb2.RetentionState.values()[1:]}
    made = [workspace.create() for _ in range(6)]
    page = query_page(workspace, reader, filters=filters, limit=2)
    delete(workspace, made[2].object_id, made[2].version_id)
    transition(workspace, made[3].object_id, made[3].version_id, "retention", "pending_deletion")
    transition(workspace, made[4].object_id, made[4].version_id, "lifecycle", "archived")
    rest = query_page(workspace, reader, filters=filters, limit=10, cursor=page.cursor)
    assert [row.object_id for row in rest.results] == [made[4].object_id, made[5].object_id]
    assert rest.results[0].version_id == made[4].version_id


def test_a_page_ends_at_its_bytes_but_holds_a_row(own_cluster: Cluster) -> None:
    workspace = Workspace(own_cluster)
    sizes = [7000, 7000, 7000, 50_000, 10, 10, 19_500, 19_500]
    made = [workspace.create(canonical_content=b'"%s"' % (b"x" * size)).object_id for size in sizes]
    pages, cursor = [], ""
    while True:
        page = query_page(workspace, filters=ACCEPT_ALL, cursor=cursor)
        pages.append([made.index(row.object_id) for row in page.results])
        assert len(page.results) == 1 or page.ByteSize() < 21_000
        cursor = page.cursor
        if not cursor:
            break
    assert pages == [[0, 1], [2], [3], [4, 5], [6], [7]]


def _refused_cursor(call: Callable[[], Any]) -> bool:
    with pytest.raises(Refusal) as refused:
        call()
    return (refused.value.reason, refused.value.fields) == ("INVALID_REQUEST", ["cursor"])


def test_a_cursor_is_good_for_its_own_listing_only(workspace: Workspace) -> None:
    for _ in range(4):
        workspace.create()
    cursor = query_page(workspace, filters=ACCEPT_ALL, limit=2).cursor
    other = Workspace(workspace.cluster)
    workspace.allow("actor:other", "query")
    stranger: Client = workspace.cluster.client("actor:other")
    delegation_id = grant(workspace, "actor:other", "query")
    newer = common_pb2.LIFECYCLE_STATE_ACTIVE
    predicate = {"field": "object_id", "op": memory_pb2.COMPARISON_OPERATOR_PRESENT}
    assert _refused_cursor(lambda: query_page(workspace, stranger, filters=ACCEPT_ALL, limit=2, cursor=cursor))
    assert _refused_cursor(lambda: query_page(other, filters=ACCEPT_ALL, limit=2, cursor=cursor))
    assert _refused_cursor(lambda: query_page(workspace, filters={"lifecycle_state": [newer]}, cursor=cursor))
    assert _refused_cursor(
        lambda: query_page(workspace, filters=ACCEPT_ALL | {"predicates": [predicate]}, cursor=cursor)
    )
    assert _refused_cursor(lambda: query_page(workspace, filters=ACCEPT_ALL, order=2, cursor=cursor))
    assert _refused_cursor(lambda: history_page(workspace, after_sequence=0, cursor=cursor))
    mine = query_page(workspace, stranger, filters=ACCEPT_ALL, limit=2).cursor
    assert _refused_cursor(
        lambda: query_page(workspace, stranger, filters=ACCEPT_ALL, delegation_id=delegation_id, cursor=mine)
    )
    for position in range(0, len(cursor), 7):
        changed = "A" if cursor[position] != "A" else "B"
        forged = cursor[:position] + changed + cursor[position + 1 :]
        assert _refused_cursor(lambda forged=forged: query_page(workspace, filters=ACCEPT_ALL, limit=2, cursor=forged))
    # The size of a page, and what is only said about the call, may change.
    page = query_page(workspace, filters=ACCEPT_ALL, limit=3, cursor=cursor, purpose="audit", correlation_id="c")
    assert len(page.results) == 2


def test_what_is_erased_while_it_is_read_is_no_violation(workspace: Workspace) -> None:
    made = [workspace.create(canonical_content=b'{"n":%d}' % number) for number in range(120)]
    ended = threading.Event()

    def remove() -> None:
        for result in made:
            delete(workspace, result.object_id, result.version_id)
        ended.set()

    remover = threading.Thread(target=remove)
    remover.start()
    seen = set()
    while not ended.is_set():
        try:
            seen.update(row.canonical_content for row in query_page(workspace, filters=ACCEPT_ALL, limit=200).results)
        except Refusal as refused:
            # Too much was removed under it, three times over.
            if refused.reason != "SERVICE_UNAVAILABLE":
                raise
    remover.join()
    assert b'{"tombstone":true}' not in seen
    assert query_ids(workspace, filters=ACCEPT_ALL) == []
    assert workspace.events(event_classes=[ledger_pb2.EVENT_TYPE_INTEGRITY_VIOLATION]) == []
