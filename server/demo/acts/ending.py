"""Acts 5 and 6: a grant is revoked amid work; the supervisor loses the role that all grants stand on."""

from __future__ import annotations

import asyncio
from functools import partial

from server.demo.account import DONE, Grant, Outcome, denied
from server.demo.cast import Answer
from server.demo.play import BO, INES, KIM, LU, OLGA, VERA, Play

_READ = "MemoryService/Read"
_REVOKE = "DelegationService/RevokeDelegation"
_READS_BEFORE = 5
_READS_MAX = 5000
_INEFFECTIVE = denied("DELEGATION_NOT_EFFECTIVE")


async def revoke_amid_work(play: Play) -> None:
    """Kim reads on and on; Vera revokes; from then on nothing goes, for Kim and for Lu below."""
    account = play.account
    account.begin(
        "5  Revoked amid work",
        "Kim reads one order after the other. Vera revokes G2 while she does. Her next read is refused, and Lu's "
        "grant, made from hers, ends with it. In the ledger no use stands after the revocation.",
    )
    grants = {grant.name: grant for grant in account.grants}
    grant, below = grants.get("G2"), grants.get("G4")
    if grant is not None and below is not None:
        reads, revoked = await _read_until_refused(play, grant)
        kim, vera, what = play.player(KIM), play.player(VERA), "reads order after order, until refused"
        keep = partial(account.keep, scope_id=play.scope_id)
        keep(kim, what, _READ, answers=reads[:-1], expected=[DONE] * (len(reads) - 1), grant=grant)
        keep(vera, "revokes G2", _REVOKE, answers=[revoked], expected=[DONE])
        keep(kim, what, _READ, answers=reads[-1:], expected=[_INEFFECTIVE], grant=grant)
        await _check_order(play, grant)
        lus_object_id = play.passed_on_order.object_id
        await play.read(LU, f"reads {lus_object_id}", lus_object_id, _INEFFECTIVE, grant=below)
        await play.grant(
            KIM, LU, "-", "passes on once more", ("read",), _INEFFECTIVE, object_types=("entity",), parent=grant
        )
        repeated = await account.call(
            play.player(VERA),
            "revokes G2 again",
            _REVOKE,
            play.request(target_delegation_id=grant.delegation_id, policy_basis="service desk roster"),
        )
        account.check("the second revocation changed nothing", True, repeated.response.get("replayed", False))
    account.end()


async def _read_until_refused(play: Play, grant: Grant) -> tuple[list[Answer], Answer]:
    """Kim reads one after the other; Vera revokes after some, without waiting for a pause."""
    kim = play.player(KIM)
    answers: list[Answer] = []
    some_done = asyncio.Event()

    async def read_on() -> None:
        while len(answers) < _READS_MAX and (not answers or answers[-1].ok):
            order = play.input.orders[len(answers) % len(play.input.orders)]
            request = play.request(object_id=order.object_id, delegation_id=grant.delegation_id)
            answers.append(await kim.call(_READ, request, f"demo:{play.run}-kim-{len(answers)}"))
            if len(answers) >= _READS_BEFORE:
                some_done.set()
        some_done.set()

    async def revoke() -> Answer:
        await some_done.wait()
        request = play.request(
            target_delegation_id=grant.delegation_id,
            policy_basis="service desk roster",
            reason="shift ended early",
            idempotency_key=f"revoke-{play.run}",
        )
        return await play.player(VERA).call(_REVOKE, request, play.account.operation_id())

    _, revoked = await asyncio.gather(read_on(), revoke())
    return answers, revoked


async def _check_order(play: Play, grant: Grant) -> None:
    """Nothing that needed the grant may stand behind its revocation."""
    events = await play.events(
        OLGA,
        play.scope_id,
        event_classes=["EVENT_TYPE_DELEGATION_EXERCISED", "EVENT_TYPE_DELEGATION_REVOKED"],
    )
    revoked = [int(event["sequence"]) for event in events if event["event_type"].endswith("REVOKED")]
    uses = [int(event["sequence"]) for event in events if grant.delegation_id in event["payload_json"]]
    play.account.check("revocations of G2 in the ledger", 1, len(revoked))
    late = sum(sequence > revoked[0] for sequence in uses) if revoked else "no revocation"
    play.account.check("uses of G2 and below after its revocation", 0, late)


async def lose_the_role(play: Play) -> None:
    """Bo works by a new grant; Ines unbinds Vera; Bo's grant is worth nothing, though nobody touched it."""
    account = play.account
    account.begin(
        "6  The supervisor loses her role",
        "A grant is worth what its grantor holds, now. Vera grants Bo once more; then Ines takes the supervisor's "
        "role from her, and nobody revokes anything.",
    )
    order_id = play.other_order.object_id
    grant = await play.grant(
        VERA, BO, "G5", f"grants Bo read on {order_id}; 8 hours", ("read",), object_ids=(order_id,)
    )
    if grant is not None:
        await play.read(BO, f"reads {order_id}", order_id, grant=grant)
        await account.call(
            play.player(INES),
            f"takes {VERA.role_id} from Vera",
            "AdminService/UnbindRole",
            play.request(actor_id=VERA.actor_id, role_id=VERA.role_id),
        )
        await play.read(BO, f"reads {order_id}", order_id, _INEFFECTIVE, grant=grant)
        await play.read(VERA, f"reads {order_id}", order_id, denied("NO_RULE"))
        await play.grant(VERA, BO, "-", "grants Bo read", ("read",), denied("NO_RULE"), object_ids=(order_id,))
        await account.call(
            play.player(INES),
            "takes the owner's role from herself, the last owner",
            "AdminService/UnbindRole",
            play.request(actor_id=INES.actor_id, role_id=INES.role_id),
            Outcome("policy_denied"),
        )
    account.end()
