"""What the acts share: the parts, the players, the workspaces, the objects they speak of, the grants made so far."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rich.console import Console

from server.demo.account import DONE, Account, Grant, Outcome
from server.demo.cast import Answer, Part, Player
from server.demo.input import DemoInput, Order
from server.demo.stage import Stage

SHOP: Final = "harbour-shop"
RIVAL: Final = "rival-shop"

INES: Final = Part("Ines", SHOP, "actor:ines", "human", "role:owner")
INTAKE: Final = Part("Intake", SHOP, "actor:intake", "service", "role:intake")
VERA: Final = Part("Vera", SHOP, "actor:vera", "human", "role:supervisor")
BO: Final = Part("Bo", SHOP, "actor:bo", "agent")
KIM: Final = Part("Kim", SHOP, "actor:kim", "agent")
LU: Final = Part("Lu", SHOP, "actor:lu", "agent")
MIRA: Final = Part("Mira", SHOP, "actor:mira", "agent", "role:curator")
OLGA: Final = Part("Olga", SHOP, "actor:olga", "human", "role:auditor")
REX: Final = Part("Rex", RIVAL, "actor:rex", "human", "role:owner")
PARTS: Final = (INES, INTAKE, VERA, BO, KIM, LU, MIRA, OLGA, REX)

# What the parts do in the story, for the list of them.
DUTIES: Final = {
    INES.called: "administers the shop's tenant",
    INTAKE.called: "files conversations and records",
    VERA.called: "supervises the service desk",
    BO.called: "a worker agent",
    KIM.called: "a worker agent, may pass work on",
    LU.called: "an agent that Kim passes work to",
    MIRA.called: "curates the desk's memory",
    OLGA.called: "audits; touches no object",
    REX.called: "administers the other tenant: a stranger here",
}


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A place of the chain that was kept: its sequence and its chain hash."""

    sequence: int
    chain_hash: bytes


@dataclass(slots=True)
class Play:
    """One performance."""

    stage: Stage
    account: Account
    input: DemoInput
    players: dict[str, Player]
    console: Console | None
    versions: dict[str, str] = field(default_factory=dict)
    known_place: KnownPlace | None = None

    @property
    def run(self) -> str:
        """What tells this performance from others on the same data directory."""
        return self.account.run

    @property
    def scope_id(self) -> str:
        """The workspace of the service desk; each performance has its own."""
        return f"workspace:service-desk-{self.run}"

    @property
    def rival_scope_id(self) -> str:
        """The workspace of the other tenant."""
        return f"workspace:rival-desk-{self.run}"

    @property
    def order(self) -> Order:
        """The order that Bo's grant lists."""
        return self.input.orders[0]

    @property
    def customer_id(self) -> str:
        """The customer that Bo's grant lists: that order's, where the input tells."""
        return self.order.customer_object_id or next(iter(self.input.customers.values()))

    @property
    def passed_on_order(self) -> Order:
        """The order that Kim passes on."""
        return self.input.orders[1]

    @property
    def other_order(self) -> Order:
        """An order outside the workers' lists."""
        return self.input.orders[2]

    def player(self, part: Part) -> Player:
        """Returns the process that plays a part."""
        return self.players[part.called]

    def request(self, **fields: Any) -> dict[str, Any]:
        """Returns a request in the service desk's workspace."""
        return {"scope_id": self.scope_id, **fields}

    async def grant(
        self,
        part: Part,
        to: Part,
        name: str,
        what: str,
        operations: Sequence[str],
        expected: Outcome = DONE,
        *,
        object_ids: Sequence[str] = (),
        object_types: Sequence[str] = (),
        usage_limit: int | None = None,
        opens_in: timedelta = timedelta(minutes=-1),
        closes_in: timedelta = timedelta(hours=8),
        parent: Grant | None = None,
        max_redelegations: int = 0,
    ) -> Grant | None:
        """Grants, and keeps the grant under its short name; returns None when it was refused."""
        now = datetime.now(UTC)
        fields: dict[str, Any] = {
            "idempotency_key": f"grant-{self.run}-{name}-{secrets.token_hex(2)}",
            "policy_basis": "service desk roster",
            "delegated_actor": {"actor_id": to.actor_id, "actor_kind": to.actor_kind},
            "granted_operations": list(operations),
            "not_before": timestamp(now + opens_in),
            "not_after": timestamp(now + closes_in),
            "max_redelegations": max_redelegations,
        }
        if object_ids:
            fields["granted_object_ids"] = {"values": list(object_ids)}
        if object_types:
            fields["granted_object_types"] = {"values": list(object_types)}
        if usage_limit is not None:
            fields["usage_limit"] = usage_limit
        if parent is not None:
            fields["parent_delegation_id"] = parent.delegation_id
        answer = await self.account.call(
            self.player(part),
            what,
            "DelegationService/GrantDelegation",
            self.request(**fields),
            expected,
            authority=None if parent is None else f"narrows grant {parent}",
        )
        if not answer.ok:
            return None
        made = Grant(name, str(answer.response["delegation"]["delegation_id"]), part.called, to.called, parent)
        self.account.grants.append(made)
        return made

    async def read(
        self, part: Part, what: str, object_id: str, expected: Outcome = DONE, *, grant: Grant | None = None
    ) -> Answer:
        """Reads an object and remembers its version."""
        request = self.request(object_id=object_id)
        answer = await self.account.call(self.player(part), what, "MemoryService/Read", request, expected, grant=grant)
        if answer.ok:
            self.versions[object_id] = str(answer.response["envelope"]["version_id"])
        return answer

    async def events(self, part: Part, scope_id: str, **filters: Any) -> list[dict[str, Any]]:
        """Lists ledger events, oldest first, all pages. Raises AssertionError when that is refused.

        Not a line of the account: it is how the account is checked.
        """
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = await self._page(part, {"scope_id": scope_id, "limit": 1000, "cursor": cursor, **filters})
            found.extend(page.get("events", []))
            cursor = page.get("cursor", "")
            if not cursor:
                return found

    async def last_event(self, part: Part) -> dict[str, Any]:
        """Returns the newest event of the service desk's workspace."""
        head = await self._page(part, {"scope_id": self.scope_id, "limit": 1})
        before = str(int(head["head_sequence"]) - 1)
        page = await self._page(part, {"scope_id": self.scope_id, "limit": 1, "after_sequence": before})
        return dict(page["events"][0])

    async def _page(self, part: Part, request: dict[str, Any]) -> dict[str, Any]:
        answer = await self.player(part).call("LedgerService/ListEvents", request, self.account.operation_id())
        assert answer.ok, f"{part.called} can't list events: {answer.message}"
        return answer.response


def timestamp(moment: datetime) -> str:
    """Returns a moment in protobuf's JSON form."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def encoded(content: Any) -> str:
    """Returns content as a request in JSON form carries it."""
    return base64.b64encode(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()).decode()
