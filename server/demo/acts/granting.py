"""Act 3: the supervisor grants work to two agents, and one of them passes a part of it on."""

from __future__ import annotations

import base64
from datetime import timedelta

from server.demo.account import POLICY_DENIED, Grant, denied
from server.demo.play import BO, KIM, LU, OLGA, VERA, KnownPlace, Play

# What Bo does with the grant, each a use: a query, two reads and an update; and one more, for which five calls race.
BO_USES = 5


async def grant_work(play: Play) -> None:
    """Vera grants Bo and Kim; Kim sub-grants Lu; what is wider than one's own authority is refused."""
    account = play.account
    account.begin(
        "3  Grants",
        "Vera may read, update and query, and may delegate. She passes on what each worker needs: which operations, on "
        "which objects, until when, how often. Nobody can pass on more than they hold.",
    )
    order, customer_id = play.order, play.customer_id
    await play.grant(
        VERA,
        BO,
        "G1",
        f"grants Bo read, update, query on {order.object_id} and {customer_id}; {BO_USES} uses, 8 hours",
        ("read", "update", "query"),
        object_ids=(order.object_id, customer_id),
        usage_limit=BO_USES,
    )
    kim = await play.grant(
        VERA,
        KIM,
        "G2",
        "grants Kim read, query on entities and observations; 8 hours, may be passed on once",
        ("read", "query"),
        object_types=("entity", "observation"),
        max_redelegations=1,
    )
    await play.grant(
        VERA,
        BO,
        "G3",
        f"grants Bo read on {order.object_id}, from tomorrow on",
        ("read",),
        object_ids=(order.object_id,),
        opens_in=timedelta(days=1),
        closes_in=timedelta(days=2),
    )
    await play.grant(VERA, BO, "-", "grants Bo delete, which she does not hold", ("delete",), denied("NO_RULE"))
    if kim is not None:
        await _pass_on(play, kim)
    await account.call(
        play.player(BO),
        "grants Kim what G1 gives him, as if it were his own",
        "DelegationService/GrantDelegation",
        play.request(
            policy_basis="none",
            delegated_actor={"actor_id": KIM.actor_id},
            granted_operations=["read"],
            not_before="2020-01-01T00:00:00Z",
            not_after="2099-01-01T00:00:00Z",
        ),
        denied("NO_RULE"),
    )
    await _keep_a_place(play)
    account.end()


async def _pass_on(play: Play, parent: Grant) -> None:
    """Kim sub-grants Lu a part of a grant, and fails to sub-grant more."""
    object_id = play.passed_on_order.object_id
    await play.grant(
        KIM,
        LU,
        "G4",
        f"passes on to Lu: read on {object_id}; 2 uses",
        ("read",),
        object_types=("entity",),
        object_ids=(object_id,),
        usage_limit=2,
        closes_in=timedelta(hours=7),
        parent=parent,
    )
    await play.grant(
        KIM,
        LU,
        "-",
        "passes on to Lu: update, which G2 does not give",
        ("update",),
        POLICY_DENIED,
        object_types=("entity",),
        closes_in=timedelta(hours=7),
        parent=parent,
    )


async def _keep_a_place(play: Play) -> None:
    """Olga notes where the ledger stands, to hold it to that later."""
    last = await play.last_event(OLGA)
    play.known_place = KnownPlace(int(last["sequence"]), base64.b64decode(last["chain_hash"]))
    granted = await play.events(OLGA, play.scope_id, event_classes=["EVENT_TYPE_DELEGATION_GRANTED"])
    play.account.check("grants in the ledger", len(play.account.grants), len(granted))
