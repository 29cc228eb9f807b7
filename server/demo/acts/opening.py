"""Acts 1 and 2: a workspace with its rules and roles, and the input as objects."""

from __future__ import annotations

from server.demo.account import DONE
from server.demo.input import Record
from server.demo.loader import create_request, load
from server.demo.play import INES, INTAKE, MIRA, OLGA, REX, RIVAL, SHOP, VERA, Play
from server.demo.transcripts import UNRECORDED

_RIGHTS = {
    VERA: ("read", "update", "query", "delegate"),
    INTAKE: ("create",),
    MIRA: (
        "create",
        "read",
        "query",
        "relate",
        "promote",
        "redact",
        "inspect_history",
        "snapshot.seal",
        "snapshot.read",
        "derived.write",
    ),
    OLGA: ("ledger.read", "ledger.verify", "delegation.read", "authority.explain"),
}
_REPEATED_MAX = 25


async def open_workspace(play: Play) -> None:
    """Ines makes the workspace, gives roles their rules and people their roles; Rex makes one in his own tenant."""
    account = play.account
    account.begin(
        "1  A workspace, its rules and its roles",
        f"Two tenants share one service: {SHOP} and {RIVAL}. In the first, Ines opens the service desk's workspace. "
        "What nobody was given by a rule, nobody may do.",
    )
    for part, scope_id in ((INES, play.scope_id), (REX, play.rival_scope_id)):
        root = {"scope_id": f"tenant:{part.tenant_id}", "new_scope_id": scope_id, "scope_kind": "workspace"}
        await account.call(play.player(part), f"creates {scope_id}", "AdminService/CreateWorkspace", root)
    for part, actions in _RIGHTS.items():
        rules = [
            play.request(
                rule={
                    "subject": part.role_id,
                    "action": action,
                    "object_type": "*",
                    "object_id": "*",
                    "effect": "EFFECT_ALLOW",
                }
            )
            for action in actions
        ]
        what = f"lets {part.role_id} {', '.join(actions)}"
        await account.calls(play.player(INES), what, "AdminService/AddPolicyRule", rules, [DONE])
    for part in _RIGHTS:
        binding = play.request(actor_id=part.actor_id, role_id=part.role_id)
        await account.call(
            play.player(INES), f"binds {part.called} to {part.role_id}", "AdminService/BindRole", binding
        )
    account.end()


async def load_input(play: Play) -> None:
    """The intake files the input, and files some of it again as after a lost answer."""
    account, data = play.account, play.input
    told = (
        f"{data.conversations} conversations, {len(data.customers)} customers and {len(data.orders)} orders become "
        f"{len(data.records)} objects. What was said is an observation, a tool's call and its answer are objects of "
        "their own."
    )
    if data.unrecorded_tools:
        told += (
            f" The transcripts do not name the tool of {data.unrecorded_tools} calls: "
            f'their tool_name is "{UNRECORDED}".'
        )
    if data.unread:
        told += f" Not read: {', '.join(path.name for path in data.unread)}."
    account.begin("2  The input, loaded", told)
    intake = play.player(INTAKE)
    answers = await load(intake, play.scope_id, data.records, f"{play.run}-load", play.console)
    for object_type, made in answers.items():
        if made:
            what = f"creates objects of type {object_type}"
            account.keep(intake, what, "MemoryService/Create", play.scope_id, made, [DONE] * len(made))
    again: list[Record] = data.records[:_REPEATED_MAX]
    repeated = await account.calls(
        intake,
        "sends records again, as after a lost answer",
        "MemoryService/Create",
        [create_request(play.scope_id, record) for record in again],
        [DONE],
    )
    replayed = sum(bool(answer.response.get("result", {}).get("replayed")) for answer in repeated)
    account.check("records sent again that changed nothing", len(again), replayed)
    account.end()
