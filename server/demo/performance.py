"""One performance: the stage, the players, the acts one after the other, and the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from rich.console import Console

from server.demo.account import Account, Act
from server.demo.acts import ACTS
from server.demo.cast import Player
from server.demo.input import DemoInput
from server.demo.play import INES, OLGA, PARTS, REX, Play
from server.demo.stage import Stage, served

Standings = dict[str, dict[str, Any]]


async def perform(
    stage: Stage,
    data: DemoInput,
    open_act: Callable[[Act], None],
    tell_act: Callable[[Act], None],
    introduce: Callable[[Play], None],
    console: Console | None,
) -> tuple[Account, Standings]:
    """Plays all acts; returns the account and how each grant stands at the end, by delegation id.

    `open_act` is called with each act as it begins, `tell_act` as it ends, `introduce` once when all players are there.
    Nothing it starts outlives it, however it ends. Raises MalformedInput, ServerNotStarted, ActorEnded.
    """
    for part in (INES, REX):
        await stage.add_tenant(part.tenant_id, part.actor_id)
    async with served(stage) as ready, cast_on(ready) as players:
        account = Account(open_act, tell_act)
        play = Play(ready, account, data, players, console)
        introduce(play)
        for act in ACTS:
            await act(play)
        return account, await _standings(play)


@asynccontextmanager
async def cast_on(stage: Stage) -> AsyncIterator[dict[str, Player]]:
    """Starts a process for each part and ends them all."""
    async with AsyncExitStack() as stack:
        players: dict[str, Player] = {}
        for part in PARTS:
            player = await Player.enter(stage, part)
            stack.push_async_callback(player.leave)
            players[part.called] = player
        yield players


async def _standings(play: Play) -> Standings:
    answers = await asyncio.gather(
        *(
            play.player(OLGA).call(
                "DelegationService/GetDelegation",
                play.request(target_delegation_id=grant.delegation_id),
                play.account.operation_id(),
            )
            for grant in play.account.grants
        )
    )
    return {
        grant.delegation_id: answer.response.get("standing", {})
        for grant, answer in zip(play.account.grants, answers, strict=True)
    }
