"""Calls to the processes of a cluster as any actor of any tenant: one channel per process, one token per caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
import psycopg
from google.protobuf.message import Message

from remit.v1 import admin_pb2_grpc, delegation_pb2_grpc, ledger_pb2, ledger_pb2_grpc, memory_pb2_grpc
from tests.cluster import ADMIN, CALL_SECONDS, TENANT, Cluster, Refusal

_TOKEN_SECONDS = 12 * 3600
_STUBS: dict[str, Callable[[grpc.Channel], Any]] = {
    "memory": memory_pb2_grpc.MemoryServiceStub,
    "delegation": delegation_pb2_grpc.DelegationServiceStub,
    "ledger": ledger_pb2_grpc.LedgerServiceStub,
    "admin": admin_pb2_grpc.AdminServiceStub,
}
_TEST_CLOCK = """
create table if not exists public.test_clock (now timestamptz);
grant select on public.test_clock to public;
create or replace function remit.clock() returns timestamptz language sql volatile parallel safe as
$$select coalesce((select c.now from public.test_clock c), pg_catalog.clock_timestamp())$$"""
_STOP_CLOCK = "insert into public.test_clock values (timestamptz 'epoch' + %s * interval '1 microsecond')"
_UNDER_WAY = (
    "select count(*) from pg_stat_activity where datname = %s and application_name = 'remit' and state = 'active'"
)


class Fleet:
    """The processes of a cluster. `method` is a service and a method, as in `memory.Read`."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._channels: dict[int, tuple[str, grpc.Channel, dict[str, Any]]] = {}
        self._metadata: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
        self._superuser: psycopg.Connection[Any] | None = None
        self._has_test_clock = False
        self.serving = list(range(len(cluster.servers)))

    def _method(self, server: int, method: str) -> Any:
        address = self.cluster.servers[server].address
        known = self._channels.get(server)
        if known is None or known[0] != address:
            if known is not None:
                known[1].close()
            channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
            known = (address, channel, {name: stub(channel) for name, stub in _STUBS.items()})
            self._channels[server] = known
        service, name = method.split(".")
        return getattr(known[2][service], name)

    def _credential(self, tenant_id: str, actor_id: str) -> tuple[tuple[str, str], ...]:
        key = (tenant_id, actor_id)
        if key not in self._metadata:
            token = self.cluster.token(actor_id, tenant_id, ttl_seconds=_TOKEN_SECONDS)
            self._metadata[key] = (("authorization", f"Bearer {token}"),)
        return self._metadata[key]

    def call(
        self, method: str, request: Message, actor_id: str = ADMIN, server: int = 0, tenant_id: str = TENANT
    ) -> Any:
        """The response; raises Refusal."""
        return answer_of(self.start(method, request, actor_id, server, tenant_id))

    def ask(
        self, method: str, request: Message, actor_id: str = ADMIN, server: int = 0, tenant_id: str = TENANT
    ) -> Any:
        """The response or the Refusal, either as a value."""
        return settled(self.start(method, request, actor_id, server, tenant_id))

    def start(
        self, method: str, request: Message, actor_id: str = ADMIN, server: int = 0, tenant_id: str = TENANT
    ) -> Any:
        """The call under way."""
        metadata = self._credential(tenant_id, actor_id)
        return self._method(server, method).future(request, metadata=metadata, timeout=CALL_SECONDS)

    def events(self, scope_id: str, after: int = 0, tenant_id: str = TENANT, server: int = 0) -> list[Any]:
        """All events after a sequence, oldest first."""
        found: list[Any] = []
        cursor = ""
        while True:
            request = ledger_pb2.ListEventsRequest(scope_id=scope_id, after_sequence=after, limit=1000, cursor=cursor)
            page = self.call("ledger.ListEvents", request, server=server, tenant_id=tenant_id)
            found.extend(page.events)
            cursor = page.cursor
            if not cursor:
                return found

    def superuser(self) -> psycopg.Connection[Any]:
        """A connection behind the service's back, always the same."""
        if self._superuser is None:
            self._superuser = self.cluster.superuser()
        return self._superuser

    def set_clock(self, now_us: int | None) -> None:
        """Makes remit.clock() stand still at a time in microseconds since 1970, or go again.

        The function reads a row, so that a commit that waits for a lock meanwhile reads the time that is set then.
        """
        connection = self.superuser()
        if not self._has_test_clock:
            connection.execute(_TEST_CLOCK)
            self._has_test_clock = True
        with connection.transaction():
            connection.execute("delete from public.test_clock")
            if now_us is not None:
                connection.execute(_STOP_CLOCK, (now_us,))

    def clock_us(self) -> int:
        """The database's time."""
        row = self.superuser().execute("select (extract(epoch from remit.clock()) * 1000000)::bigint").fetchone()
        assert row is not None
        return int(row[0])

    @contextmanager
    def holding(self, *scope_ids: str) -> Iterator[Callable[[int], None]]:
        """Holds the heads of ledgers meanwhile; what it gives returns when so many commits wait for them."""
        lock = "select 1 from remit.ledger_heads where scope_id = any (%s) order by scope_id for update"
        waiting = (
            "select count(*) from pg_stat_activity where datname = %s and application_name = 'remit' "
            "and wait_event_type = 'Lock'"
        )
        with self.cluster.superuser() as holder, holder.transaction():
            holder.execute(lock, (list(scope_ids),))

            def until_waiting(count: int) -> None:
                while self.superuser().execute(waiting, (self.cluster.database.name,)).fetchone() != (count,):
                    pass

            yield until_waiting

    def kill(self, server: int) -> None:
        """kill -9; what it was asked last may still be under way in the database."""
        self.cluster.servers[server].kill()
        self.serving.remove(server)

    def restart(self, server: int) -> None:
        """Starts a killed process again, once nothing of the killed one is under way in the database."""
        self.cluster.servers[server].start()
        self.serving.append(server)
        self.serving.sort()
        name = self.cluster.database.name
        while self.superuser().execute(_UNDER_WAY, (name,)).fetchone() != (0,):
            pass

    def close(self) -> None:
        """Closes channels and connection."""
        for _, channel, _ in self._channels.values():
            channel.close()
        if self._superuser is not None:
            self._superuser.close()


@contextmanager
def fleet_of(cluster: Cluster) -> Iterator[Fleet]:
    """A fleet with the clock going again afterwards."""
    fleet = Fleet(cluster)
    try:
        yield fleet
    finally:
        fleet.set_clock(None)
        fleet.close()


def answer_of(call: Any) -> Any:
    """The response of a call under way; raises Refusal."""
    try:
        return call.result()
    except grpc.RpcError as error:
        raise Refusal(error) from None


def settled(call: Any) -> Any:
    """The response of a call under way, or its Refusal."""
    try:
        return answer_of(call)
    except Refusal as refusal:
        return refusal


def is_success(answer: Any) -> bool:
    """Whether it is a response."""
    return not isinstance(answer, Refusal)


def reasons_of(answers: Sequence[Any]) -> list[str]:
    """What each answer came to: `OK`, a denial's coarse reason, or another refusal's reason."""
    return [
        "OK" if is_success(answer) else answer.denial_reason or answer.reason or answer.code.name for answer in answers
    ]
