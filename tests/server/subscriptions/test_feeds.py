"""What five hundred streams ask of the database: nothing each, one statement together (ledger.md, Reading).

The streams run here, as those of one more server process would, on subscriptions that were opened over gRPC.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from server.app import services_of
from server.config import Settings
from server.services import Services
from server.subscriptions.authority import standing_of
from server.subscriptions.changes import cold, submit
from server.subscriptions.feeds import LedgerFeeds
from server.subscriptions.stream import SubscriptionStream
from storage.commands import Status
from storage.database import Database
from storage.subscriptions import load_subscriptions
from tests.cluster import TENANT, Cluster, Workspace
from tests.server.operations.ledger.subscriptions import CREATED, subscribe

STREAMS = 500
WORKSPACES = 4
NEVER_SECONDS = 3600.0
"""Between polls, so that every statement is caused by the test."""


class CountingDatabase(Database):
    """Keeps the parameters of the statements it ran."""

    statements: list[Any]

    async def tenant_rows(self, tenant_id: str, query: Any, params: Any = None, *, binary: bool = True) -> Any:
        self.statements.append(params)
        return await super().tenant_rows(tenant_id, query, params, binary=binary)


@pytest.fixture
async def services(cluster: Cluster) -> AsyncIterator[Services]:
    """One more process's, whose feeds count their statements."""
    dsn = cluster.database.server
    settings = Settings(database_url=SecretStr(dsn), data_dir=cluster.folder)
    async with services_of(settings, dsn) as opened, CountingDatabase(dsn) as database:
        database.statements = []
        feeds = LedgerFeeds(database, page_bytes_max=settings.page_bytes_max, poll_seconds=NEVER_SECONDS)
        yield replace(opened, feeds=feeds)
        await feeds.close()


def counted(services: Services) -> list[Any]:
    """The statements of the feeds since this was last cleared."""
    database = services.feeds._database
    assert isinstance(database, CountingDatabase)
    return database.statements


async def until(condition: Callable[[], bool]) -> None:
    """Returns once it holds."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 -- what is waited for is counted, not told
            await asyncio.sleep(0.001)


class Subscriber:
    """Takes what one stream brings."""

    def __init__(self, stream: SubscriptionStream) -> None:
        self.object_ids: list[str] = []
        self.begun = False
        self.task = asyncio.get_running_loop().create_task(self._take(stream))

    async def _take(self, stream: SubscriptionStream) -> None:
        async for response in stream.responses():
            self.begun = True
            self.object_ids += [event.object_id for event in response.batch.events]


async def subscribers(services: Services, ids: list[tuple[str, str]]) -> list[Subscriber]:
    """A stream for each subscription, all under way."""
    rows = [row for _, row in await load_subscriptions(services.database, TENANT, ids) if row is not None]
    attach = (submit(services, TENANT, row, cold("attach", row, stream_id=row.subscription_id)) for row in rows)
    assert {outcome.status for outcome in await asyncio.gather(*attach)} == {Status.ACCEPTED}
    found = []
    for _, row in await load_subscriptions(services.database, TENANT, ids):
        assert row is not None
        with services.feeds.watch(TENANT, row.scope_id) as feed:
            standing = await standing_of(services, TENANT, row, feed)
        found.append(Subscriber(SubscriptionStream(services, TENANT, row, standing, "")))
    await until(lambda: all(one.begun for one in found))
    return found


async def test_idle_streams_share_the_statements_that_wake_them(cluster: Cluster, services: Services) -> None:
    workspaces = [Workspace(cluster) for _ in range(WORKSPACES)]
    with ThreadPoolExecutor(16) as pool:
        opened = list(pool.map(lambda n: subscribe(workspaces[n % WORKSPACES], CREATED), range(STREAMS)))
    before = asyncio.all_tasks()
    found = await subscribers(services, [(one.scope_id, one.subscription_id) for one in opened])
    scope_ids = sorted(workspace.scope_id for workspace in workspaces)

    # Woken without anything new: one statement, about all workspaces.
    counted(services).clear()
    services.feeds.committed(TENANT, scope_ids)
    await until(lambda: len(counted(services)) == 1)
    services.feeds.committed(TENANT, scope_ids)
    await until(lambda: len(counted(services)) == 2)
    assert [sorted(params[0]) for params in counted(services)] == [scope_ids, scope_ids]

    # Something new in each: read once a workspace, and the authority of all is asked for together.
    counted(services).clear()
    made = [(await asyncio.to_thread(workspace.create)).object_id for workspace in workspaces]
    services.feeds.committed(TENANT, scope_ids)
    await until(lambda: all(one.object_ids for one in found))
    assert [one.object_ids for one in found] == [[made[n % WORKSPACES]] for n in range(STREAMS)]
    pages = [params for params in counted(services) if isinstance(params[0], int)]
    assert len(pages) == WORKSPACES
    assert len(counted(services)) <= 6 * WORKSPACES

    # Cancelled streams leave nothing: no watch, no task.
    for one in found:
        one.task.cancel()
    await asyncio.gather(*(one.task for one in found), return_exceptions=True)
    await until(lambda: asyncio.all_tasks() <= before)
    assert not services.feeds._feeds
